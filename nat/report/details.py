"""The origin of a number, which a page tells on demand."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nat.artifacts import Latency, Score
from nat.configuration import Configuration
from nat.papers.cells import Cell, training_of
from nat.papers.reader import NOT_RUN
from nat.papers.reports import snakemake
from nat.report.page import of_system, root_of
from nat.report.results import Results

Line = tuple[str, str, str]
"""A term, its text, and `CODE`, the address that it leads to, or nothing."""
CODE = "code"


def details(
    results: Results, path: str, title: str, said: Mapping[str, Any], cells: Sequence[Cell]
) -> dict[str, Any]:
    """Collect what the page at a path says of a number that rests on cells.

    Args:
        said: texts of the number alone, by term; empty ones are left out.
    """
    given = {term: str(text) for term, text in said.items() if text not in ("", None)}
    lines: list[Line] = [(term, text, "") for term, text in given.items()]
    there = [cell for cell in cells if (results.root / cell.path).exists()]
    missing = [cell.path for cell in cells if cell not in there]
    for cell in there:
        lines.append(("file", cell.path, CODE))
        if isinstance(cell.source, Score):
            lines.append(("translations", cell.source.translations.path, CODE))
    if missing:
        paths = dict.fromkeys(cell.path for cell in cells)
        lines.append((NOT_RUN, "; ".join(missing), CODE))
        lines.append(("made by", snakemake(results.configuration, *paths), CODE))
    elif there:
        lines.append(("made again by", made_again(results.configuration, there), CODE))
    for cell in there:
        lines += _made_of(results, root_of(path), cell)
    return {"title": title, "lines": list(dict.fromkeys(lines))}


def _made_of(results: Results, root: str, cell: Cell) -> Iterator[Line]:
    """The model, decoding and setting behind a number."""
    if training_of(cell):
        names = cell.corpus, cell.model, cell.seed
        said = f"{cell.model} on {cell.corpus}, seed {cell.seed}"
        yield "model", said, root + of_system(cell.corpus, cell.model)
        if record := results.training(*names):
            time = f"{record['seconds'] / 60:,.1f} min" if "seconds" in record else "?"
            done = f"{record['updates']:,} updates, {time}, {record.get('device', '')}"
            yield "trained", done, ""
        if older := results.changes(*names):
            yield "older configuration", "; ".join(older), ""
    there = results.configuration.on(cell.corpus)
    if cell.decoding:
        options = json.dumps(there.decoding(cell.decoding).as_json())
        yield "decoding", f"{cell.decoding}: {options}", CODE
    if isinstance(cell.source, Latency):
        setting = json.dumps(there.scale_settings.latency.model_dump(mode="json"))
        yield "latency", f"{cell.setting}: {setting}", CODE


def made_again(configuration: Configuration, cells: Sequence[Cell]) -> str:
    """Command line that makes the numbers of cells again, and nothing else.

    A job that is forced keeps translations of the same model with the same options, so they are
    removed before.
    """
    files = list(dict.fromkeys(cell.path for cell in cells))
    command = snakemake(configuration, *files, "--forcerun", *files)
    scores = (cell.source for cell in cells if isinstance(cell.source, Score))
    kept = dict.fromkeys(score.translations.path for score in scores)
    return f"{shlex.join(['rm', '-f', *kept])} && {command}" if kept else command
