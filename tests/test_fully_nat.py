"""The paper Fully-NAT, as `config/papers/fully_nat.yaml` has it."""

import csv
import shutil
from pathlib import Path

import pytest
from repository import configured

from nat.cells import values
from nat.cells.entry import QUOTED
from nat.cells.paper import entries
from nat.claims import claim_checks
from nat.configuration import configuration as module
from nat.configuration import load
from nat.configuration.configuration import Configuration
from nat.papers import reports
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED

ROOT = Path(__file__).resolve().parents[1]
TABLES = "23456"


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return configured("paper")


def test_every_table_and_figure_is_a_target(configuration: Configuration) -> None:
    targets = [target for target in reports.targets(configuration) if target[0] == "fully_nat"]
    assert {reports.name(target) for target in targets} == {
        *(f"fully_nat_table_{number}" for number in TABLES),
        *(f"fully_nat_figure_{number}" for number in "12456"),
        "fully_nat_claims",
    }


def test_every_published_value_has_a_place(configuration: Configuration) -> None:
    shown = set()
    for number in TABLES:
        for entry in entries(configuration, "fully_nat", "table", number):
            if entry.published is not None:
                shown.add(int(entry.published.source.split("row ")[1].split(":")[0]))
    with (ROOT / "config/published/fully_nat.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    wanted = {number for number, line in enumerate(lines, 2) if line["use"] != "none"}
    assert shown == wanted and len(lines) == 313
    of_no_table = {line["metric"] for line in lines if line["use"] == "none"} & {"bleu", "speedup"}
    assert of_no_table == {"speedup"}  # of the abstract, in table 2 as well


def test_rows(configuration: Configuration) -> None:
    places = {number: entries(configuration, "fully_nat", "table", number) for number in TABLES}
    rows = {number: len({entry.row for entry in found}) for number, found in places.items()}
    assert rows == {
        "2": 3 + 10 + 14 + 5 + 4 + 4 + 3,
        "3": 10 + 3 + 6 + 2,
        "4": 15,
        "5": 9 + 4,
        "6": 4 + 4,
    }
    assert len({entry.cells[0].system for entry in places["4"]}) == 15
    assert all(entry.published is not None and entry.published.own for entry in places["4"])


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_at_in_an_inference_engine_is_beside_every_speed(scale: str) -> None:
    found = configured(scale)
    shown = {f"table {number}": entries(found, "fully_nat", "table", number) for number in TABLES}
    shown |= {f"figure {number}": entries(found, "fully_nat", "figure", number) for number in "14"}
    for name, places in shown.items():
        timed = [
            (one, one.cells[0].decoding)
            for place in places
            for one in (place, place.across)
            if one is not None and one.cells and one.measure in ("latency", "speed_up")
        ]
        engine = {
            (one.address.system, decoding)
            for one, decoding in timed
            if one.address is not None and decoding.startswith("ctranslate2")
        }
        sizes = ("base", "12-1-kd", "big") if name == "table 3" else ("base", "12-1-kd")
        assert engine == {
            (f"fully-nat-at-{size}", f"ctranslate2-{precision}-beam5")
            for size in sizes
            for precision in ("float32", "int8")
            if timed
        }, name
        # a speed-up is over PyTorch, in figures as well, whose points share their coordinates
        over = {other.decoding for one, _ in timed for other in one.over}
        assert over <= {"beam5"}, name


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_what_is_timed_is_what_was_scored(scale: str) -> None:
    found = configured(scale)
    places = [("table", number) for number in "2356"] + [("figure", number) for number in "14"]
    for kind, number in places:
        scored: dict[tuple[str, ...], set[tuple[str, str, str, int]]] = {}
        timed: dict[tuple[str, ...], set[tuple[str, str, str, int]]] = {}
        for place in entries(found, "fully_nat", kind, number):
            # in figures each point is a row of its own
            name = (place.row, place.category, place.column) if kind == "figure" else (place.row,)
            for one in (place, place.across):
                for cell in () if one is None else one.cells:
                    rows = timed if cell.source == "latency" else scored
                    model = (cell.corpus, cell.system, cell.decoding, cell.seed)
                    rows.setdefault(name, set()).add(model)
        assert timed, (kind, number)
        for name, models in timed.items():
            assert models <= scored[name], (kind, number, name)
            assert len({model[1:] for model in models}) == 1, (kind, number, name)


@pytest.mark.parametrize("compiled", [False, True])
def test_systems_of_fairseq_are_run_where_its_parts_are_there(
    compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: compiled)
    found = load("demo", ROOT)
    shown: dict[str, set[str]] = {}
    for kind, number in (("table", "2"), ("figure", "1"), ("figure", "4")):
        for entry in entries(found, "fully_nat", kind, number):
            label = entry.category or entry.row
            if label.endswith(" of fairseq") and entry.task == "wmt14-en-de-4m":
                record = values.measured_record("demo", entry, tmp_path)
                shown.setdefault(label, set()).add(record["status"])
    needs = {values.NOT_RUN if compiled else NEEDS_COMPILED}
    assert shown == {
        "iNAT of fairseq": {values.NOT_RUN},
        "NAT-CRF of fairseq": {values.NOT_RUN},
        "LevT of fairseq": needs,
        "insertion Transformer of fairseq": needs,
    }
    models = {
        found.system(name).target.options.get("model") for name in ("levt-kd", "insertion-kd")
    }
    assert models == set(COMPILED)


def test_published_checkpoints_are_run_where_their_files_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")

    def states(number: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for entry in entries(load("paper", tmp_path, checked=False), "fully_nat", "table", number):
            if entry.row.startswith("published checkpoint"):
                found.setdefault(entry.task, set()).add("" if entry.cells else entry.reason)
        return found

    folder = "data/fully-nat"
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


def test_teachers_are_those_that_the_paper_names(configuration: Configuration) -> None:
    teachers = {
        (entry.task, entry.row): candidate.system
        for number in "23"
        for entry in entries(configuration, "fully_nat", "table", number)
        if entry.cells
        for candidate in configuration.training(
            entry.cells[0].corpus, entry.cells[0].system
        ).text.candidates
    }
    for (task, row), teacher in teachers.items():
        size = "big" if task == "wmt20-ja-en" else "base"
        learns = any(part in row for part in ("KD", "beam 20", "NPD", "of fairseq"))
        assert teacher == (f"fully-nat-at-{size}" if learns else None), (task, row)


def test_the_demo_has_a_stand_in_for_every_task() -> None:
    demo = configured("demo")
    for paper, kind, number in reports.targets(demo):
        if paper == "fully_nat" and (kind == "table" or kind == "figure"):
            for entry in entries(demo, paper, kind, number):
                without = NEEDS_COMPILED, "not run: published models are of scale paper"
                known = (QUOTED, *without)
                assert entry.cells or entry.reason in known, (kind, number, entry.row)


@pytest.mark.parametrize("scale", ["demo", "small", "paper"])
def test_claims(scale: str) -> None:
    found = claim_checks.checks(configured(scale), "fully_nat")
    assert {check.claim for check in found} >= {
        *("kd", "ctc-above-axe", "vae-five", "glat-above-rnd", "all-four", "beam", "beam-cost"),
        *("bonus", "big-kd", "dimensions", "dimensions-ctc", "plateau", "lead-shrinks", "sixteen"),
    }
    printed = {
        check.claim for check in found if claim_checks.published_difference(check) is not None
    }
    assert {"kd", "vae-five", "all-four", "beam-cost", "sixteen", "plateau"} <= printed
    (bonus,) = (check for check in found if check.claim == "bonus")
    # what differs is the bonus alone, neither the search nor the language model
    decodings = [place.address.decoding for place in bonus.places if place.address is not None]
    assert decodings == ["ctc-beam20-lm4", "ctc-beam20-lm4-printed"]
    (own_gain,) = (check for check in found if check.claim == "big-kd-at")
    assert (own_gain.relation, own_gain.margin) == ("above", 0)


def test_times_have_a_unit() -> None:
    configuration = configured("paper")
    shown = {
        (place.row, place.column): place
        for number in ("3", "6")
        for place in entries(configuration, "fully_nat", "table", number)
        if place.measure == "latency"
    }
    assert all(column.endswith("(ms)") for _, column in shown)
    assert shown["upsampling 3", "latency, CPU (ms)"].published.value == 81.8
