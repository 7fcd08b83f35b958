"""Which of several targets a pair learns from: mixed and dynamic distillation."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import Batch
from nat.data.candidates import Text
from nat.data.vocabulary import PAD
from nat.distillation.dynamic import Dynamic, empty_or_repeated, full_mask_nll
from nat.distillation.mixed import Mixed
from tests.enumeration.test_ctc_alignment import alignments
from tests.tiny import make_context, make_model, make_objective

TEACHER = {"system": "at", "decoding": "beam"}
OTHER = {"system": "at-big", "decoding": "beam"}
TEXTS: list[Any] = [
    "raw",
    {"distilled": TEACHER},
    {"mixed": {"raw": 0.2, "distilled": TEACHER}},
    {"dynamic": {"candidates": [TEACHER, OTHER, "raw"]}},
    {
        "dynamic": {
            "candidates": [TEACHER, "raw"],
            "regulariser": {"beta": 0.2, "gamma": [1.0, 2.0]},
        }
    },
]
# two sentences of three candidates
TARGETS = [[[10, 11, 12], [13], [14, 15, 16]], [[20, 21], [22, 23, 24, 25], [26]]]


def batch_of(targets: Any = TARGETS, first_id: int = 0, regulariser: Any = None) -> Batch:
    sources = [[7, 8, 9, 10], [11, 12]][: len(targets)] + [[9]] * (len(targets) - 2)
    costs = None if regulariser is None else torch.tensor(regulariser).numpy()
    ids = range(first_id, first_id + len(targets))
    return Batch.collate_candidates(ids, sources, targets, costs)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_becomes_json_and_is_read_again(text: Any) -> None:
    assert Text.of(text).as_json() == text
    seeded = Text.of(text).with_seed(7)
    assert Text.of(seeded.as_json()) == seeded


def test_a_batch_holds_candidates_until_one_is_chosen() -> None:
    batch = batch_of([*TARGETS, [[], [17], []]])
    assert batch.candidates.shape == (3, 3, 4)
    # the first that is there
    assert batch.target.tolist() == [[10, 11, 12], [20, 21, PAD], [17, PAD, PAD]]
    chosen = batch.choose(torch.tensor([1, 2, 1]))
    assert chosen.target.tolist() == [[13], [26], [17]]
    assert chosen.ids.tolist() == [0, 1, 2]
    moved = vars(batch.to("meta"))
    assert {name for name, each in moved.items() if each is not None} == {*vars(batch)} - {
        "regulariser"
    }
    assert {each.device.type for each in moved.values() if each is not None} == {"meta"}


def test_a_mixture_has_the_shares_that_were_asked_for() -> None:
    number = 4000
    batch = Batch.collate_candidates(range(number), [[9]] * number, [[[10], [11]]] * number)
    model = make_model()
    first = Mixed(raw=0.2)(make_context(model, batch, update=0))
    second = Mixed(raw=0.2)(make_context(model, batch, update=1))
    for chosen in (first, second):
        assert (chosen == 0).double().mean().item() == pytest.approx(0.2, abs=0.02)
    both = (first.eq(0) & second.eq(0)).double().mean().item()
    assert both == pytest.approx(0.04, abs=0.01)  # each update draws anew
    part = Batch.collate_candidates(range(3, 9), [[9]] * 6, [[[10], [11]]] * 6)
    assert torch.equal(Mixed(raw=0.2)(make_context(model, part, update=1)), second[3:9])
    # an empty text is never taken
    batch = Batch.collate_candidates(range(100), [[9]] * 100, [[[10], []], [[], [11]]] * 50)
    assert Mixed(raw=0.5)(make_context(model, batch)).tolist() == [0, 1] * 50


def alone(context: Any, target: list[int], row: int) -> Tensor:
    """-log P of a target under a full mask, from the logits of its sentence alone."""
    model, source = context.model, context.batch.source[row : row + 1]
    batch = Batch(context.batch.ids[row : row + 1], source, torch.tensor([target]))
    own = replace(context, batch=batch, encoded=model.encode(source))
    states = own.decode(own.fully_masked_input())[0]
    log_probabilities = (states @ model.embedding.weight.T).log_softmax(1)
    if model.decoder.upsample is None:
        return -log_probabilities[range(len(target)), target].sum()
    total = torch.tensor(-torch.inf).double()
    for alignment in alignments(len(states), target):
        total = total.logaddexp(log_probabilities[range(len(states)), alignment].sum())
    return -total


@pytest.mark.parametrize("decoder", [{}, {"copy": "uniform"}, {"copy": "soft", "upsample": 1.5}])
def test_likelihood_of_candidates(decoder: Any) -> None:
    model = make_model(decoder=decoder, dropout=0.5)  # without effect: evaluation mode
    # of one length, repeated symbols, and an empty one; none too long for an upsampled canvas
    batch = batch_of([[[10, 11, 12], [13, 13], [14, 15, 16]], [[20, 21], [22], []]])
    context = make_context(model, batch)
    found = full_mask_nll(context, batch.candidates)
    for row, targets in enumerate([[[10, 11, 12], [13, 13], [14, 15, 16]], [[20, 21], [22]]]):
        for number, target in enumerate(targets):
            torch.testing.assert_close(found[row, number], alone(context, target, row))
    if "upsample" not in decoder:
        assert found[1, 2] == 0


def test_the_choice_drops_nothing_and_leaves_the_model_training() -> None:
    model = make_model(dropout=0.3)
    batch = batch_of()
    context = make_context(model, batch)
    expected = full_mask_nll(context, batch.candidates)
    model.train()
    state = torch.random.get_rng_state()
    assert torch.equal(full_mask_nll(context, batch.candidates), expected)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(module.training for module in model.modules())
    assert not Dynamic()(context).requires_grad


def test_the_likeliest_candidate_is_chosen_unless_the_regulariser_objects() -> None:
    model = make_model()
    batch = batch_of()
    context = make_context(model, batch)
    nll = full_mask_nll(context, batch.candidates)
    assert torch.equal(Dynamic()(context), nll.argmin(1))
    for wanted in itertools.product(range(3), repeat=2):
        costs = torch.zeros(2, 3)
        costs[torch.arange(2), torch.tensor(wanted)] = -1000.0
        regularised = replace(context, batch=replace(batch, regulariser=costs))
        assert Dynamic()(regularised).tolist() == list(wanted)


def test_empty_and_repeated_candidates() -> None:
    targets = [[[10], [10], [10, 11]], [[], [20], []], [[], [], []]]
    batch = batch_of(targets)
    assert empty_or_repeated(batch.candidates).tolist() == [
        [False, True, False],
        [True, False, True],
        [True, True, True],
    ]
    # an empty one costs nothing, so it would win
    costs = torch.zeros(3, 3).index_fill_(1, torch.tensor([1]), -1000.0)
    context = make_context(make_model(), replace(batch, regulariser=costs))
    chosen = Dynamic()(context)
    assert chosen[0] in (0, 2)
    assert chosen[1:].tolist() == [1, 0]


def test_candidates_too_long_for_the_canvas_come_last() -> None:
    model = make_model(decoder={"copy": "soft", "upsample": 1.0})
    # a source of two tokens has two frames; too long is better than empty
    for of_two in ([[20, 21, 22], [23, 24], []], [[], [20, 21, 22], [23, 24, 25]]):
        batch = batch_of([[[10, 11, 12], [], [13]], of_two])
        assert Dynamic()(make_context(model, batch)).tolist()[1] == 1


OBJECTIVES: dict[str, tuple[str, str, dict[str, Any], Any]] = {
    "vanilla": ("full_mask", "cross_entropy", {"length": "offset"}, TEXTS[3]),
    "cmlm": ("random_mask", "cross_entropy", {"length": "target"}, TEXTS[3]),
    "axe": ("full_mask", "axe", {"length": "offset"}, TEXTS[3]),
    "ctc": ("full_mask", "ctc", {"decoder": {"copy": "soft", "upsample": 3.0}}, TEXTS[3]),
    "mixed": ("random_mask", "cross_entropy", {"length": "offset"}, TEXTS[2]),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_objectives_learn_from_what_was_chosen(name: str) -> None:
    input, method, keywords, text = OBJECTIVES[name]
    target = {"method": method}
    number = len(Text.of(text).candidates)
    targets = [each[:number] for each in [*TARGETS, [[15, 16], [], [17]], [[18], [19], [18]]]]
    batch = batch_of(targets, first_id=5)
    model = make_model(**keywords)
    objective = make_objective(model, input, target, text=text)
    whole = objective(model, batch, 3)
    names = [f"from_{each.name}" for each in Text.of(text).candidates]
    shares = torch.stack([whole.parts[each] for each in names], 1)
    assert torch.equal(shares.sum(1), whole.positions)
    chosen = shares.argmax(1)

    # the same as training on the chosen targets
    plain = make_objective(model, input, target)
    only = replace(batch.choose(chosen), candidates=None)
    expected = plain(model, only, 3)
    torch.testing.assert_close(whole.value, expected.value)
    assert torch.equal(whole.parts["tokens"], only.target_lengths)

    for row in range(len(targets)):
        single = Batch.collate_candidates(
            [5 + row], [batch.source[row][batch.source[row] > 5].tolist()], [targets[row]]
        )
        found = objective(model, single, 3)
        torch.testing.assert_close(found.value[0], whole.value[row])
        for part, value in whole.parts.items():
            torch.testing.assert_close(found.parts[part][0], value[row])

    # validation has one target, so no choice
    assert names[0] not in objective.eval()(model.eval(), only, 0).parts
