"""The losses of MPLE."""

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nat.analyses import mple
from nat.analyses.analysis import Pairs
from nat.analyses.mple import Proxy, log_drawn, log_proxy_input, measure
from nat.data.vocabulary import BLANK, MASK, PAD
from nat.distillation.pairwise_bleu import sentence_bleu
from nat.inputs.fixed_mask import FixedMask
from nat.inputs.random_mask import RandomMask
from nat.inputs.random_reveal import RandomReveal
from nat.measures.significance import pearson
from nat.objective.context import BatchContext
from nat.objective.first_pass import FirstPass
from tests.analyses.conftest import SYMBOLS, Analyse
from tests.tiny import make_batch, make_model, make_objective, make_texts

LENGTHS = ((3, 5), (7, 2), (0, 4), (4, 6), (4, 1))
TEXTS = make_texts(LENGTHS)


def test_the_correlation_of_the_paper() -> None:
    """Table 3: vanilla, CMLM, fixed, GLAT, Levenshtein, P_ref, 1 - P_ref."""
    loss = [-4.66, -5.63, -6.05, -5.96, -5.94, -5.59, -6.01]
    sampled = [20.87, 23.48, 24.28, 23.98, 24.03, 22.98, 24.35]
    default = [20.87, 19.39, 19.35, 25.12, 24.84, 24.22, 25.19]
    assert pearson(loss, sampled) == pytest.approx(-0.99, abs=0.005)
    # recomputed from the printed rows; the paper's text has 0.37
    assert pearson(loss, default) == pytest.approx(-0.34, abs=0.005)
    for wrong in ((loss, default[:2]), ([1.0], [2.0]), (loss, [3.0] * 7)):
        with pytest.raises(ValueError, match="correlation"):
            pearson(*wrong)


@pytest.mark.parametrize(
    "shown",
    [RandomMask(), FixedMask(revealed=0.4), RandomReveal()],
    ids=lambda each: type(each).__name__,
)
def test_log_q_is_how_often_a_mask_is_drawn(shown: Any) -> None:
    model, draws = make_model(), 6000
    batch = make_batch([(2, 4)] * draws)
    context = BatchContext(model, batch, model.encode(batch.source), seed=1, update=0)
    masked = shown(context).tokens.eq(MASK)
    logs = log_proxy_input(shown, masked, torch.ones_like(masked)).tolist()
    counts = Counter(map(tuple, masked.tolist()))
    expected = dict(zip(map(tuple, masked.tolist()), logs, strict=True))
    assert sum(math.exp(value) for value in expected.values()) == pytest.approx(1)
    for pattern, count in counts.items():
        assert count / draws == pytest.approx(math.exp(expected[pattern]), rel=0.35)


def probability_of_draws(chosen: tuple[int, ...], weights: list[float]) -> float:
    """By enumeration of all orders that the first draws can come in."""
    total = 0.0
    for order in itertools.permutations(chosen):
        left, product = dict(enumerate(weights)), 1.0
        for item in order:
            product *= weights[item] / math.fsum(left.values())
            del left[item]
        total += product
    return total


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0, 30.0])
def test_draws_without_replacement_are_exact(spread: float) -> None:
    numbers = np.random.default_rng(int(spread))
    logs = numbers.normal(0, spread, 6)
    weights = np.exp(logs).tolist()
    sets = [each for size in range(7) for each in itertools.combinations(range(6), size)]
    chosen = torch.zeros(len(sets), 8, dtype=torch.bool)
    for row, members in enumerate(sets):
        chosen[row, list(members)] = True
    real = torch.arange(8).lt(6).expand(len(sets), 8)
    padded = torch.cat([torch.tensor(logs), torch.tensor([9.0, 9.0])]).expand(len(sets), 8)
    found = log_drawn(chosen, real, padded)
    expected = [math.log(probability_of_draws(members, weights)) for members in sets]
    assert found.tolist() == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("chosen", ["likely", "unlikely"])
def test_what_p_ref_draws_is_counted_with_its_weights(chosen: str) -> None:
    """Over many draws the input costs what enumeration says of the sets that were drawn."""
    model = make_model(length="target", parts={"input_predictor": {}})
    teacher = make_model(seed=5)
    shown = {"method": "glancing", "chosen": chosen}
    objective = make_objective(model, shown, {"method": "cross_entropy"}, teacher=teacher)
    sources, targets = ([each[0]] for each in TEXTS)
    batch = next(Pairs(model, sources, targets, 100).batches())
    for draw in range(5):
        update = objective.updates + draw
        context, [drawn] = objective.proxy_inputs(objective.context(model, batch, update))
        weights = objective.input.log_weights(FirstPass(context))[0].exp().tolist()
        revealed = tuple(drawn.tokens[0].ne(MASK).nonzero()[:, 0].tolist())
        paid = float(objective(model, batch, update).parts["input"])
        found = measure(objective, Pairs(model, sources, targets, 100), draw)
        expected = paid + math.log(probability_of_draws(revealed, weights))
        assert found.input_loss == pytest.approx(expected)


def total(proxy: Proxy) -> tuple[float, ...]:
    """Nats and tokens of all sentences."""
    return tuple(map(sum, zip(*proxy.nll.values(), strict=True)))


def test_a_nat_on_plain_text() -> None:
    model = make_model(length="target")
    objective = make_objective(
        model, "full_mask", {"method": "cross_entropy", "label_smoothing": 0.1}
    )
    alone, together = (measure(objective, Pairs(model, *TEXTS, tokens)) for tokens in (1, 1000))
    assert alone.input_loss == together.input_loss == 0
    assert total(alone) == (pytest.approx(total(together)[0]), 14)
    assert alone.targets == together.targets == {n: TEXTS[1][n].tolist() for n in (0, 1, 3, 4)}


@pytest.mark.parametrize("input", ["random_mask", "glancing"])
def test_the_cost_of_an_input(input: str) -> None:
    """It does not depend on batches; of one token, which must be masked, it is known by hand."""
    model = make_model(length="target", parts={"input_predictor": {}})
    teacher = make_model(seed=5)
    objective = make_objective(model, input, {"method": "cross_entropy"}, teacher=teacher)
    found, again = (measure(objective, Pairs(model, *TEXTS, tokens)) for tokens in (1, 1000))
    assert found.input_loss == pytest.approx(again.input_loss)
    assert found.targets == again.targets
    # by hand, of the last sentence, whose one token is masked: -log P(masked | X) + log 1
    sources, targets = ([each[4]] for each in TEXTS)
    one = measure(objective, Pairs(model, sources, targets, 1000))
    batch = next(Pairs(model, sources, targets, 1000).batches())
    context, [shown] = objective.proxy_inputs(objective.context(model, batch, objective.updates))
    assert shown.tokens.tolist() == [[MASK]]
    logit = model.input_predictor(context.decode(context.fully_masked_input()))
    assert one.input_loss == pytest.approx(-float(torch.nn.functional.logsigmoid(logit)))


def test_the_loss_of_latents_is_their_divergence() -> None:
    model = make_model(length="target", parts={"latent": {"dim": 3}})
    objective = make_objective(model, "full_mask", {"method": "cross_entropy"})
    found = measure(objective, Pairs(model, *TEXTS, 1000))
    total = 0.0
    for batch in Pairs(model, *TEXTS, 1).batches():
        encoded = model.encode(batch.source)
        divergence = model.latent.posterior(model, encoded, batch.target).divergence(
            model.latent.prior(encoded)
        )
        total += float(divergence.sum())
    assert found.input_loss == pytest.approx(total)


def test_a_pair_without_an_alignment_is_left_out() -> None:
    model = make_model(decoder={"upsample": 2.0})
    objective = make_objective(model, "full_mask", {"method": "ctc"})
    texts = [np.array([7, 8]), np.array([9])], [np.array([7, 8, 9]), np.array([6, 7, 8])]
    found = measure(objective, Pairs(model, *texts, 100))
    assert found.targets == {0: [7, 8, 9]} and total(found)[1] == 3
    alone = measure(objective, Pairs(model, *(side[:1] for side in texts), 100))
    assert total(found) == pytest.approx(total(alone))


@pytest.mark.parametrize("method", ["axe", "oaxe"])
@pytest.mark.parametrize("input", ["full_mask", "random_mask"])
def test_alignments_give_a_target_of_their_own(method: str, input: str) -> None:
    """The loss is the likelihood of that target, and the target is the best there is."""
    model = make_model(length="target")
    objective = make_objective(model, input, {"method": method})
    found = measure(objective, Pairs(model, *TEXTS, 1000))
    nll = 0.0
    for batch in Pairs(model, *TEXTS, 1).batches():
        number = int(batch.ids[0])
        context, [shown] = objective.proxy_inputs(
            objective.context(model, batch, objective.updates)
        )
        learned = objective.target(context, shown).learned
        states = context.decode(shown) @ model.embedding.weight.T
        costs = -states.log_softmax(2)[0]
        hidden = shown.loss_mask[0]
        nll += float(costs.gather(1, learned[0][:, None])[hidden].sum())
        assert learned[0][~hidden].tolist() == batch.target[0][~hidden].tolist()
        symbols = [token for token in learned[0].tolist() if token not in (BLANK, PAD)]
        assert found.targets[number] == symbols
        if method == "oaxe":
            assert sorted(symbols) == sorted(batch.target[0].tolist())
            free = hidden.nonzero()[:, 0].tolist()
            own = batch.target[0][hidden].tolist()
            best = min(
                sum(float(costs[place, token]) for place, token in zip(free, order, strict=True))
                for order in itertools.permutations(own)
            )
            assert float(costs.gather(1, learned[0][:, None])[hidden].sum()) == pytest.approx(best)
    assert total(found)[0] == pytest.approx(nll)


def test_the_bleu_of_a_target_weighs_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, analyse: Analyse
) -> None:
    learned, other = "t0 t1 t2 t3", "t0 t1 t2 t9"
    row = {"id": 0, "references": [learned, other], "weights": [0.75, 0.25]}
    (tmp_path / "test.lu.jsonl").write_text(json.dumps(row) + "\n")
    target = np.array(SYMBOLS["target"].encode(learned))
    pairs = Pairs(make_model(length="target"), [np.array([7, 8])], [target], 100, "test")
    truth = SimpleNamespace(step="references", path=str(tmp_path))
    monkeypatch.setattr(mple, "truth_of", lambda *_: truth)
    found = analyse("mple", "mple-nat-raw", pairs)["measures"]
    assert found["target_bleu"]["value"] == pytest.approx(
        75 + sentence_bleu([learned, other])[1, 0] / 4, abs=1e-4
    )
