"""Writes down which files below `results/` a program opens for reading, see test_graph.

Python imports this module by itself where its folder is on the path. Each process appends lines of
JSON to a file of its own in the folder `NAT_OPENED`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("NAT_OPENED", "."))
RESULTS = Path.cwd() / "results"
seen: set[Path] = set()


def record(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook, see `sys.addaudithook`."""
    if event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = Path(os.fsdecode(arguments[0])).absolute()
    if path.name.endswith((".sha256", ".sha256sums")):
        return
    writes = arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or path in seen or not path.is_relative_to(RESULTS) or path.is_dir():
        return
    seen.add(path)
    line = {"program": sys.argv, "path": str(path.relative_to(RESULTS.parent))}
    with (FOLDER / f"{os.getpid()}.jsonl").open("a") as file:
        file.write(f"{json.dumps(line)}\n")


if "NAT_OPENED" in os.environ:
    sys.addaudithook(record)
