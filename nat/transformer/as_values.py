"""A Transformer as plain values and back, for programs that open an exported model."""

from collections.abc import Mapping
from typing import Any

from nat.options import options_of
from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.model import Transformer


def values_of(model: Transformer) -> dict[str, Any]:
    """The arguments of `Transformer`, JSON-able; without dropout."""
    predictor = model.length_predictor
    return {
        "architecture": options_of(model.architecture),
        "vocabulary_size": model.vocabulary_sizes.target,
        "source_vocabulary_size": model.vocabulary_sizes.source,
        "length": None if predictor is None else predictor.predicts,
        "decoder": options_of(model.decoder),
        "empty_token": model.empty_token,
        "parts": {name: options_of(part) for name, part in model.part_options.items()},
        "predicts_end": model.predicts_end,
    }


def built_of(values: Mapping[str, Any]) -> Transformer:
    """The untrained network of these values."""
    sizes, decoder = Architecture(**values["architecture"]), DecoderOptions(**values["decoder"])
    return Transformer(**{**values, "architecture": sizes, "decoder": decoder})
