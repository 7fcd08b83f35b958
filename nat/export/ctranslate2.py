"""An autoregressive Transformer as a model of CTranslate2, an inference engine (OpenNMT, 2019).

The engine translates with float32 or, without a second conversion, int8 weights. Its own converter
reads checkpoints of fairseq; ours fills in the same specification from `model.pt`.
"""

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from nat.data.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabularies
from nat.errors import UserError
from nat.files import atomic_directory
from nat.transformer.attention import CrossAttention, SelfAttention
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.layers import DecoderLayer, EncoderLayer, FeedForward
from nat.transformer.model import Transformer


def write_ctranslate2(model: Transformer, vocabularies: Vocabularies, folder: Path) -> None:
    """Write a model as a folder that `ctranslate2.Translator` opens.

    The folder appears whole or not at all. A source is given to the engine without its EOS.

    Args:
        model: with a causal decoder.
        vocabularies: of the corpus.
        folder: to write.

    Raises:
        UserError: for a model that the engine cannot run.
    """
    written = specification(model, vocabularies)
    written.validate()
    written.optimize(quantization=None)
    with atomic_directory(folder) as temporary:
        written.save(str(temporary))


def specification(model: Transformer, vocabularies: Vocabularies) -> Any:
    """A filled `ctranslate2.specs.TransformerSpec`, see `write_ctranslate2`."""
    from ctranslate2 import specs

    architecture = model.architecture
    if model.decoder != DecoderOptions() or model.latents is not None:
        raise UserError(
            "CTranslate2 has only the plain Transformer, but this system changes its decoder or "
            "has latents (keys 'decoder' and 'latent')"
        )
    if not all(weight.isfinite().all() for weight in model.parameters()):
        raise UserError("the model has weights that are not finite; train it again")
    found = specs.TransformerSpec.from_config(
        (architecture.encoder_layers, architecture.decoder_layers),
        architecture.heads,
        pre_norm=architecture.pre_norm,
        activation=getattr(specs.Activation, architecture.activation.upper()),
    )
    for side in (found.encoder, found.decoder):
        side.scale_embeddings = model.embedding_scale
        side.position_encodings.encodings = _array(model.positions)
    of_source = model.source_embedding or model.embedding
    found.encoder.embeddings[0].weight = _array(of_source.weight)
    found.decoder.embeddings.weight = _array(model.embedding.weight)
    found.decoder.projection.weight = _array(model.embedding.weight)
    if architecture.pre_norm:
        _norm(found.encoder.layer_norm, model.encoder_norm)
        _norm(found.decoder.layer_norm, model.decoder_norm)
    for layer, its in zip(found.encoder.layer, model.encoder_layers, strict=True):
        assert isinstance(its, EncoderLayer)
        _self_attention(layer.self_attention, its.attention, its.around_attention.norm)
        _feed_forward(layer.ffn, its.feed_forward, its.around_feed_forward.norm)
    for layer, its in zip(found.decoder.layer, model.decoder_layers, strict=True):
        assert isinstance(its, DecoderLayer)
        _self_attention(layer.self_attention, its.attention, its.around_attention.norm)
        _cross_attention(layer.attention, its.cross_attention, its.around_cross_attention.norm)
        _feed_forward(layer.ffn, its.feed_forward, its.around_feed_forward.norm)
    found.register_source_vocabulary(list(vocabularies.source.symbols))
    found.register_target_vocabulary(list(vocabularies.target.symbols))
    found.config.bos_token, found.config.eos_token = SPECIALS[BOS], SPECIALS[EOS]
    found.config.unk_token = SPECIALS[UNK]
    found.config.decoder_start_token = SPECIALS[BOS]
    found.config.add_source_eos = True
    return found


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
