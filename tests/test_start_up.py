"""What programs import before they work, since torch takes longer than many of them; their end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_graph import copy_repository, counts, snakemake

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


@pytest.mark.parametrize("scale", ["micro", pytest.param("demo", marks=pytest.mark.long)])
def test_what_needs_no_model_needs_no_torch(scale: str) -> None:
    # The programs that translate, train, analyse or time import it. What asks for options or traits
    # of methods imports it unless these are remembered: judge_claims, the tables of settings, and
    # the inputs of analyses, which refuse systems by the traits of their methods.
    run(f"""
from nat.artifacts import Distilled, Translations
from nat.configuration import load
from nat.papers import reports

configuration = load({scale!r}, checked=False)
for corpus in dict.fromkeys(configuration.tasks.values()):
    names = configuration.run, corpus
    there = configuration.on(corpus)
    for system in there.systems:
        there.text(system)
        for text in there.system(system).text.candidates:
            if text.system is not None:
                Distilled(*names, text.system, 1, text.decoding).inputs(there)
        Translations(*names, system, 1, "one-pass", "train").shards(there)
for target in reports.targets(configuration):
    reports.cells(configuration, target)
""")


@pytest.mark.parametrize(
    ("scale", "papers"),
    [("micro", {"hrt", "mple"}), pytest.param("demo", None, marks=pytest.mark.long)],
)
def test_a_second_start_of_snakemake_needs_no_torch(
    scale: str, papers: set[str] | None, tmp_path: Path
) -> None:
    # both papers show analyses; one of hrt's uses decodings that nothing else asks for
    repository = copy_repository(tmp_path, papers)
    # the first start in a folder imports the methods
    status, screen = snakemake(repository, "-n", "all", scale=scale)
    assert status == 0 and counts(screen)["analyse"], screen
    run(
        f"""
sys.argv = ["snakemake", "-n", "all", "--config", "scale={scale}"]
from snakemake.cli import main
main()
""",
        repository,
    )


def test_what_an_analysis_needs_is_said_without_what_it_computes_with() -> None:
    modules = run("""
import importlib, sys
from nat.measures.known import ANALYSES

for name in ANALYSES:
    importlib.import_module("nat.analyses.needs." + name)
print(*(name for name in sys.modules if sys.modules[name] is not None))
""").split()
    assert not {*HEAVY, "numpy", "sacrebleu"} & {name.partition(".")[0] for name in modules}


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
