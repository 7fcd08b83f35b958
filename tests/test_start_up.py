"""What programs import before they work: torch takes longer than many of them."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAMS = sorted(path.stem for path in (REPOSITORY / "workflow_scripts").glob("*.py"))

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # so that to import it is an error
"""


def run(program: str) -> None:
    """Run Python code in a process that cannot import torch."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH + program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_no_program_imports_torch_before_its_arguments_are_read() -> None:
    run(f"""
import importlib

for name in {PROGRAMS}:
    importlib.import_module("workflow_scripts." + name)
""")


@pytest.mark.parametrize("scale", ["micro", "demo"])
def test_what_needs_no_model_needs_no_torch(scale: str) -> None:
    # The programs that translate, train, analyse or time import it; so do judge_claims and the
    # tables of settings, which show the options that methods have by default.
    run(f"""
from nat.artifacts import Distilled, Translations, comparisons, decodings_to_distil
from nat.configuration import load
from nat.reporting import reports

configuration = load({scale!r}, checked=False)
for corpus in dict.fromkeys(configuration.tasks.values()):
    names = configuration.run, corpus
    there = configuration.on(corpus)
    comparisons(there)
    for teacher in decodings_to_distil(there):
        Distilled(*names, teacher, 1).inputs(there)
    for system in there.systems:
        Translations(*names, system, 1, "one-pass", "train").shards(there)
for target in reports.targets(configuration):
    reports.cells(configuration, target)
""")
