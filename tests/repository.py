"""The configuration of this repository, for tests that only read it, and its programs."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from nat.configuration import Configuration, load

ROOT = Path(__file__).resolve().parents[1]


@cache
def configured(scale: str | None = None) -> Configuration:
    """The configuration at a scale, by default that of config.yaml; read and checked once."""
    return load(scale, ROOT)


def variables(path: Path | None = ROOT) -> dict[str, str]:
    """Variables of a program that imports this project from a folder, or as it is installed."""
    others = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return others if path is None else {**others, "PYTHONPATH": str(path)}


def python(
    *words: object, folder: Path = ROOT, path: Path | None = ROOT, given: str | None = None
) -> tuple[int, str, str]:
    """Run Python in a folder: its exit status, and what it writes to its two streams.

    What is `given` is its standard input.
    """
    ended = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=variables(path),
        input=given,
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout, ended.stderr
