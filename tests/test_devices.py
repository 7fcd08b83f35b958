"""What a CUDA device computes, against float64 on the processor; and that it would be one's at all.

Each test is there for a CUDA device (marked `gpu`) and for the stand-in, on which a tensor that
was forgotten on the processor is an error on any machine.
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from nat import randomness
from nat.data.batch import Batch, source_tensor
from nat.transformer.dropout import dropout
from nat.transformer.linear import has_bfloat16_products
from nat.transformer.projection import (
    best_symbols,
    cross_entropy,
    gathered_log_probabilities,
    soft_label_divergence,
)
from tests.objectives import cases
from tests.stand_in_device import STAND_IN, StandInDevice
from tests.test_decode_corpus import (
    CONFIGURATION,
    every_decoding,
    language_model,
    of_configuration,
    texts,
)

CUDA = torch.device("cuda")
OBJECTIVES = cases()


@dataclass(frozen=True)
class Setting:
    """Where and how a result is computed that is compared with float64 on the processor.

    Attributes:
        device: where.
        dtype: of the model.
        bfloat16: whether products take bfloat16 inputs.
        error: relative error that may be.
    """

    device: torch.device
    dtype: torch.dtype
    bfloat16: bool
    error: float


SETTINGS = {
    "stand-in": Setting(STAND_IN, torch.float32, False, 1e-5),
    "stand-in-bf16": Setting(STAND_IN, torch.float32, True, 0.05),
    "fp32": Setting(CUDA, torch.float32, False, 1e-4),
    "bf16": Setting(CUDA, torch.float32, True, 0.05),
}
on_cuda = (
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
)


def parameters(values: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(value, id=name, marks=() if "stand-in" in name else on_cuda)
        for name, value in values.items()
    ]


@pytest.fixture(params=parameters(SETTINGS))
def setting(request: pytest.FixtureRequest) -> Iterator[Setting]:
    found: Setting = request.param
    if found.device == STAND_IN:
        with StandInDevice():
            yield found
        return
    if found.bfloat16 and not has_bfloat16_products(found.device):
        pytest.skip("the CUDA device has no bfloat16 products")
    yield found


@pytest.fixture(params=parameters({"stand-in": STAND_IN, "cuda": CUDA}))
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    if request.param != STAND_IN:
        yield request.param
        return
    with StandInDevice():
        yield STAND_IN


def assert_near(found: torch.Tensor, exact: torch.Tensor, error: float) -> None:
    found = found.cpu()
    assert found.isfinite().all()
    difference = (found.double() - exact).norm()
    assert difference <= error * exact.norm() + 1e-6


def test_losses_and_gradients(setting: Setting) -> None:
    generator = torch.Generator().manual_seed(1)
    states = torch.randn(5000, 32, generator=generator, dtype=torch.float64)  # two chunks
    weight = 0.3 * torch.randn(501, 32, generator=generator, dtype=torch.float64)
    teacher = torch.randn(5000, 32, generator=generator, dtype=torch.float64)
    symbols = torch.randint(501, (5000, 2), generator=generator)

    def results(
        device: torch.device | str, dtype: torch.dtype, bfloat16: bool
    ) -> list[torch.Tensor]:
        x, embedding = (each.to(device, dtype).requires_grad_() for each in (states, weight))
        labels, ids = teacher.to(device, dtype), symbols.to(device)
        true, fixed = ids[:, 0], embedding.detach()
        values = [
            cross_entropy(x, embedding, true, 0.1, bfloat16).value,
            soft_label_divergence(x, embedding, labels, fixed, 0.5, true, bfloat16).value,
            gathered_log_probabilities(x, embedding, ids, bfloat16),
        ]
        return [
            *values,
            *(
                each
                for value in values
                for each in torch.autograd.grad(value.sum(), (x, embedding))
            ),
        ]

    exact = results("cpu", torch.float64, False)
    found = results(setting.device, setting.dtype, setting.bfloat16)
    for one, other in zip(found, exact, strict=True):
        assert_near(one, other, setting.error)


def test_best_symbols(device: torch.device) -> None:
    states, weight = torch.randn(300, 16), torch.randn(77, 16)
    forbidden = torch.arange(6)
    exact = best_symbols(states.double(), weight.double(), forbidden=forbidden)
    found = best_symbols(states.to(device), weight.to(device), forbidden=forbidden.to(device))
    assert torch.equal(found.symbols.cpu(), exact.symbols)
    assert_near(found.log_probabilities, exact.log_probabilities, 1e-4)


def test_random_numbers_are_those_of_the_processor(device: torch.device) -> None:
    ids = torch.arange(5000)
    found = randomness.uniform(1, 7, ids.to(device), 9, stream=2)
    assert torch.equal(found.cpu(), randomness.uniform(1, 7, ids, 9, stream=2))


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("pre_norm", [False, True])
def test_training_step(
    make_model: Callable[..., Any],
    make_objective: Callable[..., Any],
    make_batch: Callable[..., Batch],
    name: str,
    setting: Setting,
    pre_norm: bool,
) -> None:
    batch = make_batch([(3, 5), (7, 2), (1, 9), (4, 1), (2, 0)])

    def results(
        device: torch.device | str, dtype: torch.dtype, bfloat16: bool
    ) -> list[torch.Tensor]:
        model, objective = OBJECTIVES[name].build(
            make_model, make_objective, dtype, bfloat16, pre_norm=pre_norm
        )
        model.to(device), objective.to(device)
        loss = objective(model, batch.to(device), update=3)
        loss.value.sum().backward()
        optimiser = torch.optim.SGD(model.parameters(), 1.0)
        before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        optimiser.step()
        after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        return [loss.value.detach(), after - before, loss.positions.double()]

    # What nearly cancels loses most digits in bfloat16, but the same ones on any device.
    exact = results("cpu", torch.float32 if setting.bfloat16 else torch.float64, setting.bfloat16)
    found = results(setting.device, setting.dtype, setting.bfloat16)
    for one, other in zip(found, exact, strict=True):
        assert_near(one, other, setting.error)


@every_decoding
def test_decoding(make_model: Callable[..., Any], name: str, device: torch.device) -> None:
    method, model = of_configuration(make_model, name)
    source = source_tensor(texts([5, 1, 9, 3])).to(device)
    expected = method(model, source.cpu())
    consulted = dict(method.keywords)
    if "partner" in consulted:
        consulted["partner"] = consulted["partner"].to(device)
    if "language_model" in consulted:
        order = CONFIGURATION.decoding(name)["language_model"]["order"]
        consulted["language_model"] = language_model(order, device)
    found = functools.partial(method.func, **consulted)(model.to(device), source)
    # in float64, so that no two candidates are as good as each other to rounding
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, rel=1e-4, abs=1e-4)
    if "partner" in consulted:
        consulted["partner"] = consulted["partner"].float()
    for one in functools.partial(method.func, **consulted)(model.float(), source):
        assert math.isfinite(one.score)


def test_token_by_token_is_the_same_as_all_at_once(
    make_model: Callable[..., Any], make_batch: Callable[..., Batch], device: torch.device
) -> None:
    model = make_model(dtype=torch.float32).to(device)
    batch = make_batch([(3, 6), (5, 6)]).to(device)
    encoded = model.encode(batch.source)
    whole = model.decode(batch.target, batch.target_padding, encoded, causal=True)
    cache = model.start(encoded, beam=1)
    for position in range(6):
        found = model.step(batch.target[:, position, None], cache)[:, 0]
        torch.testing.assert_close(found, whole[:, position], rtol=1e-3, atol=1e-4)


def test_dropout(device: torch.device) -> None:
    torch.manual_seed(1)
    found = dropout(torch.ones(1000, 1000, device=device), 0.3, training=True)
    assert (found == 0).double().mean().item() == pytest.approx(0.3, abs=0.005)
    assert found.double().mean().item() == pytest.approx(1.0, abs=0.01)
