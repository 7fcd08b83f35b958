import copy
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_run
import numpy as np
import pytest
from made_up_run import CORPUS, OTHER_TASK, PAPER, TASK
from rich.console import Console
from test_training_runs import write_run

from nat.cells import values
from nat.cells.cell import Cell
from nat.cells.differences import combined, difference
from nat.checksums import record_of
from nat.claims import claim_checks, claim_reports, claims
from nat.claims.claims import UNJUDGED
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED
from nat.errors import UserError
from nat.files import read_json
from nat.measures.results import read
from nat.papers import reports
from nat.tables import tables

STEP = {"decoding": "mask-predict-1-lb5"}
TEACHER = {"system": "cmlm-kd", **STEP}
STUDENT = {"system": "dims-cmlm-kd", **STEP}
NAT = {"system": "nat-kd", "decoding": "one-pass"}
WHERE = {"teacher": TEACHER, "student": STUDENT, "nat": NAT}
BASE: dict[str, Any] = {
    "claim": "text",
    "from": "table 1",
    "measure": "tokenised_bleu",
    "split": "test",
    "task": TASK,
}


def compare(left: Any, relation: str, right: Any, **options: Any) -> dict[str, Any]:
    where = {name: WHERE[name] for name in (left, right) if name in WHERE}
    return {**BASE, "where": where, "compare": [left, relation, right], **options}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two systems; scoring takes most of the time of these tests."""
    folder = tmp_path_factory.mktemp("scored")
    made_up_run.publish(folder)
    made_up_run.write_corpus(folder, several=False)
    made_up_run.run(folder, "cmlm-kd", "mask-predict-1-lb5", 0.4)
    made_up_run.run(folder, "dims-cmlm-kd", "mask-predict-1-lb5", 0.1)
    return folder


@pytest.fixture
def root(scored: Path, tmp_path: Path) -> Path:
    return shutil.copytree(scored, tmp_path / "run")


def configuration(root: Path, seeds: list[int] | None = None, **found: Any) -> Any:
    names = {name.replace("_", "-"): claim for name, claim in found.items()}
    paper = {**copy.deepcopy(PAPER), "claims": names}
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def judge(root: Path, claim: dict[str, Any], seeds: list[int] | None = None) -> dict[str, Any]:
    (record,) = claims.judge(configuration(root, seeds, it=claim), "paper")
    return record


def test_a_clear_difference(root: Path) -> None:
    record = judge(root, compare("student", "above", "teacher"))
    assert record["verdict"] == HOLDS and record["seeds"] == "1"
    assert 0 < record["low"] < record["ours"] < record["high"]
    assert 0 < record["detectable"] < record["ours"]
    assert "paired bootstrap" in record["interval"]
    assert record["sources"].split()[0].endswith("dims-cmlm-kd/seed1/mask-predict-1-lb5/test.json")
    reverse = judge(root, compare("teacher", "above", "student"))
    assert reverse["verdict"] == FAILS and reverse["ours"] == -record["ours"]


def test_a_difference_within_the_noise_is_undecided(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.11)
    for relation in ("above", "below"):
        record = judge(root, compare("nat", relation, "student"))
        assert record["verdict"] == UNDECIDED and record["low"] < 0 < record["high"]
        assert record["detectable"] > abs(record["ours"])
        assert claim_reports.lines(record)["detectable"] == f"{record['detectable']:.2f}"
    # the same difference is clear enough for a wide margin, not for a narrow one
    margins = {0.01: UNDECIDED, 50: HOLDS}
    assert margins == {
        margin: judge(root, compare("nat", "about", "student", margin=margin))["verdict"]
        for margin in margins
    }


def test_one_sentence_says_nothing_of_the_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_up_run, "SENTENCES", 1)
    made_up_run.publish(tmp_path)
    made_up_run.write_corpus(tmp_path, several=False)
    for system, errors in (("cmlm-kd", 0.4), ("dims-cmlm-kd", 0.0)):
        score = read_json(made_up_run.run(tmp_path, system, "mask-predict-1-lb5", errors))
        ends = [score["measures"]["test"]["tokenised_bleu"][key] for key in ("low", "high")]
        assert ends == [None, None]
    record = judge(tmp_path, compare("student", "above", "teacher"))
    assert record["verdict"] == UNDECIDED and record["ours"] > 0
    assert record["low"] is None and record["interval"] == claims.NO_INTERVAL
    settings = configuration(tmp_path)
    table = tables.make(settings, "paper", "1")
    assert {each["low"] for each in table.records if each["status"] == "run"} == {None}


def test_intervals_over_seeds_are_also_over_sentences(root: Path) -> None:
    for system, errors in (("cmlm-kd", 0.4), ("dims-cmlm-kd", 0.1)):
        made_up_run.run(root, system, "mask-predict-1-lb5", errors, seed=2)
    claim = compare("student", "above", "teacher")
    record = judge(root, claim, [1, 2, 3])
    assert record["interval"] == ("Student's t over 2 seeds and paired bootstrap, 1,000 samples")
    assert record["seeds"] == "1 2"
    one = judge(root, claim)
    assert record["high"] - record["low"] > (one["high"] - one["low"]) / 2**0.5
    notes = [claim_reports.notes([each]) for each in (one, record)]
    assert [any("not over trainings" in note for note in each) for each in notes] == [True, False]


def test_what_was_not_run_says_why(root: Path) -> None:
    record = judge(root, compare("student", "above", "nat"))
    assert record["verdict"] == "not run" and record["reason"] == "nat: not run"
    elsewhere = compare("student", "above", "teacher", task=OTHER_TASK)
    assert "has no corpus" in judge(root, elsewhere)["reason"]


def test_numbers_and_published_values(root: Path) -> None:
    record = judge(root, compare("student", "not_below", 1.0, margin=-1))
    assert record["verdict"] == HOLDS and record["low"] > 0
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    claim |= {"compare": ["ours", "above", "GLAT"], "where": {"ours": "NAT", "GLAT": "quoted"}}
    record = judge(root, claim)
    assert record["verdict"] == UNJUDGED and record["published"] == pytest.approx(20.5 - 25.2)
    assert record["reason"] == (
        f"the published value is not comparable: corpus {CORPUS} at scale demo stands in for {TASK}"
    )
    paper = {**copy.deepcopy(PAPER), "claims": {"it": claim}}
    (record,) = claims.judge(made_up_run.as_the_paper(root, {"paper": paper}), "paper")
    assert record["verdict"] != "not run" and "against GLAT 25.20" in record["numbers"]


def test_quoted_places_are_what_others_are_compared_with(root: Path) -> None:
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    forward = claim | {"compare": ["NAT", "above", "quoted"]}
    made_up_run.publish(root, made_up_run.PUBLISHED.replace("25.2", "N/A"))
    record = judge(root, forward)
    assert record["verdict"] == "not run"
    assert record["reason"] == "quoted: the paper prints no number"
    for check in (
        {"compare": ["quoted", "below", "NAT"]},
        {"trend": {"of": ["NAT", "quoted"], "is": "rising"}},
        {"largest": {"of": ["NAT", "quoted"], "is": "quoted"}},
    ):
        with pytest.raises(UserError, match="claims.it: 'quoted' is not run here, so it can only"):
            judge(root, claim | check)


@pytest.mark.parametrize(
    "check",
    [
        {"compare": ["NAT", "above", "gain"]},
        {"compare": ["renamed", "above", "NAT"]},
        {"measure": "speed_up", "setting": "cpu-1", "over": "gain", "compare": ["NAT", "above", 1]},
    ],
    ids=["right", "left", "over"],
)
def test_a_claim_cannot_name_a_derived_row(root: Path, check: dict[str, Any]) -> None:
    paper = copy.deepcopy(PAPER)
    gain = {"label": "gain", "derived": {"difference": ["DiMS", "NAT"]}, "ours_only": True}
    paper["tables"]["1"]["rows"].append(gain)
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    paper["claims"] = {"it": claim | {"where": {"renamed": "gain"}} | check}
    with pytest.raises(UserError, match="claims.it: 'gain' is a derived row, which a claim cannot"):
        claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")


@pytest.mark.parametrize(
    "check",
    [
        {"largest": {"of": ["NAT", "NAT"], "is": "NAT"}},
        {"largest": {"of": ["NAT", "DiMS", "NAT"], "is": "DiMS"}},
        {"trend": {"of": ["NAT", "NAT"], "is": "rising"}},
    ],
)
def test_a_place_is_not_compared_with_itself(root: Path, check: dict[str, Any]) -> None:
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    kind = next(iter(check))
    with pytest.raises(UserError, match=f"claims.it: key '{kind}.of': the label 'NAT' is used"):
        judge(root, claim | check)


def test_a_correlation_over_systems(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    claim = {key: value for key, value in BASE.items() if key != "measure"} | {
        "margin": 0.8,
        "where": {**WHERE},
        "correlation": {
            "of": {"measure": "sacrebleu"},
            "with": {"measure": "chrf"},
            "over": ["teacher", "student", "nat"],
            "is": "above",
        },
    }
    scores = [
        [
            read(root / cell.score_path, "test")[measure].value
            for place in reports.cells(configuration(root, it=claim), ("paper", "claims", ""))
            if (cell := place).measure == measure
        ]
        for measure in ("sacrebleu", "chrf")
    ]
    record = judge(root, claim)
    assert claim_reports.lines(record)["claim"].endswith("; r above 0.8)")
    assert record["ours"] == pytest.approx(np.corrcoef(*scores)[0, 1])
    # three systems tell nothing of others
    assert (record["verdict"], record["interval"]) == (UNDECIDED, claims.NO_INTERVAL)
    notes = [note for note in claim_reports.notes([record]) if note.startswith(claims.NO_INTERVAL)]
    assert notes == ["none: a correlation over three systems has no interval."]
    assert claim_reports.lines(record)["ours"] == (
        f"r of sacreBLEU and chrF2 over 3 systems: +{record['ours']:.3f}"
    )
    assert not any(
        "/translations/" in each.path
        for each in claim_checks.files(configuration(root, it=claim), "paper")
    )
    claim["where"]["other"] = {"system": "nat-raw", "decoding": "one-pass"}
    claim["correlation"]["over"] = ["teacher", "student", "nat", "other"]
    assert judge(root, claim)["verdict"] == "not run"
    made_up_run.run(root, "nat-raw", "one-pass", 0.6)
    claim["margin"] = 0
    record = judge(root, claim)
    assert (record["verdict"], record["interval"]) == (HOLDS, "Fisher's z over 4 systems")


@pytest.mark.parametrize(
    ("relation", "margin", "bound"),
    [
        ("above", 0, ""),
        ("above", 12, "above 12"),
        ("below", 2, "below −2"),
        ("not_above", 0.5, "at most 0.5"),
        ("not_below", 1, "at least −1"),
        ("not_below", -7, "at least 7"),
        ("about", "50%", "within ±50%"),
    ],
)
def test_a_claim_with_a_margin_says_where_it_puts_the_difference(
    root: Path, relation: str, margin: float | str, bound: str
) -> None:
    record = judge(root, compare("student", relation, "teacher", margin=margin))
    said = f"; difference {bound}" if bound else ""
    assert claim_reports.lines(record)["claim"] == f"{record['text']} ({record['source']}{said})"


def test_each_case_is_judged(root: Path) -> None:
    claim = compare("student", "above", "teacher")
    claim["each"] = [
        {"label": "here"},
        {"label": "number", "where": {"teacher": 99.0}},
        {"label": "there", "task": OTHER_TASK},
    ]
    found = claims.judge(configuration(root, it=claim), "paper")
    assert [(record["case"], record["verdict"]) for record in found] == [
        ("here", "holds"),
        ("number", "does not hold"),
        ("there", UNJUDGED),
    ]
    assert claim_reports.summary(found) == f"1 holds, 1 does not hold, 1 {UNJUDGED}"


def test_lists_and_the_tasks_of_a_table_are_cases(root: Path) -> None:
    claim = {"claim": "text", "from": "table 1", "in": "table 1"}
    claim |= {"compare": ["DiMS", "above", "NAT"]}
    found = claim_checks.checks(configuration(root, it=claim), "paper")
    assert [check.case for check in found] == ["WMT14 En-De", "WMT14 De-En"]
    assert [check.places[1].published is None for check in found] == [False, True]
    several = compare("student", "above", "teacher") | {
        "label": "{steps} passes",
        "steps": [1, 4],
        "where": {
            name: {"system": place["system"], "decoding": "mask-predict-{steps}-lb5"}
            for name, place in (("student", STUDENT), ("teacher", TEACHER))
        },
    }
    found = claim_checks.checks(configuration(root, it=several), "paper")
    assert [check.case for check in found] == ["1 step passes", "4 steps passes"]
    assert [check.places[0].cells[0].decoding for check in found] == [
        "mask-predict-1-lb5",
        "mask-predict-4-lb5",
    ]


def test_names_of_the_paper_and_systems_of_cases(root: Path) -> None:
    claim = compare("student", "above", "teacher") | {"system": ["cmlm-kd"], "where": {}}
    paper = {
        "title": "Paper",
        "claims": {"it": claim},
        "where": {
            "student": {"system": "dims-{system}", **STEP},
            "teacher": {"system": "{system}", **STEP},
        },
    }
    (check,) = claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")
    assert check.case == "cmlm-kd"
    assert [place.cells[0].system for place in check.places] == ["dims-cmlm-kd", "cmlm-kd"]


def run_steps(root: Path, errors: dict[int, float]) -> list[dict[str, Any]]:
    for steps, share in errors.items():
        made_up_run.run(root, "cmlm-kd", f"mask-predict-{steps}-lb5", share)
    return [
        {"label": str(steps), "system": "cmlm-kd", "decoding": f"mask-predict-{steps}-lb5"}
        for steps in errors
    ]


def test_trends_and_the_largest(root: Path) -> None:
    places = run_steps(root, {2: 0.5, 4: 0.25, 8: 0.05})
    rising = judge(root, BASE | {"trend": {"of": places, "is": "rising"}})
    assert rising["verdict"] == HOLDS
    assert 0 < rising["low"] < rising["ours"] < rising["high"]
    assert (
        f"; from first to last: +{rising['ours']:.2f} BLEU" in claim_reports.lines(rising)["ours"]
    )
    for relation in ("falling", "flat"):
        trend = {"trend": {"of": places, "is": relation}, "margin": 1}
        assert judge(root, BASE | trend)["verdict"] == FAILS
    turned = [places[0], places[2], places[1]]
    assert judge(root, BASE | {"trend": {"of": turned, "is": "rising"}})["verdict"] == FAILS
    largest = judge(root, BASE | {"largest": {"of": places, "is": "8"}})
    assert largest["verdict"] == HOLDS
    assert largest["ours"] < rising["ours"]  # over the best of the others
    assert (
        f"; least difference: +{largest['ours']:.2f} BLEU" in claim_reports.lines(largest)["ours"]
    )
    assert judge(root, BASE | {"largest": {"of": places, "is": "4"}})["verdict"] == FAILS
    # 8 is above 2 for certain, but not above another of its kind
    made_up_run.run(root, "nat-kd", "one-pass", 0.06)
    places.append({"label": "equal", "system": "nat-kd", "decoding": "one-pass"})
    record = judge(root, BASE | {"largest": {"of": places, "is": "8"}})
    assert record["verdict"] == UNDECIDED and record["detectable"] > abs(record["ours"])


def test_gains_by_length(root: Path) -> None:
    claim = {key: value for key, value in BASE.items() if key != "measure"} | {
        "where": {
            name: {**place, "measure": "tokenised_bleu_bucket_{fifth}"}
            for name, place in (("student", STUDENT), ("teacher", TEACHER))
        },
        "gains": {
            "system": "student",
            "over": "teacher",
            "of": [{"label": "fifth {fifth}", "with": {"fifth": [1, 2, 3, 4, 5]}}],
            "is": "fifth 5",
        },
    }
    record = judge(root, claim)
    gains = [
        float(part.split()[-1].replace("−", "-"))
        for part in record["numbers"].split(";")[0].split(", ")
    ]
    assert record["verdict"] == UNDECIDED and len(gains) == 5
    assert record["ours"] == pytest.approx(gains[4] - max(gains[:4]), abs=0.011)
    assert record["low"] < record["ours"] < record["high"]
    claim["gains"]["is"] = "fifth 6"
    with pytest.raises(UserError, match="'fifth 6' .* labels fifth 1"):
        judge(root, claim)


def test_speed_ups_are_over_a_named_system(root: Path) -> None:
    settings = {"cpu-1": (2.0, 8.0), "cpu-32": (1.0, 3.0)}
    found: dict[Cell, list[float] | str] = {}
    for setting, times in settings.items():
        for place, each in zip((STUDENT, TEACHER), times, strict=True):
            names = CORPUS, place["system"], 1, place["decoding"], "", "speed_up", setting
            found[Cell("demo", *names, group="paper_table_2")] = [each] * 5
    for place in (STUDENT, TEACHER):
        names = CORPUS, place["system"], 1, place["decoding"], "", "speed_up", "cuda-1"
        found[Cell("demo", *names, group="paper_table_2")] = "no GPU"
    made_up_run.write_latencies(root, found)
    shown = {
        "title": "latencies",
        "cells": {"task": TASK, "measure": "latency"},
        "columns": [{"label": "{setting}", "setting": [*settings, "cuda-1"]}],
        "rows": [{"label": "AT", **TEACHER}, {"label": "DiMS", **STUDENT}],
    }
    base = {"claim": "text", "from": "table 1", "measure": "speed_up", "task": TASK}
    base["in"] = "table 2"
    base |= {
        "setting": "cpu-1",
        "over": "AT",
    }
    where = {
        "student": STUDENT,
        "batch": {**STUDENT, "setting": "cpu-32"},
        "gpu": {**STUDENT, "setting": "cuda-1"},
    }
    systems = {"AT": TEACHER}

    def judged(**claim: Any) -> dict[str, Any]:
        named = {name: where[name] for name in claim["compare"] if name in where}
        claim = base | {"where": named} | claim
        paper = {**copy.deepcopy(PAPER), "systems": systems, "claims": {"it": claim}}
        paper["tables"]["2"] = shown
        plain = made_up_run.configuration(root, {"paper": paper})
        read = reports.files(plain, ("paper", "claims", ""))
        other = {"batch", "gpu"} & set(map(str, claim["compare"]))
        assert len(read) == 1 + len(other)
        (record,) = claims.judge(plain, "paper")
        return record

    record = judged(compare=["student", "above", 3])
    assert (record["verdict"], record["ours"]) == (HOLDS, 1.0)
    record = judged(compare=["batch", "below", "student"])
    assert (record["verdict"], record["ours"], record["low"]) == (HOLDS, -1.0, -1.0)
    assert claim_reports.lines(record)["95% interval"] == "[−1.00, −1.00]"
    record = judged(compare=["gpu", "below", "student"])
    assert (record["verdict"], record["reason"]) == (UNJUDGED, "no GPU")
    record = judged(compare=["student", "above", "gpu"])
    assert (record["verdict"], record["reason"]) == (UNJUDGED, "no GPU")
    with pytest.raises(UserError, match="claims.it: key 'over': 'quoted' is not run here"):
        judged(compare=["NAT", "above", 3], over="quoted", **{"in": "table 1"})
    del base["over"]
    with pytest.raises(UserError, match="claims.it: missing key 'over'"):
        judged(compare=["student", "above", 3])


def test_records_of_trainings(root: Path) -> None:
    ends = {"cmlm-kd": 20.0, "dims-cmlm-kd": 0.5}

    def train(system: str, planned: int) -> None:
        path = root / f"results/demo/models/{CORPUS}/{system}/seed1/training.json"
        write_run(path, [(1, 25.0), (2, ends[system])], lengths={"updates": planned})

    for system in ends:
        train(system, 40)

    def trained(left: str, relation: str, right: Any, measure: str) -> dict[str, Any]:
        claim = compare(left, relation, right, measure=measure, split=None)
        claim["where"] = {name: {"system": WHERE[name]["system"]} for name in claim["where"]}
        return claim

    record = judge(root, trained("student", "about", 1, "collapsed"))
    assert (record["verdict"], record["interval"]) == (HOLDS, claims.COUNTED)
    assert record["detectable"] is None and claim_reports.lines(record)["95% interval"] == "counted"
    assert judge(root, trained("teacher", "about", 1, "collapsed"))["verdict"] == FAILS
    # updates are only judged where early stopping ended both trainings
    claim = trained("student", "about", "teacher", "updates")
    record = judge(root, claim)
    assert record["verdict"] == UNJUDGED and "last update of the recipe" in record["reason"]
    train("cmlm-kd", 41)
    assert judge(root, claim)["verdict"] == UNJUDGED
    train("dims-cmlm-kd", 50)
    record = judge(root, claim)
    assert (record["verdict"], record["ours"]) == (HOLDS, 0)
    # a BLEU of one training is no count, and has no sentences to resample
    record = judge(root, trained("teacher", "above", 1, "best_validation_bleu"))
    assert (record["verdict"], record["interval"]) == (UNDECIDED, claims.NO_INTERVAL)


def test_a_majority_of_cases_is_one_judgement(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.6)
    claim = compare("left", "above", "teacher", majority=True) | {
        "where": {"teacher": TEACHER, "left": NAT},
        "each": [{"where": {"left": STUDENT}}, {"where": {"left": STUDENT, "teacher": NAT}}, {}],
    }
    record = judge(root, claim)
    assert record["verdict"] == HOLDS
    assert record["numbers"] == "2 of 3 cases, mean"
    claim["each"] = claim["each"][1:]
    assert judge(root, claim)["verdict"] == FAILS  # one of two is no majority
    with pytest.raises(UserError, match="claims.it: key 'majority'"):
        judge(root, compare("student", "above", 3, majority=True))
    with pytest.raises(UserError, match="claims.it: key 'label': .* is one judgement"):
        judge(root, claim | {"each": [{**claim["each"][0], "label": "a"}]})


def test_a_margin_may_be_a_share_of_the_right_side(root: Path) -> None:
    record = judge(root, compare("teacher", "about", "student", margin=1))
    right = float(record["numbers"].split()[-1])
    needed = {end: 100 * abs(record[end]) / right for end in ("low", "ours", "high")}
    for margin, expected in (
        (needed["low"] + 1, HOLDS),
        (needed["ours"], UNDECIDED),
        (needed["high"] - 1, FAILS),
    ):
        claim = compare("teacher", "about", "student", margin=f"{margin:.1f}%")
        assert judge(root, claim)["verdict"] == expected


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    """A run on a corpus whose references are all correct translations."""
    made_up_run.publish(tmp_path)
    made_up_run.write_corpus(tmp_path, complete=True)
    made_up_run.run(tmp_path, "cmlm-kd", "mask-predict-1-lb5", 0.4)
    made_up_run.run(tmp_path, "dims-cmlm-kd", "mask-predict-1-lb5", 0.1)
    return tmp_path


def judge_generated(root: Path, claim: dict[str, Any]) -> dict[str, Any]:
    found = configuration(root, it=claim)
    pairs = {"train": 1, "valid": 1, "test": 1}
    own = found.files["corpora"][CORPUS] | {"generator": {"pairs": pairs}}
    corpora = {CORPUS: own}
    (record,) = claims.judge(replace(found, files={**found.files, "corpora": corpora}), "paper")
    return record


def test_all_correct_translations_decide_where_they_are_references(generated: Path) -> None:
    claim = compare("student", "above", "teacher")
    record, own = judge_generated(generated, claim), judge(generated, claim)
    assert record["measure"] == "multi_reference_bleu" and own["measure"] == "tokenised_bleu"
    assert record["own_measure"] == own["own_measure"] == "tokenised_bleu"
    assert record["ours"] != own["ours"] == record["in_own_measure"]
    assert record["low_in_own_measure"] == own["low"] and own["in_own_measure"] is None
    scores = [
        read(generated / path, "test")["multi_reference_bleu"].value
        for path in record["sources"].split()
    ]
    assert record["ours"] == pytest.approx(scores[0] - scores[1])
    assert any("all the correct translations" in note for note in claim_reports.notes([record]))
    assert claim_reports.lines(record)["ours"].endswith(" multi-ref. BLEU")
    assert not claim_reports.lines(own)["ours"].endswith(" multi-ref. BLEU")
    assert claim_reports.lines(record)["in the claim's measure"].startswith(f"+{own['ours']:.2f} [")


@pytest.mark.parametrize(
    "change",
    [
        {"margin": 3},
        {"compare": ["student", "above", 3.0], "where": {"student": STUDENT}},
        {"compare": ["student", "not_below", "teacher"], "margin": -3},
        {"measure": "chrf"},
    ],
)
def test_points_of_a_measure_and_other_measures_are_judged_by_their_own(
    generated: Path, change: dict[str, Any]
) -> None:
    record = judge_generated(generated, compare("student", "above", "teacher") | change)
    assert record["measure"] == record["own_measure"] == change.get("measure", "tokenised_bleu")


def test_fifths_of_the_test_set_have_all_references_too(generated: Path) -> None:
    claim = compare("student", "not_below", "teacher", margin=0.5)
    del claim["measure"]
    measure = {"measure": "tokenised_bleu_bucket_5"}
    claim["where"] = {name: place | measure for name, place in claim["where"].items()}
    record = judge_generated(generated, claim)
    assert record["measure"] == "multi_reference_bleu_bucket_5"
    assert record["verdict"] != values.NOT_RUN and record["low"] < record["ours"] < record["high"]


def test_files_are_those_that_are_read(root: Path) -> None:
    plain = configuration(root, it=compare("student", "above", "teacher"))
    target = ("paper", "claims", "")
    assert target in reports.targets(plain)
    assert reports.name(target) == "paper_claims"
    files = reports.files(plain, target)
    assert len(files) == 4 and all((root / each.path).exists() for each in files)
    number = configuration(root, it=compare("student", "above", 3))
    assert len(reports.files(number, target)) == 2
    assert len(reports.cells(plain, target)) == 2


def test_tables_and_claims_agree_about_a_pair(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.13)
    made_up_run.publish(root, made_up_run.HEADER)
    rows = [{"label": "student", **STUDENT}, {"label": "nat", **NAT, "baseline": "student"}]
    cells = {key: BASE[key] for key in ("measure", "split", "task")}
    table = {"title": "Table", "cells": cells, "columns": [BASE["measure"]], "rows": rows}
    paper = {
        "title": "Paper",
        "tables": {"1": table},
        "claims": {"it": compare("nat", "above", "student")},
    }
    plain = made_up_run.configuration(root, {"paper": paper})
    (judged,) = claims.judge(plain, "paper")
    record = tables.make(plain, "paper", "1").records[1]
    assert judged["ours"] == pytest.approx(record["baseline_difference"], abs=2e-6)
    assert judged["interval"] == record["test"]
    one, other = (place.cells for place in claim_checks.checks(plain, "paper")[0].places)
    found = difference(one, other, root)
    assert found is not None and found.interval is not None
    assert record["p_value"] == round(found.estimate.p_value or 0, 6)
    assert (judged["low"], judged["high"]) == pytest.approx(
        (found.interval.low, found.interval.high), abs=1e-6
    )


def test_resamples_of_one_test_set_stay_together(root: Path) -> None:
    checks = claim_checks.checks(
        configuration(root, it=compare("student", "above", "teacher")), "paper"
    )
    one, other = (place.cells for place in checks[0].places)
    found = difference(one, other, root)
    assert found is not None
    minus = combined([found, found], lambda pair: pair[0] - pair[1]).interval()
    assert minus is not None and (minus.low, minus.high) == (0, 0)
    elsewhere = replace(found, sentences=("another", "test", ""))
    minus = combined([found, elsewhere], lambda pair: pair[0] - pair[1]).interval()
    assert minus is not None and minus.low < 0 < minus.high
    other_seed = replace(found, seeds=(2,))
    assert combined([found, other_seed], lambda pair: pair[0] - pair[1]).interval() is None


def test_a_correlation_is_of_the_mean_of_draws(root: Path) -> None:
    claim = {key: value for key, value in BASE.items() if key != "measure"} | {
        "where": WHERE,
        "correlation": {
            "of": {"measure": "sacrebleu"},
            "with": {"measure": "chrf"},
            "over": ["teacher", "student", "nat"],
            "is": "above",
        },
    }
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-2-lb5", 0.6)
    check = claim_checks.checks(configuration(root, it=claim), "paper")[0]
    drawn = []
    for place in check.places:
        first, *others = place.cells
        is_student = first.system == "dims-cmlm-kd"
        draws = (first, replace(first, decoding="mask-predict-2-lb5")) if is_student else ()
        drawn.append(replace(place, cells=draws or (first, *others)))
    means = [values.read(place, root).value for place in drawn]
    found = claims._correlation(replace(check, places=tuple(drawn)), root)
    assert not isinstance(found, str)
    assert found.value == pytest.approx(np.corrcoef(means[::2], means[1::2])[0, 1])
    assert found.seeds == (1,)


def test_draws_of_a_decoding_are_no_trainings(root: Path) -> None:
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-2-lb5", 0.2)
    checks = claim_checks.checks(
        configuration(root, it=compare("student", "above", "teacher")), "paper"
    )
    (first,), other = (place.cells for place in checks[0].places)
    draws = [first, replace(first, decoding="mask-predict-2-lb5")]
    alone = [difference([draw], other, root) for draw in draws]
    found = difference(draws, other, root)
    assert found is not None and found.seeds == (1,)
    assert found.value == pytest.approx(sum(each.value for each in alone if each is not None) / 2)
    assert found.interval is not None and "bootstrap" in found.interval.method
    assert found.interval.low < found.value < found.interval.high


def test_what_is_written_and_shown(root: Path) -> None:
    plain = configuration(
        root,
        first=compare("student", "above", "teacher"),
        second=compare("student", "above", "nat"),
    )
    found = claims.judge(plain, "paper")
    claim_reports.write(plain, "paper", found, root / "claims.csv")
    text = (root / "claims.md").read_text()
    assert "1 holds, 1 not run" in text and "not comparable" in text.lower()
    console = Console(width=100, record=True)
    claim_reports.show(plain, "paper", claim_reports.read(root / "claims.csv"), console)
    shown = console.export_text()
    assert "holds student" in shown and "not run nat: not run" in shown
    assert all("scale demo, one training of each system" in each for each in (text, shown))


def test_the_number_of_trainings_is_told(root: Path) -> None:
    three = configuration(root, [1, 2, 3], it=compare("student", "above", "teacher"))
    text = claim_reports.markdown(three, "paper", claims.judge(three, "paper"))
    assert "scale demo, 3 trainings of each system" in text


ONLY = {"compare": None, "where": WHERE}
GAINS = {"system": "student", "over": "teacher"}
CORRELATION = {
    "of": {"measure": "sacrebleu"},
    "with": {"measure": "sacrebleu"},
    "over": ["student", "teacher", "nat"],
    "is": "above",
}
STEPS = {
    "where": {
        name: {**place, "decoding": "mask-predict-{steps}-lb5"}
        for name, place in (("student", STUDENT), ("teacher", TEACHER))
    }
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trend": {"of": ["student", "teacher"], "is": "flat"}}, "give one of compare, trend"),
        ({"measure": None}, "no 'measure' is given; write the key 'measure' there"),
        ({"where": {**WHERE, "teacher": {"system": "x"}}}, "unknown system 'x'"),
        ({"compare": ["student", "above", "techer"]}, "'techer' is not a row"),
        ({"in": "table 1", "where": {"student": "DiM"}}, "'DiM' .*did you mean 'DiMS'"),
        (
            {"in": "table 1", "where": {"student": {"system": "glat-kd", "decoding": "one-pass"}}},
            "table 1 does not show",
        ),
        ({"in": "tabel 1"}, "'tabel 1', expected a table or figure"),
        ({"in": "table 9"}, "no table 9"),
        ({"compare": ["student", "about", "teacher"], "margin": -1}, "found -1, but no difference"),
        (
            {**ONLY, "trend": {"of": ["student"], "is": "rising"}},
            "'trend.of': found fewer than two",
        ),
        ({**ONLY, "largest": {"of": ["student"], "is": "student"}}, "fewer than two to compare"),
        (
            {**ONLY, "gains": {**GAINS, "of": [{"label": "a"}], "is": "a"}},
            "'gains.of': found fewer than two",
        ),
        (
            {**ONLY, "gains": {**GAINS, "of": [{"label": "a"}], "is": "a"}, "margin": "5%"},
            "'gains' has no right side",
        ),
        ({"compare": ["student", "about", "teacher"]}, "lies within a margin of 0"),
        (
            {**ONLY, "trend": {"of": ["student", "teacher"], "is": "flat"}, "margin": "0%"},
            "found 0%, but no interval lies within a margin of 0",
        ),
        ({"compare": ["student", "above", "student"]}, "are the same number"),
        (
            {**ONLY, "correlation": {**CORRELATION, "with": {"measure": "chrf"}}, "margin": 1.5},
            "Pearson's r lies between -1 and 1",
        ),
        ({**ONLY, "correlation": CORRELATION}, "'student' and 'student' are the same number"),
        (
            {
                **ONLY,
                "correlation": {
                    **CORRELATION,
                    "with": {"measure": "chrf"},
                    "over": ["nat", "nat", "student"],
                },
            },
            "'correlation.over': the label 'nat' is used twice",
        ),
        (STEPS | {"steps": [1, 1, 2], "majority": True}, "its cases: the label '1 step' is used"),
        ({"each": [{}, {}]}, "is the same comparison as another case"),
        (
            {"each": [{"label": "a"}, {"label": "a", "where": {"teacher": NAT}}]},
            "its cases: the label 'a' is used twice",
        ),
        ({"measure": "parameter_share"}, "'parameter_share' is relative to another system"),
        (
            {
                "in": "table 1",
                "compare": ["DiMS", "above", "nat"],
                "where": {"nat": {"of": "DiMS", "decoding": "one-pass"}},
            },
            "'DiMS' of table 1 has the decoding mask-predict-1-lb5, not one-pass as the claim "
            "says; known: NAT",
        ),
        ({"with": {"T": 2}}, "nothing in the claim uses the variable 'T'; known: system, task"),
        ({"each": [{"with": {"T": 2}}]}, "nothing in the claim uses the variable 'T'"),
        (
            {"where": {"student": STUDENT, "teacher": {**TEACHER, "with": {"T": 2}}}},
            "nothing in the claim uses the variable 'T'",
        ),
        ({"steps": 4}, "'steps' changes nothing of the claim; write {steps} in its decoding"),
        ({"setting": "cpu-1"}, "'setting' changes nothing of the claim; no measure here has a"),
        ({"system": "cmlm-kd"}, "'system' changes nothing of the claim; write {system} in a name"),
        (
            {"where": {"student": STUDENT, "teacher": TEACHER, "teachr": NAT}},
            "key 'where': nothing in the claim is called 'teachr'; did you mean 'teacher'",
        ),
        ({"over": "teacher"}, "key 'over': the claim compares no speed-ups; remove the key"),
    ],
)
def test_errors_name_the_claim(root: Path, change: dict[str, Any], message: str) -> None:
    bad = compare("student", "above", "teacher") | change
    bad = {key: value for key, value in bad.items() if value is not None}
    with pytest.raises(UserError, match=message) as caught:
        claims.judge(configuration(root, it=bad), "paper")
    assert str(caught.value).startswith("config/papers/paper.yaml: claims.it")


def test_a_paper_without_claims_is_not_judged(root: Path) -> None:
    told = "config/papers/paper.yaml has no 'claims'; name a paper that makes some; none is known"
    with pytest.raises(UserError, match=told):
        claims.judge(configuration(root), "paper")


def test_judgements_that_are_incomplete_are_not_read(root: Path) -> None:
    plain = configuration(root, it=compare("student", "above", "teacher"))
    csv = root / "claims.csv"
    claim_reports.write(plain, "paper", claims.judge(plain, "paper"), csv)
    claim_reports.read(csv)
    record_of(csv).unlink()
    heading, line, *_ = csv.read_text().splitlines()
    csv.write_text(f"{heading}\n{line[: len(line) // 4]}\n")
    with pytest.raises(UserError, match="claims.csv is not a table of this version; put"):
        claim_reports.read(csv)


def test_a_claim_takes_the_only_measure_of_its_table(root: Path) -> None:
    claim = {
        "claim": "text",
        "from": "table 1",
        "in": "table 1",
        "compare": ["DiMS", "above", "NAT"],
    }
    plain = configuration(root, it=claim | {"task": TASK})
    table = plain.files["papers"]["paper"]["tables"]["1"]
    del table["cells"]["measure"]
    for column in table["columns"]:
        column["measure"] = "sacrebleu"
    (check,) = claim_checks.checks(plain, "paper")
    assert {place.measure for place in check.places} == {"sacrebleu"}
    table["columns"].append({"label": "chrF", "measure": "chrf", "task": TASK, "ours_only": True})
    plain = made_up_run.configuration(root, plain.files["papers"])
    with pytest.raises(UserError, match="no 'measure' is given"):
        claim_checks.checks(plain, "paper")


def test_a_table_of_settings_has_no_numbers_for_claims(root: Path) -> None:
    paper = copy.deepcopy(PAPER)
    rows = [{"label": "rate", "key": "recipe.learning_rate"}]
    paper["tables"]["3"] = {
        "kind": "settings",
        "title": "settings",
        "columns": ["nat-kd"],
        "rows": rows,
    }
    paper["claims"] = {"it": compare("student", "above", "teacher", **{"in": "table 3"})}
    with pytest.raises(UserError, match="table 3 shows no numbers that a claim can compare"):
        claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")


def test_a_claim_that_names_a_row_and_asks_for_another_is_refused(root: Path) -> None:
    paper = copy.deepcopy(PAPER)
    cmlm = {"system": "CMLM", "steps": [1, 4]}
    paper["systems"] = {"CMLM": {"system": "cmlm-kd", "decoding": "mask-predict-{steps}-lb5"}}
    paper["tables"]["1"]["rows"].append({**cmlm, "ours_only": True})
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    paper["claims"] = {"it": claim | {"compare": ["CMLM, 1 step", "below", "NAT"]}}
    assert claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")
    paper["claims"]["it"]["steps"] = 4
    message = (
        "claims.it: 'CMLM, 1 step' of table 1 has the steps 1, not 4 as the claim says; did you "
        "mean 'CMLM, 4 steps'?"
    )
    with pytest.raises(UserError, match=re.escape(message)):
        claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")


def test_a_name_of_a_paper_that_no_claim_uses_is_refused(root: Path) -> None:
    paper = {**copy.deepcopy(PAPER), "claims": {"it": compare("student", "above", "teacher")}}
    paper["where"] = {"studnet": "DiMS"}
    with pytest.raises(UserError, match="where: no claim names 'studnet'; did you mean 'student'"):
        claim_checks.checks(made_up_run.configuration(root, {"paper": paper}), "paper")
