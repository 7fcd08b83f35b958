"""How long the programs of `workflow_scripts/` take from start to first work, and how long to end.

Each program runs in a process of its own: it imports what it needs, and ends at a specification
that does not exist. Numbers are medians over rounds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from nat.files import write_json

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "workflow_scripts"


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Start of the programs of the workflow.")
    parser.add_argument("--rounds", type=int, default=5, help="of each program (default 5)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/start_up.json")
    arguments = parser.parse_args()
    found = {name: seconds(name, arguments.rounds) for name in programs()}
    table = Table("program", "wall, s")
    for name, value in sorted(found.items(), key=lambda pair: pair[1]):
        table.add_row(name, f"{value:.2f}")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(
        f"Medians of {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}. Written to "
        f"{arguments.output}"
    )
    write_json(arguments.output, {"programs": found})


def programs() -> list[str]:
    """The programs that jobs of the workflow run."""
    scripts = sorted(SCRIPTS.glob("*.py"))
    return [path.stem for path in scripts if "run_job" in path.read_text("utf-8")]


def seconds(name: str, rounds: int) -> float:
    """Median of the seconds that a program takes to start and to end."""
    taken = []
    for _ in range(rounds):
        before = time.monotonic()
        command = [sys.executable, str(SCRIPTS / f"{name}.py"), "no.json"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        assert ended.returncode == 1
        taken.append(time.monotonic() - before)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
