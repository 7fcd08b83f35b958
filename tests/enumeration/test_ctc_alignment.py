"""Alignments of CTC, against enumeration of all of them."""

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nat.alignment.ctc import (
    best_alignment,
    collapse,
    negative_log_likelihood,
    own_symbols,
)
from nat.data.batch import pad
from nat.data.vocabulary import BLANK, MASK, PAD

VOCABULARY = 11
CASES: list[tuple[int, list[int]]] = [
    (4, [6, 7]),
    (5, [6, 6]),  # a repeat
    (3, [6, 6]),  # with just enough frames
    (2, [6, 6]),  # one frame short of it
    (1, [8]),
    (5, [9]),
    (3, []),
    (2, [6, 7, 8]),  # longer than the output
    (3, [6, 7, 8]),  # one alignment only
    (6, [6, 7, 6]),  # the same token twice, not as neighbours
    (5, [7, 7, 8, 8]),  # infeasible for its repeats
    (6, [7, 7, 8, 8]),
    (6, [8, 6, 6, 8]),
]
FEASIBLE = [case not in ((2, [6, 6]), (2, [6, 7, 8]), (5, [7, 7, 8, 8])) for case in CASES]
every_batch = pytest.mark.parametrize("cases", [CASES, [(3, []), (2, [])], [(1, [7])]])


def collapsed(labels: Sequence[int]) -> list[int]:
    return [symbol for symbol, _ in itertools.groupby(labels) if symbol != BLANK]


def alignments(frames: int, target: list[int]) -> list[tuple[int, ...]]:
    """All alignments of a target, by trying all labellings with its symbols."""
    labellings = itertools.product(sorted({BLANK, *target}), repeat=frames)
    return [labels for labels in labellings if collapsed(labels) == target]


def score(log_probabilities: Tensor, labels: Sequence[int]) -> float:
    """Log-probability of a labelling under full log-probabilities [T, V]."""
    return sum(float(log_probabilities[frame, label]) for frame, label in enumerate(labels))


class Batch:
    """All cases side by side, with full log-probabilities of random logits.

    `own` are those of the symbols of each sentence.
    """

    def __init__(self, cases: Sequence[tuple[int, list[int]]] = CASES, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        widest = max(frames for frames, _ in cases) + 1  # so that all have padding
        shape = (len(cases), widest, VOCABULARY)
        self.logits = 2 * torch.randn(shape, generator=generator, dtype=torch.float64)
        self.full = self.logits.requires_grad_().log_softmax(2)
        self.targets = pad([target for _, target in cases])
        self.frames = torch.tensor([frames for frames, _ in cases])
        self.padding = torch.arange(widest) >= self.frames[:, None]
        symbols = own_symbols(self.targets)[:, None, :].expand(-1, widest, -1)
        self.own = self.full.gather(2, symbols)

    def nll(self, own: Tensor) -> Tensor:
        return negative_log_likelihood(own, self.targets, self.padding)

    def best(self, own: Tensor) -> Tensor:
        return best_alignment(own, self.targets, self.padding)


def backward(nll: Tensor) -> None:
    torch.where(nll.isfinite(), nll, 0).sum().backward()


@every_batch
def test_likelihood_against_enumeration(cases: list[tuple[int, list[int]]]) -> None:
    batch = Batch(cases)
    for full, case, nll in zip(batch.full, cases, batch.nll(batch.own).tolist(), strict=True):
        total = sum(math.exp(score(full, labels)) for labels in alignments(*case))
        expected = -math.log(total) if total else math.inf
        assert nll == pytest.approx(expected, rel=1e-12)


def test_likelihood_and_gradient_are_those_of_the_whole_vocabulary() -> None:
    batch = Batch()
    upstream = torch.linspace(0.5, 2.0, len(CASES), dtype=torch.float64)
    feasible = torch.tensor(FEASIBLE)
    mine = torch.where(feasible, batch.nll(batch.own), 0)
    its = F.ctc_loss(
        batch.full.transpose(0, 1),
        batch.targets,
        batch.frames,
        batch.targets.ne(PAD).sum(1),
        blank=BLANK,
        reduction="none",
        zero_infinity=True,
    )
    torch.testing.assert_close(mine, its, rtol=1e-13, atol=1e-13)
    one, other = (
        torch.autograd.grad((value * upstream).sum(), batch.logits, retain_graph=True)[0]
        for value in (mine, its)
    )
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)
    assert (one[~feasible] == 0).all() and (one[batch.padding] == 0).all()
    assert one[feasible].abs().sum() > 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lower_precision_has_no_nan(dtype: torch.dtype) -> None:
    batch = Batch()
    exact, given = (batch.own.detach().to(each).requires_grad_() for each in (torch.float64, dtype))
    values = [batch.nll(each) for each in (exact, given)]
    for value in values:
        backward(value)
    assert values[1].dtype == torch.float32
    assert values[1].isfinite().tolist() == FEASIBLE
    tolerance = {"rtol": 2e-2, "atol": 2e-2}
    torch.testing.assert_close(values[1].double(), values[0], **tolerance)
    assert given.grad.dtype == dtype
    torch.testing.assert_close(given.grad.double(), exact.grad, **tolerance)
    assert (~batch.best(given).eq(MASK).any(1)).tolist() == FEASIBLE


@pytest.mark.parametrize("seed", range(5))
@every_batch
def test_best_alignment_against_enumeration(cases: list[tuple[int, list[int]]], seed: int) -> None:
    batch = Batch(cases, seed)
    found = batch.best(batch.own)
    for full, labels, (frames, target) in zip(batch.full, found.tolist(), cases, strict=True):
        paths = alignments(frames, target) or [(MASK,) * frames]
        best = max(paths, key=lambda path: score(full, path))
        assert labels == [*best, *[PAD] * (found.size(1) - frames)]


def test_of_equally_probable_alignments_the_same_one_is_taken() -> None:
    for frames, target in itertools.compress(CASES, FEASIBLE):
        # few different numbers, so that there are ties, and sums without rounding
        given = torch.randint(-2, 0, (1, frames, 1 + len(target))).double()
        given[:, :, 1:] = -1
        targets, padding = pad([target]), torch.zeros(1, frames, dtype=torch.bool)
        labels = best_alignment(given, targets, padding)[0].tolist()
        full = torch.full((frames, VOCABULARY), -1.0, dtype=torch.float64)
        full[:, BLANK] = given[0, :, 0]
        expected = max(score(full, path) for path in alignments(frames, target))
        assert score(full, labels) == expected
        assert collapsed(labels) == target
        wider = F.pad(padding, (0, 3), value=True)
        again = best_alignment(F.pad(given, (0, 0, 0, 3)), targets, wider)
        assert again[0, :frames].tolist() == labels


def test_probability_zero() -> None:
    """A label forbidden at a frame, and one forbidden everywhere."""
    targets = pad([[6, 7], [6, 7]])
    padding = torch.zeros(2, 3, dtype=torch.bool)
    given = torch.randn(2, 3, 3, dtype=torch.float64)
    given[0, 1, [0, 1]] = -torch.inf  # the second frame can only be 7
    given[1, :, 2] = -torch.inf  # no frame can be 7
    given.requires_grad_()
    nll = negative_log_likelihood(given, targets, padding)
    full = torch.full((3, VOCABULARY), -torch.inf, dtype=torch.float64)
    full[:, [BLANK, 6, 7]] = given[0].detach()
    paths = [(6, 7, 7), (6, 7, BLANK)]
    possible = {path for path in alignments(3, [6, 7]) if score(full, path) > -math.inf}
    assert possible == set(paths)
    total = sum(math.exp(score(full, path)) for path in paths)
    assert nll.tolist() == [pytest.approx(-math.log(total)), math.inf]
    backward(nll)
    assert given.grad.isfinite().all()
    assert (given.grad[1] == 0).all()
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[0, 1] = expected[1, 2] = -1
    share = math.exp(score(full, paths[0])) / total
    expected[2, 2], expected[2, 0] = -share, share - 1
    torch.testing.assert_close(given.grad[0], expected)
    best = max(paths, key=lambda path: score(full, path))
    assert best_alignment(given, targets, padding).tolist() == [[*best], [MASK] * 3]


def test_no_number_is_not_taken_for_infeasible() -> None:
    given = torch.full((1, 3, 3), torch.nan)
    padding = torch.zeros(1, 3, dtype=torch.bool)
    assert negative_log_likelihood(given, pad([[6, 7]]), padding).isnan().all()


def test_padding_may_hold_anything() -> None:
    batch = Batch()
    clean = batch.own.detach()
    odd = clean.masked_fill(batch.padding[:, :, None], torch.nan)
    for each in (clean, odd):
        backward(batch.nll(each.requires_grad_()))
    assert torch.equal(odd.grad, clean.grad)
    assert torch.equal(batch.best(odd), batch.best(clean))


def test_collapse_against_a_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(BLANK, BLANK + 3, (200, 7), generator=generator)
    lengths = torch.randint(0, 8, (200,), generator=generator)
    padding = torch.arange(7) >= lengths[:, None]
    found = collapse(labels.masked_fill(padding, PAD), padding)
    pairs = zip(labels.tolist(), lengths.tolist(), strict=True)
    assert torch.equal(found, pad([collapsed(row[:length]) for row, length in pairs]))
    nothing = torch.ones(2, 3, dtype=torch.bool)
    assert collapse(torch.full((2, 3), PAD), nothing).shape == (2, 0)
    assert collapse(torch.empty(0, 3, dtype=torch.int64), nothing[:0]).shape == (0, 0)
