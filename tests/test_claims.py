import copy
import json
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

from nat.errors import UserError
from nat.measures.significance import Interval
from nat.reporting import claims, reports, tables
from nat.reporting.differences import combined, difference

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
    return {**BASE, "where": WHERE, "compare": [left, relation, right], **options}


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


@pytest.mark.parametrize(
    ("relation", "margin", "inside", "outside"),
    [
        ("above", 1.0, [1.1, 9], [1.0, -3]),
        ("below", 1.0, [-1.1], [-1.0, 0, 3]),
        ("not_above", 0.0, [0.0, -1], [0.1]),
        ("not_below", 1.0, [-1.0, 5], [-1.1]),
        ("about", 0.5, [0.5, -0.5, 0], [0.6, -0.6]),
    ],
)
def test_regions(relation: str, margin: float, inside: list[float], outside: list[float]) -> None:
    found = claims.region(relation, margin)
    assert all(map(found.holds, inside)) and not any(map(found.holds, outside))


def test_an_interval_is_sure_on_one_side_only() -> None:
    above = claims.region("above", 1.0)
    assert above.sure(Interval(2, 1.5, 3, "")) and not above.sure(Interval(2, 0.5, 3, ""))
    assert above.sure(Interval(0, -1, 1.0, "")) and not above.sure(Interval(0, -1, 1.1, ""))
    about = claims.region("about", 1.0)
    assert about.sure(Interval(3, 2, 4, "")) and not about.sure(Interval(3, 0.9, 4, ""))


def test_a_clear_difference(root: Path) -> None:
    record = judge(root, compare("student", "above", "teacher"))
    assert (record["verdict"], record["sure"]) == (claims.HOLDS, claims.SURE)
    assert 0 < record["low"] < record["ours"] < record["high"]
    assert "paired bootstrap" in record["interval"]
    assert record["sources"].split()[0].endswith("dims-cmlm-kd/seed1/mask-predict-1-lb5/test.json")
    assert judge(root, compare("teacher", "above", "student"))["verdict"] == claims.FAILS
    reverse = judge(root, compare("teacher", "above", "student"))
    assert reverse["ours"] == -record["ours"] and reverse["sure"] == claims.SURE


def test_a_difference_within_noise_says_so(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.11)
    record = judge(root, compare("nat", "above", "student"))
    assert record["sure"] == claims.UNSURE
    assert claims.lines(record)["verdict"].endswith("within noise")


def test_seeds_give_students_interval(root: Path) -> None:
    for system, errors in (("cmlm-kd", 0.4), ("dims-cmlm-kd", 0.1)):
        made_up_run.run(root, system, "mask-predict-1-lb5", errors, seed=2)
    record = judge(root, compare("student", "above", "teacher"), [1, 2, 3])
    assert record["interval"] == "Student's t over 2 seeds" and record["verdict"] == claims.HOLDS


def test_what_was_not_run_says_why(root: Path) -> None:
    record = judge(root, compare("student", "above", "nat"))
    assert record["verdict"] == "not run" and record["reason"] == "nat: not run"
    elsewhere = compare("student", "above", "teacher", task=OTHER_TASK)
    assert "has no corpus" in judge(root, elsewhere)["reason"]


def test_numbers_and_published_values(root: Path) -> None:
    record = judge(root, compare("student", "not_below", 1.0, margin=-1))
    assert record["verdict"] == claims.HOLDS and record["low"] > 0
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    claim = {"claim": "text", "from": "table 1", "in": "table 1", "task": TASK}
    claim |= {"compare": ["ours", "above", "GLAT"], "where": {"ours": "NAT", "GLAT": "quoted"}}
    record = judge(root, claim)
    assert record["verdict"] == "not run" and record["published"] == pytest.approx(20.5 - 25.2)
    assert record["reason"] == (
        f"a published value does not compare with corpus {CORPUS} at scale demo, not the paper's "
        f"{TASK}"
    )
    paper = {**copy.deepcopy(PAPER), "claims": {"it": claim}}
    (record,) = claims.judge(made_up_run.as_the_paper(root, {"paper": paper}), "paper")
    assert record["verdict"] != "not run" and "against GLAT 25.20" in record["numbers"]


def test_a_correlation_over_systems(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    claim = {key: value for key, value in BASE.items() if key != "measure"} | {
        "margin": 0.8,
        "where": {**WHERE, "other": {"system": "nat-raw", "decoding": "one-pass"}},
        "correlation": {
            "of": {"measure": "sacrebleu"},
            "with": {"measure": "chrf"},
            "over": ["teacher", "student", "nat"],
            "is": "above",
        },
    }
    values = [
        [
            json.loads((root / cell.score_path).read_text())["measures"][measure]["value"]
            for place in reports.cells(configuration(root, it=claim), ("paper", "claims", ""))
            if (cell := place).measure == measure
        ]
        for measure in ("sacrebleu", "chrf")
    ]
    record = judge(root, claim)
    assert record["ours"] == pytest.approx(np.corrcoef(*values)[0, 1])
    assert record["verdict"] == claims.HOLDS and record["sure"] == claims.UNKNOWN
    assert claims.lines(record)["ours"] == (
        f"r of sacreBLEU and chrF2 over 3 systems: +{record['ours']:.3f}"
    )
    assert not any(
        "/translations/" in each.path
        for each in claims.files(configuration(root, it=claim), "paper")
    )
    claim["correlation"]["over"] = ["teacher", "student", "nat", "other"]
    assert judge(root, claim)["verdict"] == "not run"


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
        ("there", "not run"),
    ]
    assert claims.summary(found) == "1 holds, 1 does not hold, 1 not run"


def test_lists_and_the_tasks_of_a_table_are_cases(root: Path) -> None:
    claim = {"claim": "text", "from": "table 1", "in": "table 1"}
    claim |= {"compare": ["DiMS", "above", "NAT"]}
    found = claims.checks(configuration(root, it=claim), "paper")
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
    found = claims.checks(configuration(root, it=several), "paper")
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
    (check,) = claims.checks(made_up_run.configuration(root, {"paper": paper}), "paper")
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
    assert (rising["verdict"], rising["sure"]) == (claims.HOLDS, claims.SURE)
    assert 0 < rising["low"] < rising["ours"] < rising["high"]
    assert judge(root, BASE | {"trend": {"of": places, "is": "falling"}})["sure"] == claims.SURE
    assert judge(root, BASE | {"trend": {"of": places, "is": "flat"}})["verdict"] == claims.FAILS
    turned = [places[0], places[2], places[1]]
    assert judge(root, BASE | {"trend": {"of": turned, "is": "rising"}})["verdict"] == claims.FAILS
    largest = judge(root, BASE | {"largest": {"of": places, "is": "8"}})
    assert largest["verdict"] == claims.HOLDS
    assert largest["ours"] < rising["ours"]  # over the best of the others
    assert judge(root, BASE | {"largest": {"of": places, "is": "4"}})["verdict"] == claims.FAILS


def test_gains_by_length(root: Path) -> None:
    claim = {key: value for key, value in BASE.items() if key != "measure"} | {
        "where": {
            name: {**place, "measure": "tokenised_bleu_bucket_{fifth}"}
            for name, place in WHERE.items()
        },
        "gains": {
            "system": "student",
            "over": "teacher",
            "of": [{"label": "fifth {fifth}", "with": {"fifth": [1, 2, 3, 4, 5]}}],
            "is": "fifth 5",
        },
    }
    record = judge(root, claim)
    gains = [float(part.split()[-1].replace("−", "-")) for part in record["numbers"].split(", ")]
    held = gains[4] == max(gains)
    assert (record["verdict"] == claims.HOLDS) == held and len(gains) == 5
    assert record["ours"] == pytest.approx(gains[4] - max(gains[:4]), abs=0.011)
    assert record["low"] < record["ours"] < record["high"]
    claim["gains"]["is"] = "fifth 6"
    with pytest.raises(UserError, match="'fifth 6' .* labels fifth 1"):
        judge(root, claim)


def test_records_of_trainings(root: Path) -> None:
    for system, end in (("cmlm-kd", 20.0), ("dims-cmlm-kd", 0.5)):
        write_run(
            root / f"results/demo/models/{CORPUS}/{system}/seed1/training.json",
            [(1, 25.0), (2, end)],
        )
    record = judge(root, compare("student", "about", 1, measure="collapsed"))
    assert (record["verdict"], record["sure"]) == (claims.HOLDS, claims.UNKNOWN)
    assert judge(root, compare("teacher", "about", 1, measure="collapsed"))["verdict"] == (
        claims.FAILS
    )


def test_a_majority_of_cases_is_one_judgement(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.6)
    claim = compare("left", "above", "teacher", majority=True) | {
        "where": {**WHERE, "left": NAT},
        "each": [{"where": {"left": STUDENT}}, {"where": {"left": STUDENT}}, {}],
    }
    record = judge(root, claim)
    assert (record["verdict"], record["sure"]) == (claims.HOLDS, claims.SURE)
    assert record["numbers"] == "2 of 3 cases, mean"
    claim["each"] = claim["each"][1:]
    assert judge(root, claim)["verdict"] == claims.FAILS  # one of two is no majority
    with pytest.raises(UserError, match="claims.it: key 'majority'"):
        judge(root, compare("student", "above", 3, majority=True))


def test_a_margin_may_be_a_share_of_the_right_side(root: Path) -> None:
    record = judge(root, compare("teacher", "about", "student"))
    needed = 100 * abs(record["ours"]) / float(record["numbers"].split()[-1])
    for margin, verdict in ((needed + 1, claims.HOLDS), (needed - 1, claims.FAILS)):
        claim = compare("teacher", "about", "student", margin=f"{margin:.1f}%")
        assert judge(root, claim)["verdict"] == verdict


def test_files_are_those_that_are_read(root: Path) -> None:
    plain = configuration(root, it=compare("student", "above", "teacher"))
    target = ("paper", "claims", "")
    assert target in reports.targets(plain)
    assert reports.name(target) == "paper_claims"
    files = reports.files(plain, target)
    assert len(files) == 4 and all((root / each.path).exists() for each in files)
    number = configuration(root, it=compare("student", "above", 3))
    assert len(reports.files(number, target)) == 1
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
    one, other = (place.cells for place in claims.checks(plain, "paper")[0].places)
    found = difference(one, other, root)
    assert found is not None and found.interval is not None and found.p_value is not None
    assert record["p_value"] == round(found.p_value, 6)
    assert (judged["low"], judged["high"]) == pytest.approx(
        (found.interval.low, found.interval.high), abs=1e-6
    )


def test_resamples_of_one_test_set_stay_together(root: Path) -> None:
    checks = claims.checks(configuration(root, it=compare("student", "above", "teacher")), "paper")
    one, other = (place.cells for place in checks[0].places)
    found = difference(one, other, root)
    assert found is not None
    minus = combined([found, found], lambda pair: pair[0] - pair[1])
    assert minus is not None and (minus.low, minus.high) == (0, 0)
    elsewhere = replace(found, sentences=("another", "test", ""))
    minus = combined([found, elsewhere], lambda pair: pair[0] - pair[1])
    assert minus is not None and minus.low < 0 < minus.high


def test_what_is_written_and_shown(root: Path) -> None:
    plain = configuration(
        root,
        first=compare("student", "above", "teacher"),
        second=compare("student", "above", "nat"),
    )
    found = claims.judge(plain, "paper")
    claims.write(plain, "paper", found, root / "claims.csv")
    text = (root / "claims.md").read_text()
    assert "1 holds, 0 does not hold, 1 not run" in text and "not comparable" in text.lower()
    console = Console(width=100, record=True)
    claims.show(plain, "paper", claims.read(root / "claims.csv"), console)
    shown = console.export_text()
    assert "holds student" in shown and "not run nat: not run" in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trend": {"of": ["student", "teacher"], "is": "flat"}}, "give one of compare, trend"),
        ({"measure": None}, "leave the key 'measure' open"),
        ({"where": {**WHERE, "teacher": {"system": "x"}}}, "unknown system 'x'"),
        ({"compare": ["student", "above", "techer"]}, "'techer' is not a row"),
        ({"in": "table 1", "where": {"student": "DiM"}}, "'DiM' .*did you mean 'DiMS'"),
        (
            {"in": "table 1", "where": {"student": {"system": "glat-kd", "decoding": "one-pass"}}},
            "table 1 does not show",
        ),
        ({"in": "tabel 1"}, "'tabel 1', expected a table or figure"),
        ({"in": "table 9"}, "no table 9"),
    ],
)
def test_errors_name_the_claim(root: Path, change: dict[str, Any], message: str) -> None:
    bad = compare("student", "above", "teacher") | change
    bad = {key: value for key, value in bad.items() if value is not None}
    with pytest.raises(UserError, match=message) as caught:
        claims.judge(configuration(root, it=bad), "paper")
    assert str(caught.value).startswith("config/papers/paper.yaml: claims.it")
