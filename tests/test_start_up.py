"""What programs import before they work, since torch takes longer than many of them; their end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_graph import copy_repository, counts

from benchmarks.start_up import programs

REPOSITORY = Path(__file__).resolve().parents[1]
HEAVY = {
    *("torch", "fairseq", "scipy", "sklearn", "pandas", "matplotlib"),
    *("requests", "snakemake", "onnxruntime", "ctranslate2"),
}
"""Packages that take as long to import as all that most programs need together."""
WITH_TORCH = {
    *("analyse", "convert", "import_checkpoint", "measure_latency", "trace_decoding", "train"),
    *("translate", "translate_and_score", "tune_decoding"),
}
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # so that to import it is an error
"""


def run(program: str, folder: Path = REPOSITORY) -> str:
    """What Python code prints in a process that cannot import torch."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH + program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_what_needs_no_model_starts_without_torch() -> None:
    run(f"""
import importlib

for name in {sorted({*programs()} - WITH_TORCH)}:
    importlib.import_module("workflow_scripts." + name)
""")


def test_the_configuration_and_the_graph_need_none_of_what_jobs_compute_with() -> None:
    printed = run(
        """
def heavy():
    print(*({name.partition(".")[0] for name in sys.modules if sys.modules[name]} & {HEAVY}))

import nat.analyses.requirements, nat.artifacts
from nat.configuration import load
heavy()
load("demo")
import nat.workflow.graph
heavy()
""".replace("{HEAVY}", repr({*HEAVY, "numpy", "sacrebleu"}))
    )
    imported, loaded = printed.splitlines()
    assert imported == "" and set(loaded.split()) <= {"numpy", "pandas", "sacrebleu"}


@pytest.mark.parametrize(
    ("scale", "papers"),
    [("micro", {"hrt", "mple"}), pytest.param("demo", None, marks=pytest.mark.long)],
)
def test_a_start_of_snakemake_needs_no_torch(
    scale: str, papers: set[str] | None, tmp_path: Path
) -> None:
    # both papers show analyses; one of hrt's uses decodings that nothing else asks for
    screen = run(
        f"""
sys.argv = ["snakemake", "-n", "all", "--config", "scale={scale}"]
from snakemake.cli import main
main()
""",
        copy_repository(tmp_path, papers),
    )
    assert counts(screen)["analyse"]


def test_a_training_imports_nothing_that_only_other_tasks_of_fairseq_need() -> None:
    code = "import sys, nat.fairseq_plugin.launcher; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert not {"sklearn", "pandas", "scipy.stats"} & set(done.stdout.split())


ENDING = """
import atexit
from nat.program import run

class Garbage:
    def __init__(self):
        self.own = self  # only a search for garbage finds it
    def __del__(self):
        print("found")

atexit.register(print, "registered")
run(lambda: print("work", Garbage() is None))
"""


def test_a_program_ends_without_a_search_for_garbage() -> None:
    command = [sys.executable, "-c", ENDING]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["work", "False", "registered"]
