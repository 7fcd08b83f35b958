"""Tiny models, batches of random sentences, and objectives, for all tests of the field.

Models are in float64 and evaluation mode.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nat.configuration.models import Training
from nat.configuration.recipes import Recipe
from nat.data.batch import Batch, source_tensor
from nat.data.candidates import Text
from nat.data.vocabulary import EOS, MASK, PAD, SPECIALS
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.objective import Objective
from nat.registry import Method
from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.model import Transformer

VOCABULARY = 29
"""Symbols of the tiny models, the six special ones included."""

CROSS_ENTROPY = {"method": "cross_entropy"}
ARCHITECTURE = {
    "model_dim": 16,
    "ffn_dim": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "heads": 4,
    "max_positions": 40,
}

PARALLEL: dict[str, dict[str, Any]] = {
    "target": {"length": "target", "pre_norm": True, "activation": "gelu"},
    "offset": {"length": "offset"},
    "token": {"length": "token", "pre_norm": True},
    "constant": {"length": "constant", "decoder": {"copy": "uniform"}},
    "learned positions": {"length": "offset", "positions": "learned_apart"},
    "attention by position": {
        "length": "offset",
        "decoder": {"copy": "soft", "positional_attention": True},
    },
    "attention to others": {
        "length": "offset",
        "decoder": {"copy": "soft_index", "attention_without_self": True},
    },
    "as CMLMC": {
        "length": "offset",
        "decoder": {
            **dict.fromkeys(("positions", "source_positions"), "concatenated"),
            "causal_attention": True,
        },
    },
    "frames": {"decoder": {"upsample": 2.5}},
    "encoder only": {"decoder": {"copy": "repeated", "upsample": 2.5}, "decoder_layers": 0},
    "EOS of the source": {
        "decoder": {"copy": "soft_upsampled", "upsample": 1.1, "count_source_end": True}
    },
    "latents": {
        "decoder": {"copy": "soft", "upsample": 1.5},
        "parts": {"latent": {"dim": 3, "posterior_layers": 1}},
    },
    "latents in the input": {
        "decoder": {"copy": "soft", "upsample": 2.0},
        "parts": {"latent": {"dim": 3, "posterior_layers": 1, "added_to": "decoder_input"}},
    },
    "latents, a length": {"length": "offset", "parts": {"latent": {"dim": 3}}},
}
"""Models that predict in parallel, by what is special about them: keywords of `make_model`."""


def make_model(
    seed: int = 0,
    length: str | None = None,
    dropout: float = 0.0,
    vocabulary_size: int = VOCABULARY,
    dtype: torch.dtype = torch.float64,
    decoder: Mapping[str, Any] | None = None,
    parts: Mapping[str, Mapping[str, Any]] | None = None,
    source_vocabulary_size: int | None = None,
    **architecture: Any,
) -> Any:
    """Build a model; further keywords change its architecture."""
    torch.manual_seed(seed)
    model = Transformer(
        Architecture(**{**ARCHITECTURE, **architecture}),
        vocabulary_size,
        length,
        dropout,
        DecoderOptions(**(decoder or {})),
        parts=parts,
        source_vocabulary_size=source_vocabulary_size,
    )
    with torch.no_grad():  # so that no bias or normalisation is the identity
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.to(dtype).eval()


def make_texts(pairs: Sequence[tuple[int, int]]) -> tuple[list[Any], list[Any]]:
    """Draw sources and targets of the given (source, target) lengths, without specials."""
    numbers = np.random.default_rng(4)
    sources, targets = (
        [numbers.integers(6, 29, lengths[side]) for lengths in pairs] for side in (0, 1)
    )
    return sources, targets


def make_batch(
    lengths: Sequence[tuple[int, int]] = ((3, 5), (7, 2), (1, 9), (4, 1)),
    seed: int = 0,
    first_id: int = 0,
    vocabulary_size: int = VOCABULARY,
) -> Batch:
    """Build a batch of random sentences of the given (source, target) lengths."""
    numbers = np.random.default_rng(seed)

    def sentence(length: int) -> Any:
        return numbers.integers(len(SPECIALS), vocabulary_size, length)

    return Batch.collate(
        range(first_id, first_id + len(lengths)),
        [sentence(source) for source, _ in lengths],
        [sentence(target) for _, target in lengths],
    )


def one_sentence(batch: Batch, row: int) -> Batch:
    """Cut one sentence out of a batch, without the padding that the others gave it."""
    source, target = batch.source[row], batch.target[row]
    source, target = source[source.ne(PAD) & source.ne(EOS)], target[target.ne(PAD)]
    return Batch.collate(batch.ids[row : row + 1].tolist(), [source.numpy()], [target.numpy()])


def make_objective(
    model: Transformer,
    input: str | Mapping[str, Any],
    target: Mapping[str, Any],
    length_loss_weight: float = 0.1,
    seed: int = 3,
    bfloat16: bool = False,
    teacher: Transformer | None = None,
    updates: int = 100,
    text: Any = "raw",
) -> Any:
    """Build an objective from the configuration of its proxy input and target."""
    training = make_training(input, target, length_loss_weight, text)
    return Objective(training, model, seed, bfloat16, teacher, updates).train()


def make_training(
    input: str | Mapping[str, Any] = "full_mask",
    target: Mapping[str, Any] = CROSS_ENTROPY,
    length_loss_weight: float = 0.1,
    text: Any = "raw",
) -> Training:
    """Build the part of a training that says what is learned."""
    return Training.model_construct(
        input=Method(**({"method": input} if isinstance(input, str) else input)),
        target=Method(**target),
        text=Text.of(text),
        recipe=Recipe.model_construct(length_loss_weight=length_loss_weight),
    )


def full_log_probabilities(context: Any, shown: DecoderInput) -> Tensor:
    """Log-probabilities of all symbols at all positions of a decoder input, [B, T, V]."""
    return of_states(context.model, context.decode(shown))


def of_states(model: Any, states: Tensor) -> Tensor:
    """Log-probabilities of all symbols, [..., D] to [..., V]."""
    return (states @ model.embedding.weight.t()).log_softmax(-1)


def decoded(
    model: Any, source: Sequence[int], tokens: Sequence[int], causal: bool = False, **how: Any
) -> Tensor:
    """Last states of one sentence where the decoder sees these tokens, [T, D]."""
    shown = torch.tensor([tokens], dtype=torch.long)
    encoded = model.encode(source_tensor([source]))
    return model.decode(shown, torch.zeros_like(shown).bool(), encoded, causal, **how)[0]


def log_probabilities(model: Any, *given: Any, **how: Any) -> Tensor:
    """Log-probabilities of all symbols at each position, [T, V]; arguments as for `decoded`."""
    return of_states(model, decoded(model, *given, **how))


def partly_masked(batch: Batch, masked: Sequence[Sequence[bool]]) -> DecoderInput:
    """The targets of a batch with masks at some positions, which carry the loss."""
    where = torch.tensor(masked)
    tokens = torch.where(where, MASK, batch.target)
    return DecoderInput(tokens, batch.target_padding, batch.target, where)


def make_context(
    model: Any,
    batch: Batch,
    update: int = 0,
    seed: int = 3,
    teacher: Any = None,
    progress: float = 1.0,
) -> Any:
    """Build the step that a proxy input or target is called with."""
    encoded = model.encode(batch.source)
    return BatchContext(model, batch, encoded, seed, update, progress, teacher)


def without_model(batch: Batch, update: int = 0, seed: int = 1) -> Any:
    """Build the step of a proxy input that needs no model, only random numbers."""
    nothing: Any = None
    return BatchContext(nothing, batch, nothing, seed, update)
