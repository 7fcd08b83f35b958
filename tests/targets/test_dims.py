from typing import Any, Literal

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.vocabulary import MASK, NEVER_WRITTEN
from nat.inputs.full_mask import FullMask
from nat.inputs.random_mask import RandomMask
from nat.targets.dims import Dims
from nat.transformer.model import Transformer
from tests.tiny import decoded, make_batch, make_context, make_model, of_states

# odd and even numbers of masks, fewer masks than passes, one and none
LENGTHS = [(3, 7), (4, 1), (2, 2), (5, 3), (1, 8), (6, 0), (3, 5)]


def frozen_labels(
    teacher: Transformer, source: list[int], tokens: list[int], passes: int, labels: str
) -> dict[int, Tensor]:
    """Algorithm 1 of DiMS for one sentence, position by position; labels of which pass."""
    current = list(tokens)
    all_masked = [place for place, token in enumerate(tokens) if token == MASK]
    left = list(all_masked)
    masks = len(left)
    frozen: dict[int, Tensor] = {}
    for number in range(1, passes + 1):
        states = decoded(teacher, source, current)
        writable = of_states(teacher, states).exp()
        writable[:, list(NEVER_WRITTEN)] = 0
        left.sort(key=lambda place: -writable[place].max().item())
        reveal = masks * number // passes - len(frozen)
        for place in left[:reveal]:
            frozen[place] = states[place]
            current[place] = int(writable[place].argmax())
        left = left[reveal:]
    assert not left and len(frozen) == masks
    if labels == "last":
        return {place: states[place] for place in all_masked}
    return frozen


@pytest.mark.parametrize("method", [FullMask, RandomMask])
@pytest.mark.parametrize("passes", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("labels", ["revealing", "last"])
def test_against_a_slow_reference(
    method: Any, passes: int, labels: Literal["revealing", "last"]
) -> None:
    student, teacher = make_model(seed=1), make_model(seed=2)
    batch = make_batch(LENGTHS)
    context = make_context(student, batch, teacher=teacher)
    decoder_input = method()(context)
    target = Dims(teacher_steps=passes, temperature=0.5, hidden_weight=0.7, labels=labels)
    loss = target(context, decoder_input)
    label_states = target.label(teacher, context, decoder_input)
    states = context.decode(decoder_input)
    for row, (source_length, length) in enumerate(LENGTHS):
        source = batch.source[row, :source_length].tolist()
        tokens = decoder_input.tokens[row, :length].tolist()
        divergence = distance = 0.0
        frozen = frozen_labels(teacher, source, tokens, passes, labels) if tokens else {}
        for place, state in frozen.items():
            torch.testing.assert_close(label_states[row, place], state)
            label = F.softmax(state @ teacher.embedding.weight.t() / 0.5, -1)
            found = of_states(student, states[row, place])
            divergence += (label * (label.log() - found)).sum().item()
            distance += (state - states[row, place]).square().sum().sqrt().item()
        assert loss.parts["divergence"][row].item() == pytest.approx(divergence)
        assert loss.parts["hidden"][row].item() == pytest.approx(distance)
        assert loss.value[row].item() == pytest.approx(divergence + 0.7 * distance)
        assert loss.positions[row].item() == len(frozen)


def test_a_teacher_that_favours_special_symbols_reveals_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    student, teacher = make_model(seed=1), make_model(seed=2, pre_norm=True)
    special = list(NEVER_WRITTEN)
    with torch.no_grad():
        # its states have a positive product with each of these, and words are less probable
        direction = torch.zeros(teacher.embedding.weight.size(1))
        direction[0] = 50.0
        teacher.decoder_norm.bias.add_(direction)
        teacher.embedding.weight[:, 0] = 0.0
        teacher.embedding.weight[special, 0] = 1.0
    batch = make_batch([(3, 8)])
    context = make_context(student, batch, teacher=teacher)
    decoder_input = FullMask()(context)
    seen = []
    decode = teacher.decode

    def logged(tokens: Tensor, *arguments: Any, **options: Any) -> Tensor:
        seen.append(tokens)
        return decode(tokens, *arguments, **options)

    monkeypatch.setattr(teacher, "decode", logged)
    labels = Dims(teacher_steps=4).label(teacher, context, decoder_input)
    assert len(seen) == 4
    revealed = seen[-1][seen[-1] != MASK]
    assert len(revealed) == 6
    assert not torch.isin(revealed, torch.tensor(special)).any()
    # the labels are still those of the full softmax
    favourites = (labels[0] @ teacher.embedding.weight.t()).argmax(1)
    assert torch.isin(favourites, torch.tensor(special)).all()
