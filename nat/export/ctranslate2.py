"""A Transformer as a model of CTranslate2, an inference engine (OpenNMT, 2019).

The engine's own converter reads checkpoints of fairseq; ours fills in the same specification from
`model.pt`, twice: the folder `float32` has the weights as they are, `int8` has them as integers.

An autoregressive model becomes a translator. A model without decoder layers becomes an encoder,
from the ids of frames to their last states; its output projection lies beside it, since CTranslate2
has none for an encoder. `nat/export/templates` describe the files.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2 import specs
from ctranslate2.specs.model_spec import index_spec
from torch import Tensor, nn

from nat.data.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabularies
from nat.decoding.engines import PROJECTION
from nat.errors import UserError
from nat.files import write_json
from nat.training.model_file import CONVERTED
from nat.transformer.architecture import DecoderOptions
from nat.transformer.model import Transformer

PRECISIONS = ("float32", "int8")
"""Folders of a converted model."""

LARGEST = 63
"""Of a weight in int8: pairs of products with inputs of 8 bits then fit in 16 bits."""


def write_ctranslate2(
    model: Transformer, vocabularies: Vocabularies, folder: Path, about: Mapping[str, Any]
) -> str:
    """Write a model as folders that `ctranslate2.Translator` or `ctranslate2.Encoder` opens.

    There is one in `folder` for each of `PRECISIONS`. A source is given to a translator without its
    EOS. `about` is the content of `model.json`. Returns what was checked, or raises a `UserError`
    for a model that the engine cannot run.
    """
    single = model.architecture.decoder_layers == 0
    specify = specification_of_encoder if single else specification
    for precision in PRECISIONS:
        written = specify(model, vocabularies)
        if precision == "int8":
            quantise(written)
        written.validate()
        written.optimize(quantization=None)
        (folder / precision).mkdir()
        written.save(str(folder / precision))
    if single:
        np.save(folder / PROJECTION, _array(model.output.weight))
        write_json(folder / "labels.json", vocabularies.target.symbols)
    write_json(folder / CONVERTED, about)
    return "the engine's specification is complete, and all weights are finite"


def specification(model: Transformer, vocabularies: Vocabularies) -> Any:
    """A filled `ctranslate2.specs.TransformerSpec`, see `write_ctranslate2`."""
    architecture = model.architecture
    if model.decoder != DecoderOptions() or model.parts:
        raise UserError(
            "CTranslate2 has only the plain Transformer, but this system changes its decoder or "
            "has further parts (keys 'decoder' and 'parts')"
        )
    filled = specs.TransformerSpec.from_config(
        (architecture.encoder_layers, architecture.decoder_layers), **_options(model)
    )
    _encoder(filled.encoder, model, model.positions)
    filled.decoder.scale_embeddings = model.embedding_scale
    filled.decoder.position_encodings.encodings = _array(model.positions_of_decoder)
    filled.decoder.embeddings.weight = _array(model.output.weight)
    filled.decoder.projection.weight = _array(model.output.weight)
    if architecture.pre_norm:
        _norm(filled.decoder.layer_norm, model.decoder_norm)
    _layers(filled.decoder, model.decoder_layers)
    layers: Any = model.decoder_layers
    for empty, layer in zip(filled.decoder.layer, layers, strict=True):
        cross = layer.cross_attention
        linears = cross.query, cross.key_value, cross.output
        _attention(empty.attention, layer.around_cross_attention, *linears)
    filled.register_source_vocabulary(list(vocabularies.source.symbols))
    filled.register_target_vocabulary(list(vocabularies.target.symbols))
    filled.config.bos_token, filled.config.eos_token = SPECIALS[BOS], SPECIALS[EOS]
    filled.config.unk_token = SPECIALS[UNK]
    filled.config.decoder_start_token = SPECIALS[BOS]
    filled.config.add_source_eos = True
    filled.config.layer_norm_epsilon = architecture.norm_epsilon
    return filled


def specification_of_encoder(model: Transformer, vocabularies: Vocabularies) -> Any:
    """A filled `ctranslate2.specs.TransformerEncoderModelSpec`, see `write_ctranslate2`."""
    encoder = specs.TransformerEncoderSpec(model.architecture.encoder_layers, **_options(model))
    _encoder(encoder, model, model.positions_of_decoder)
    filled = specs.TransformerEncoderModelSpec(encoder)
    filled.register_vocabulary(vocabularies.source.symbols)
    filled.config.unk_token = vocabularies.source.symbols[UNK]
    filled.config.layer_norm_epsilon = model.architecture.norm_epsilon
    return filled


def _options(model: Transformer) -> dict[str, Any]:
    architecture = model.architecture
    return {
        "num_heads": architecture.heads,
        "pre_norm": architecture.pre_norm,
        "activation": getattr(specs.Activation, architecture.activation.upper()),
    }


def quantise(written: Any) -> None:
    """Replace the matrices of a specification by integers of 7 bits and a scale for each row.

    The engine itself would use 8 bits. Processors without VNNI add the products of two pairs of
    numbers in 16 bits, which those of 8 bits exceed, so that translations would depend on the
    processor. `written` is a filled specification, before its validation.
    """
    for name, values in written.variables().items():
        place, _, key = name.rpartition("/")
        layer = index_spec(written, place)
        if isinstance(values, np.ndarray) and hasattr(layer, f"{key}_scale"):
            largest = np.abs(values).max(1)
            scale = LARGEST / np.where(largest > 0, largest, np.float32(LARGEST))
            setattr(layer, key, np.rint(values * scale[:, None]).astype(np.int8))
            setattr(layer, f"{key}_scale", scale.astype(np.float32))


def _encoder(written: Any, model: Transformer, positions: Tensor) -> None:
    """Fill in embeddings, positions and layers of an encoder."""
    written.scale_embeddings = model.embedding_scale
    written.position_encodings.encodings = _array(positions)
    written.embeddings[0].weight = _array((model.source_embedding or model.embedding).weight)
    if model.architecture.pre_norm:
        _norm(written.layer_norm, model.encoder_norm)
    _layers(written, model.encoder_layers)


def _layers(written: Any, layers: Any) -> None:
    """Fill in self-attention and feed-forward part of each layer."""
    for empty, layer in zip(written.layer, layers, strict=True):
        own = layer.attention
        _attention(empty.self_attention, layer.around_attention, own.query_key_value, own.output)
        _norm(empty.ffn.layer_norm, layer.around_feed_forward.norm)
        _linear(empty.ffn.linear_0, layer.feed_forward.inner)
        _linear(empty.ffn.linear_1, layer.feed_forward.outer)


def _attention(written: Any, around: Any, *linears: nn.Linear) -> None:
    _norm(written.layer_norm, around.norm)
    for empty, linear in zip(written.linear, linears, strict=True):
        _linear(empty, linear)


def _norm(written: Any, module: Any) -> None:
    written.gamma, written.beta = _array(module.weight), _array(module.bias)


def _linear(written: Any, module: nn.Linear) -> None:
    written.weight, written.bias = _array(module.weight), _array(module.bias)


def _array(values: Tensor) -> Any:
    return values.detach().float().cpu().contiguous().numpy()
