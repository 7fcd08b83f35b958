"""What is run again after each kind of change, and which numbers the report marks as older."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nat.configuration import read
from nat.report.results import Results
from tests.graph.test_graph import counts, finished_run, jobs, snakemake

pytestmark = [pytest.mark.graph, pytest.mark.timeout(1000)]
TARGETS = ["overview", "checked"]

PAPER = """
title: checked
description: for this test
cells: {task: wmt14-en-de, split: test, measure: tokenised_bleu, decoding: one-pass}
tables:
  1:
    title: three systems
    columns: [tokenised_bleu]
    rows:
      - {label: raw, system: nat-raw}
      - {label: distilled, system: nat-kd}
      - {label: masked, system: cmlm-kd, decoding: own, ours_only: true}
figures:
  1:
    title: two systems
    kind: lines
    x: {label: decoding steps}
    panels: [wmt14-en-de]
    series:
      - {label: raw, system: nat-raw, points: [{x: 1}]}
      - {label: distilled, system: nat-kd, points: [{x: 1}]}
claims:
  distillation: {claim: Distilled text is better than raw text., from: nobody, in: table 1,
    compare: distilled > raw}
"""
PUBLISHED = """table,row,column,row_group,system,variant,task,metric,value,unit,note,use
table1,raw,tokenised BLEU,,raw,,wmt14-en-de,bleu,20.0,BLEU,source=authors,ours
table1,distilled,tokenised BLEU,,distilled,,wmt14-en-de,bleu,25.0,BLEU,source=authors,ours
"""
DECODING = "method: mask_predict\nsteps: 3\nlength_beam: 2\n"

OF_CMLM = {f"cmlm-kd/mask-predict-{steps}-lb5" for steps in (1, 2, 4, 10)} | {"cmlm-kd/own"}
OF_DIMS = {f"dims-cmlm-kd/mask-predict-{steps}-lb5" for steps in (1, 2, 4)}
EVERYTHING = {"at-base/beam5", "nat-raw/one-pass", "nat-kd/one-pass"} | OF_CMLM | OF_DIMS


@dataclass(frozen=True)
class Change:
    """A change of a file, and what follows from it.

    Attributes:
        file: that is changed.
        before: a text in it.
        after: what takes its place.
        jobs: that run again, by rule, without those of the targets.
        trained: systems among them that are trained.
        marked: results that the report marks, as system and decoding.
    """

    file: str
    before: str
    after: str
    jobs: dict[str, int] = field(default_factory=dict)
    trained: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)


CHANGES = {
    "a value of a recipe": Change(
        "config/recipes/dims.yaml",
        "clip_norm: 0.0",
        "clip_norm: 1.0",
        {"train": 1, "translate_and_score": 1, "table": 1, "figure": 1},
        {"dims-cmlm-kd"},
        OF_DIMS,
    ),
    "a key of a system": Change(
        "config/systems/cmlm.yaml",
        "label_smoothing: 0.1",
        "label_smoothing: 0.2",
        {"train": 2, "translate_and_score": 3, "table": 2, "figure": 1},
        {"cmlm-kd", "dims-cmlm-kd"},
        OF_CMLM | OF_DIMS,
    ),
    "a decoding": Change(
        "config/decodings/own.yaml",
        "steps: 3",
        "steps: 4",
        {"translate_and_score": 1, "table": 1},
        marked={"cmlm-kd/own"},
    ),
    "a table of a paper": Change(
        "config/papers/overview.yaml",
        "label: NAT, distilled text",
        "label: NAT on distilled text",
        {"table": 1},
    ),
    "one more decoding": Change(
        "config/papers/overview.yaml",
        "steps: [1, 2, 4, 10]}",
        "steps: [1, 2, 4, 7, 10]}",
        {"translate_and_score": 1, "table": 1, "figure": 1},
    ),
    "a figure of a paper": Change(
        "config/papers/checked.yaml", "label: decoding steps", "label: steps", {"figure": 1}
    ),
    "a claim": Change(
        "config/papers/checked.yaml", "distilled > raw", "distilled > raw + 1", {"claims": 1}
    ),
    "a published value": Change(
        "config/published/checked.csv", "20.0", "21.0", {"table": 1, "figure": 1, "claims": 1}
    ),
    "the preparation of a corpus": Change(
        "config/corpora/toy-micro.yaml",
        "bpe_merges: 100",
        "bpe_merges: 90",
        trained={"at-base", "nat-raw", "nat-kd", "cmlm-kd", "dims-cmlm-kd"},
        marked=EVERYTHING,
    ),
    "code of reports": Change(
        "nat/figures/drawing.py",
        "import",
        "import os\nimport",
        {"table": 2, "figure": 2, "claims": 1},
    ),
    "code of a decoding": Change("nat/decoding/mask_predict.py", "from nat", "import os\nfrom nat"),
    "code of trainings": Change("nat/jobs/train.py", "import", "import os\nimport"),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which all of `TARGETS` has run; it has no other papers."""
    repository, _ = finished_run(tmp_path_factory)
    for path in ("config/papers/dims.yaml", "config/published/dims.csv"):
        (repository / path).unlink()
    (repository / "config/papers/checked.yaml").write_text(PAPER)
    (repository / "config/published/checked.csv").write_text(PUBLISHED)
    (repository / "config/decodings/own.yaml").write_text(DECODING)
    status, screen = snakemake(repository, *TARGETS)
    assert status == 0, screen
    return repository


@contextmanager
def changed(path: Path, before: str, after: str) -> Iterator[None]:
    """Change a file, and leave it as it was."""
    text, times = path.read_text(), path.stat()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    try:
        yield
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def marked(repository: Path) -> set[str]:
    """Results of `TARGETS` that the report marks, as system and decoding."""
    results = Results(read("micro", repository))
    return {
        f"{cell.system}/{cell.decoding}"
        for report, cells in results.cells.items()
        for cell in cells
        if report.paper in TARGETS and results.older([cell])
    }


def test_nothing_is_run_or_marked_without_a_change(repository: Path) -> None:
    status, screen = snakemake(repository, "-n", *TARGETS)
    assert status == 0 and "Nothing to be done" in screen, screen
    assert marked(repository) == set()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_exactly_what_depends_on_a_change(repository: Path, change: Change) -> None:
    with changed(repository / change.file, change.before, change.after):
        status, screen = snakemake(repository, "-n", *TARGETS)
        found = marked(repository)
    assert status == 0, screen
    ran = {} if "Nothing to be done" in screen else counts(screen)
    due = {rule: count for rule, count in ran.items() if rule not in TARGETS}
    if change.jobs or not change.trained:
        assert due == change.jobs, screen
    assert {job.split(" ")[0] for job in jobs(screen, "train")} == change.trained
    assert found == change.marked
