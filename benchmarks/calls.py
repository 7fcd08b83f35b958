"""Functions of this project that are called to fill a table with nothing run.

    python benchmarks/calls.py [PAPER NUMBER]

It says how much a reader has to follow from a table to its numbers. The configuration is loaded
before. Functions that Python generates, such as those of dataclasses, do not count.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from nat.configuration import load
from nat.configuration.overrides import Choice
from nat.papers import reports

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Count, and print the functions by file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", nargs="?", default="dims")
    parser.add_argument("number", nargs="?", default="2")
    chosen = parser.parse_args()
    calls: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT / "nat")):
            if not code.co_name.startswith("<"):
                calls[code.co_filename, code.co_qualname] += 1

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config").symlink_to(ROOT / "config")
        configuration = load(Choice("demo"), root=Path(folder), checked=False)
        configuration.paper(chosen.paper)
        sys.setprofile(count)
        reports.make_table(configuration, chosen.paper, chosen.number)
        sys.setprofile(None)
    files = sorted({file for file, _ in calls})
    for file in files:
        names = [f"{name} ({number})" for (at, name), number in calls.items() if at == file]
        print(f"{Path(file).relative_to(ROOT)}: {', '.join(names)}")
    print(f"{len(calls)} functions in {len(files)} files, {calls.total():,} calls")


if __name__ == "__main__":
    main()
