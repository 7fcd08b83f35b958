"""What the files of `config/papers` show, beyond the cells that `tests/golden` has stored."""

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

from nat.analyses import known_law
from nat.configuration import read
from nat.configuration import runnable as module
from nat.data.corpus_parts import local_files
from nat.data.vocabulary import VocabularySizes
from nat.measures.known import MEASURES
from nat.papers import claims, reports, values
from nat.papers.cells import MAJORITY
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.relation import relation
from nat.papers.verdicts import region
from nat.training.model_file import build_model
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED
from tests.messages import must_name
from tests.repository import ROOT, configured

PAPERS = sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml"))


@pytest.mark.parametrize("scale", ["demo", "paper"])
@pytest.mark.parametrize("paper", PAPERS)
def test_reports_read_the_results_of_all_that_they_show(paper: str, scale: str) -> None:
    found = configured(scale)
    for report in reports.every(found):
        if report.paper == paper:
            files = {each.path for each in report.inputs(found).results}
            assert {cell.path for cell in reports.cells(found, report)} <= files


def test_numbers_on_the_corpus_of_a_paper_are_those_of_another_training_at_another_scale() -> None:
    cells = relation(configured("gpu"), "hints")["table 2"].cells
    (stand_in,) = {cell.stand_in for cell in cells if cell.source is not None}
    must_name(stand_in, "iwslt14-de-en", "scale gpu", "the training of scale paper")


def test_what_needs_several_references_of_a_sentence_is_not_run_without_them() -> None:
    cells = relation(configured("gpu"), "fully_nat")["figure 6"].cells
    assert {cell.reason for cell in cells} == {"multi30k-en-de has one reference per sentence"}


def test_what_the_papers_print_agrees_with_their_claims() -> None:
    against = set()
    for paper in PAPERS:
        for check in claims.checks(configured("paper"), paper):
            printed: dict[Any, Any] = {side: side.first.published for side in check.sides}
            numbers = all(isinstance(each, float) for each in printed.values())
            if check.kind == "correlation" or not numbers:
                continue
            pairs = [(printed[one], printed.get(other, other)) for one, other in check.pairs]
            differences = [round(left - right, 6) for left, right in pairs]
            if check.kind == "trend":  # the last one is from first to last
                differences.pop()
            elif check.kind == "gains":
                labels = [one.label for one, _ in check.pairs]
                named = differences.pop(labels.index(check.relation))
                differences = [named - each for each in differences]
            size = pairs[0][1] if check.share else 1
            wanted = region(check.relations, check.margin * size)
            needed = len(differences) // 2 + 1 if check.kind == MAJORITY else len(differences)
            if sum(each in wanted for each in differences) < needed:
                against.add((paper, check.claim, check.case))
    assert against == {
        ("dims", "imputer", "WMT14 En-De, 4 steps"),  # its text says otherwise
        ("hrt", "falling-speed-up", "CMLM10, cpu"),  # 0.3 twice, rounded
    }


@pytest.mark.parametrize(
    ("system", "other"),
    [("hrt-k4", "hrt-at-base"), ("hrt-20l", "at-20l"), ("sat-mixed", "hrt-at-base")],
)
def test_both_stages_share_one_set_of_parameters(system: str, other: str) -> None:
    # the begin symbol of every k-th token is one of the special symbols of every vocabulary
    sizes = VocabularySizes(500)
    models = (
        build_model(configured("demo").training("toy-ka-lu", name), sizes)
        for name in (system, other)
    )
    one, two = (sum(each.numel() for each in model.parameters()) for model in models)
    assert one == two


def test_measures_are_of_the_steps_that_are_analysed() -> None:
    for name, more in (("bound_factorisation", []), ("law_kl", ["all"])):
        named = {each for each in MEASURES if each.startswith(f"{name}_")}
        assert named == {f"{name}_{steps}" for steps in [*known_law.STEPS, *more]}


@pytest.mark.parametrize("compiled", [False, True])
def test_systems_of_fairseq_are_run_where_its_parts_are_there(
    compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: compiled)
    found = read("demo", ROOT)
    states: dict[str, set[str]] = {}
    parts = relation(found, "fully_nat")
    names = ("table 2", "figure 1", "figure 4")
    for each in itertools.chain.from_iterable(parts[name].numbers for name in names):
        label = each.first.category or each.first.row
        if label.endswith(" of fairseq") and each.first.task == "wmt14-en-de-4m":
            record = values.record("demo", each, Reader(tmp_path))
            states.setdefault(label, set()).add(record["status"])
    needs = NOT_RUN if compiled else NEEDS_COMPILED
    assert states == {
        "iNAT of fairseq": {NOT_RUN},
        "NAT-CRF of fairseq": {NOT_RUN},
        "LevT of fairseq": {needs},
        "insertion Transformer of fairseq": {needs},
    }
    systems = ("levt-kd", "insertion-kd")
    assert {found.system(name).target.options.get("model") for name in systems} == {*COMPILED}


@pytest.mark.parametrize(
    ("paper", "number", "rows", "files"),
    [
        ("hrt", "4", "", ["data/nist-zh-en/train.zh"]),
        ("fully_nat", "3", "published checkpoint", ["data/fully-nat/ja-en/dict.txt"]),
    ],
)
def test_what_needs_files_that_nobody_can_download_is_run_where_they_are(
    paper: str, number: str, rows: str, files: list[str], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")

    def states() -> set[str]:
        shown = relation(read("paper", tmp_path), paper)[f"table {number}"].numbers
        ours = [each.first for each in shown if each.label.startswith(rows)]
        return {each.reason for each in ours if each.system}

    assert len(states()) == 1 and f"not run: {files[0]} is not there" in "".join(states())
    described = read("paper", tmp_path).corpus("nist-zh-en")
    local = local_files(described) + local_files(described, references=True)
    for path in (tmp_path / file for file in [*files, *dict(local).values()]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert states() == {""}
