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
    for precision in PRECISIONS:
        written = specification(model, vocabularies)
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
    """A filled specification of the engine, see `write_ctranslate2`."""
    architecture = model.architecture
    decoder_layers: Any = model.decoder_layers
    options = {
        "num_heads": architecture.heads,
        "pre_norm": architecture.pre_norm,
        "activation": getattr(specs.Activation, architecture.activation.upper()),
    }
    encoder = specs.TransformerEncoderSpec(architecture.encoder_layers, **options)
    encoder.embeddings[0].weight = _array((model.source_embedding or model.embedding).weight)
    if not decoder_layers:
        _stack(encoder, model, model.positions_of_decoder, model.encoder_norm, model.encoder_layers)
        filled = specs.TransformerEncoderModelSpec(encoder)
        filled.register_vocabulary(vocabularies.source.symbols)
    elif model.decoder != DecoderOptions() or model.parts:
        raise UserError(
            "CTranslate2 has only the plain Transformer, but this system changes its decoder or "
            "has further parts (keys 'decoder' and 'parts')"
        )
    else:
        _stack(encoder, model, model.positions, model.encoder_norm, model.encoder_layers)
        decoder = specs.TransformerDecoderSpec(architecture.decoder_layers, **options)
        _stack(decoder, model, model.positions_of_decoder, model.decoder_norm, decoder_layers)
        decoder.embeddings.weight = _array(model.output.weight)
        decoder.projection.weight = _array(model.output.weight)
        for empty, layer in zip(decoder.layer, decoder_layers, strict=True):
            cross = layer.cross_attention
            linears = cross.query, cross.key_value, cross.output
            _attention(empty.attention, layer.around_cross_attention, *linears)
        filled = specs.TransformerSpec(encoder, decoder)
        filled.register_source_vocabulary(list(vocabularies.source.symbols))
        filled.register_target_vocabulary(list(vocabularies.target.symbols))
        filled.config.bos_token, filled.config.eos_token = SPECIALS[BOS], SPECIALS[EOS]
        filled.config.decoder_start_token = SPECIALS[BOS]
        filled.config.add_source_eos = True
    filled.config.unk_token = SPECIALS[UNK]
    filled.config.layer_norm_epsilon = architecture.norm_epsilon
    return filled


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


def _stack(written: Any, model: Transformer, positions: Tensor, norm: Any, layers: Any) -> None:
    """Fill in what encoders and decoders have alike; `norm` is after the last of the layers."""
    written.scale_embeddings = model.embedding_scale
    written.position_encodings.encodings = _array(positions)
    if model.architecture.pre_norm:
        _norm(written.layer_norm, norm)
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
