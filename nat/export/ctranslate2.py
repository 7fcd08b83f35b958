"""A Transformer as a model of CTranslate2, an inference engine (OpenNMT, 2019).

The engine's own converter reads checkpoints of fairseq; ours fills in the same specification from
`model.pt`. What the engine opens is written twice: the folder `float32` has the weights as they
are, and `int8` has them as integers, see `quantise`.

An autoregressive model becomes a translator. A model without decoder layers becomes an encoder,
like BERT: from the ids of frames to their last states. CTranslate2 has no output projection for an
encoder, so that lies beside the model, with what else a program needs:

    float32, int8      what `ctranslate2.Encoder` opens
    projection.npy     [V, D]; times a state: the logits of a frame
    labels.json        the symbols of its rows
    model.json         how many frames a source has, and the ids that are not words

In `model.json` of either is the SHA-256 of the weights, see `nat.training.model_file`; that of a
translator also says how long sentences may be.
"""

from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2 import specs
from ctranslate2.specs.model_spec import index_spec
from torch import Tensor, nn

from nat.data.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabularies
from nat.errors import UserError
from nat.export.onnx import described
from nat.files import atomic_directory, write_json
from nat.training.model_file import CONVERTED, WEIGHTS
from nat.transformer.attention import CrossAttention, SelfAttention
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.layers import DecoderLayer, EncoderLayer, FeedForward
from nat.transformer.model import Transformer

PRECISIONS = ("float32", "int8")
"""Folders of a converted model."""

LARGEST = 63
"""Of a weight in int8: pairs of products with inputs of 8 bits then fit in 16 bits."""


def write_ctranslate2(
    model: Transformer, vocabularies: Vocabularies, folder: Path, weights: str | None = None
) -> None:
    """Write a model as folders that `ctranslate2.Translator` or `ctranslate2.Encoder` opens.

    They appear whole or not at all. A source is given to a translator without its EOS.

    Args:
        model: with a causal decoder, or without a decoder.
        vocabularies: of the corpus.
        folder: to write, with one folder for each of `PRECISIONS`.
        weights: SHA-256 of the file of the model, if it has one.

    Raises:
        UserError: for a model that the engine cannot run.
    """
    if not all(weight.isfinite().all() for weight in model.parameters()):
        raise UserError("the model has weights that are not finite; train it again")
    single = model.architecture.decoder_layers == 0
    specify = specification_of_encoder if single else specification
    with atomic_directory(folder) as temporary:
        for precision in PRECISIONS:
            written = specify(model, vocabularies)
            if precision == "int8":
                quantise(written)
            written.validate()
            written.optimize(quantization=None)
            (temporary / precision).mkdir()
            written.save(str(temporary / precision))
        if single:
            np.save(temporary / "projection.npy", _array(model.output.weight))
            write_json(temporary / "labels.json", vocabularies.target.symbols)
        longest = {"longest_source": model.longest_source, "longest_target": model.longest_target}
        description = described(model) if single else longest
        write_json(temporary / CONVERTED, {WEIGHTS: weights, **description})


def specification(model: Transformer, vocabularies: Vocabularies) -> Any:
    """A filled `ctranslate2.specs.TransformerSpec`, see `write_ctranslate2`."""
    architecture = model.architecture
    if model.decoder != DecoderOptions() or model.parts:
        raise UserError(
            "CTranslate2 has only the plain Transformer, but this system changes its decoder or "
            "has further parts (keys 'decoder' and 'parts')"
        )
    found = specs.TransformerSpec.from_config(
        (architecture.encoder_layers, architecture.decoder_layers),
        architecture.heads,
        pre_norm=architecture.pre_norm,
        activation=getattr(specs.Activation, architecture.activation.upper()),
    )
    _encoder(found.encoder, model, model.positions)
    found.decoder.scale_embeddings = model.embedding_scale
    found.decoder.position_encodings.encodings = _array(model.positions_of_decoder)
    found.decoder.embeddings.weight = _array(model.output.weight)
    found.decoder.projection.weight = _array(model.output.weight)
    if architecture.pre_norm:
        _norm(found.decoder.layer_norm, model.decoder_norm)
    for empty, layer in zip(found.decoder.layer, model.decoder_layers, strict=True):
        assert isinstance(layer, DecoderLayer)
        _self_attention(empty.self_attention, layer.attention, layer.around_attention.norm)
        _cross_attention(empty.attention, layer.cross_attention, layer.around_cross_attention.norm)
        _feed_forward(empty.ffn, layer.feed_forward, layer.around_feed_forward.norm)
    found.register_source_vocabulary(list(vocabularies.source.symbols))
    found.register_target_vocabulary(list(vocabularies.target.symbols))
    found.config.bos_token, found.config.eos_token = SPECIALS[BOS], SPECIALS[EOS]
    found.config.unk_token = SPECIALS[UNK]
    found.config.decoder_start_token = SPECIALS[BOS]
    found.config.add_source_eos = True
    return found


def specification_of_encoder(model: Transformer, vocabularies: Vocabularies) -> Any:
    """A filled `ctranslate2.specs.TransformerEncoderModelSpec`, see `write_ctranslate2`."""
    architecture = model.architecture
    encoder = specs.TransformerEncoderSpec(
        architecture.encoder_layers,
        architecture.heads,
        pre_norm=architecture.pre_norm,
        activation=getattr(specs.Activation, architecture.activation.upper()),
    )
    _encoder(encoder, model, model.positions_of_decoder)
    found = specs.TransformerEncoderModelSpec(encoder)
    found.register_vocabulary(vocabularies.source.symbols)
    found.config.unk_token = vocabularies.source.symbols[UNK]
    return found


def quantise(written: Any) -> None:
    """Replace the matrices of a specification by integers of 7 bits and a scale for each row.

    The engine itself would use 8 bits. Processors without VNNI add the products of two pairs of
    numbers in 16 bits, which those of 8 bits exceed, so that translations would depend on the
    processor.

    Args:
        written: a filled specification of `ctranslate2.specs`, before its validation.
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
    for empty, layer in zip(written.layer, model.encoder_layers, strict=True):
        assert isinstance(layer, EncoderLayer)
        _self_attention(empty.self_attention, layer.attention, layer.around_attention.norm)
        _feed_forward(empty.ffn, layer.feed_forward, layer.around_feed_forward.norm)


def _array(values: Tensor) -> Any:
    return values.detach().float().cpu().contiguous().numpy()


def _norm(written: Any, module: nn.Module) -> None:
    assert isinstance(module, nn.LayerNorm)
    written.gamma, written.beta = _array(module.weight), _array(module.bias)


def _linear(written: Any, module: nn.Linear) -> None:
    written.weight, written.bias = _array(module.weight), _array(module.bias)


def _self_attention(written: Any, attention: SelfAttention, norm: nn.Module) -> None:
    _norm(written.layer_norm, norm)
    _linear(written.linear[0], attention.query_key_value)
    _linear(written.linear[1], attention.output)


def _cross_attention(written: Any, attention: CrossAttention, norm: nn.Module) -> None:
    _norm(written.layer_norm, norm)
    _linear(written.linear[0], attention.query)
    _linear(written.linear[1], attention.key_value)
    _linear(written.linear[2], attention.output)


def _feed_forward(written: Any, module: FeedForward, norm: nn.Module) -> None:
    _norm(written.layer_norm, norm)
    _linear(written.linear_0, module.inner)
    _linear(written.linear_1, module.outer)
