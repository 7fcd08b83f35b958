"""What analyses measure of tiny models, for tests of their batches and of devices."""

from collections.abc import Callable, Sequence
from typing import Any

from nat.analyses.analysis import Pairs
from nat.analyses.confidence import default_confidence, sampled_confidence
from nat.analyses.latent_assignment import assignments
from nat.analyses.latent_components import posterior_means
from nat.analyses.length_accuracy import length_differences
from nat.analyses.state_similarity import cosines, coverage
from tests.tiny import make_texts

TEXTS = make_texts([(5, 4), (1, 2), (9, 7), (0, 3), (3, 6), (40, 1)])
Model = Callable[..., Any]


def pairs(model: Any, tokens: int) -> Pairs:
    """Pairs, of which one has no source and one is too long, in batches of so many tokens."""
    return Pairs(model, *TEXTS, tokens)


def _assigned(model: Any, tokens: int) -> list[int]:
    sides = {number: [row, row[::-1].copy()] for number, row in enumerate(TEXTS[1])}
    assigned = assignments(pairs(model, tokens), sides)
    return [place for number in sorted(assigned) for place in assigned[number]]


OFFSET: dict[str, Any] = {"length": "offset"}
LATENT: dict[str, Any] = {"parts": {"latent": {"dim": 3}}}
PREDICTED: dict[str, Any] = {**OFFSET, "parts": {"input_predictor": {}}}

MEASURES: dict[str, Callable[[Model, int], Sequence[Any]]] = {
    "confidence": lambda model, tokens: default_confidence(pairs(model(**OFFSET), tokens)),
    "confidence, upsampled": lambda model, tokens: default_confidence(
        pairs(model(decoder={"upsample": 2.0}), tokens)
    ),
    "sampled confidence": lambda model, tokens: [
        sampled_confidence(pairs(model(**PREDICTED), tokens), model(seed=1, **OFFSET))
    ],
    "latent assignment": lambda model, tokens: _assigned(model(**LATENT), tokens),
    "latent components": lambda model, tokens: posterior_means(pairs(model(**LATENT), tokens)),
    "length accuracy": lambda model, tokens: [
        *length_differences(pairs(model(**OFFSET), tokens)).values()
    ],
    "cosines": lambda model, tokens: [
        *cosines(pairs(model(decoder={"copy": "uniform"}), tokens), False).values()
    ],
    "cosines, causal": lambda model, tokens: [*cosines(pairs(model(), tokens), True).values()],
    "coverage": lambda model, tokens: coverage(pairs(model(), tokens), True),
}
"""Numbers of a model that a function makes, in batches of so many tokens."""
