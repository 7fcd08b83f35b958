"""Checkpoints that the authors of papers publish, as models of this project.

A checkpoint of fairseq 0.10 or older is a dictionary with the keys `args` (argparse.Namespace) and
`model` (tensors by name). Nothing in the file is executed: it may hold numbers, texts, tensors,
plain containers and this one namespace.

What all of them share that models trained here do not have:

- Encoder and decoder have tables of positions of their own (`positions: learned_apart`). Positions
  count from fairseq's padding index, which is 1, so the first one is row 2.
- Targets end in EOS on the canvas, too, and decodings leave it out.

What is particular to a paper is in a module of its own, see `nat.fairseq_plugin.published_form`.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nat.configuration.models import Training
from nat.data.vocabulary import SPECIALS, Vocabulary, VocabularySizes
from nat.errors import UserError
from nat.fairseq_plugin import published_fully_nat, published_mask_predict
from nat.fairseq_plugin.published_form import FAIRSEQ_PAD, Form
from nat.training.model_file import build_model, reading
from nat.transformer.architecture import LENGTH_CLASSES

EMBEDDING = "encoder.embed_tokens.weight"  # of both languages

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

OTHERS = {
    "encoder_norm": "encoder.layer_norm",
    "decoder_norm": "decoder.layer_norm",
    "length_predictor.lengths": "encoder.embed_lengths",
    # in fairseq's spelling
    "latent.prior_head": "prob_esitmator",
    "latent.output": "latent_map",
}
"""Parts of encoder and decoder beside their layers, and of the rest."""


class Checkpoint(NamedTuple):
    """Content of a checkpoint: options and weights by the names of fairseq."""

    path: Path
    options: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    updates: int  # 0 where the file does not say

    @property
    def form(self) -> Form:
        """Their paper's form; that of Fully-NAT unless the architecture says otherwise."""
        other = published_mask_predict.FORM
        name = str(self.options.get("arch"))
        return other if name.startswith(other.architecture) else published_fully_nat.FORM


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
        f"{path} is no checkpoint of fairseq 0.10 or older, with the keys 'args' and 'model'; "
        "those of a newer fairseq are not imported (docs/checkpoints.md)"
    )


def converted(
    checkpoint: Checkpoint, dictionary: Vocabulary, vocabulary: Vocabulary, training: Training
) -> dict[str, Tensor]:
    """Return the weights of a checkpoint under the names of this project.

    The dictionary is that of fairseq; each symbol of the vocabulary of the corpus must be in it.

    Raises:
        UserError: if they do not fit, or the checkpoint has another form than is known.
    """
    form = checkpoint.form
    if different := form.differences(checkpoint.options, training):
        raise UserError(
            f"the system '{training.system}' has another form than {checkpoint.path} "
            f"({'; '.join(different)}); change its keys 'size', 'decoder', 'parts' and 'length', "
            "or import another checkpoint"
        )
    left = form.renamed(checkpoint.weights)
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
        elif name == "length_predictor.lengths.weight":
            value = value[:LENGTH_CLASSES]
        weights[name] = value
        if value.shape != expected.shape:
            unfit.append(f"{name} is {tuple(value.shape)}, expected {tuple(expected.shape)}")
    unfit += [
        f"{name} is no part of it"
        for name in left
        if not name.startswith(form.left_out) and not name.endswith((".version", "._float_tensor"))
    ]
    if unfit:
        raise UserError(
            f"{checkpoint.path} does not fit the system '{training.system}': {unfit[0]} "
            f"({len(unfit)} such weights in all); import a checkpoint of {form.paper}'s models, of "
            f"fairseq's architecture {form.architecture} (docs/checkpoints.md)"
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
    return [f"{OTHERS[stem]}.{kind}"] if stem in OTHERS else []


def _rows(checkpoint: Checkpoint, dictionary: Vocabulary, vocabulary: Vocabulary) -> list[int]:
    """The row of fairseq's embedding for each symbol of a vocabulary."""
    form = checkpoint.form
    words, symbols = len(dictionary) - len(SPECIALS), checkpoint.weights[EMBEDDING].size(0)
    if symbols != (expected := form.first_word + words + form.after_words):
        raise UserError(
            f"{checkpoint.path} has {symbols:,} symbols, but with the special symbols its "
            f"dictionary has {expected:,}; use the dictionary that it was trained with"
        )
    missing = [symbol for symbol in vocabulary.symbols if symbol not in dictionary.ids]
    if missing:
        raise UserError(
            f"the dictionary of {checkpoint.path} lacks {len(missing):,} symbols of the corpus, "
            f"such as '{missing[0]}'; make the corpus from the text that belongs to the checkpoint"
        )
    own = vocabulary.symbols[len(SPECIALS) :]
    rows = [dictionary.ids[symbol] - len(SPECIALS) + form.first_word for symbol in own]
    specials = form.special_rows(checkpoint.options, form.first_word + words)
    return [*(specials[number] for number in range(len(SPECIALS))), *rows]
