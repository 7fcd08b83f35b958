"""What the files of `config/papers` show, beyond the cells that `tests/golden` has stored."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_run import REPOSITORY, write_numbers
from repository import configured

from nat.analyses import known_law, revealing, schedule_bounds, step_errors
from nat.configuration import Configuration, load
from nat.configuration import at_scale as module
from nat.data.splits import local_files, local_references
from nat.data.vocabulary import VocabularySizes
from nat.measures.known import LATENCY, MEASURES
from nat.papers import claims, published, reports, values
from nat.papers.cells import OVER, Cell, shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.relation import report
from nat.papers.table_formats import NOTHING, heading
from nat.papers.verdicts import region
from nat.training.model_file import build_model
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED

PAPERS = sorted(path.stem for path in (REPOSITORY / "config/papers").glob("*.yaml"))
PUBLISHED = sorted(path.stem for path in (REPOSITORY / "config/published").glob("*.csv"))
PUBLISHED.remove("settings")
Group = tuple[list[Cell], list[Cell]]


def groups(configuration: Configuration, paper: str, *names: str) -> Iterator[Group]:
    """Of tables and figures the cells that are shown as one mean, and what they are over."""
    for name in names:
        yield from shown(report(configuration, paper, name)).values()


@pytest.mark.parametrize("scale", ["demo", "paper"])
@pytest.mark.parametrize("paper", PAPERS)
def test_reports_read_the_results_of_all_that_they_show(paper: str, scale: str) -> None:
    found = configured(scale)
    targets = [target for target in reports.targets(found) if target[0] == paper]
    assert {kind for _, kind, _ in targets} >= {"table"}
    for target in targets:
        cells = reports.cells(found, target)
        settings = reports.module(found, target).endswith("hyper_parameters")
        licensed = target == ("hrt", "table", "4") and found.cannot_prepare("nist-zh-en")
        assert cells or settings or licensed or paper == "laboratory", target
        files = {each.path for each in reports.files(found, target)}
        assert {cell.path for cell in cells} <= files


@pytest.mark.parametrize("paper", PUBLISHED)
def test_every_published_value_of_a_table_is_shown(paper: str) -> None:
    found = configured("paper")
    kinds = {f"table{number}": table.kind for number, table in found.paper(paper).tables.items()}
    names = (f"table {name.removeprefix('table')}" for name in kinds)
    origins = (cell.origin for name in names for cell in report(found, paper, name))
    lines = {int(re.findall(r"row (\d+):", origin)[0]) for origin in origins if origin}
    assert lines == {
        line.line
        for line in published.read(REPOSITORY, paper)
        if line.columns and kinds[line.table] != "settings"
    }


@pytest.mark.parametrize(
    ("paper", "claim", "differences"),
    [
        ("hints", "alignment-hints", [24.76 - 23.08]),
        ("hints", "long-sentences", [(20.63 - 17.48) - (25.55 - 23.08)]),
        ("hints", "repeated-words", [6.5 - 8.3]),
        ("hints", "ten-times", [30.2 - 10]),
        ("hints", "fertilities", [6.54, 7.11]),
        ("hrt", "sat", [26.69 - 22.07, 28.30 - 26.45, 28.49 - 26.67]),
        ("hrt", "chunk-size", [25.56 - 26.45, 27.17 - 28.49]),
        ("hrt", "first-stage", [(29.03 - 28.49) - (28.58 - 28.49)]),
        ("hrt", "faster", [1.8 - 1.5]),  # a speed-up against 1.5, not milliseconds
        ("mple", "inputs-default", [-0.35]),
    ],
)
def test_claims_are_judged_on_what_the_paper_prints(
    paper: str, claim: str, differences: list[float]
) -> None:
    found = [each for each in claims.checks(configured("paper"), paper) if each.claim == claim]
    assert all(each.text and each.source for each in found)
    printed = [claims.published_difference(each) for each in found][: len(differences)]
    assert printed == pytest.approx(differences, abs=0.02)


def test_published_correlations_are_those_of_the_published_rows() -> None:
    """The numbers of MPLE hold what its text says, but for one correlation."""
    found = {each.claim: each for each in claims.checks(configured("paper"), "mple")}
    for claim, largest in (("targets", -0.9), ("inputs", -0.9), ("regulariser-single", 0)):
        correlation = claims.published_difference(found[claim])
        assert correlation is not None and correlation < largest
    small = found["inputs-default"]
    holds = {r: region(small.relation, small.margin).contains(r) for r in (-0.6, -0.35, 0.35, 0.6)}
    assert holds == {-0.6: False, -0.35: True, 0.35: True, 0.6: False}


# Deployment


# Hints


# HRT


def test_nothing_is_run_on_licensed_text_that_is_not_there(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    corpus = "nist-zh-en"

    def nist() -> set[tuple[bool, str]]:
        found = report(load("paper", tmp_path, checked=False), "hrt", "table 4")
        ours = [each for each in found if each.task == corpus and each.system]
        return {(each.source is not None, each.reason) for each in ours}

    missing = f"not run: data/{corpus}/train.zh is not there (licensed by the LDC)"
    assert (False, missing) in nist() and {there for there, _ in nist()} == {False}
    described = load("paper", tmp_path, checked=False).corpus(corpus)
    for path in (local_files(described, tmp_path) | local_references(described, tmp_path)).values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert (True, "") in nist() and missing not in {reason for _, reason in nist()}


@pytest.mark.parametrize(
    ("system", "other"),
    [
        ("hrt", "hrt-at-base"),
        ("hrt-k4", "hrt-at-base"),
        ("hrt-12-1", "hrt-at-12-1"),
        ("hrt-20l", "at-20l"),
        ("sat-mixed", "hrt-at-base"),
    ],
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


# The laboratory


def test_measures_are_of_the_steps_that_are_analysed() -> None:
    assert known_law.STEPS == step_errors.STEPS == schedule_bounds.STEPS
    for name, more in (("bound_factorisation", []), ("law_kl", ["all"])):
        named = {each for each in MEASURES if each.startswith(f"{name}_")}
        assert named == {f"{name}_{steps}" for steps in [*known_law.STEPS, *more]}


def test_the_notes_say_what_the_bound_leaves_out() -> None:
    notes = " ".join(configured("demo").paper("laboratory").figures["1"].notes)
    assert f"more than {schedule_bounds.CLASSES} classes" in notes
    assert f"a probability below {revealing.SMALLEST:g}," in notes


# MPLE


def test_the_weights_of_the_notes_are_those_of_the_systems() -> None:
    found = configured("paper")
    for number in ("4", "9"):
        text = " ".join(found.paper("mple").tables[number].notes)
        for corpus in ("wmt14-en-de", "wmt17-zh-en"):
            gamma = found.training(corpus, "dynamic-kd").text.regulariser["gamma"]
            *first, last = map(str, gamma)
            assert f"{', '.join(first)} and {last}" in text


def test_the_exact_columns_of_table_1_are_filled_where_the_law_is_known(tmp_path: Path) -> None:
    plain = replace(configured("demo"), root=tmp_path)
    (tmp_path / "config/published").mkdir(parents=True)
    file = published.file_of("mple")
    shutil.copyfile(REPOSITORY / file, tmp_path / file)
    columns = "exact C", "exact C, padded", "excess of the NAT", "excess of the AT"
    names = ("exact_total_correlation", "exact_total_correlation_padded")
    exact = dict.fromkeys((*names, "parallel_excess", "autoregressive_excess"), 0.5)
    for cell in report(plain, "mple", "table 1"):
        if cell.corpus in ("toy-ka-lu", "toy-synthetic-a"):
            law = exact if cell.corpus == "toy-ka-lu" else {}
            write_numbers(tmp_path / cell.path, "valid", {"total_correlation": 1.0, **law})
    table = reports.make_table(plain, "mple", "1")
    headings = [heading(column) for column in table.columns]
    texts = {row[1]: dict(zip(headings, row, strict=True)) for row in table.rows}
    shown = {row: {texts[row][column] for column in columns} for row in texts}
    assert shown["WMT14 En-De"] == {"0.500†"} and shown["Synthetic A"] == {NOTHING}
    assert shown["WMT16 En-Ro"] == {"not run"}


# Fully-NAT


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_what_is_timed_is_what_was_scored(scale: str) -> None:
    for name in (*(f"table {number}" for number in "2356"), "figure 1", "figure 4"):
        found: dict[bool, dict[Any, set[Any]]] = {True: {}, False: {}}
        for own, _ in groups(configured(scale), "fully_nat", name):
            # in figures each point is a row of its own
            place = own[0].row, own[0].category, own[0].column if "figure" in name else ""
            for cell in own:
                if cell.source is not None:
                    timed = MEASURES[cell.measure].source == LATENCY
                    model = cell.corpus, cell.model, cell.decoding, cell.seed
                    found[timed].setdefault(place, set()).add(model)
        assert found[True], name
        for place, models in found[True].items():
            assert models <= found[False][place], (name, place)
            assert len({model[1:3] for model in models}) == 1, (name, place)


@pytest.mark.parametrize("compiled", [False, True])
def test_systems_of_fairseq_are_run_where_its_parts_are_there(
    compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: compiled)
    found = load("demo", REPOSITORY, checked=False)
    states: dict[str, set[str]] = {}
    for own, over in groups(found, "fully_nat", "table 2", "figure 1", "figure 4"):
        label = own[0].category or own[0].row
        if label.endswith(" of fairseq") and own[0].task == "wmt14-en-de-4m":
            record = values.record("demo", own, over, Reader(tmp_path))
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


def test_published_checkpoints_are_run_where_their_files_are(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    folder = "data/fully-nat"

    def states(number: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        plain = load("paper", tmp_path, checked=False)
        for cell in report(plain, "fully_nat", f"table {number}"):
            if cell.row.startswith("published checkpoint") and cell.role != OVER:
                found.setdefault(cell.task, set()).add("" if cell.source else cell.reason)
        return found

    missing = {f"not run: {folder}/jaen_distill_ctc_latent.pt is not there"}
    assert states("3") == {"wmt20-ja-en": missing}
    for task, files in states("2").items():
        sides = "".join(task.split("-")[1:3])
        assert files == {
            f"not run: {folder}/{sides}_distill_{kind}.pt is not there"
            for kind in ("ctc", "ctc_glat", "ctc_latent")
        }
    for name in ("jaen_distill_ctc_latent.pt", "ja-en/dict.txt"):
        file = tmp_path / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert states("3") == {"wmt20-ja-en": {""}}
