"""What a change of the code must leave as it is, as text: a line for each fact.

python -m tests.golden.freeze            compare with the stored files, and show what differs
python -m tests.golden.freeze --renew    store what is the case now, and show what has changed
"""

import argparse
import difflib
import json
import lzma
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nat.cells.cell import Cell
from nat.cells.entry import Entry
from nat.cells.known_measures import LATENCY
from nat.claims import claim_checks, claims
from nat.configuration import load
from nat.configuration.overrides import Choice
from nat.errors import UserError
from nat.papers import reports
from nat.workflow import dry_run

HERE = Path(__file__).parent
SCALES = ("micro", "demo", "small", "paper")
SHOWN = 40
"""Lines of a difference that a failed test shows."""


def cells(scale: str) -> Iterator[str]:
    """Every place of every table, figure and claim: labels, address, files, published value."""
    configuration = load(Choice(scale), checked=False)
    for target in reports.targets(configuration):
        paper, kind, number = target
        if kind == "claims":
            for check in claim_checks.checks(configuration, paper):
                said = (check.kind, check.relation, check.margin, check.share, check.number)
                head = paper, kind, check.claim, check.case, *said
                yield from (_line(*head, *_place(place)) for place in check.places)
            continue
        for place in reports._places(configuration, target):
            derived = (place.derived.operation, place.derived.places) if place.derived else ""
            at = place.column, place.group, place.x, place.y, place.category, place.baseline
            yield _line(paper, f"{kind} {number}", *_place(place), *at, derived)


def _place(place: Entry) -> tuple[Any, ...]:
    address = place.address or ("",) * 7
    return (
        *(place.row, place.measure, place.task, *address),
        *(_files(place.cells), _files(place.over)),
        *(place.published.text if place.published else "", place.stand_in, place.reason),
    )


def _files(found: tuple[Cell, ...]) -> str:
    return " ".join(
        f"{cell.score_path}#{cell.timed_name if cell.source == LATENCY else cell.split}"
        for cell in found
    )


def trainings(scale: str) -> Iterator[str]:
    """The effective training of every system on every task."""
    configuration = load(Choice(scale), checked=False)
    for task, corpus in configuration.tasks.items():
        for system in configuration.systems:
            try:
                training: Any = configuration.training(corpus, system).as_json()
            except UserError:
                training = "cannot be trained"
            yield _line(task, system, json.dumps(training, sort_keys=True))


def graph(scale: str) -> Iterator[str]:
    """The jobs of `all`: rule, inputs, outputs."""
    arguments = ["--forceall", "--nolock", "--config", f"scale={scale}"]
    for job in dry_run.pending(["all"], arguments)[0]:
        yield _line(job.rule, " ".join(sorted(job.inputs)), " ".join(sorted(job.outputs)))


def records(scale: str) -> Iterator[str]:
    """What tables and claims make of the stored results: ours, interval, p-value, verdict."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "config").symlink_to(Path("config").resolve())
        with tarfile.open(HERE / "results.tar.xz") as archive:
            archive.extractall(root, filter="data")
        configuration = load(Choice(scale), root=root, checked=False)
        for target in reports.targets(configuration):
            paper, kind, number = target
            if kind == "claims":
                found = claims.judge(configuration, paper)
                keys = "claim", "case", "ours", "low", "high", "detectable", "verdict", "seeds"
            elif kind == "table":
                found = reports.make_table(configuration, paper, number).records
                keys = "row", "column", "ours", "low", "high", "spread", "p_value", "status"
            else:
                continue
            for record in found:
                if _has_number(record):
                    yield _line(*target, *(_number(record.get(key)) for key in keys))


def _has_number(record: dict[str, Any]) -> bool:
    return isinstance(record.get("ours"), float) or record.get("verdict") is not None


def _number(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _line(*parts: Any) -> str:
    return "\t".join("" if part is None else str(part) for part in parts)


FACTS: dict[str, Callable[[str], Iterator[str]]] = {
    **{f"cells_{scale}": cells for scale in SCALES},
    **{f"trainings_{scale}": trainings for scale in SCALES},
    **{f"graph_{scale}": graph for scale in SCALES},
    "records_micro": records,
}


def now(name: str) -> list[str]:
    """What is the case now, in order."""
    return sorted(FACTS[name](name.rpartition("_")[2]))


def stored(name: str) -> list[str]:
    """What is stored; nothing before the first time."""
    path = HERE / f"{name}.xz"
    return lzma.decompress(path.read_bytes()).decode().splitlines() if path.exists() else []


def differences(name: str) -> list[str]:
    """Lines that were, with a minus, and that are now, with a plus."""
    changes = difflib.unified_diff(stored(name), now(name), name, "now", n=0, lineterm="")
    return [line for line in changes if not line.startswith("@@")]


def _renew(name: str) -> None:
    text = "\n".join(now(name)) + "\n"
    (HERE / f"{name}.xz").write_bytes(lzma.compress(text.encode(), preset=9))


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
