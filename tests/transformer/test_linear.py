import pytest
import torch
from torch import nn

from nat.transformer.linear import Linear, bfloat16_rows, use_bfloat16_products
from tests.tiny import make_model


def pair(bias: bool = True) -> tuple[Linear, nn.Linear]:
    torch.manual_seed(0)
    mine, its = Linear(24, 40, bias=bias), nn.Linear(24, 40, bias=bias)
    if bias:
        nn.init.normal_(mine.bias)
    its.load_state_dict(mine.state_dict())
    return mine, its


def results(layer: nn.Module, inputs: torch.Tensor) -> list[torch.Tensor]:
    inputs = inputs.clone().requires_grad_()
    output = layer(inputs)
    output.square().sum().backward()
    return [output.detach(), inputs.grad, *(each.grad for each in layer.parameters())]


@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 3, 7), (0,)])
def test_the_layer_in_both_directions(bfloat16: bool, bias: bool, shape: tuple[int, ...]) -> None:
    mine, its = pair(bias)
    use_bfloat16_products(mine, bfloat16)
    inputs = torch.randn(*shape, 24)
    for one, other in zip(results(mine, inputs), results(its, inputs), strict=True):
        assert one.dtype == torch.float32
        scale = other.abs().max().item() if other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=0, atol=0.02 * scale * bfloat16)
    # double precision is never rounded
    inputs = torch.randn(5, 24, dtype=torch.float64)
    assert torch.equal(mine.double()(inputs), its.double()(inputs))


def test_a_frozen_layer_passes_its_gradient_on() -> None:
    mine, its = pair()
    use_bfloat16_products(mine.requires_grad_(False), True)
    inputs = torch.randn(5, 24, requires_grad=True)
    mine(inputs).sum().backward()
    expected = its.weight.detach().sum(0).expand(5, -1)
    torch.testing.assert_close(inputs.grad, expected, rtol=0, atol=0.1)


def test_the_switch_reaches_every_layer() -> None:
    model = make_model(length="offset")
    layers = [module for module in model.modules() if isinstance(module, Linear)]
    for enabled in (True, False):
        use_bfloat16_products(model, enabled)
        assert {layer.bfloat16_products for layer in layers} == {enabled}


def test_rows_come_in_few_numbers() -> None:
    numbers = set()
    for count in [*range(300), *range(300, 5000, 37)]:
        rows = torch.full((count, 2), 1.5)
        rounded = bfloat16_rows(rows)
        assert rounded.dtype == torch.bfloat16
        assert torch.equal(rounded[:count].float(), rows)
        assert not rounded[count:].any()
        assert count <= len(rounded) <= max(count * 9 / 8, count + 8)
        numbers.add(len(rounded))
    assert len(numbers) < 60
    assert len(bfloat16_rows(torch.ones(256, 2))) == 256
