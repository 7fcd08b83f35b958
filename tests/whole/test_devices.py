"""What a device computes, against the processor in float64; training steps in bf16, too.

Each test is there for a CUDA device, marked `gpu`, and for the stand-in, which any machine has and
where, as with CUDA, a tensor that was forgotten on the processor is an error.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nat.analyses import likelihood, mple
from nat.analyses.analysis import Pairs
from nat.data.batch import source_tensor
from nat.decoding.one_pass import OnePass
from nat.measures import latency
from nat.objective.context import Loss
from nat.transformer.linear import has_bfloat16_products
from nat.transformer.output import Output
from tests.analyses.measured import MEASURES, OFFSET
from tests.data.test_texts import TEXTS, batch_of
from tests.decoding.test_decode_corpus import every_decoding, of_configuration, texts
from tests.objectives import cases, names
from tests.stand_in_device import STAND_IN, StandInDevice
from tests.tiny import make_batch, make_model, make_objective

CUDA = torch.device("cuda")
DEVICES = {"stand-in": STAND_IN, "cuda": CUDA}
OBJECTIVES = cases()


class Setting(NamedTuple):
    """Where and how a result is computed that is compared with one of the processor."""

    device: torch.device
    bfloat16: bool
    error: float  # relative, that may be


SETTINGS = {
    "stand-in": Setting(STAND_IN, False, 1e-5),
    "stand-in-bf16": Setting(STAND_IN, True, 0.05),
    "fp32": Setting(CUDA, False, 1e-4),
    "bf16": Setting(CUDA, True, 0.05),
}
ON_CUDA = (
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
)


def marks(device: torch.device) -> tuple[pytest.MarkDecorator, ...]:
    return () if device == STAND_IN else ON_CUDA


@pytest.fixture(
    params=[pytest.param(each, id=name, marks=marks(each)) for name, each in DEVICES.items()]
)
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    with StandInDevice() if request.param == STAND_IN else nullcontext():
        yield request.param


@pytest.fixture(
    params=[pytest.param(each, id=name, marks=marks(each[0])) for name, each in SETTINGS.items()]
)
def setting(request: pytest.FixtureRequest) -> Iterator[Setting]:
    found: Setting = request.param
    with StandInDevice() if found.device == STAND_IN else nullcontext():
        if found.device == CUDA and found.bfloat16 and not has_bfloat16_products(CUDA):
            pytest.skip("the CUDA device has no bfloat16 products")
        yield found


TRAININGS = [
    pytest.param(each, pre_norm, id=f"{name}-{pre_norm}", marks=marks(each.device))
    for name, each in SETTINGS.items()
    for pre_norm in (False, True)
    # on the stand-in each once, since what it computes is no question there
    if each.device == CUDA or pre_norm == each.bfloat16
]


def test_losses_and_gradients(setting: Setting) -> None:
    generator = torch.Generator().manual_seed(1)
    states = torch.randn(9000, 32, generator=generator, dtype=torch.float64)  # two chunks
    weight = 0.3 * torch.randn(501, 32, generator=generator, dtype=torch.float64)
    teacher = torch.randn(9000, 32, generator=generator, dtype=torch.float64)
    symbols = torch.randint(501, (9000, 2), generator=generator)

    def results(device: torch.device | str, dtype: torch.dtype, bfloat16: bool) -> list[Tensor]:
        x, embedding = (each.to(device, dtype).requires_grad_() for each in (states, weight))
        labels, ids = teacher.to(device, dtype), symbols.to(device)
        true, fixed = ids[:, 0], embedding.detach()
        output, its = Output(embedding, bfloat16), Output(fixed, bfloat16)
        values = [
            output.cross_entropy(x, true, 0.1).value,
            output.divergence(x, its, labels, 0.5, true).value,
        ]
        gradients = (torch.autograd.grad(value.sum(), (x, embedding)) for value in values)
        return [*values, *itertools.chain(*gradients), output.log_probabilities(x, ids)]

    exact = results("cpu", torch.float64, False)
    found = results(setting.device, torch.float32, setting.bfloat16)
    for one, other in zip(found, exact, strict=True):
        assert one.isfinite().all()
        difference = (one.cpu().double() - other).norm()
        assert difference <= setting.error * other.norm() + 1e-6


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(("setting", "pre_norm"), TRAININGS, indirect=["setting"])
def test_training_step(name: str, setting: Setting, pre_norm: bool) -> None:
    batch = make_batch([(3, 5), (7, 2), (1, 9), (4, 1), (2, 0)])

    def results(
        device: torch.device | str, dtype: torch.dtype, bfloat16: bool, update: int
    ) -> list[Tensor]:
        model, objective = OBJECTIVES[name].build(dtype, bfloat16, pre_norm=pre_norm)
        model.to(device), objective.to(device)
        loss = objective(model, batch.to(device), update=update)
        loss.value.sum().backward()
        optimiser = torch.optim.SGD(model.parameters(), 1.0)
        before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        optimiser.step()
        after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        return [loss.value.detach(), after - before, loss.positions.double()]

    def is_near(update: int) -> bool:
        exact = results("cpu", torch.float64, False, update)
        found = results(setting.device, torch.float32, setting.bfloat16, update)
        # what nearly cancels loses most digits, on a CPU as well
        near = results("cpu", torch.float32, setting.bfloat16, update)
        return all(
            (one.cpu().double() - other).norm()
            <= setting.error * other.norm() + 2 * (rounded.double() - other).norm() + 1e-6
            for one, other, rounded in zip(found, exact, near, strict=True)
        )

    # bfloat16 may choose another one of two alignments that are about equally good
    assert is_near(3) or (setting.bfloat16 and is_near(4))


@pytest.mark.parametrize("text", TEXTS[2:])
@pytest.mark.parametrize("name", ["axe-kd", "ctc-kd"])
def test_choice_of_texts(name: str, text: dict[str, Any], device: torch.device) -> None:
    case = OBJECTIVES[name]
    batch = batch_of(regulariser=[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])

    def results(device: torch.device | str) -> Loss:
        model = make_model(**case.model).to(device)
        return make_objective(model, case.input, case.target, text=text)(model, batch.to(device), 3)

    found, expected = results(device), results("cpu")
    torch.testing.assert_close(found.value.cpu(), expected.value)
    assert found.parts.keys() == expected.parts.keys()
    for part, value in expected.parts.items():
        torch.testing.assert_close(found.parts[part].cpu(), value)


@every_decoding
def test_decoding(name: str, device: torch.device) -> None:
    if name.startswith("onnx") and device == STAND_IN:
        pytest.skip("an engine of its own, which knows no such device")
    method, model = of_configuration(name)
    source = source_tensor(texts([5, 1, 9, 3])).to(device)
    expected = method(model, source.cpu())
    consulted = dict(method.keywords)
    if "assistant" in consulted:
        consulted["assistant"] = consulted["assistant"].to(device)
    found = functools.partial(method.func, **consulted)(model.to(device), source)
    # in float64, so that no two candidates are as good as each other to rounding
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, rel=1e-4, abs=1e-4)
    if "assistant" in consulted:
        consulted["assistant"] = consulted["assistant"].float()
    for one in functools.partial(method.func, **consulted)(model.float(), source):
        assert math.isfinite(one.score)


SOURCES, TARGETS = texts([5, 1, 9, 3]), texts([4, 2, 7, 6])


@pytest.mark.parametrize("name", MEASURES)
def test_measure(name: str, device: torch.device) -> None:
    expected = MEASURES[name](make_model, 30)
    found = MEASURES[name](lambda **keywords: make_model(**keywords).to(device), 30)
    assert len(found) == len(expected) > 0
    torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(expected))


@pytest.mark.parametrize("name", ["axe-kd", "ctc-kd", "oaxe-kd", "vae-kd", "glat-kd-predicted"])
def test_measure_of_an_objective(name: str, device: torch.device) -> None:
    def results(device: torch.device | str) -> tuple[dict[str, float], mple.Proxy]:
        model, objective = OBJECTIVES[name].build()
        model.to(device), objective.to(device)
        pairs = Pairs(model, SOURCES, TARGETS, 30)
        proxy = mple.measure(objective, pairs)
        objective.eval()
        return likelihood.losses(objective, pairs)[1], proxy

    (found, proxy), (expected, exact) = results(device), results("cpu")
    torch.testing.assert_close(found, expected)
    assert proxy.targets == exact.targets
    assert proxy.input_loss == pytest.approx(exact.input_loss)
    assert proxy.nll == {n: (pytest.approx(nll), tokens) for n, (nll, tokens) in exact.nll.items()}


def test_latency(device: torch.device) -> None:
    for batch in (3, latency.LARGEST) if device == CUDA else (3,):
        setting = latency.Setting(device.type, batch, torch.get_num_threads())
        model = make_model(**OFFSET).to(device)
        system = latency.System(model, OnePass, "torch", "float64", [setting.threads])
        found, times = latency.measure({"nat": system}, SOURCES, range(4), setting)
        assert found["sentences"] == 4 and len(times["nat"]) == setting.repeats


# What CUDA refuses and what it takes: x lies on the device, all else on the processor.
ONES, PLACES, MASK = torch.ones(4), torch.tensor([1, 2]), torch.arange(4) > 1

REFUSED: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda x: x + ONES,
    "sum into a scalar of the processor": lambda x: torch.tensor(1.0).add_(x.sum()),
    "mask": lambda x: x.masked_fill(MASK, 0.0),
    "gathered places": lambda x: x.gather(0, PLACES),
    "values": lambda x: x.clone().__setitem__(PLACES, torch.ones(2)),
    "embedding": lambda x: F.embedding(PLACES, x[:, None]),
    "product of whole numbers": lambda x: x.long() @ x.long(),
    "numpy": lambda x: x.numpy(),
    "generator": lambda x: torch.rand(4, device=x.device, generator=torch.Generator()),
}
TAKEN: dict[str, Callable[[Tensor], Any]] = {
    "scalar": lambda x: x + torch.tensor(1.0),
    "scalar branches": lambda x: torch.where(x > 1, torch.tensor(1.0), torch.tensor(0.0)),
    "places": lambda x: x[PLACES],
    "places that are written": lambda x: x.clone().index_put_((PLACES,), torch.tensor(9.0)),
    "copy to the processor": lambda x: torch.zeros(4).copy_(x),
    "list": lambda x: torch.tensor([x.tolist(), [each.item() for each in x]]),
}


@pytest.mark.parametrize("name", [*REFUSED, *TAKEN])
def test_what_may_lie_on_the_processor(name: str, device: torch.device) -> None:
    x = torch.arange(4.0, device=device)
    if name in REFUSED:
        with pytest.raises((RuntimeError, TypeError)):
            REFUSED[name](x)
    else:
        assert torch.equal(TAKEN[name](x).cpu(), TAKEN[name](x.cpu()))
