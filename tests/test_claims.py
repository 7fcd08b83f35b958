import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_run
import numpy as np
import pytest
from made_up_run import CORPUS, OTHER_TASK, TASK
from rich.console import Console
from test_grid import PUBLISHED
from test_training_runs import write_run

from nat.errors import UserError
from nat.measures.significance import Interval
from nat.reporting import claims, reports, tables
from nat.reporting.differences import combined, difference

TEACHER = {"label": "teacher", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"}
STUDENT = {"label": "student", "system": "dims-cmlm-kd", "decoding": "mask-predict-1-lb5"}
CELLS = {"measure": "tokenised_bleu", "split": "test", "task": TASK}


def compare(left: Any, relation: str, right: Any, **options: Any) -> dict[str, Any]:
    return {
        "claim": "text",
        "from": "table 1",
        "cells": CELLS,
        "compare": {"left": left, "is": relation, "right": right, **options},
    }


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two systems; scoring takes most of the time of these tests."""
    folder = tmp_path_factory.mktemp("scored")
    (folder / "config/published").mkdir(parents=True)
    (folder / "config/published/made_up.csv").write_text(PUBLISHED)
    made_up_run.write_corpus(folder, several=False)
    made_up_run.run(folder, "cmlm-kd", "mask-predict-1-lb5", 0.4)
    made_up_run.run(folder, "dims-cmlm-kd", "mask-predict-1-lb5", 0.1)
    return folder


@pytest.fixture
def root(scored: Path, tmp_path: Path) -> Path:
    return shutil.copytree(scored, tmp_path / "run")


def configuration(root: Path, seeds: list[int] | None = None, **found: Any) -> Any:
    names = {name.replace("_", "-"): claim for name, claim in found.items()}
    paper = {"title": "Paper", "published": "made_up", "claims": names}
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
    record = judge(root, compare(STUDENT, "above", TEACHER))
    assert (record["verdict"], record["sure"]) == (claims.HOLDS, claims.SURE)
    assert 0 < record["low"] < record["ours"] < record["high"]
    assert "paired bootstrap" in record["interval"]
    assert record["sources"].split()[0].endswith("dims-cmlm-kd/seed1/mask-predict-1-lb5/test.json")
    assert judge(root, compare(TEACHER, "above", STUDENT))["verdict"] == claims.FAILS
    reverse = judge(root, compare(TEACHER, "above", STUDENT))
    assert reverse["ours"] == -record["ours"] and reverse["sure"] == claims.SURE


def test_a_difference_within_noise_says_so(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.11)
    other = {"label": "nat", "system": "nat-kd", "decoding": "one-pass"}
    record = judge(root, compare(other, "above", STUDENT))
    assert record["sure"] == claims.UNSURE
    assert claims.lines(record)["verdict"].endswith("within noise")


def test_seeds_give_students_interval(root: Path) -> None:
    for system, errors in (("cmlm-kd", 0.4), ("dims-cmlm-kd", 0.1)):
        made_up_run.run(root, system, "mask-predict-1-lb5", errors, seed=2)
    record = judge(root, compare(STUDENT, "above", TEACHER), [1, 2, 3])
    assert record["interval"] == "Student's t over 2 seeds" and record["verdict"] == claims.HOLDS


def test_what_was_not_run_says_why(root: Path) -> None:
    missing = {"system": "nat-kd", "decoding": "one-pass"}
    record = judge(root, compare(STUDENT, "above", missing))
    assert record["verdict"] == "not run" and record["reason"] == "nat-kd, one-pass: not run"
    elsewhere = compare({**STUDENT, "task": OTHER_TASK}, "above", {**TEACHER, "task": OTHER_TASK})
    assert "has no corpus" in judge(root, elsewhere)["reason"]


def test_numbers_and_published_values(root: Path) -> None:
    record = judge(root, compare(STUDENT, "not_below", 1.0, margin=-1))
    assert record["verdict"] == claims.HOLDS and record["low"] > 0
    quoted = {"label": "GLAT", "published": {"table": "t1", "system": "GLAT"}}
    ours = {**STUDENT, "published": {"table": "t1", "system": "NAT"}}
    claim = compare(ours, "above", quoted)
    record = judge(root, claim)
    assert record["verdict"] == "not run" and record["published"] == pytest.approx(20.5 - 25.2)
    assert record["reason"] == (
        f"a published value does not compare with corpus {CORPUS} at scale demo, not the paper's "
        f"{TASK}"
    )
    paper = {"title": "Paper", "published": "made_up", "claims": {"it": claim}}
    (record,) = claims.judge(made_up_run.as_the_paper(root, {"paper": paper}), "paper")
    assert record["verdict"] != "not run" and "against GLAT 25.20" in record["numbers"]


def test_a_correlation_over_systems(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.25)
    systems = [TEACHER, STUDENT, {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"}]
    claim = {
        "claim": "text",
        "from": "table 2",
        "cells": {"split": "test", "task": TASK},
        "correlation": {
            "of": {"measure": "sacrebleu"},
            "with": {"measure": "chrf"},
            "over": systems,
            "is": "above",
            "margin": 0.8,
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
        "outputs" in path for path in claims.files(configuration(root, it=claim), "paper")
    )
    claim["correlation"]["over"] = [*systems, {"system": "nat-raw", "decoding": "one-pass"}]
    assert judge(root, claim)["verdict"] == "not run"


def test_each_case_is_judged(root: Path) -> None:
    claim = compare({"label": "student"}, "above", {"label": "teacher"})
    claim["each"] = [
        {"label": "here", "left": STUDENT, "right": TEACHER},
        {"label": "number", "left": STUDENT, "right": 99.0},
        {"label": "there", "task": OTHER_TASK, "left": STUDENT, "right": TEACHER},
    ]
    found = claims.judge(configuration(root, it=claim), "paper")
    assert [(record["case"], record["verdict"]) for record in found] == [
        ("here", "holds"),
        ("number", "does not hold"),
        ("there", "not run"),
    ]
    assert claims.summary(found) == "1 holds, 1 does not hold, 1 not run"


def run_steps(root: Path, errors: dict[int, float]) -> list[dict[str, Any]]:
    for steps, share in errors.items():
        made_up_run.run(root, "cmlm-kd", f"mask-predict-{steps}-lb5", share)
    return [
        {"label": str(steps), "system": "cmlm-kd", "decoding": f"mask-predict-{steps}-lb5"}
        for steps in errors
    ]


def test_trends_and_the_largest(root: Path) -> None:
    places = run_steps(root, {2: 0.5, 4: 0.25, 8: 0.05})
    base = {"claim": "text", "from": "figure 1", "cells": CELLS}
    rising = judge(root, base | {"trend": {"of": places, "is": "rising"}})
    assert (rising["verdict"], rising["sure"]) == (claims.HOLDS, claims.SURE)
    assert 0 < rising["low"] < rising["ours"] < rising["high"]
    assert judge(root, base | {"trend": {"of": places, "is": "falling"}})["sure"] == claims.SURE
    assert judge(root, base | {"trend": {"of": places, "is": "flat"}})["verdict"] == claims.FAILS
    turned = [places[0], places[2], places[1]]
    assert judge(root, base | {"trend": {"of": turned, "is": "rising"}})["verdict"] == claims.FAILS
    largest = judge(root, base | {"largest": {"of": places, "is": "8"}})
    assert largest["verdict"] == claims.HOLDS
    assert largest["ours"] < rising["ours"]  # over the best of the others
    assert judge(root, base | {"largest": {"of": places, "is": "4"}})["verdict"] == claims.FAILS


def test_gains_by_length(root: Path) -> None:
    claim = {
        "claim": "text",
        "from": "figure 5",
        "cells": {key: value for key, value in CELLS.items() if key != "measure"},
        "gains": {
            "system": STUDENT,
            "over": TEACHER,
            "in": [
                {"label": f"fifth {number}", "measure": f"tokenised_bleu_bucket_{number}"}
                for number in range(1, 6)
            ],
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
    with pytest.raises(UserError, match="'fifth 6' is none of the labels fifth 1"):
        judge(root, claim)


def test_records_of_trainings(root: Path) -> None:
    for system, end in (("cmlm-kd", 20.0), ("dims-cmlm-kd", 0.5)):
        write_run(
            root / f"results/models/{CORPUS}/{system}/seed1/training.json", [(1, 25.0), (2, end)]
        )
    claim = compare({"system": "dims-cmlm-kd"}, "about", 1)
    claim["cells"] = {"measure": "collapsed", "task": TASK}
    record = judge(root, claim)
    assert (record["verdict"], record["sure"]) == (claims.HOLDS, claims.UNKNOWN)
    claim["compare"]["left"] = {"system": "cmlm-kd"}
    assert judge(root, claim)["verdict"] == claims.FAILS


def test_files_are_those_that_are_read(root: Path) -> None:
    plain = configuration(root, it=compare(STUDENT, "above", TEACHER))
    assert reports.targets(plain) == [("paper", "claims", "")]
    assert reports.name(("paper", "claims", "")) == "paper_claims"
    files = reports.files(plain, ("paper", "claims", ""))
    assert len(files) == 4 and all((root / path).exists() for path in files)
    number = configuration(root, it=compare(STUDENT, "above", 3))
    assert len(reports.files(number, ("paper", "claims", ""))) == 1
    assert len(reports.cells(plain, ("paper", "claims", ""))) == 2


def test_tables_and_claims_agree_about_a_pair(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", 0.13)
    other = {"label": "nat", "system": "nat-kd", "decoding": "one-pass", "baseline": "student"}
    rows = [STUDENT, other]
    table = {"title": "Table", "cells": CELLS, "columns": [{"measure": CELLS["measure"]}]}
    plain = configuration(root, it=compare(other, "above", STUDENT))
    plain.files["papers"]["paper"]["tables"] = {"1": {**table, "rows": rows}}
    (judged,) = claims.judge(plain, "paper")
    record = tables.make(plain, "paper", "1").records[1]
    assert judged["ours"] == pytest.approx(record["baseline_difference"], abs=2e-6)
    assert judged["interval"] == record["test"]
    found = difference(
        [place.cells[0] for place in claims.checks(plain, "paper")[0].places][:1],
        [place.cells[0] for place in claims.checks(plain, "paper")[0].places][1:],
        root,
    )
    assert found is not None and found.interval is not None and found.p_value is not None
    assert record["p_value"] == round(found.p_value, 6)
    assert (judged["low"], judged["high"]) == pytest.approx(
        (found.interval.low, found.interval.high), abs=1e-6
    )


def test_resamples_of_one_test_set_stay_together(root: Path) -> None:
    checks = claims.checks(configuration(root, it=compare(STUDENT, "above", TEACHER)), "paper")
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
        first=compare(STUDENT, "above", TEACHER),
        second=compare(STUDENT, "above", {"system": "nat-kd", "decoding": "one-pass"}),
    )
    found = claims.judge(plain, "paper")
    claims.write(plain, "paper", found, root / "claims.csv")
    text = (root / "claims.md").read_text()
    assert "1 holds, 0 does not hold, 1 not run" in text and "not comparable" in text.lower()
    console = Console(width=100, record=True)
    claims.show(plain, "paper", claims.read(root / "claims.csv"), console)
    shown = console.export_text()
    assert "holds student" in shown and "not run nat-kd, one-pass: not run" in shown


def test_errors_name_the_claim(root: Path) -> None:
    good = compare(STUDENT, "above", TEACHER)
    for change, message in (
        ({"trend": {"of": [STUDENT, TEACHER], "is": "flat"}}, "give one of compare, trend"),
        ({"cells": {"split": "test", "task": TASK}}, "leave the key 'measure' open"),
        ({"compare": {**good["compare"], "right": {"system": "x"}}}, "unknown system 'x'"),
    ):
        bad = copy.deepcopy(good) | change
        with pytest.raises(UserError, match=message):
            claims.judge(configuration(root, it=bad), "paper")
