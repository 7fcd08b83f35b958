"""Measures besides scores: where each is read, and what stands where there is none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_run import write_latencies, write_numbers

from nat.cells.cell import Cell, check_setting, measured, state
from nat.cells.differences import difference_of_speed_ups, speed_up
from nat.cells.known_measures import ANALYSES, MEASURES, TOYS
from nat.errors import UserError
from nat.files import write_json
from nat.measures.latency_numbers import with_measures


def cell(measure: str, system: str = "nat-kd", **coordinates: Any) -> Cell:
    chosen = {"decoding": "", "split": "", **coordinates}
    return Cell("demo", "toy", system, chosen.pop("seed", 1), measure=measure, **chosen)


def test_every_measure_says_what_it_needs() -> None:
    assert MEASURES["sacrebleu"].coordinates == ("decoding", "split")
    assert MEASURES["parameters"].coordinates == ()
    assert MEASURES["speed_up"].coordinates == ("decoding", "setting")
    assert MEASURES["total_correlation"].coordinates == ("partner", "split")
    assert MEASURES["l_mple"].coordinates == ("split",) and MEASURES["l_mple"].setting == "0.2"
    assert "two_orders" in ANALYSES and "two_orders" in TOYS and "likelihood" not in TOYS
    assert "latency" not in ANALYSES and "total_correlation" not in ANALYSES


def test_a_latency_and_its_states(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cpu-1", "group": "dims_table_1"}
    own, other = cell("latency", **where), cell("latency", "at-base", **where)
    assert own.score_path.endswith("latency/toy/dims_table_1/seed1/cpu-1.json")
    write_latencies(tmp_path, {own: [4.0, 1.0, 2.0, 3.0, 20.0], other: "out of memory"})
    expected = {"latency": 3, "latency_mean": 6, "latency_quartile_1": 2, "latency_quartile_3": 4}
    for name, value in expected.items():
        found = measured(cell(name, **where), tmp_path)
        assert found is not None and found.value == value
    found = measured(cell("decoding_seconds", **where), tmp_path)
    assert found is not None and found.value == pytest.approx(6 * 3.003)
    found = measured(cell("words_per_second", **where), tmp_path)
    assert found is not None and found.value == pytest.approx(12 / 0.003)
    assert (found.low, found.high) == pytest.approx((12 / 0.004, 12 / 0.002))
    assert measured(cell("memory", **where), tmp_path) is None
    assert state(own, tmp_path) == ""
    assert measured(other, tmp_path) is None and state(other, tmp_path) == "out of memory"
    with pytest.raises(UserError, match="cpu-1.json is not a latency of cmlm-kd/one-pass"):
        measured(cell("latency", "cmlm-kd", **where), tmp_path)
    faster = cell("speed_up", "at-base", **where)
    assert measured(faster, tmp_path) is None and state(faster, tmp_path) == "out of memory"
    content = with_measures({"state": "no GPU", "setting": {}}, [own.timed_name])
    write_json(tmp_path / own.score_path, content)
    assert measured(own, tmp_path) is None and state(own, tmp_path) == "no GPU"


def test_a_speed_up_is_a_ratio_of_medians(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cuda-1", "group": "dims_table_1"}
    own, other = cell("speed_up", **where), cell("speed_up", "at-base", **where)
    assert speed_up([own], [other], tmp_path) is None
    times = np.array([[2.0, 2.0, 2.1, 1.9, 9.0], [30.0, 32.0, 28.0, 30.0, 31.0]])
    write_latencies(tmp_path, {own: times[0].tolist(), other: times[1].tolist()})
    found = speed_up([own], [other], tmp_path)
    assert found is not None and found.value == 15
    assert found.interval.low < 15 < found.interval.high
    # naively: both medians of the same repeats, drawn again and again
    numbers = np.random.default_rng(1)
    medians = [np.median(times[:, numbers.integers(0, 5, 5)], axis=1) for _ in range(4000)]
    low, high = np.percentile([both[1] / both[0] for both in medians], [2.5, 97.5])
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), rel=0.02)
    assert found.sources == (own.score_path,)
    same = speed_up([own], [own], tmp_path)
    assert same is not None and same.value == 1


def test_what_slows_down_all_systems_does_not_change_a_speed_up(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cpu-1", "group": "dims_table_1"}
    own, other = cell("speed_up", **where), cell("speed_up", "at-base", **where)
    drift = [1.0, 1.5, 4.0, 2.0, 1.0]
    write_latencies(tmp_path, {own: drift, other: [3 * factor for factor in drift]})
    found = speed_up([own], [other], tmp_path)
    assert found is not None
    assert (found.interval.low, found.value, found.interval.high) == pytest.approx((3, 3, 3))


def test_speed_ups_of_states_and_other_jobs(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cuda-32", "group": "dims_table_1"}
    own, other = cell("speed_up", **where), cell("speed_up", "at-base", **where)
    write_latencies(tmp_path, {own: [2.0] * 5, other: "out of memory"})
    assert speed_up([own], [other], tmp_path) is None
    elsewhere = cell("speed_up", "at-base", **{**where, "group": "dims_table_2"})
    with pytest.raises(UserError, match="dims_table_2.*were measured in different jobs"):
        speed_up([own], [elsewhere], tmp_path)
    write_latencies(tmp_path, {own: [2.0] * 5, other: [3.0] * 5})
    seeds = [cell("speed_up", seed=2, **where), cell("speed_up", "at-base", seed=2, **where)]
    write_latencies(tmp_path, dict(zip(seeds, ([1.0] * 5, [3.0] * 5), strict=True)))
    found = speed_up([own, seeds[0]], [other, seeds[1]], tmp_path)
    assert found is not None and found.by_seed == (1.5, 3.0) and found.value == 2.25
    assert "2 seeds" in found.interval.method


def test_draws_of_a_decoding_are_averaged_in_a_speed_up(tmp_path: Path) -> None:
    where = {"setting": "cuda-32", "group": "dims_table_1"}
    draws = [cell("speed_up", decoding=f"drawn-{number}", **where) for number in (1, 2)]
    other = cell("speed_up", "at-base", decoding="beam5", **where)
    times = ([2.0, 2.0, 2.1, 1.9, 2.2], [3.0] * 5, [6.0] * 5)
    write_latencies(tmp_path, dict(zip([*draws, other], times, strict=True)))
    found = speed_up(draws, [other], tmp_path)
    assert found is not None and found.seeds == (1,) and found.value == pytest.approx(2.5)
    assert "Student" not in found.interval.method and found.interval.low < 2.5
    turned = speed_up([other], draws, tmp_path)
    assert turned is not None and turned.value == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_speed_ups_are_compared_on_the_seeds_of_both(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cuda-32", "group": "dims_table_1"}
    own, third, other = (
        [cell("speed_up", system, seed=seed, **where) for seed in (1, 2)]
        for system in ("nat-kd", "nat-raw", "at-base")
    )
    for seed, second in ((0, [4.0] * 5), (1, "out of memory")):
        times = {own[seed]: [2.0] * 5, third[seed]: second, other[seed]: [8.0 * (seed + 1)] * 5}
        write_latencies(tmp_path, times)
    found = difference_of_speed_ups((own, other), (third, other), tmp_path)
    assert found is not None and found.seeds == (1,)
    assert (found.left, found.right, found.value) == (4, 2, 2)
    turned = difference_of_speed_ups((third, other), (own, other), tmp_path)
    assert turned is not None and turned.seeds == (1,) and turned.value == -2
    assert difference_of_speed_ups((own[1:], other), (third, other), tmp_path) is None


def test_a_number_moves_the_interval_of_a_speed_up(tmp_path: Path) -> None:
    where = {"decoding": "one-pass", "setting": "cpu-1", "group": "dims_table_1"}
    own, other = cell("speed_up", **where), cell("speed_up", "at-base", **where)
    write_latencies(tmp_path, {own: [2.0, 2.0, 2.1, 1.9, 2.3], other: [30, 32, 28, 31, 29]})
    plain = speed_up([own], [other], tmp_path)
    found = difference_of_speed_ups(([own], [other]), 4.0, tmp_path)
    assert plain is not None and found is not None and found.value == plain.value - 4
    expected = (plain.interval.low - 4, plain.interval.high - 4)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_the_repeats_of_two_speed_ups_are_drawn_independently(tmp_path: Path) -> None:
    """They are mostly of different settings, where equal draws would make them differ too little.

    Speed-ups by equal repeats would not differ at all.
    """
    ratios, spread = [], 0.0
    for setting in ("cpu-1", "cuda-1"):
        where = {"decoding": "one-pass", "setting": setting, "group": "dims_table_1"}
        own, other = cell("speed_up", **where), cell("speed_up", "at-base", **where)
        write_latencies(tmp_path, {own: [2.0, 2.2, 2.1, 1.9, 2.4], other: [30, 32, 28, 31, 29]})
        ratios.append(([own], [other]))
        found = speed_up(*ratios[-1], tmp_path)
        assert found is not None and found.estimate.samples is not None
        spread += found.estimate.samples.var()
    both = difference_of_speed_ups(ratios[0], ratios[1], tmp_path)
    assert both is not None and both.value == 0 and both.estimate.samples is not None
    assert both.estimate.samples.var() == pytest.approx(spread, rel=0.15)


def test_the_losses_of_mple_are_put_together(tmp_path: Path) -> None:
    """The row KD of table 2: 2.42 - 0.2 * 35.4 = -4.66; L_NAT of another split plays no part."""

    path = tmp_path / cell("l_mple", split="test").score_path
    for split, values in {"valid": (2.0, 0.42, 99.0), "test": (77.0, 88.0, 35.4)}.items():
        names = ("l_nat", "l_input", "target_bleu")
        write_numbers(path, split, dict(zip(names, values, strict=True)))

    def value(measure: str, **coordinates: Any) -> float:
        found = measured(cell(measure, split="test", **coordinates), tmp_path)
        assert found is not None
        return found.value

    assert value("l_target") == pytest.approx(-7.08)
    assert value("l_mple") == pytest.approx(-4.66)
    assert value("l_mple", setting="0.25") == pytest.approx(2.42 - 0.25 * 35.4)
    assert value("l_nat") == 77
    with pytest.raises(UserError, match="expected beta"):
        value("l_target", setting="cpu-1")


def test_a_total_correlation_belongs_to_a_pair(tmp_path: Path) -> None:
    found = cell("total_correlation", "nat-raw", partner="at-base", split="test")
    assert found.score_path.endswith("total_correlation/toy/nat-raw/at-base/seed1.json")
    write_numbers(tmp_path / found.score_path, "test", {"total_correlation": 2.16})
    value = measured(found, tmp_path)
    assert value is not None and value.value == 2.16
    elsewhere = cell("total_correlation", "nat-raw", partner="at-base", split="valid")
    assert measured(elsewhere, tmp_path) is None and state(elsewhere, tmp_path) == ""


@pytest.mark.parametrize(
    ("measure", "setting"),
    [("latency", "tpu-1"), ("speed_up", ""), ("l_mple", "-1"), ("sacrebleu", "cpu-1")],
)
def test_a_setting_that_a_measure_cannot_have(measure: str, setting: str) -> None:
    with pytest.raises(UserError, match="setting: found"):
        check_setting(measure, setting)
    check_setting("latency", "cuda-largest")
    check_setting("l_target", "0.25")
    check_setting("sacrebleu", "")
