"""What programs import before they work, since torch takes longer than many of them; their end."""

from pathlib import Path

import pytest

from benchmarks.start_up import programs
from nat import registry
from tests.graph.test_graph import copy_repository, counts
from tests.repository import ROOT, python

HEAVY = {
    *("torch", "fairseq", "scipy.special", "sklearn", "pandas", "matplotlib"),
    *("requests", "snakemake", "onnxruntime", "ctranslate2", "sacremoses", "jieba"),
}
"""Packages that take as long to import as all that most programs need together."""
NEEDED = {
    ("analyse", "import_checkpoint"): {"torch"},
    ("translate", "translate_and_score", "tune_decoding", "trace_decoding", "convert"): {"torch"},
    ("measure_latency",): {"torch"},
    ("train",): {"torch", "fairseq"},
    ("fetch_checkpoint", "make_text", "make_references"): {"requests"},
    # the cells of papers are a frame of pandas
    ("judge_claims", "make_table"): {"pandas"},
    # the names in scatter plots are placed by adjustText, with scipy
    ("make_figure", "make_report"): {"matplotlib", "pandas", "scipy.special"},
}
"""What programs that need some of it import; all others need nothing of it."""

OWN_OPTIONS = [
    f"nat/{family}/{name}.py"
    for family in registry.FAMILIES
    for name in registry.names(family)
    if registry.options_class(family, name) is None
]
# as docs/adding-a-method.md allows
described_apart = pytest.mark.skipif(bool(OWN_OPTIONS), reason=f"torch is read by {OWN_OPTIONS}")


def run(code: str, folder: Path = ROOT) -> str:
    """What Python code prints in a process."""
    status, printed, errors = python("-c", code, folder=folder, path=folder)
    assert status == 0, errors[-2000:]
    return printed


def heavy(program: str) -> set[str]:
    """What a process imports of `HEAVY`, NumPy and sacreBLEU."""
    *_, last = run(f"{program}\nimport sys; print(*sys.modules)").splitlines()
    found = {*last.split()}
    return found & {*HEAVY, "numpy", "sacrebleu"}


def test_a_program_imports_what_it_needs_and_no_more() -> None:
    others = {*programs()} - {name for names in NEEDED for name in names}
    for names, needed in {**NEEDED, tuple(others): set()}.items():
        imported = heavy(f"import {', '.join(f'workflow_scripts.{name}' for name in names)}")
        assert imported - {"numpy", "sacrebleu"} == needed, names


@described_apart
def test_the_configuration_and_the_graph_need_none_of_what_jobs_compute_with() -> None:
    load = "from nat.configuration import load; load('demo')"
    assert heavy("import nat.analyses.requirements, nat.artifacts, nat.configuration") <= {"numpy"}
    assert heavy(f"import nat.workflow.graph; {load}") <= {"numpy", "pandas", "sacrebleu"}


@described_apart
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
import sys
sys.modules["torch"] = None  # so that to import it is an error
sys.argv = ["snakemake", "-n", "all", "--config", "scale={scale}"]
from snakemake.cli import main
main()
""",
        copy_repository(tmp_path, papers),
    )
    assert counts(screen)["analyse"]


def test_a_training_imports_nothing_that_only_other_tasks_of_fairseq_need() -> None:
    imported = run("import sys, nat.fairseq_plugin.launcher; print(*sys.modules)").split()
    assert not {"sklearn", "pandas", "scipy.stats"} & {*imported}
