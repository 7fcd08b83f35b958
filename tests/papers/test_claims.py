"""Claims as they are described, judged and shown, on made-up translations."""

import copy
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import tests.made_up_run as made_up_run
from nat.configuration import Configuration
from nat.measures.results import read
from nat.papers import judgements
from nat.papers.claims import Check, checks
from nat.papers.differences import Difference, combined, difference
from nat.papers.judgements import COUNTED, NO_INTERVAL, UNJUDGED
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED
from tests.made_up_run import CORPUS, OTHER_TASK, PAPER, TASK, write_training
from tests.messages import must_name, told

STEP = "mask-predict-1-lb5"
WHERE = {
    "teacher": {"system": "cmlm-kd", "decoding": STEP},
    "student": {"system": "dims-cmlm-kd", "decoding": STEP},
    "nat": {"system": "nat-kd", "decoding": "one-pass"},
    "raw": {"system": "nat-raw", "decoding": "one-pass"},
}
CLAIM = {"claim": "text", "from": "abstract", "task": TASK}
SCORED = {**CLAIM, "measure": "tokenised_bleu", "split": "test"}
BETTER = "compare: student > teacher"
IN_TABLE = "in: table 1, measure: sacrebleu"


def claim(text: str, base: dict[str, Any] = SCORED) -> dict[str, Any]:
    """A claim as a paper's file has it; its names are those of `WHERE`."""
    given = yaml.safe_load(f"{{{text}}}")
    found = {**base, **given, "where": WHERE | (given.get("where") or {})}
    return {key: value for key, value in found.items() if value is not None}


def configuration(root: Path, text: str, seeds: Any = None, **paper: Any) -> Configuration:
    content = {**copy.deepcopy(PAPER), "claims": {"it": claim(text)}, **paper}
    return made_up_run.configuration(root, {"paper": content}, seeds)


def judge(root: Path, text: str, seeds: Any = None, **paper: Any) -> dict[str, Any]:
    (record,) = made_up_run.judge(configuration(root, text, seeds, **paper))
    return record


def verdict(root: Path, text: str) -> str:
    return str(judge(root, text)["verdict"])


def checked(root: Path, text: str, **paper: Any) -> tuple[Check, ...]:
    return checks(configuration(root, text, **paper), "paper")


def shown(record: dict[str, Any], column: str) -> str:
    return judgements.lines(record)[column]


def run(root: Path, errors: dict[str, float], decoding: str = STEP, **options: Any) -> None:
    """Translations of systems with these shares of wrong words."""
    for system, share in errors.items():
        made_up_run.run(root, system, decoding, share, **options)


BOTH = {"cmlm-kd": 0.4, "dims-cmlm-kd": 0.1}


def made(folder: Path, **corpus: bool) -> Path:
    """Make a run of two systems on a corpus with these options."""
    made_up_run.publish(folder)
    made_up_run.write_corpus(folder, **corpus)
    run(folder, BOTH)
    return folder


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two systems; scoring takes most of the time of these tests."""
    return made(tmp_path_factory.mktemp("scored"), several=False)


@pytest.fixture
def root(scored: Path, tmp_path: Path) -> Path:
    return shutil.copytree(scored, tmp_path / "run")


# Comparisons


def test_a_clear_difference(root: Path) -> None:
    record = judge(root, BETTER)
    assert (record["verdict"], record["seeds"]) == (HOLDS, "1")
    assert 0 < record["low"] < record["ours"] < record["high"]
    assert 0 < record["detectable"] < record["ours"]
    assert "paired bootstrap" in record["interval"]
    student, teacher = (read(root / path, "test") for path in record["sources"].split())
    values = [each["tokenised_bleu"].value or 0 for each in (student, teacher)]
    assert record["ours"] == pytest.approx(values[0] - values[1])
    reverse = judge(root, "compare: teacher > student")
    assert (reverse["verdict"], reverse["ours"]) == (FAILS, -record["ours"])


def test_a_difference_within_the_noise_is_undecided(root: Path) -> None:
    run(root, {"nat-kd": 0.11}, "one-pass")
    for sign in "><":
        record = judge(root, f"compare: nat {sign} student")
        assert record["verdict"] == UNDECIDED and record["low"] < 0 < record["high"]
        assert record["detectable"] > abs(record["ours"])
    expected = {0.01: UNDECIDED, 50: HOLDS}
    assert {n: verdict(root, f"compare: nat ~ student ± {n}") for n in expected} == expected


def test_several_seeds_are_students_and_over_sentences(root: Path) -> None:
    one = judge(root, BETTER)
    run(root, BOTH, seed=2)
    two = judge(root, BETTER, [1, 2, 3])
    must_name(two["interval"], "Student's t", "2 seeds", "paired bootstrap")
    assert two["seeds"] == "1 2"
    assert two["high"] - two["low"] > (one["high"] - one["low"]) / 2**0.5
    assert ["several seeds" in " ".join(judgements.notes([e])) for e in (one, two)] == [True, False]


def test_a_margin_may_be_a_share_of_the_right_side(root: Path) -> None:
    about = "compare: teacher ~ student ±"
    record = judge(root, f"{about} 1")
    right = float(record["numbers"].split()[-1])
    low, ours, high = (100 * abs(record[end]) / right for end in ("low", "ours", "high"))
    for margin, expected in ((low + 1, HOLDS), (ours, UNDECIDED), (high - 1, FAILS)):
        assert verdict(root, f"{about} {margin:.1f}%") == expected


def test_a_claim_with_a_margin_says_where_it_puts_the_difference(root: Path) -> None:
    for compared, bound in (
        ("student > teacher", ""),
        ("student < teacher - 2", "below −2"),
        ("student >= teacher + 7", "at least 7"),
        ("student ~ teacher ± 50%", "within ±50%"),
    ):
        record = judge(root, f"compare: {compared}")
        assert record["bound"] == bound and bound in shown(record, "claim")


# What cannot be judged


def test_what_has_no_number_says_why(root: Path) -> None:
    record = judge(root, "compare: student > nat")
    assert (record["verdict"], record["reason"]) == (NOT_RUN, "nat: not run")
    record = judge(root, f"{BETTER}, task: {OTHER_TASK}")
    assert record["verdict"] == UNJUDGED
    must_name(record["reason"], "demo", OTHER_TASK)


def test_published_values_are_only_compared_with_what_the_paper_ran(root: Path) -> None:
    run(root, {"nat-kd": 0.25}, "one-pass")
    text = f"{IN_TABLE}, compare: ours > GLAT, where: {{ours: NAT, GLAT: quoted}}"
    record = judge(root, text)
    assert record["verdict"] == UNJUDGED and record["published"] == pytest.approx(20.5 - 25.2)
    must_name(record["reason"], CORPUS, "demo", TASK)
    made_up_run.publish(root, made_up_run.PUBLISHED.replace("25.2", "N/A"))
    assert judge(root, text)["reason"].startswith("GLAT: ")
    made_up_run.publish(root)
    paper = {**PAPER, "claims": {"it": claim(text)}}
    there = made_up_run.as_the_paper(root, {"paper": paper})
    (record,) = made_up_run.judge(there)
    assert record["verdict"] in (HOLDS, FAILS, UNDECIDED)
    must_name(record["numbers"], "GLAT 25.20")


# Cases


def test_each_case_is_judged(root: Path) -> None:
    number, there = "{label: number, where: {teacher: 99}}", f"{{label: there, task: {OTHER_TASK}}}"
    text = f"{BETTER}, each: [{{label: here}}, {number}, {there}]"
    found = made_up_run.judge(configuration(root, text))
    expected = {"here": HOLDS, "number": FAILS, "there": UNJUDGED}
    assert {each["case"]: each["verdict"] for each in found} == expected
    assert judgements.summary(found) == f"1 {HOLDS}, 1 {FAILS}, 1 {UNJUDGED}"


def test_a_majority_of_cases_is_one_judgement(root: Path) -> None:
    run(root, {"nat-kd": 0.6}, "one-pass")
    student, nat = WHERE["student"], WHERE["nat"]
    others = f"{{where: {{nat: {student}, teacher: {nat}}}}}, {{}}"
    text = "compare: nat > teacher, majority: true"
    record = judge(root, f"{text}, each: [{{where: {{nat: {student}}}}}, {others}]")
    assert (record["verdict"], record["numbers"]) == (HOLDS, "2 of 3 cases, mean")
    assert verdict(root, f"{text}, each: [{others}]") == FAILS  # one of two is no majority


# Several sides


def test_trends_and_the_largest(root: Path) -> None:
    sides = []
    for steps, share in {2: 0.5, 4: 0.25, 8: 0.05}.items():
        run(root, {"cmlm-kd": share}, f"mask-predict-{steps}-lb5")
        sides.append(f"{{label: '{steps}', system: cmlm-kd, decoding: mask-predict-{steps}-lb5}}")
    of = f"of: [{', '.join(sides)}]"
    rising = judge(root, f"trend: {{{of}, is: rising}}")
    assert rising["verdict"] == HOLDS and 0 < rising["low"] < rising["ours"] < rising["high"]
    assert shown(rising, "ours").endswith(f"from first to last: +{rising['ours']:.2f} BLEU")
    for relation in ("falling", "flat"):
        assert verdict(root, f"trend: {{{of}, is: {relation}}}, margin: 1") == FAILS
    turned = ", ".join([sides[0], sides[2], sides[1]])
    assert verdict(root, f"trend: {{of: [{turned}], is: rising}}") == FAILS
    largest = judge(root, f"largest: {{{of}, is: '8'}}")
    assert largest["verdict"] == HOLDS
    assert 0 < largest["ours"] < rising["ours"]  # over the best of the others
    assert verdict(root, f"largest: {{{of}, is: '4'}}") == FAILS
    run(root, {"nat-kd": 0.06}, "one-pass")  # as good
    assert verdict(root, f"largest: {{of: [{', '.join(sides)}, nat], is: '8'}}") == UNDECIDED


def correlation(over: str, more: str = "") -> str:
    measures = "of: {measure: sacrebleu}, with: {measure: chrf}"
    return f"measure: null, correlation: {{{measures}, over: [{over}], is: above}}{more}"


def test_a_correlation_over_systems(root: Path) -> None:
    run(root, {"nat-kd": 0.25}, "one-pass")
    assert verdict(root, correlation("teacher, student, nat, raw")) == NOT_RUN
    three = judge(root, correlation("teacher, student, nat", ", margin: 0.8"))
    numbers = [read(root / path, "test") for path in dict.fromkeys(three["sources"].split())]
    values = [[each[name].value or 0 for each in numbers] for name in ("sacrebleu", "chrf")]
    assert three["ours"] == pytest.approx(np.corrcoef(*values)[0, 1])
    assert shown(three, "claim").endswith("; r above 0.8)")
    # three systems tell nothing of others
    assert (three["verdict"], three["interval"]) == (UNDECIDED, NO_INTERVAL)
    run(root, {"nat-raw": 0.6}, "one-pass")
    four = judge(root, correlation("teacher, student, nat, raw"))
    assert (four["verdict"], four["interval"]) == (HOLDS, "Fisher's z over 4 systems")


def test_draws_of_a_decoding_are_no_trainings(root: Path) -> None:
    decoding = "masked-at-random-0.5-seed{draw}"
    random = {"system": "dims-cmlm-kd", "decoding": decoding, "draws": [1, 2]}
    for draw, share in ((1, 0.1), (2, 0.6)):
        run(root, {"dims-cmlm-kd": share}, decoding.format(draw=draw))
    run(root, {"nat-kd": 0.25}, "one-pass")
    paper, reader = {"systems": {"RANDOM": random}}, Reader(root)

    def means(text: str) -> list[float]:
        (check,) = checked(root, text, **paper)
        numbers = [[reader.number(cell).value or 0 for cell in side.own] for side in check.sides]
        return [sum(each) / len(each) for each in numbers]

    record = judge(root, "compare: RANDOM > teacher", **paper)
    drawn, teacher = means("compare: RANDOM > teacher")
    assert record["ours"] == pytest.approx(drawn - teacher, abs=1e-5)
    assert record["seeds"] == "1" and "Student" not in record["interval"]
    text = correlation("RANDOM, teacher, nat")
    of = means(text)
    assert judge(root, text, **paper)["ours"] == pytest.approx(np.corrcoef(of[::2], of[1::2])[0, 1])


# Other measures


def test_what_a_training_counted_needs_no_interval(root: Path) -> None:
    write_training(root, "cmlm-kd", [(1, 25.0), (2, 20.0)])
    write_training(root, "dims-cmlm-kd", [(1, 25.0), (2, 0.5)])
    record = judge(root, "measure: collapsed, compare: student > 0")
    assert (record["verdict"], record["interval"], record["detectable"]) == (HOLDS, COUNTED, None)
    assert shown(record, "95% interval") == COUNTED
    assert verdict(root, "measure: collapsed, compare: teacher > 0") == FAILS
    # a BLEU of one training is no count, and has no sentences to resample
    record = judge(root, "measure: best_validation_bleu, compare: teacher > 1")
    assert (record["verdict"], record["interval"]) == (UNDECIDED, NO_INTERVAL)
    # two trainings that are alike by chance tell as little, but count as they do
    write_training(root, "cmlm-kd", [(1, 25.0), (2, 20.0)], seed=2)
    record = judge(root, "measure: best_validation_bleu, compare: teacher > 1", [1, 2])
    assert (record["verdict"], record["seeds"]) == (UNDECIDED, "1 2")
    assert judge(root, "measure: collapsed, compare: teacher < 1", [1, 2])["interval"] == COUNTED


def test_updates_are_only_judged_where_early_stopping_ended_both_trainings(root: Path) -> None:
    for planned, expected in (((40, 40), UNJUDGED), ((40, 41), UNJUDGED), ((50, 41), HOLDS)):
        for system, updates in zip(BOTH, planned, strict=True):
            write_training(root, system, [(1, 25.0)], lengths={"updates": updates})
        assert verdict(root, "measure: updates, compare: student ~ teacher ± 1") == expected


# The deciding measure


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a corpus whose references are all correct translations."""
    return made(tmp_path_factory.mktemp("generated"), complete=True)


def judge_generated(root: Path, text: str) -> dict[str, Any]:
    found = configuration(root, text)
    pairs = {"train": 1, "valid": 1, "test": 1}
    own = found.files["corpora"][CORPUS] | {"generator": {"pairs": pairs}}
    corpora = {"corpora": {CORPUS: own}}
    (record,) = made_up_run.judge(replace(found, files={**found.files, **corpora}))
    return record


def test_all_correct_translations_decide_where_they_are_references(generated: Path) -> None:
    record, own = judge_generated(generated, BETTER), judge(generated, BETTER)
    measures = [each["measure"] for each in (record, own)]
    assert measures == ["multi_reference_bleu", "tokenised_bleu"]
    assert record["own_measure"] == own["own_measure"] == "tokenised_bleu"
    assert record["ours"] != own["ours"] == record["in_own_measure"]
    assert record["low_in_own_measure"] == own["low"] and own["in_own_measure"] is None
    assert shown(record, "ours").endswith(" multi-ref. BLEU")
    assert shown(record, "in the claim's measure").startswith(f"+{own['ours']:.2f} [")
    notes = [" ".join(judgements.notes([each])) for each in (record, own)]
    assert ["all the correct translations" in each for each in notes] == [True, False]


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("compare: student > teacher + 3", "tokenised_bleu"),
        ("compare: student > 3", "tokenised_bleu"),
        ("compare: student >= teacher + 3", "tokenised_bleu"),
        (f"{BETTER}, measure: chrf", "chrf"),
        # all of its sentences have all references too
        (f"{BETTER}, measure: tokenised_bleu_bucket_5", "multi_reference_bleu_bucket_5"),
    ],
)
def test_points_of_a_measure_and_other_measures_are_judged_by_their_own(
    generated: Path, text: str, measure: str
) -> None:
    record = judge_generated(generated, text)
    assert record["measure"] == measure and record["low"] < record["ours"] < record["high"]


def test_resamples_of_one_test_set_stay_together(root: Path) -> None:
    (check,) = checked(root, BETTER)
    found = difference(*check.sides, Reader(root))

    def minus(second: Difference) -> Any:
        return combined([found, second], lambda pair: pair[0] - pair[1]).interval()

    assert (minus(found).low, minus(found).high) == (0, 0)
    elsewhere = minus(replace(found, sentences=("another", "test", "")))
    assert elsewhere.low < 0 < elsewhere.high
    assert minus(replace(found, seeds=(2,))) is None


# Mistakes


GAINS = "gains: {system: student, over: teacher, of: [{label: a}, {label: b}], is: a}"
SPEED_UP = "in: table 1, measure: speed_up, setting: cpu-1, compare: NAT > 3"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"{BETTER}, measure: null", ["measure"]),
        (f"{BETTER}, measure: comet", ["comet", "docs/measures.md"]),
        (f"{BETTER}, measure: sacreblue", ["sacreblue", "sacrebleu"]),
        (f"{BETTER}, measure: parameter_share", ["over"]),
        # unknown names
        (f"{BETTER}, where: {{student: {{system: cmlm-dk}}}}", ["cmlm-dk", "cmlm-kd"]),
        ("compare: student > techer", ["techer"]),
        ("in: table 1, compare: DiM > 3", ["DiM", "DiMS"]),
        (f"{BETTER}, in: table 9", ["in", "table 9"]),
        (GAINS.replace("is: a", "is: c"), ["c"]),
        # another number than the claim says
        (
            "in: table 1, compare: DiMS > NAT, decoding: one-pass",
            ["DiMS", "decoding", STEP, "one-pass", "NAT"],
        ),
        (SPEED_UP, ["over"]),
        # too few
        ("largest: {of: [student], is: student}", ["student"]),
        (GAINS.replace(", {label: b}", ""), ["a"]),
        # margins
        ("compare: student ~ teacher", ["± 1"]),
        ("trend: {of: [nat, raw], is: flat}, margin: 0", ["± 1"]),
    ],
)
def test_errors_name_the_claim(root: Path, text: str, named: list[str]) -> None:
    with told("config/papers/paper.yaml", "claims.it", *named):
        checked(root, text)
