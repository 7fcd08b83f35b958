"""What the files of `config/papers` show, beyond the cells that `tests/golden` has stored."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nat.analyses import known_law, schedule_bounds, step_errors
from nat.configuration import Configuration, read
from nat.configuration import runnable as module
from nat.configuration.runnable import cannot_prepare
from nat.data.splits import local_files
from nat.data.vocabulary import VocabularySizes
from nat.measures.known import LATENCY, MEASURES
from nat.papers import published, reports, values
from nat.papers.cells import OVER, Cell, shown
from nat.papers.reader import NOT_RUN, Reader
from nat.training.model_file import build_model
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED
from tests.made_up_run import REPOSITORY, report
from tests.repository import configured

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
        part = found.paper(paper).parts.get(f"{target[1]} {target[2]}")
        settings = part is not None and part.kind == "settings"
        licensed = target == ("hrt", "table", "4") and cannot_prepare(found, "nist-zh-en")
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


def test_nothing_is_run_on_licensed_text_that_is_not_there(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    corpus = "nist-zh-en"

    def nist() -> set[tuple[bool, str]]:
        found = report(read("paper", tmp_path), "hrt", "table 4")
        ours = [each for each in found if each.task == corpus and each.system]
        return {(each.source is not None, each.reason) for each in ours}

    missing = f"not run: data/{corpus}/train.zh is not there (licensed by the LDC)"
    assert (False, missing) in nist() and {there for there, _ in nist()} == {False}
    described = read("paper", tmp_path).corpus(corpus)
    files = local_files(described) | local_files(described, references=True)
    for path in (tmp_path / file for file in files.values()):
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


def test_measures_are_of_the_steps_that_are_analysed() -> None:
    assert known_law.STEPS == step_errors.STEPS == schedule_bounds.STEPS
    for name, more in (("bound_factorisation", []), ("law_kl", ["all"])):
        named = {each for each in MEASURES if each.startswith(f"{name}_")}
        assert named == {f"{name}_{steps}" for steps in [*known_law.STEPS, *more]}


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
    found = read("demo", REPOSITORY)
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
        plain = read("paper", tmp_path)
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
