"""Files of translations: one JSON object per sentence, keyed by its number.

{"id": 0, "tokens": "subwords predicted by the model", "text": "detokenised text",
"score": -0.31, "steps": 12, "status": "ok"}. A sentence that could not be translated also has a
line: without tokens, and with a status that gives the reason.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.checksums import remedy, sha256_of
from nat.data.lines import read_lines
from nat.errors import UserError
from nat.files import atomic_path, write_json

MADE_WITH = "made_with"
"""Key of a summary: the options of the decoding, and how the text is made and prepared."""

SHA256 = "sha256"  # key of a summary: that of the translations

OK = "ok"
EMPTY_SOURCE = "empty source"
EMPTY_TRANSLATION = "empty translation"
NO_SCORE = "no finite score"

_KEYS = {"id": int, "tokens": str, "text": str, "score": float, "steps": int, "status": str}
_NAMED = 20  # most sentence numbers that a summary lists


def too_long(positions: int) -> str:
    """Status of a source that does not fit the model with its EOS."""
    return f"source longer than {positions} positions"


def shard_of(sentences: int, shard: int, shards: int) -> range:
    """Sentence numbers of a shard (from 1): a contiguous block; sizes differ by at most one."""
    return range(sentences * (shard - 1) // shards, sentences * shard // shards)


def by_reason(sentences: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """By reason: the number of sentences and the first of their numbers."""
    return {
        reason: {"sentences": len(numbers), "ids": numbers[:_NAMED]}
        for reason, numbers in sorted(sentences.items())
    }


def write_translations(path: Path, records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Write one line per record, atomically; return the summary.

    It has the sentences that were not decoded, by reason, and means of the decoded ones: of the
    score, in nats, and of the number of steps.
    """
    count = tokens = 0
    scores: list[float] = []
    steps: list[int] = []
    not_decoded: defaultdict[str, list[int]] = defaultdict(list)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for record in records:
            count += 1
            if record["status"] == OK:
                scores.append(record["score"])
                steps.append(record["steps"])
                tokens += len(record["tokens"].split())
            else:
                not_decoded[record["status"]].append(record["id"])
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    return {
        SHA256: sha256_of(path),
        "sentences": count,
        "decoded": len(scores),
        "not_decoded": by_reason(not_decoded),
        "tokens": tokens,
        "mean_score": math.fsum(scores) / len(scores) if scores else None,
        "mean_steps": sum(steps) / len(steps) if steps else None,
    }


def read_in_order(*paths: Path, sentences: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the records of files whose sentences, one file after the other, are 0, 1, 2, ...

    Raises a `UserError` for the first line that is no record or out of place, and at the end if
    there are not `sentences` of them.
    """
    due = 0
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                record = None
            fault = ""
            if not isinstance(record, dict) or any(
                not isinstance(record.get(key), kind) for key, kind in _KEYS.items()
            ):
                fault = f"is not a translation with the keys {', '.join(_KEYS)}"
            elif record["id"] != due:
                fault = f"holds sentence {record['id']} instead of sentence {due}"
            if fault:
                advice = f"remove the file and {remedy(path)}"
                raise UserError(f"{path}, line {number} {fault}; {advice}")
            due += 1
            yield record
    if sentences not in (None, due):
        named = ", ".join(map(str, paths))
        raise UserError(f"{named}: {due} translations of {sentences} sentences; {remedy(paths[0])}")


def merge_shards(shards: Sequence[Path], sentences: int, output: Path) -> dict[str, Any]:
    """Join shards into `output`, and write and return the summary; raises as `read_in_order`."""
    summary = write_translations(output, read_in_order(*shards, sentences=sentences))
    write_json(output.with_suffix(".json"), summary)
    return summary
