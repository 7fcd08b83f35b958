"""Checkpoints of Fully-NAT (Gu and Kong 2021) as models of this project.

Their authors publish checkpoints of fairseq 0.9, architecture `cmlm_transformer_ctc`: a dictionary
with the keys `args` (argparse.Namespace) and `model` (tensors by name). Nothing in the file is
executed: it may hold numbers, texts, tensors, plain containers and this one namespace.

What differs from models that are trained here:

- Encoder and decoder have tables of positions of their own (`positions: learned_apart`). Positions
  count from fairseq's padding index, which is 1, so the first one is row 2.
- BLANK is row 0 of the embedding, and BOS the last row (`--force-eps-zero`). MASK does not exist;
  no position shows it, and its row is that of padding.
- Texts end in EOS, which the canvas is trained to predict too; decodings take EOS for BLANK.
- Posterior networks have positions of their own again, which models here do not have. Decoding
  needs the prior only. The weights of the posterior are left out; they are not a number here, so
  that no analysis of the posterior can go unnoticed.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nat.configuration import differences
from nat.configuration.models import Training
from nat.data.vocabulary import (
    BLANK,
    BOS,
    EOS,
    MASK,
    PAD,
    SPECIALS,
    UNK,
    Vocabulary,
    VocabularySizes,
)
from nat.errors import UserError
from nat.options import options_of
from nat.training.model_file import build_model, reading
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.fairseq_models import fairseq_options

FAIRSEQ_PAD, FAIRSEQ_EOS, FAIRSEQ_UNK, FAIRSEQ_FIRST = 1, 2, 3, 4
"""Rows of the embedding in fairseq; the symbols of the dictionary begin at the last one."""

EMBEDDING = "encoder.embed_tokens.weight"  # of both languages
LEFT_OUT = ("q_encoder_y.", "q_encoder_xy.", "bottleneck.")  # parts of the posterior

LAYER = {
    "attention.query_key_value": [f"self_attn.{each}_proj" for each in "qkv"],
    "attention.output": ["self_attn.out_proj"],
    "around_attention.norm": ["self_attn_layer_norm"],
    "cross_attention.query": ["encoder_attn.q_proj"],
    "cross_attention.key_value": [f"encoder_attn.{each}_proj" for each in "kv"],
    "cross_attention.output": ["encoder_attn.out_proj"],
    "around_cross_attention.norm": ["encoder_attn_layer_norm"],
    "feed_forward.inner": ["fc1"],
    "feed_forward.outer": ["fc2"],
    "around_feed_forward.norm": ["final_layer_norm"],
}
"""Parts of a layer: those of fairseq that are one here, one below the other."""

LATENTS = {"latent.prior_head": ["prob_esitmator"], "latent.output": ["latent_map"]}
"""Parts of latents, in fairseq's spelling."""


class Checkpoint(NamedTuple):
    """Content of a checkpoint: options and weights by the names of fairseq."""

    path: Path
    options: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    updates: int  # 0 where the file does not say


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint without executing anything in it.

    Raises:
        UserError: if the file is missing, damaged or no checkpoint of fairseq, does not fit the
            memory, or holds objects.
    """
    with reading(path), torch.serialization.safe_globals([argparse.Namespace]):
        content = torch.load(path, map_location="cpu", weights_only=True)
    match content:
        case {"args": argparse.Namespace() as options, "model": dict(weights)}:
            history = content.get("optimizer_history") or [{}]
            return Checkpoint(path, vars(options), weights, history[-1].get("num_updates", 0))
    raise UserError(
        f"{path} is no checkpoint of fairseq 0.9 or 0.10, with the keys 'args' and 'model'; those "
        "of a newer fairseq are not imported (docs/checkpoints.md)"
    )


def converted(
    checkpoint: Checkpoint, dictionary: Vocabulary, vocabulary: Vocabulary, training: Training
) -> dict[str, Tensor]:
    """Return the weights of a checkpoint under the names of this project.

    The dictionary is that of fairseq; each symbol of the vocabulary of the corpus must be in it.

    Raises:
        UserError: if they do not fit, or the checkpoint has another form than is known.
    """
    _check_form(checkpoint, training)
    left = dict(checkpoint.weights)
    shared = left.get(EMBEDDING, torch.empty(0))
    for name in ("decoder.embed_tokens.weight", "decoder.output_projection.weight"):
        if name in left and torch.equal(left[name], shared):
            del left[name]
    with torch.device("meta"):
        model = build_model(training, VocabularySizes(len(vocabulary)))
    weights, unfit = {}, []
    for name, expected in model.state_dict().items():
        parts = _parts_of(name)
        if name.startswith("latent.") and not parts:
            weights[name] = torch.full(expected.shape, torch.nan)
            continue
        if lacking := [part for part in parts if part not in left]:
            unfit += [f"{part} is missing" for part in lacking]
            continue
        value = torch.cat([left.pop(part).float() for part in parts])
        if name == "embedding.weight":
            value = value[_rows(checkpoint, dictionary, vocabulary)]
        elif name.endswith("positions"):
            value = value[FAIRSEQ_PAD + 1 :][: training.architecture.max_positions]
        weights[name] = value
        if value.shape != expected.shape:
            unfit.append(f"{name} is {tuple(value.shape)}, expected {tuple(expected.shape)}")
    unfit += [
        f"{name} is no part of it"
        for name in left
        if not name.startswith(LEFT_OUT) and not name.endswith((".version", "._float_tensor"))
    ]
    if unfit:
        raise UserError(
            f"{checkpoint.path} does not fit the system '{training.system}': {unfit[0]} "
            f"({len(unfit)} such weights in all); import a checkpoint of Fully-NAT's models, of "
            "fairseq's architecture cmlm_transformer_ctc (docs/checkpoints.md)"
        )
    return weights


def _parts_of(name: str) -> list[str]:
    """The names in fairseq of the parts of a weight; none if it has no counterpart."""
    if name == "embedding.weight":
        return [EMBEDDING]
    if name.endswith("positions"):
        side = "decoder" if name.startswith("decoder") else "encoder"
        return [f"{side}.embed_positions.weight"]
    stem, _, kind = name.rpartition(".")
    if layer := re.fullmatch(r"(encoder|decoder)_layers\.(\d+)\.(.+)", stem):
        side, number, part = layer.groups()
        return [f"{side}.layers.{number}.{theirs}.{kind}" for theirs in LAYER[part]]
    if stem in ("encoder_norm", "decoder_norm"):
        return [f"{stem.removesuffix('_norm')}.layer_norm.{kind}"]
    return [f"{theirs}.{kind}" for theirs in LATENTS.get(stem, [])]


def _rows(checkpoint: Checkpoint, dictionary: Vocabulary, vocabulary: Vocabulary) -> list[int]:
    """The row of fairseq's embedding for each symbol of a vocabulary."""
    last = FAIRSEQ_FIRST + len(dictionary) - len(SPECIALS)
    symbols = checkpoint.weights[EMBEDDING].size(0)
    if symbols != last + 1:
        raise UserError(
            f"{checkpoint.path} has {symbols:,} symbols, but with BLANK and the special symbols "
            f"its dictionary has {last + 1:,}; use the dictionary that it was trained with"
        )
    missing = [symbol for symbol in vocabulary.symbols if symbol not in dictionary.ids]
    if missing:
        raise UserError(
            f"the dictionary of {checkpoint.path} lacks {len(missing):,} symbols of the corpus, "
            f"such as '{missing[0]}'; make the corpus from the text that belongs to the checkpoint"
        )
    blank, begin = (0, last) if checkpoint.options.get("force_eps_zero") else (last, 0)
    rows = [dictionary.ids[symbol] - len(SPECIALS) + FAIRSEQ_FIRST for symbol in vocabulary.symbols]
    rows[PAD], rows[MASK], rows[BLANK] = FAIRSEQ_PAD, FAIRSEQ_PAD, blank
    rows[BOS], rows[EOS], rows[UNK] = begin, FAIRSEQ_EOS, FAIRSEQ_UNK
    return rows


def _check_form(checkpoint: Checkpoint, training: Training) -> None:
    """Refuse a checkpoint of another form than the system's, as far as weights do not show it."""
    latent = training.parts.get("latent")
    expected = {
        **fairseq_options(training.architecture),
        "src_upsample": training.decoder.upsample,
        "latent_dim": latent["dim"] if latent else 0,
        **dict.fromkeys(("dynamic_upsample", "axe_eps", "share_all_embeddings"), True),
        **dict.fromkeys(("prepend_bos", "add_first_token_encoder"), False),
        **dict.fromkeys(("layernorm_embedding", "left_pad_source"), False),
    }
    given = {name: checkpoint.options.get(name, 0) for name in expected}
    for name, value in expected.items():
        if isinstance(value, bool):  # as fairseq's command line has them, or as text
            given[name] = given[name] in (True, 1, "True")
    decoder = DecoderOptions(
        copy="soft_upsampled", upsample=training.decoder.upsample, count_source_end=True
    )
    different = differences(expected, given)
    different += differences(options_of(training.decoder), options_of(decoder))
    if latent:
        different += differences(latent["added_to"], "decoder_input", "added_to")
    if different:
        raise UserError(
            f"the system '{training.system}' has another form than {checkpoint.path} "
            f"({'; '.join(different)}); change its keys 'size', 'decoder' and 'parts', or import "
            "another checkpoint"
        )
