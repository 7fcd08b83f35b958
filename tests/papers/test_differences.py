"""Differences, speed-ups and shares of cells, with their intervals."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.made_up_run as made_up_run
from nat.papers.cells import Cell, Shown
from nat.papers.differences import difference
from nat.papers.reader import Reader
from tests.made_up_run import cells, write_latencies, write_numbers
from tests.messages import told

TIMED = {"decoding": "one-pass", "setting": "cpu-1"}
STEADY = [2.0, 2.2, 2.1, 1.9, 2.4]
SLOWER = [30.0, 32.0, 28.0, 31.0, 29.0]
Found = list[Cell]


def side(own: Found, over: Found | tuple[()] = ()) -> Shown:
    return Shown(tuple(own), tuple(over))


def elsewhere_of(cell: Cell, **names: str) -> Any:
    """The source of a cell, with other names."""
    source: Any = cell.source
    return replace(source, **names)


def speed_ups(root: Path, *systems: str, seeds: int = 1, **coordinates: Any) -> list[Found]:
    """The cells of systems, one for each seed."""
    paper = made_up_run.paper(root, [*range(1, seeds + 1)])
    return [cells(paper, "speed_up", system, **{**TIMED, **coordinates}) for system in systems]


def speed_up(root: Path, own: Found, over: Found, minus: float = 0) -> Any:
    return difference(side(own, over), minus, Reader(root))


def test_a_speed_up_is_a_ratio_of_medians(tmp_path: Path) -> None:
    own, other = speed_ups(tmp_path, "nat-kd", "cmlm-kd")
    assert speed_up(tmp_path, own, other) is None
    write_latencies(tmp_path, {own[0]: [2.0, 2.0, 2.1, 1.9, 9.0], other[0]: SLOWER})
    found = speed_up(tmp_path, own, other)
    assert found.value == 15 and found.interval().low < 15 < found.interval().high
    assert found.sources == (own[0].path,)
    assert speed_up(tmp_path, own, own).value == 1
    less = speed_up(tmp_path, own, other, minus=4)
    assert less.value == 11
    ends = found.interval().low - 4, found.interval().high - 4
    assert (less.interval().low, less.interval().high) == pytest.approx(ends)
    elsewhere = [other[0]._replace(source=elsewhere_of(other[0], group="paper_table_2"))]
    write_latencies(tmp_path, {elsewhere[0]: SLOWER})
    with told(own[0].path, elsewhere[0].path):
        speed_up(tmp_path, own, elsewhere)
    write_latencies(tmp_path, {other[0]: "out of memory"})
    assert speed_up(tmp_path, own, other) is None


def test_what_slows_down_all_systems_does_not_change_a_speed_up(tmp_path: Path) -> None:
    own, other = speed_ups(tmp_path, "nat-kd", "cmlm-kd")
    drift = [1.0, 1.5, 4.0, 2.0, 1.0]
    write_latencies(tmp_path, {own[0]: drift, other[0]: [3 * factor for factor in drift]})
    found = speed_up(tmp_path, own, other)
    ends = found.interval().low, found.value, found.interval().high
    assert ends == pytest.approx((3, 3, 3))


def test_draws_of_a_decoding_are_averaged_in_a_speed_up(tmp_path: Path) -> None:
    own, other = speed_ups(tmp_path, "cmlm-kd", "nat-kd")
    draws = [own[0]._replace(part=f"cmlm-kd/drawn-{number}") for number in (1, 2)]
    times = ([2.0, 2.0, 2.1, 1.9, 2.2], [3.0] * 5, [6.0] * 5)
    write_latencies(tmp_path, dict(zip((*draws, *other), times, strict=True)))
    found = speed_up(tmp_path, draws, other)
    assert found.seeds == (1,) and found.value == pytest.approx(2.5)
    assert "Student" not in found.interval().method and found.interval().low < 2.5
    assert speed_up(tmp_path, other, draws).value == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_speed_ups_are_compared_on_the_seeds_of_both(tmp_path: Path) -> None:
    own, third, other = speed_ups(tmp_path, "nat-kd", "nat-raw", "cmlm-kd", seeds=2)
    for seed, second in ((0, [4.0] * 5), (1, "out of memory")):
        times = {own[seed]: [2.0] * 5, third[seed]: second, other[seed]: [8.0 * (seed + 1)] * 5}
        write_latencies(tmp_path, times)
    reader = Reader(tmp_path)
    found = difference(side(own, other), side(third, other), reader)
    assert found is not None and (found.seeds, found.left, found.right) == ((1,), 4, 2)
    turned = difference(side(third, other), side(own, other), reader)
    assert turned is not None and (turned.seeds, turned.value) == ((1,), -2)
    assert difference(side(own[1:], other), side(third, other), reader) is None


def test_the_repeats_of_two_speed_ups_are_drawn_independently(tmp_path: Path) -> None:
    """They are mostly of different settings, where equal draws would make them differ too little.

    Speed-ups by equal repeats would not differ at all.
    """
    ratios, spread = [], 0.0
    for setting in ("cpu-1", "cuda-1"):
        own, other = speed_ups(tmp_path, "nat-kd", "cmlm-kd", setting=setting)
        write_latencies(tmp_path, {own[0]: STEADY, other[0]: SLOWER})
        ratios.append(side(own, other))
        spread += speed_up(tmp_path, own, other).samples.var()
    both = difference(ratios[0], ratios[1], Reader(tmp_path))
    assert both is not None and both.value == 0 and both.samples is not None
    assert both.samples.var() == pytest.approx(spread, rel=0.15)


def test_scores_of_one_test_set_are_compared_sentence_by_sentence(tmp_path: Path) -> None:
    made_up_run.write_corpus(tmp_path, several=False)
    for system, errors in (("nat-kd", 0.4), ("cmlm-kd", 0.1)):
        path = made_up_run.run(tmp_path, system, "one-pass", errors=errors)
    paper = made_up_run.paper(tmp_path)
    scored = {"decoding": "one-pass", "split": "test"}
    own, other = (side(cells(paper, "chrf", each, **scored)) for each in ("cmlm-kd", "nat-kd"))
    found = difference(own, other, Reader(tmp_path))
    assert found is not None and found.interval() is not None
    assert 0 < found.interval().low < found.value < found.interval().high
    assert "paired bootstrap" in found.interval().method
    (tmp_path / other.first.path).with_suffix(".npz").unlink()
    with told("test.npz"):
        difference(own, other, Reader(tmp_path))
    write_numbers(path, "test", {"chrf": 3.0}, files={"tokens": {"sha256": "of another file"}})
    with told(own.first.path, other.first.path):
        difference(own, other, Reader(tmp_path))


def test_one_seed_decides_whether_l_nat_is_below_c(tmp_path: Path) -> None:
    """Both are ratios of sums over the same sentences, which are resampled together."""
    paper = made_up_run.paper(tmp_path)
    (own,) = cells(paper, "l_nat", "nat-kd", split="valid")
    (other,) = cells(paper, "total_correlation", "nat-kd", split="valid", partner="at-base")
    draw = np.random.default_rng(3)
    tokens = draw.integers(4, 12, 400)
    hard = tokens * draw.uniform(1.0, 3.0, 400)  # some sentences are hard for both

    def write(cell: Cell, sums: np.ndarray, first: int = 0) -> None:
        rows = {"numbers": [*range(first, first + 400)], "sums": sums.tolist()}
        number = {"value": sums.sum() / tokens.sum(), "by_sentence": rows}
        rows["tokens"] = tokens.tolist()
        write_numbers(tmp_path / cell.path, "valid", {cell.measure: number})

    def minus(left: Cell, right: Cell | float) -> Any:
        return difference(
            side([left]), side([right]) if isinstance(right, Cell) else right, Reader(tmp_path)
        )

    write(own, hard)
    write(other, hard + 0.1 * tokens)
    found = minus(own, other)
    # the difference is the same in each sentence, though these differ from each other
    assert found.value == pytest.approx(-0.1)
    assert found.interval().low == pytest.approx(-0.1) == found.interval().high
    alone = minus(own, 2.0).interval()
    assert alone.high - alone.low > 0.05
    # with another sentence left out, the sentences do not belong together
    write(other, hard + 0.1 * tokens, first=1)
    assert minus(own, other).interval() is None
    # of other sentences: as if C of another corpus were compared with it
    elsewhere = other._replace(corpus="toy-re-na", source=elsewhere_of(other, corpus="toy-re-na"))
    write(elsewhere, hard + 0.1 * tokens, first=1)
    apart = minus(elsewhere, other)
    assert apart.value == 0 and "paired" not in apart.interval().method
    assert apart.interval().low < -0.03 < 0.03 < apart.interval().high
