"""How long the programs of `workflow_scripts/` take from start to first work, and how long to end.

Each program runs in a process of its own: it reads its arguments and the configuration, imports
what it needs, and ends where its work would begin. Numbers are medians over rounds.
"""

import argparse
import ast
import functools
import importlib
import inspect
import json
import os
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

EXAMPLES = {
    "analysis": "length_accuracy",
    "candidates": "raw+at-base",
    "corpus": "toy-ka-lu",
    "decoding": "one-pass",
    "decodings": "one-pass",
    "engine": "onnx",
    "group": "overview_table_1",
    "number": "1",
    "order": "4",
    "other": "at-base",
    "paper": "overview",
    "seed": "1",
    "setting": "thread-1",
    "shard": "1",
    "shards": "1",
    "split": "test",
    "splits": "test",
    "system": "cmlm-kd",
}
"""Arguments of the programs; all others are folders, which are not opened."""
GOALS = {"without torch": 0.5, "with torch": 2.0}
"""Seconds that are aimed at."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Start and end of the programs of the workflow.")
    parser.add_argument("--rounds", type=int, default=5, help="of each program (default 5)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/start_up.json")
    arguments = parser.parse_args()

    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    table = Table("program", "processor, s", "wall, s", "end, s", "torch")
    found = {name: measure(name, arguments.rounds) for name in jobs()}
    for name, each in sorted(found.items(), key=lambda pair: pair[1]["processor"]):
        shown = "yes" if each["torch"] else ""
        seconds = (f"{each[key]:.2f}" for key in ("processor", "wall", "end"))
        table.add_row(name, *seconds, shown)
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(
        f"Medians of {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}, goals "
        f"{GOALS['without torch']} s, with torch {GOALS['with torch']} s. Written to "
        f"{arguments.output}"
    )
    write_json(arguments.output, {"goals": GOALS, "programs": found})


def jobs() -> list[str]:
    """The programs that make what the workflow consists of."""
    scripts = sorted((ROOT / "workflow_scripts").glob("*.py"))
    return [path.stem for path in scripts if "nat.workflow.program" in path.read_text("utf-8")]


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Medians of the seconds that a program takes to start and to end; whether it imports torch."""
    code = f"from benchmarks.start_up import start, tell\nstart({name!r}, tell)"
    processor, wall, end, torch = [], [], [], False
    for _ in range(rounds):
        before = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        after, told = time.monotonic(), json.loads(done.stdout)
        processor.append(told["processor"])
        wall.append(told["now"] - before)
        end.append(after - told["now"])
        torch = told["torch"]
    return {
        "processor": statistics.median(processor),
        "wall": statistics.median(wall),
        "end": statistics.median(end),
        "torch": torch,
    }


def tell() -> None:
    """Print the processor time so far, the time of a clock, and whether torch is imported."""
    now, processor = time.monotonic(), time.process_time()
    json.dump({"now": now, "processor": processor, "torch": "torch" in sys.modules}, sys.stdout)


def start(name: str, work: Callable[[], None]) -> None:
    """Start a program, with arguments of `EXAMPLES`, and do something else in place of its work.

    Args:
        name: of the program.
        work: is called where the program has its arguments, its configuration and its imports.
    """
    from nat.workflow import program

    makes, plain = program.makes, program.program

    def of(names: list[str]) -> list[str]:
        return [word for key in names for word in (f"--{key}", EXAMPLES.get(key, "folder"))]

    def instead(function: Callable[..., None], options: int) -> Callable[..., None]:
        parameters = list(inspect.signature(function).parameters.values())[options:]
        sys.argv += of([each.name for each in parameters if each.default is each.empty])

        @functools.wraps(function)
        def replaced(*_: Any, **__: Any) -> None:
            body = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
            found = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
            exec("\n".join(map(ast.unparse, found)), dict(function.__globals__))
            work()

        return replaced

    def making(kind: Any) -> Callable[[Callable[..., None]], Callable[[], None]]:
        sys.argv += of([field.name for field in fields(kind) if field.name != "run"])
        return lambda function: makes(kind)(instead(function, 2))

    sys.argv = [name]
    program.makes, program.program = making, lambda function: plain(instead(function, 1))
    try:
        importlib.import_module(f"workflow_scripts.{name}").main()
    finally:
        program.makes, program.program = makes, plain


if __name__ == "__main__":
    main()
