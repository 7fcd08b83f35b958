"""Errors of models on made-up laws, against the probability of each output."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.analyses import revealing, step_errors
from nat.analyses.analysis import Pairs
from nat.analyses.known_law import Known, Targets
from nat.analyses.revealing import Law, by_length, ended, root, split
from nat.data.batch import source_tensor
from nat.data.vocabulary import BEGIN_OF_CHUNKS, BLANK, EOS, MASK, NEVER_WRITTEN
from nat.decoding.forced import forced_tokens
from nat.measures.known import MEASURES
from tests import tiny
from tests.analyses.conftest import Analyse
from tests.enumeration.test_revealing import kl, law
from tests.tiny import make_model

PARTS = ("kl", "learning", "factorisation", "passes")
SOURCES = [[7, 8, 9], [10, 11, 12, 13, 14]]


def encoded(model: Any, number: int = 0) -> Any:
    with torch.no_grad():
        return model.encode(source_tensor(SOURCES[: number + 1]))


@torch.no_grad()
def log_probabilities(model: Any, tokens: Any, number: int = 0, **options: Any) -> Tensor:
    return tiny.log_probabilities(model, SOURCES[number], tokens, **options)


def divergence(targets: Any, log_q: Any) -> float:
    return sum(p * (math.log(p) - log_q(target)) for target, p in targets.items())


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize("number", [0, 1])
def test_masks(steps: int, number: int) -> None:
    """Target by target, with the sets that mask-predict would reveal."""
    model = make_model(length="target", seed=3)
    targets = law(1, (5,), 12)
    [(_, of)] = by_length(targets).values()

    def log_q(target: Any) -> float:
        shown, total = [MASK] * 5, 0.0
        for step in range(1, steps + 1):
            found = log_probabilities(model, shown, number)
            sure = found.clone()
            sure[:, list(NEVER_WRITTEN)] = -torch.inf
            hidden = [place for place in range(5) if shown[place] == MASK]
            hidden.sort(key=lambda place: -float(sure[place].max()))
            for place in hidden[: len(hidden) - 5 * (steps - step) // steps]:
                total += float(found[place, target[place]])
                shown[place] = target[place]
        return total

    decoding = step_errors.masked(model, encoded(model, number), steps)
    found = split([root(number, of)], decoding, smallest=0, batch_tokens=20)[number]
    assert kl(found) == pytest.approx(divergence(targets, log_q))
    assert found.learning > 0 and found.factorisation > 0
    assert found.passes == pytest.approx(steps)


@pytest.mark.parametrize("number", [0, 1])
def test_left_to_right(number: int) -> None:
    model = make_model(seed=1)
    targets = law(2, (1, 2, 4))
    translations = list(targets)
    rows = encoded(model, number).rows(torch.tensor([number] * len(targets)))
    scores = dict(
        zip(translations, forced_tokens(model, rows, translations).sum(1).tolist(), strict=True)
    )
    decoding = step_errors.left_to_right(model, encoded(model, number), 1)
    found = split([root(number, ended(targets))], decoding, smallest=0, batch_tokens=11)[number]
    assert found.factorisation == pytest.approx(0, abs=1e-12)
    assert found.learning == pytest.approx(divergence(targets, scores.__getitem__))


@pytest.mark.parametrize("chunk", [2, 3])
def test_hybrid(chunk: int) -> None:
    model = make_model(decoder={"chunk": chunk}, seed=2)
    targets = law(4, (1, 2, 3, 5), 4)

    def log_q(target: Any) -> float:
        whole = [*target, *[EOS] * (chunk - len(target) % chunk)]
        first = whole[chunk - 1 :: chunk]
        one = log_probabilities(
            model,
            [BEGIN_OF_CHUNKS, *first[:-1]],
            causal=True,
            positions=torch.arange(len(first))[None] * chunk,
        )
        shown = [s if (i + 1) % chunk == 0 else MASK for i, s in enumerate(whole)]
        two = log_probabilities(model, shown, positions=torch.arange(1, len(whole) + 1)[None])
        between = [i for i in range(len(target) + 1) if (i + 1) % chunk]
        return float(
            sum(one[i, token] for i, token in enumerate(first))
            + sum(two[i, whole[i]] for i in between)
        )

    decoding = step_errors.left_to_right(model, encoded(model), chunk)
    found = split([root(0, ended(targets, chunk))], decoding, smallest=0, batch_tokens=40)[0]
    assert kl(found) == pytest.approx(divergence(targets, log_q))
    assert found.learning > 0 and found.factorisation > 0
    expected = sum(p * (len(target) // chunk + 2) for target, p in targets.items())
    assert found.passes == pytest.approx(expected)


def test_frames_of_ctc_against_all_alignments() -> None:
    torch.manual_seed(0)
    frames = torch.randn(4, 9, dtype=torch.float64).log_softmax(1)
    targets = {(6, 7): 0.5, (7, 7): 0.2, (6,): 0.2, (8, 7, 6): 0.1}
    symbols = [BLANK, 6, 7, 8]
    completed: dict[tuple[int, ...], float] = {}
    of_target: dict[Any, dict[Any, float]] = {target: {} for target in targets}
    for alignment in itertools.product(symbols, repeat=4):
        written = collapse(torch.tensor([alignment]), torch.zeros(1, 4, dtype=torch.bool))
        target = tuple(written[0].tolist())
        if target in targets:
            q = math.exp(sum(float(frames[i, s]) for i, s in enumerate(alignment)))
            of_target[target][alignment] = q
    for target, alignments in of_target.items():
        for alignment, q in alignments.items():
            completed[alignment] = targets[target] * q / sum(alignments.values())
    learning = 0.0
    for i in range(4):
        for s in symbols:
            p = sum(weight for alignment, weight in completed.items() if alignment[i] == s)
            learning += p * (math.log(p) - float(frames[i, s])) if p else 0
    total = divergence(targets, lambda target: math.log(sum(of_target[target].values())))
    found = step_errors.alignment_errors(frames, targets)
    assert kl(found) == pytest.approx(total)
    assert found.learning == pytest.approx(learning)
    # what does not fit the canvas is left out
    longer = {**{target: p / 2 for target, p in targets.items()}, (6, 7, 6, 7, 6): 0.5}
    assert kl(step_errors.alignment_errors(frames, longer)) == pytest.approx(total)


def test_the_error_of_frames_is_that_of_the_model() -> None:
    model = make_model(decoder={"upsample": 2.0}, seed=2)
    laws = [law(0, (2, 3)), law(1, (4, 5))]
    found = list(step_errors.of_alignments(model, encoded(model, 1), laws))
    alone = log_probabilities(model, [MASK] * 10, 1)
    assert found[1] == pytest.approx(step_errors.alignment_errors(alone, laws[1]))


@pytest.mark.parametrize("components", [1, 3])
def test_a_mixture_against_its_completed_law(components: int) -> None:
    numbers = np.random.default_rng(1)
    logits = numbers.standard_normal((components, 3, 9))
    table = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    log_weights = np.log(numbers.dirichlet(np.ones(components)) * components)
    [(_, of)] = by_length(law(6, (3,), 8)).values()
    prior = np.exp(log_weights) / components
    each = np.exp([[sum(row[i, y[i]] for i in range(3)) for y in of.tokens] for row in table])
    joint = prior[:, None] * each
    total = float(of.weights @ (np.log(of.weights) - np.log(joint.sum(0))))
    learning, factorisation = step_errors.mixture_errors(table, log_weights, of)
    assert learning + factorisation == pytest.approx(total)
    completed = of.weights * joint / joint.sum(0)
    expected = 0.0
    for component in range(components):
        share = completed[component].sum()
        given = Law(of.tokens, completed[component] / share)
        alone = split(
            [root(0, given)],
            lambda states, step: (revealing.Revealed(np.arange(3), None) for _ in states),
            smallest=0,
        )[0]
        expected += share * alone.factorisation
    assert factorisation == pytest.approx(expected)
    assert learning > 0 and factorisation > 0


def test_draws_of_latents_weigh_what_the_prior_does() -> None:
    """Importance weights have mean one; latents that are ignored leave their mean and no more."""
    model = make_model(length="target", parts={"latent": {"dim": 2}}, seed=4)
    targets = law(7, (3, 4))
    with torch.no_grad():
        one = model.encode(source_tensor(SOURCES[:1]))
        numbers = np.random.default_rng(0)
        weights = [
            step_errors.draw_latents(model, model.latent, one, targets, numbers)[1]
            for _ in range(20)
        ]
    means = np.exp(weights).mean(1)
    assert abs(means.mean() - 1) < 4 * means.std() / math.sqrt(20)
    with torch.no_grad():
        model.latent.output.weight.zero_()
        one = model.encode(source_tensor(SOURCES[:1]))
        _, log_weights = step_errors.draw_latents(
            model, model.latent, one, targets, np.random.default_rng(1)
        )
    [found] = step_errors.of_latents(model, model.latent, one, [targets], seed=1)
    decoding = step_errors.masked(model, one, 1)
    roots = [root(0, of, share) for share, of in by_length(targets).values()]
    expected = split(roots, decoding, smallest=0)[0]
    off = math.log(np.exp(log_weights).mean())
    assert kl(found) == pytest.approx(kl(expected) - off)
    assert found.factorisation == pytest.approx(expected.factorisation)


def test_length() -> None:
    model = make_model(length="offset", seed=4)
    laws: list[Targets] = [{(6,): 0.5, (7,): 0.2, (7, 8): 0.3}, {(6, 6): 1.0}]
    both = encoded(model, 1)
    found = step_errors.length_errors(model, both, laws)
    with torch.no_grad():
        log_q = model.length_predictor(both.source_states, both.padding)
    expected = 0.7 * (math.log(0.7) - log_q[0, 128 + 1 - 3]) + 0.3 * (
        math.log(0.3) - log_q[0, 128 + 2 - 3]
    )
    assert found == pytest.approx([float(expected), -float(log_q[1, 128 + 2 - 5])])


@pytest.mark.parametrize(
    ("system", "options", "steps"),
    [
        ("at-base", {}, ["all"]),
        ("hrt-raw", {"decoder": {"chunk": 2}}, ["all"]),
        ("nat-raw", {"length": "offset"}, [1]),
        ("cmlm-raw", {"length": "target"}, [1, 2, 4, 8]),
        ("dims-cmlm-raw", {"length": "target"}, [1, 2, 4, 8]),
        ("ctc-raw", {"decoder": {"upsample": 3.0}}, [1]),
        ("vae-raw", {"length": "offset", "parts": {"latent": {"dim": 2}}}, [1]),
    ],
)
def test_analyses(
    monkeypatch: pytest.MonkeyPatch, analyse: Analyse, system: str, options: Any, steps: list[Any]
) -> None:
    known = Known([np.array(source) for source in SOURCES], [law(0, (2, 3)), law(1, (4,))], 5)
    monkeypatch.setattr(step_errors.known_law, "sentences", lambda *_: known)
    pairs = Pairs(make_model(**options), (), (), 100, "test")
    found = analyse("step_errors", system, pairs, "micro")
    measures = found["measures"]
    assert (found["sentences"], found["left_out"]) == (2, 5)
    parts = {f"law_{part}_{n}" for part in PARTS for n in steps}
    assert set(measures) == parts and parts <= set(MEASURES)
    for number in steps:
        kl, learning, factorisation, passes = (
            measures[f"law_{part}_{number}"]["value"] for part in PARTS
        )
        assert kl == pytest.approx(learning + factorisation, abs=1e-5)
        assert kl > 0 and factorisation >= 0
        assert (factorisation == 0) == (system == "at-base" or number in (4, 8))
        assert passes >= 1
        assert measures[f"law_kl_{number}"]["low"] <= kl <= measures[f"law_kl_{number}"]["high"]
