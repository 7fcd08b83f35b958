"""What a change of the code must leave as it is, as text: a line for each fact.

python -m tests.golden.freeze            compare with the stored files, and show what differs
python -m tests.golden.freeze --renew    store what is the case now, and show what has changed
"""

import argparse
import difflib
import json
import lzma
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from nat.artifacts import Latency
from nat.configuration import read
from nat.configuration.overrides import RunChoice
from nat.errors import UserError
from nat.files import write_json
from nat.measures import statistics
from nat.options import leaves
from nat.papers import claims, judgements, reports
from nat.papers.cells import Cell
from nat.papers.relation import relation
from snakemake_logger_plugin_jobs import pending

HERE = Path(__file__).parent
SCALES = ("micro", "demo", "small", "paper")
SHOWN = 40
"""Lines of a difference that a failed test shows."""


def cells(scale: str) -> Iterator[str]:
    """Every cell of every table, figure and claim: labels, address, files, published value."""
    configuration = read(RunChoice(scale))
    for report in reports.every(configuration):
        paper, kind = report.paper, report.form
        if kind == "claims":
            for check in claims.checks(configuration, paper):
                said = (check.kind, check.relation, check.margin, check.share, check.number)
                head = paper, kind, check.claim, check.case, *said, len(check.sides)
                yield from (_line(*head, *_shown(*side)) for side in check.sides)
            continue
        for own, over in relation(configuration, paper)[report.part].numbers:
            cell = own[0]
            derived = (cell.derived.operation, cell.derived.of) if cell.derived else ""
            at = cell.column, cell.group, cell.x, None, cell.category, cell.baseline
            yield _line(paper, report.part, *_shown(own, over), *at, derived)


def _shown(own: Sequence[Cell], over: Sequence[Cell]) -> tuple[Any, ...]:
    cell = own[0]
    address = cell.address if cell.system else ("",) * 7
    said = cell.printed, cell.stand_in, cell.reason
    return cell.row, cell.measure, cell.task, *address, _files(own), _files(over), *said


def _files(found: Sequence[Cell]) -> str:
    return " ".join(
        f"{cell.path}#{cell.part if isinstance(cell.source, Latency) else cell.split}"
        for cell in found
        if cell.source is not None
    )


def trainings(scale: str) -> Iterator[str]:
    """The effective training of every system on every task: the value of each key."""
    configuration = read(RunChoice(scale))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for task, corpus in configuration.tasks.items():
        for system in configuration.systems:
            try:
                training = configuration.training(corpus, system).as_json()
            except UserError:
                training = {"": "cannot be trained"}
            found[task, system] = dict(leaves(training))
    keys = sorted({key for values in found.values() for key in values})
    for where, values in found.items():
        said = (f"{key}={_json(values[key])}" if key in values else "" for key in keys)
        yield _line(*where, *said)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def graph(scale: str) -> Iterator[str]:
    """The jobs of `all`: rule, outputs, inputs."""
    arguments = ["--forceall", "--nolock", "--config", f"scale={scale}"]
    for job in pending(["all"], arguments):
        yield _line(job.rule, " ".join(sorted(job.outputs)), " ".join(sorted(job.inputs)))


def records(scale: str) -> Iterator[str]:
    """What tables and claims make of the stored results: ours, interval, p-value, verdict."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "config").symlink_to(Path("config").resolve())
        restore(root)
        configuration = read(RunChoice(scale), root=root)
        for report in reports.every(configuration):
            paper, kind = report.paper, report.form
            if kind == "claims":
                found = judgements.judge(reports.resolve_claims(configuration, paper), root)
                keys = "claim", "case", "ours", "low", "high", "detectable", "verdict", "seeds"
            elif kind == "table":
                table = reports.resolve_part(configuration, paper, report.part)
                found = reports.make_table(table, root).records
                keys = "row", "column", "ours", "low", "high", "spread", "p_value", "status"
            else:
                continue
            for record in found:
                if _has_number(record):
                    yield _line(
                        paper, kind, report.number, *(_number(record.get(key)) for key in keys)
                    )


def restore(root: Path) -> None:
    """Write the stored results: of those of `all` at scale micro, what papers and figures read."""
    for path, content in json.loads(_read("results")).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".npz":
            statistics.write(file, {name: np.array(counts) for name, counts in content.items()})
        else:
            write_json(file, content)


def _has_number(record: dict[str, Any]) -> bool:
    return isinstance(record.get("ours"), float) or record.get("verdict") is not None


def _number(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _line(*parts: Any) -> str:
    return "\t".join("" if part is None else str(part) for part in parts)


FACTS: dict[str, tuple[Callable[[str], Iterator[str]], Sequence[str]]] = {
    "cells": (cells, SCALES),
    "trainings": (trainings, SCALES),
    "graph": (graph, SCALES),
    "records": (records, SCALES[:1]),
}
"""What finds the facts of each kind, and at which scales."""


def now(name: str) -> list[str]:
    """What is the case now, in order."""
    found, scales = FACTS[name]
    return sorted(f"{scale}\t{line}" for scale in scales for line in found(scale))


def stored(name: str) -> list[str]:
    """What is stored; nothing before the first time."""
    return unpacked(_read(name)) if (HERE / f"{name}.xz").exists() else []


def _read(name: str) -> bytes:
    return lzma.decompress((HERE / f"{name}.xz").read_bytes())


def packed(lines: Iterable[str]) -> str:
    """Pack lines as columns, which compress well."""
    rows = sorted((line.split("\t") for line in lines), key=len)
    return json.dumps([[*zip(*table, strict=True)] for _, table in groupby(rows, key=len)])


def unpacked(text: str | bytes) -> list[str]:
    """Unpack lines that `packed` packed, in order."""
    rows = (row for columns in json.loads(text) for row in zip(*columns, strict=True))
    return sorted(map("\t".join, rows))


def differences(name: str) -> list[str]:
    """Lines that were, with a minus, and that are now, with a plus."""
    changes = difflib.unified_diff(stored(name), now(name), name, "now", n=0, lineterm="")
    return [line for line in changes if not line.startswith("@@")]


def _renew(name: str) -> None:
    text = packed(now(name))
    (HERE / f"{name}.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def main() -> None:
    """Compare, or store anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("names", nargs="*", default=[*FACTS])
    chosen = parser.parse_args()
    found = [(name, differences(name)) for name in chosen.names]
    for name, lines in found:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        if chosen.renew and lines:
            _renew(name)
    sys.exit(not chosen.renew and any(lines for _, lines in found))


if __name__ == "__main__":
    main()
