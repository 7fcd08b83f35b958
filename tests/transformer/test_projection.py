from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nat.transformer import projection
from nat.transformer.output import Output
from nat.transformer.projection import largest_symbols, log_sums

VOCABULARY, DIM = 37, 6


@pytest.fixture(autouse=True, params=["few", "many"])
def _small_chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logits that count as few, and such that are computed in aligned rows."""
    monkeypatch.setattr(projection, "CHUNK", 4)
    if request.param == "many":
        monkeypatch.setattr(projection, "FEW", 1)


def tensors(rows: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(rows)
    states = torch.randn(rows, DIM, generator=generator, dtype=dtype, requires_grad=True)
    weight = torch.randn(VOCABULARY, DIM, generator=generator, dtype=dtype, requires_grad=True)
    symbols = torch.randint(VOCABULARY, (rows, 3), generator=generator)
    symbols[:, 2] = symbols[:, 0]  # asked for twice
    return states, weight, symbols


def plain(states: Tensor, weight: Tensor, symbols: Tensor) -> Tensor:
    return F.log_softmax(states @ weight.t(), -1).gather(1, symbols)


def assert_same_gradients(mine: Tensor, its: Tensor, upstream: Tensor, *inputs: Tensor) -> None:
    found, expected = (torch.autograd.grad(value, inputs, upstream) for value in (mine, its))
    torch.testing.assert_close(found, expected)


# below, at and above the border of a chunk of 4
numbers_of_rows = pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 11])


@numbers_of_rows
def test_log_probabilities_of_chosen_symbols(rows: int) -> None:
    states, weight, symbols = tensors(rows)
    found = Output(weight).log_probabilities(states, symbols)
    torch.testing.assert_close(found, plain(states, weight, symbols).detach())


SENTENCES = 3


def sentences(positions: int = 4) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """States of three sentences, one of them without a chosen position, and their symbols."""
    states, weight, _ = tensors(SENTENCES * positions)
    states = states.detach().view(SENTENCES, positions, DIM).requires_grad_()
    chosen = torch.arange(positions) < torch.tensor([[positions], [0], [positions - 1]])
    symbols = torch.tensor([[5, 7, 9, 7, 5], [5, 5, 5, 5, 5], [5, 36, 0, 5, 5]])
    return states, weight, chosen, symbols


def plain_own(states: Tensor, weight: Tensor, chosen: Tensor, symbols: Tensor) -> Tensor:
    found = F.log_softmax(states @ weight.t(), -1)
    found = found.gather(2, symbols[:, None].expand(-1, states.size(1), -1))
    return torch.where(chosen[:, :, None], found, 0)


def labels_of_weight(totals: Tensor, symbols: Tensor) -> Tensor:
    """Random gradients [B, T, K] that sum to the totals [B, T]."""
    drawn = torch.rand(*totals.shape, symbols.size(1), dtype=totals.dtype)
    return -totals[:, :, None] * drawn / drawn.sum(2, keepdim=True)


@pytest.mark.parametrize("positions", [1, 4, 6])
@pytest.mark.parametrize("weights", ["one", "some others", "any", "none"])
@pytest.mark.parametrize("shares", [None, torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64)])
def test_own_values_and_gradients(positions: int, weights: str, shares: Tensor | None) -> None:
    states, weight, chosen, symbols = sentences(positions)
    mine = Output(weight).own_log_probabilities(states, chosen, symbols, shares)
    its = plain_own(states, weight, chosen, symbols)
    torch.testing.assert_close(mine, its)
    totals = torch.full(chosen.shape, 0.25, dtype=torch.float64)
    if weights == "some others":
        totals[0, 0], totals[2, 0] = 0, 3
    upstream = labels_of_weight(totals, symbols)
    if weights in ("any", "none"):
        upstream = torch.randn_like(upstream) * (weights == "any")
    upstream[~chosen] = torch.nan  # whatever is there reaches nothing
    found = torch.autograd.grad(mine, (states, weight), upstream)
    expected = torch.autograd.grad(its, (states, weight), upstream.nan_to_num())
    torch.testing.assert_close(found, expected)


def test_own_without_a_gradient_to_the_weight_or_the_states() -> None:
    states, weight, chosen, symbols = sentences()
    whole = plain_own(states, weight, chosen, symbols)
    alone = Output(weight.detach()).own_log_probabilities(states, chosen, symbols)
    its = Output(weight).own_log_probabilities(states.detach(), chosen, symbols)
    upstream = torch.ones_like(whole)
    assert_same_gradients(alone, whole, upstream, states)
    assert_same_gradients(its, plain_own(states, weight, chosen, symbols), upstream, weight)


@pytest.mark.parametrize("sure", [0.0, 12.0])
def test_own_gradient_in_bfloat16(sure: float) -> None:
    """Also where the symbol is all but certain, so that its gradient is a small difference."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(50, 16, generator=generator)
    symbols = torch.randint(6, 50, (4, 5), generator=generator)
    states = torch.randn(4, 5, 16, generator=generator)
    states += sure * F.normalize(weight[symbols], dim=2) / 4  # position t prefers symbol t
    chosen = torch.ones(4, 5, dtype=torch.bool)

    def found(dtype: torch.dtype, bfloat16: bool) -> tuple[Tensor, ...]:
        inputs = [each.to(dtype).requires_grad_() for each in (states, weight)]
        output = Output(inputs[1], bfloat16)
        value = output.own_log_probabilities(inputs[0], chosen, symbols)
        return torch.autograd.grad(-value.diagonal(dim1=1, dim2=2).sum(), inputs)

    for one, other in zip(found(torch.float32, True), found(torch.float64, False), strict=True):
        assert one.isfinite().all()
        assert (one.double() - other).norm() < 0.05 * other.norm()


@numbers_of_rows
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("equal_rows", [True, False])
def test_cross_entropy_values_and_gradients(rows: int, smoothing: float, equal_rows: bool) -> None:
    states, weight, symbols = tensors(rows)
    mine = Output(weight).cross_entropy(states, symbols[:, 0], smoothing)
    whole = states @ weight.t()
    its = F.cross_entropy(whole, symbols[:, 0], reduction="none", label_smoothing=smoothing)
    torch.testing.assert_close(mine.value, its)
    torch.testing.assert_close(mine.nll, -plain(states, weight, symbols[:, :1])[:, 0])
    assert not mine.nll.requires_grad
    upstream = torch.full_like(its, -2.5) if equal_rows else torch.randn_like(its)
    assert_same_gradients(mine.value, its, upstream, states, weight)


def test_without_a_gradient_none_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    states, weight, symbols = tensors(9)
    expected = Output(weight).cross_entropy(states, symbols[:, 0], 0.1).value.detach()
    monkeypatch.setattr(projection, "_accumulate", None)  # calling it would fail
    with torch.no_grad():
        assert torch.equal(Output(weight).cross_entropy(states, symbols[:, 0], 0.1).value, expected)
    detached = Output(weight.detach()).cross_entropy(states.detach(), symbols[:, 0], 0.1)
    assert torch.equal(detached.value, expected)


@pytest.mark.parametrize("rows", [0, 1, 4, 5, 11])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("equal_rows", [True, False])
def test_divergence_values_and_gradients(rows: int, temperature: float, equal_rows: bool) -> None:
    states, weight, symbols = tensors(rows)
    teacher, teacher_weight, _ = tensors(rows + 20)
    teacher = teacher[:rows]
    mine = Output(weight).divergence(
        states, Output(teacher_weight), teacher, temperature, symbols[:, 0]
    )
    labels = F.softmax(teacher @ teacher_weight.t() / temperature, -1)
    student = F.log_softmax(states @ weight.t(), -1)
    its = F.kl_div(student, labels, reduction="none").sum(1)
    torch.testing.assert_close(mine.value, its)
    torch.testing.assert_close(mine.nll, -plain(states, weight, symbols[:, :1])[:, 0])
    assert not mine.nll.requires_grad
    of_teacher = torch.autograd.grad(
        mine.value.sum(), (teacher, teacher_weight), retain_graph=True, allow_unused=True
    )
    assert of_teacher == (None, None)
    upstream = torch.full_like(its, 0.3) if equal_rows else torch.rand_like(its)
    assert_same_gradients(mine.value, its, upstream, states, weight)


def divergence(states: Tensor, weight: Tensor, *rest: Any) -> Tensor:
    symbols = torch.zeros(states.size(0), dtype=torch.int64)
    teacher, teacher_weight, temperature, *bfloat16 = rest
    student, its = Output(weight, *bfloat16), Output(teacher_weight, *bfloat16)
    return student.divergence(states, its, teacher, temperature, symbols).value


def test_certain_labels_are_finite() -> None:
    # Probabilities that underflow to zero must not give 0 * infinity.
    states, weight, symbols = tensors(6, torch.float32)
    values = (
        divergence(states, weight, 300 * states, weight, 0.01),
        divergence(300 * states, weight, states, weight, 0.5),
        Output(weight).cross_entropy(300 * states, symbols[:, 0], 0.1).value,
    )
    for value in values:
        found = torch.autograd.grad(value.sum(), (states, weight))
        assert all(each.isfinite().all() for each in (value, *found))
    assert Output(weight).log_probabilities(300 * states, symbols).isfinite().all()


@pytest.mark.parametrize("rows", [0, 3, 9])
def test_bfloat16_is_finite_and_near(rows: int) -> None:
    states, weight, symbols = tensors(rows, torch.float32)
    teacher = torch.randn(rows, DIM)
    pairs = []
    for bfloat16 in (False, True):
        chosen = Output(weight, bfloat16).log_probabilities(states, symbols)
        entropy = Output(weight, bfloat16).cross_entropy(states, symbols[:, 0], 0.1).value
        distance = divergence(states, weight, teacher, weight, 0.5, bfloat16)
        assert chosen.dtype == entropy.dtype == distance.dtype == torch.float32
        value = chosen.sum() + entropy.sum() + distance.sum()
        of_states, of_weight = torch.autograd.grad(value, (states, weight))
        assert of_states.dtype == of_weight.dtype == torch.float32
        pairs.append((chosen, entropy, distance, of_states, of_weight))
    for exact, rounded in zip(*pairs, strict=True):
        assert rounded.isfinite().all()
        scale = exact.abs().max().item() if exact.numel() else 1.0
        torch.testing.assert_close(rounded, exact, rtol=0, atol=0.03 * scale + 1e-6)


def test_no_tensor_of_all_logits_is_kept() -> None:
    states, weight, symbols = tensors(11)
    teacher = torch.randn_like(states)
    saved = []

    def note(tensor: Tensor) -> Tensor:
        saved.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        Output(weight).cross_entropy(states, symbols[:, 0], 0.1)
        divergence(states, weight, teacher, weight, 0.5)
    assert saved
    assert not any(shape == (11, VOCABULARY) for shape in saved)


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 130, 640])
def test_the_largest_of_many_is_searched_in_blocks(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "FEW", 0)
    generator = torch.Generator().manual_seed(columns)
    logits = torch.randint(0, 9, (300, columns), generator=generator).float()  # with equal ones
    logits[::3] = torch.randn(100, columns, generator=generator)
    logits[:, 0] = -torch.inf
    value, column = projection.largest(logits)
    assert torch.equal(value, logits.amax(1))
    assert torch.equal(column, logits.eq(value[:, None]).to(torch.uint8).argmax(1))


@pytest.mark.parametrize("rows", [0, 1, 4, 9])
@pytest.mark.parametrize("changed", ["nothing", "forbidden", "penalties"])
def test_best_symbols(rows: int, changed: str) -> None:
    states, weight, _ = tensors(rows)
    whole = F.log_softmax(states @ weight.t(), -1).detach()
    first = whole.argmax(1).unique()
    given: dict[str, Any] = {}
    merit = whole.clone()
    if changed == "forbidden":
        given, merit = {"forbidden": first.tolist()}, whole.index_fill(1, first, -torch.inf)
    elif changed == "penalties":
        penalties = dict.fromkeys(first.tolist(), 0.7) | {0: -0.4, 1: 0.0}
        given = {"penalties": penalties}
        for symbol, nats in penalties.items():
            merit[:, symbol] -= nats
    found = Output(weight).best(states, **given)
    assert torch.equal(found.symbols, merit.argmax(1))
    # forbidden and lowered symbols keep their share of the probability
    expected = whole.gather(1, found.symbols[:, None])[:, 0]
    torch.testing.assert_close(found.log_probabilities, expected)
    assert not found.log_probabilities.requires_grad


def test_nothing_asked_for_has_a_gradient_of_zero() -> None:
    states = torch.randn(2, 0, DIM, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(VOCABULARY, DIM, dtype=torch.float64, requires_grad=True)
    none = torch.zeros(2, 0, dtype=torch.int64)
    found = Output(weight).own_log_probabilities(states, none.bool(), none)
    assert found.shape == (2, 0, 0)
    found.sum().backward()
    assert weight.grad is not None and weight.grad.eq(0).all()


@pytest.mark.parametrize("number", [1, 4, 9, 40])
def test_largest_symbols_are_those_of_a_search_through_all(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of 2 symbols and one left over, for 1, 4 and 9; among all of them, for 40."""
    monkeypatch.setattr(projection, "BLOCK", 2)
    logits = torch.randn(50, VOCABULARY, generator=torch.Generator().manual_seed(0))
    logits[:, :3] = -torch.inf
    logits[:25, -1] = 9.0  # the one left over
    values, columns = largest_symbols(logits, number)
    expected = logits.topk(min(number, VOCABULARY), dim=1)
    torch.testing.assert_close(values, expected.values, rtol=0, atol=0)
    assert torch.equal(columns[:, :30], expected.indices[:, :30])  # the last three are equal


def test_log_sums_are_exact() -> None:
    logits = 5 * torch.randn(20, VOCABULARY, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(log_sums(logits), logits.double().logsumexp(1).float())
