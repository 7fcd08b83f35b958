"""Results that Snakemake has no record of.

`.snakemake` records the configuration that each result was made with. Results that were copied
from elsewhere, or whose records were removed, would be mistaken for those of the current one.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from pathlib import Path

from nat.errors import UserError

RECORDS = Path(".snakemake")
_WILDCARD = re.compile(r"\{\w+(?:,([^{}]*))?\}")  # with its constraint, if it has one


def refuse_unknown_results(outputs: Iterable[str]) -> None:
    """Fail if a result exists that no job of this folder has made or is making.

    Args:
        outputs: of the rules, with wildcards in braces, as in `{engine,ctranslate2|onnx}`.

    Raises:
        UserError: names the first such result.
    """
    # In this order, a job that ends meanwhile is found in one of the two.
    found = sorted({path for output in dict.fromkeys(outputs) for path in _made(output)})
    known = _recorded("incomplete") | _recorded("metadata") if found else set()
    unknown = [path for path in found if path not in known]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UserError(
            f"{unknown[0]}{more}: .snakemake has no record of the configuration by which this was "
            "made; copy the .snakemake that belongs to these results, or move them out of results"
        )


def _made(output: str) -> Iterator[str]:
    """What is there of an output; what a wildcard does not stand for is none of it.

    Checkpoints, for example, lie in a folder beside the folders of exported models.
    """
    parts = _WILDCARD.split(output)  # text and constraints by turns
    allowed = re.compile(
        "".join(
            f"(?:{part or '.+'})" if number % 2 else re.escape(part)
            for number, part in enumerate(parts)
        )
    )
    found = (str(path) for path in Path().glob(_WILDCARD.sub("*", output)))
    return (path for path in found if allowed.fullmatch(path))


def _recorded(kind: str) -> set[str]:
    """Paths with a record; Snakemake encodes each in a name, long ones in folders `@...`."""
    folder = RECORDS / kind
    names = (
        "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
        for path in folder.rglob("*")
        if path.is_file()
    )
    try:
        return {urlsafe_b64decode(name).decode() for name in names}
    except ValueError as error:
        raise UserError(
            f"{folder} is damaged ({error}); move .snakemake and results away and run again"
        ) from error
