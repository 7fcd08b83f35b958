import math
from typing import Any

import pytest
import torch

from nat.data.vocabulary import BOS
from nat.targets.cross_entropy import CrossEntropy
from nat.targets.hints import SMALLEST, Hints
from nat.transformer.layers import DecoderTrace
from tests.tiny import decoded, make_batch, make_context, make_model, make_objective

LENGTHS = [(3, 5), (7, 2), (1, 1), (4, 0)]


@pytest.fixture
def context() -> Any:
    model = make_model(length="constant", decoder={"copy": "uniform", "positional_attention": True})
    return make_context(model, make_batch(LENGTHS), teacher=make_model(seed=4))


def test_against_the_equations(context: Any) -> None:
    hints = Hints(
        hidden_weight=3.0, alignment_weight=2.0, student_threshold=0.1, teacher_threshold=0.4
    )
    loss = hints(context, context.fully_masked_input())
    nll = CrossEntropy()(context, context.fully_masked_input()).value
    mine = DecoderTrace()
    context.decode(context.fully_masked_input(), mine)
    for row, (source_length, length) in enumerate(LENGTHS):
        its = DecoderTrace()
        source = context.batch.source[row, :source_length].tolist()
        shown = [BOS, *context.batch.target[row, :length].tolist()][:length]
        decoded(context.teacher, source, shown, causal=True, trace=its)
        layers, heads = len(mine.states), mine.attention[0].size(1)
        hidden = alignment = 0.0
        for layer in range(layers):
            ours, other = mine.states[layer][row], its.states[layer][0]
            for s in range(length - 1):
                for t in range(s + 1, length):
                    d_st = float(torch.cosine_similarity(ours[s], ours[t], dim=0))
                    d_tr = float(torch.cosine_similarity(other[s], other[t], dim=0))
                    if d_st >= 0.1 and d_tr <= 0.4:
                        hidden += -math.log(1 - d_st)
            for t in range(length):
                for head in range(heads):
                    p, q = its.attention[layer][0, head, t], mine.attention[layer][row, head, t]
                    alignment += sum(
                        float(a) * math.log(float(a) / float(b))
                        for a, b in zip(p, q, strict=False)  # q has padding
                        if float(a) > 0
                    )
        if length > 1:
            hidden *= 2 / ((length - 1) * length * layers)
        alignment /= max(1, length * layers * heads)
        assert loss.parts["hidden"][row].item() == pytest.approx(length * hidden)
        assert loss.parts["alignment"][row].item() == pytest.approx(length * alignment)
        expected = float(nll[row]) + 3 * length * hidden + 2 * length * alignment
        assert loss.value[row].item() == pytest.approx(expected)
    assert (loss.parts["hidden"][:2] > 0).any()
    assert (loss.parts["alignment"][:3] > 0).all()


def test_pairs_at_the_thresholds_are_hinted() -> None:
    states = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]], dtype=torch.float64)  # cosine 0.6
    real = torch.ones(1, 2, dtype=torch.bool)
    found = Hints(student_threshold=0.6, teacher_threshold=0.6)._close_pairs(states, states, real)
    assert found.item() == pytest.approx(-math.log(0.4))


def test_equal_states_cost_much_but_not_infinitely_much() -> None:
    states = torch.ones(1, 3, 4, requires_grad=True)
    its = torch.eye(4)[None, :3]
    cost = Hints()._close_pairs(states, its, torch.ones(1, 3, dtype=torch.bool))
    assert cost.item() == pytest.approx(-math.log(SMALLEST), rel=1e-3)
    cost.sum().backward()
    assert states.grad is not None and states.grad.isfinite().all()


def test_the_trace_is_what_the_decoder_does(context: Any) -> None:
    trace = DecoderTrace()
    states = context.decode(context.fully_masked_input(), trace)
    torch.testing.assert_close(states, context.decode(context.fully_masked_input()))
    model = context.model
    torch.testing.assert_close(model.decoder_norm(trace.states[-1]), states)
    visible = ~context.encoded.padding[:, None, None, :]
    for weights in trace.attention:
        torch.testing.assert_close(weights.sum(3), torch.ones_like(weights[..., 0]))
        assert (weights.masked_select(~visible.expand_as(weights)) == 0).all()


def test_weights_that_are_not_given_balance_the_terms_of_the_first_batch() -> None:
    options = {"method": "hints", "student_threshold": 0.1, "teacher_threshold": 0.4}
    model = make_model(decoder={"copy": "uniform", "positional_attention": True})
    teacher = make_model(seed=4)
    first, second = make_batch(LENGTHS), make_batch(LENGTHS, seed=5)

    def total(objective: Any, batch: Any) -> dict[str, float]:
        loss = objective(model, batch, 0)
        values = {name: part.sum().item() for name, part in loss.parts.items()}
        return {**values, "value": loss.value.sum().item()}

    objective = make_objective(model, "full_mask", options, teacher=teacher)
    found = total(objective, first)
    # three terms of one size
    assert found["value"] == pytest.approx(3 * found["nll"])
    weights = objective.balance.found()
    for name in ("hidden", "alignment"):
        assert found[name] > 0
        assert weights[name] == pytest.approx(found["nll"] / found[name])
    # they stay what they are, whatever comes next, and enter the checkpoints
    later = total(objective, second)
    weighted = sum(weights[name] * later[name] for name in weights)
    assert later["value"] == pytest.approx(later["nll"] + weighted)
    resumed = make_objective(model, "full_mask", options, teacher=teacher)
    resumed.load_state_dict(objective.state_dict())
    assert total(resumed, second) == pytest.approx(later)

    # weights that are given stay, and a term that is zero gets the weight 1
    given = {**options, "hidden_weight": 0.0, "teacher_threshold": -1.0}
    objective = make_objective(model, "full_mask", given, teacher=teacher)
    found = total(objective, first)
    assert objective.balance.found().keys() == {"alignment"}
    assert found["value"] == pytest.approx(2 * found["nll"])
    zero = {**options, "teacher_threshold": -1.0}
    objective = make_objective(model, "full_mask", zero, teacher=teacher)
    assert total(objective, first)["hidden"] == 0
    assert objective.balance.found()["hidden"] == 1
    both = {**options, "hidden_weight": 1.0, "alignment_weight": 1.0}
    assert make_objective(model, "full_mask", both, teacher=teacher).balance is None
