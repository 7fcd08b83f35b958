from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.vocabulary import PAD
from nat.objective.context import Loss
from nat.transformer.model import Transformer
from tests.messages import told
from tests.objectives import cases, names
from tests.tiny import CROSS_ENTROPY, make_batch, make_model, make_objective, one_sentence

OBJECTIVES = cases()
every_objective = pytest.mark.parametrize("name", names())
LENGTHS = [(3, 5), (7, 2), (1, 9), (4, 1), (2, 0)]


def gradient(model: Transformer, value: Tensor, retain_graph: bool = False) -> Tensor:
    parameters = list(model.parameters())
    found = torch.autograd.grad(
        value, parameters, retain_graph=retain_graph, allow_unused=True, materialize_grads=True
    )
    return torch.nn.utils.parameters_to_vector(found)


@every_objective
def test_a_sentence_has_the_same_loss_and_gradient_alone_and_in_a_batch(name: str) -> None:
    model, objective = OBJECTIVES[name].build()
    batch = make_batch(LENGTHS, first_id=17)
    whole = objective(model, batch, update=4)
    for row in range(len(LENGTHS)):
        alone = objective(model, one_sentence(batch, row), update=4)
        torch.testing.assert_close(alone.value[0], whole.value[row])
        assert alone.positions[0] == whole.positions[row]
        assert alone.parts.keys() == whole.parts.keys()
        for part in whole.parts:
            torch.testing.assert_close(alone.parts[part][0], whole.parts[part][row])
        torch.testing.assert_close(
            gradient(model, alone.value[0]), gradient(model, whole.value[row], retain_graph=True)
        )


@every_objective
def test_gradient_by_finite_differences(name: str) -> None:
    model, objective = OBJECTIVES[name].build()
    batch = make_batch(LENGTHS)

    def value() -> Tensor:
        loss = objective(model, batch, 0)
        # the input predictor learns from states that it does not change, see test_prediction.py
        return (loss.value - loss.parts.get("masks", 0)).sum()

    found = gradient(model, value())
    start = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    for seed in range(3):
        direction = torch.randn(start.shape, generator=torch.Generator().manual_seed(seed)).double()
        values = []
        with torch.no_grad():
            for move in (1e-6, -1e-6):
                torch.nn.utils.vector_to_parameters(start + move * direction, model.parameters())
                values.append(value().item())
            torch.nn.utils.vector_to_parameters(start, model.parameters())
        slope = (values[0] - values[1]) / 2e-6
        assert (found @ direction).item() == pytest.approx(slope, rel=1e-5, abs=1e-5)


@every_objective
def test_padding_has_no_gradient_and_all_is_finite(name: str) -> None:
    model, objective = OBJECTIVES[name].build()
    embedded: list[tuple[Tensor, Tensor]] = []

    def note(module: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        if output.requires_grad:  # not in passes that only look
            output.retain_grad()
            embedded.append((inputs[0], output))

    model.embedding.register_forward_hook(note)
    objective(model, make_batch(LENGTHS), 0).value.sum().backward()
    assert len(embedded) >= 2  # source, and what each decoder pass is shown
    for tokens, output in embedded:
        assert (output.grad[tokens.eq(PAD)] == 0).all()
    for parameter in model.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()


@pytest.mark.parametrize("length", ["offset", "token"])
def test_length_loss_is_weighted_by_positions(length: str) -> None:
    model, batch = make_model(length=length), make_batch(LENGTHS)
    without, loss = (
        make_objective(model, "full_mask", CROSS_ENTROPY, length_loss_weight=each)(model, batch, 0)
        for each in (0.0, 0.3)
    )
    encoded = model.encode(batch.source)
    lengths = batch.target_lengths
    own = model.length_predictor.loss(encoded.length_states, encoded.padding, lengths)
    torch.testing.assert_close(loss.value, without.value + 0.3 * lengths * own)
    torch.testing.assert_close(loss.parts["length"], lengths * own)
    assert torch.equal(loss.positions, lengths)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"value": (3,), "positions": ()}, "'positions'"),
        ({"value": (), "positions": (3,)}, "'value'"),
        ({"value": (3, 2), "positions": (3, 2)}, "[3, 2] for 'value'"),
    ],
)
def test_a_loss_that_is_not_by_sentence_is_refused(
    shapes: dict[str, tuple[int, ...]], message: str
) -> None:
    with told(message):
        Loss(**{name: torch.zeros(shape) for name, shape in shapes.items()})


def dims(**options: Any) -> Any:
    model = make_model(dropout=0.3).train()
    return model, make_objective(model, "random_mask", {"method": "dims", **options})


def test_teacher_is_a_frozen_copy() -> None:
    model, objective = dims()
    teacher = objective.teacher
    assert teacher is not None and teacher is not model
    for mine, its in zip(teacher.parameters(), model.parameters(), strict=True):
        assert torch.equal(mine, its) and mine.data_ptr() != its.data_ptr()
    objective.train()
    assert not any(module.training for module in teacher.modules())
    assert not any(parameter.requires_grad for parameter in objective.parameters())
    objective(model, make_batch(), 0).value.sum().backward()
    assert all(parameter.grad is None for parameter in objective.parameters())
    # a training that goes on after a stop needs the teacher as it was
    assert len(objective.state_dict()) == len(teacher.state_dict()) > 0


@pytest.mark.parametrize("decay", [0.9, 0.0, 1.0, None])
def test_teacher_follows_the_model(decay: float | None) -> None:
    model, objective = dims(ema_decay=decay)
    before = [parameter.clone() for parameter in objective.teacher.parameters()]
    for _ in range(2):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter))
        objective.after_update(model)
        kept = 1.0 if decay is None else decay
        before = [
            kept * old + (1 - kept) * new.detach()
            for old, new in zip(before, model.parameters(), strict=True)
        ]
        for mine, expected in zip(objective.teacher.parameters(), before, strict=True):
            torch.testing.assert_close(mine, expected)


def test_other_objectives_have_no_teacher() -> None:
    model, objective = OBJECTIVES["cmlm-kd"].build()
    assert objective.teacher is None
    objective.after_update(model)
    assert not objective.state_dict()


def test_validation_is_at_the_end_of_all_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model()
    objective = make_objective(model, "glancing", CROSS_ENTROPY, updates=10)
    draw, seen = objective.input, []

    def note(context: Any) -> Any:
        seen.append(context.progress)
        return draw(context)

    monkeypatch.setattr(objective, "input", note)
    for training, update in ((True, 5), (True, 20), (False, 0)):
        objective.train(training)(model, make_batch(), update)
    assert seen == [0.5, 1.0, 1.0]


def test_validation_asks_no_teacher() -> None:
    model, objective = dims()
    model.eval()
    objective.eval()
    objective.teacher.encode = None  # calling it would fail
    loss = objective(model, make_batch(), 0)
    assert "divergence" not in loss.parts
    torch.testing.assert_close(loss.value, loss.parts["nll"])


# Without bfloat16, gradients are held against finite differences above.
@every_objective
@pytest.mark.parametrize("bfloat16", [pytest.param(False, marks=pytest.mark.long), True])
def test_training_lowers_the_loss(name: str, bfloat16: bool) -> None:
    model, objective = OBJECTIVES[name].build(torch.float32, bfloat16=bfloat16)
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    batch = make_batch(LENGTHS)
    values = []
    for update in range(40):
        optimiser.zero_grad()
        loss = objective(model, batch, update)
        value = loss.value.sum() / loss.positions.sum()
        value.backward()
        optimiser.step()
        objective.after_update(model)
        values.append(value.item())
        if update >= 9 and sum(values[-5:]) < 0.75 * sum(values[:5]):
            return
    pytest.fail(f"the loss does not fall by a quarter in 40 updates: {values}")
