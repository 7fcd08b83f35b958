"""Snakemake in copies of a process that has imported it.

Tests start Snakemake a hundred times, and to import it takes half of the time of a start.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


def run_snakemake(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run `python -m snakemake` in a folder: its exit status, and what is on the screen."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    with tempfile.NamedTemporaryFile() as screen:
        request = [list(arguments), str(folder), dict(environment), screen.name]
        server.stdin.write(f"{json.dumps(request)}\n")
        server.stdin.flush()
        try:
            status = int(server.stdout.readline())
        except BaseException:  # a timeout, say; the next run must not get this one's answer
            server.kill()
            _server.cache_clear()
            raise
        return status, screen.read().decode()


@cache
def _server() -> "subprocess.Popen[str]":
    """It ends with the process that has started it."""
    without = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.Popen(
        [sys.executable, __file__],
        env=without,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


IMPORTED = [
    *("snakemake.cli", "snakemake.report.html_reporter", "smart_open", "rich.progress"),
    "sacrebleu",
]
"""What Snakemake and the graph import, none of it of this project: copies import their own."""


def _serve() -> None:
    for module in IMPORTED:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(*json.loads(line))
            break
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def _become(arguments: list[str], folder: str, environment: dict[str, str], screen: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for path, flags, streams in ((os.devnull, os.O_RDONLY, [0]), (screen, os.O_WRONLY, [1, 2])):
        opened = os.open(path, flags)
        for stream in streams:
            os.dup2(opened, stream)
    sys.path[0] = folder  # as `python -m` has it
    sys.argv = ["snakemake", *arguments]
    atexit.register(gc.freeze)  # also where a test has a Snakefile of its own
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve()
