"""The one form in which every job writes what it measures, and its reader.

A file is a JSON object. Its key `measures` has the numbers of each part by the name of the measure:

    {"measures": {"test": {"sacrebleu": {"value": 27.1, "low": 26.2, "high": 27.9}}}, ...}

A part of a score, an analysis or a total correlation is a split, a part of a latency a system and
its decoding, `at-base/beam5`, and a training has one part, `training`. A number has a `value`, or
null and the `reason` why there is none, and what `Number` describes where it is known. `flags`,
`not_decoded` and `perfect` are keys of the file and hold for all its numbers; the rest is up to its
job.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter

from nat.checksums import reading, remedy
from nat.errors import UserError
from nat.options import validated

DIGITS = 6  # decimal places of numbers in files
COLLAPSED = "few distinct translations"  # the flag of a model that has learned nothing
NOT_AVAILABLE = "not available"  # the reason of a measure that is not defined for what was measured

Measures = dict[str, dict[str, Any]]
"""The numbers of a part as they are written, by measure."""


Terms = dict[str, tuple[float, ...]]
"""Of a ratio of sums over sentences, the `numbers` of the sentences, and both terms of each, `sums`
and `tokens`: three lists of one length."""


def _of_one_length(terms: Terms) -> Terms:
    if terms and (len(terms) != 3 or len({*map(len, terms.values())}) > 1):
        raise ValueError("expected three lists of one length")
    return terms


@dataclass(frozen=True)
class Number:
    """A number from a file.

    Attributes:
        value: None if it could not be measured.
        low: lower end of its 95% interval, or the first quartile of a time; None if not known.
        high: the upper end, or the third quartile.
        signature: of BLEU and chrF.
        reason: why there is no value.
        by_sentence: what a ratio of sums over sentences consists of.
        repeats: of a latency, the time a sentence of each turn, milliseconds.
        flags: what makes the translations or their model suspicious.
        not_decoded: sentences of the file that could not be decoded.
        perfect: says what a perfect translation of its test set scores, `nat.measures.perfect`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    signature: str = ""
    reason: str = ""
    by_sentence: Annotated[Terms, AfterValidator(_of_one_length)] = field(default_factory=dict)
    repeats: tuple[float, ...] = ()
    flags: tuple[str, ...] = ()
    not_decoded: int = 0
    perfect: str = ""


_MEASURES = TypeAdapter(dict[str, Measures])


def read(path: Path, part: str, said: dict[str, Any] | None = None) -> dict[str, Number]:
    """The numbers of a part of a file, by measure; none if it lacks that. Raises as `reading`.

    What the file says is not read again if it is known.
    """
    content = read_file(path) if said is None else said
    keys = ("flags", "not_decoded")
    of_file: dict[str, Any] = {key: content[key] for key in keys if key in content}
    if "perfect" in content:
        of_file["perfect"] = content["perfect"]["note"]
    written = content["measures"].get(part, {}).items()
    with reading(path):
        return validated(dict[str, Number], {name: number | of_file for name, number in written})


def read_file(path: Path) -> dict[str, Any]:
    """All that a file says; raises as `reading`, also if it has no measures as in this version."""
    with reading(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        _MEASURES.validate_python(content["measures"])
    return dict(content)


def check_names(path: Path, content: dict[str, Any], names: dict[str, Any]) -> None:
    """Refuse, by a `UserError`, a file that names another system, seed or split than its place.

    A file that names none is taken for what its place says.
    """
    said = {**content, **content.get("training", {})}
    for key, wanted in names.items():
        if key != "run" and isinstance(said.get(key), str | int) and said[key] != wanted:
            raise UserError(
                f"{path} is of another result, with the {key} {said[key]} in place of {wanted}; "
                f"{remedy(path)}"
            )


def missing(names: Iterable[str], reason: str) -> Measures:
    """Numbers that have no value, all for one reason."""
    return {name: {"value": None, "reason": reason} for name in names}
