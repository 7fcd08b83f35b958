"""Everything that only a GPU can tell, in one go, for where one is at hand for minutes.

The parts run one after the other, those first that tell most: training in updates of two sizes, the
latency of one pass, a chain from text to a table with its trainings cut short, and the tests that
need a GPU. Each has a time limit, a log and a file of its own, and `summary.json` is written after
each, so that whatever was measured is kept. A chain that was stopped goes on in the next run. What
needs CTranslate2 is left out where that is missing. `--rehearse` runs the same parts in a short
form on a processor, the chain as a dry run.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nat.files import write_json

ROOT = Path(__file__).resolve().parents[1]

TRAININGS = {"teacher": 1000, "cmlm": 2400, "dims": 1000, "ctc": 1000}
"""Updates of the chain's recipes, of AT, CMLM and DiMS as in docs/performance.md."""

CHAIN = ("one_pass_table_1", "--resources", "gpu=2", "--config", "scale=gpu", "name=measured")

PATIENCE = 60
"""Seconds that a part has to end once it was asked to."""


def main() -> None:
    """Run the parts, print how each ended, write a summary."""
    parser = argparse.ArgumentParser(description="All that only a GPU can tell, in one go.")
    parser.add_argument("--rehearse", action="store_true", help="a short form, on a processor")
    parser.add_argument("--minutes", type=float, default=8, help="limit of a part (default 8)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/gpu")
    arguments = parser.parse_args()

    import torch

    there = torch.cuda.is_available()
    if not there and not arguments.rehearse:
        sys.exit("error: no CUDA device; '--rehearse' runs a short form on a processor")
    folder = arguments.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    device = torch.cuda.get_device_name() if there else "a processor, rehearsed"
    parts: dict[str, Any] = {}
    for name in arguments.only:
        command = commands(folder, arguments.rehearse)[name]
        parts[name] = ran(command, folder / f"{name}.log", arguments.minutes * 60)
        summary = {"device": device, "torch": torch.__version__, "parts": parts}
        write_json(folder / "summary.json", summary)
        sys.stdout.write(f"{name}: {parts[name]['ended']} after {parts[name]['seconds']} s\n")
        sys.stdout.flush()
    sys.stdout.write(f"{device}: logs and numbers are in {folder}\n")
    sys.exit(any(each["ended"] != "well" for each in parts.values()))


def commands(folder: Path, rehearse: bool) -> dict[str, list[str]]:
    """The command of each part, without the Python that runs it."""
    changes = " ".join(f"recipes.{name}.updates={count}" for name, count in TRAININGS.items())
    training = ["benchmarks/gpu_training.py", "--rounds", "8"]
    latency = ["benchmarks/one_pass.py", "--gpu", "--rounds", "5"]
    chain = ["-m", "snakemake", *CHAIN, f"override={changes}"]
    tests = ["-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider"]
    if rehearse:
        training = ["benchmarks/training_speed.py", "--rounds", "1", "--only", "at-d64-v1k"]
        latency = ["benchmarks/one_pass.py", "--rounds", "1"]
        chain.insert(2, "-n")
        tests.append("tests/decoding/test_captured.py")
    return {
        "training": [*training, "--output", str(folder / "training.json")],
        "latency": [*latency, "--output", str(folder / "latency.json")],
        "chain": chain,
        "tests": tests,
    }


PARTS = tuple(commands(Path(), rehearse=False))


def ran(command: Sequence[str], log: Path, limit: float) -> dict[str, Any]:
    """Run a part of at most so many seconds: how it ended, and when."""
    started = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    with log.open("w", encoding="utf-8") as screen:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            stdout=screen,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(limit)
            ended = "well" if status == 0 else f"with status {status}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            ended = "out of time"
    return {"ended": ended, "seconds": round(time.monotonic() - started, 1), "command": command}


if __name__ == "__main__":
    main()
