"""Functions of this project that a job calls to fill a table with nothing run.

    python benchmarks/calls.py [PAPER NUMBER]

It says how much a reader of a table has to follow: from the specification of the job, which is read
here too, to the filled table. Functions that Python generates, such as those of dataclasses, do not
count.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from nat.configuration import read
from nat.configuration.overrides import RunChoice
from nat.job import read_jobs, write_jobs
from nat.options import validated
from nat.papers import reports
from nat.papers.cells import ResolvedPart
from nat.workflow.specification import jobs

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Count, and print the functions by file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", nargs="?", default="dims")
    parser.add_argument("number", nargs="?", default="2")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "config").symlink_to(ROOT / "config")
        configuration = read(RunChoice("demo"), root=root)
        specification = root / "specification.json"
        made = reports.Report(configuration.run, chosen.paper, "table", chosen.number)
        specification.write_text(write_jobs(jobs(configuration, [made])), encoding="utf-8")

        def fill() -> None:
            """As `workflow_scripts/make_table.py`."""
            (handed,) = read_jobs(specification)
            table = validated(ResolvedPart, handed.configuration.report)
            reports.make_table(table, root)

        show(f"table {chosen.number} of {chosen.paper}", calls_of(fill))


def calls_of(run: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Count the calls by file and function."""
    calls: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        own = code.co_filename.startswith(str(ROOT / "nat")) and not code.co_name.startswith("<")
        if event == "call" and own:
            calls[code.co_filename, code.co_qualname] += 1

    sys.setprofile(count)
    run()
    sys.setprofile(None)
    return calls


def show(step: str, calls: Counter[tuple[str, str]]) -> None:
    """Print the functions by file, and their number."""
    files = sorted({file for file, _ in calls})
    lines = [f"{step}: {len(calls)} functions in {len(files)} files, {calls.total():,} calls"]
    for file in files:
        names = [f"{name} ({number})" for (at, name), number in calls.items() if at == file]
        lines.append(f"  {Path(file).relative_to(ROOT)}: {', '.join(names)}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
