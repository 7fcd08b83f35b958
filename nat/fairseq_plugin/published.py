"""Checkpoints that the authors of papers publish, as models of this project.

A checkpoint of fairseq 0.10 or older is a dictionary with the keys `args` (argparse.Namespace) and
`model` (tensors by name). Nothing in the file is executed: it may hold numbers, texts, tensors,
plain containers and this one namespace.

What all of them share that models trained here do not have:

- Encoder and decoder have tables of positions of their own (`positions: learned_apart`). Positions
  count from fairseq's padding index, which is 1, so the first one is row 2.
- Targets end in EOS on the canvas, too, and decodings leave it out.
- A special symbol that a model does not know (MASK or BLANK) is shown and chosen nowhere; its row
  is that of padding.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nat.checksums import reading
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
from nat.training.model_file import build_model
from nat.transformer.architecture import LENGTH_CLASSES, DecoderOptions
from nat.transformer.fairseq_models import fairseq_options

EMBEDDING = "encoder.embed_tokens.weight"  # of both languages
FIRST_POSITION = 2

PARTS = {
    "embedding": ["encoder.embed_tokens"],
    "encoder_norm": ["encoder.layer_norm"],
    "decoder_norm": ["decoder.layer_norm"],
    "length_predictor.lengths": ["encoder.embed_lengths"],
    # in fairseq's spelling
    "latent.prior_head": ["prob_esitmator"],
    "latent.output": ["latent_map"],
    # of a layer
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
"""Parts of a model by their names here: those of fairseq 0.9, one below the other."""


class Form(NamedTuple):
    """The checkpoints of a paper."""

    paper: str
    architecture: str  # name in fairseq
    first_word: int  # row of the embedding of the dictionary's first symbol
    rows: Mapping[int, int]  # of the special symbols BOS, BLANK and MASK; -1 is the last row
    # what the options of a checkpoint must be, besides those that follow from a system
    options: Mapping[str, bool]
    system: Mapping[str, Any]  # what keys of a system must be; how much it upsamples is an option
    after_words: int = 0  # rows after those of the dictionary
    left_out: tuple[str, ...] = ()  # beginnings of the names of weights that are not needed
    # what becomes what in names of weights, so that they are those of fairseq 0.9
    renamed: Mapping[str, str] = {}
    fixed: Mapping[str, Any] = {}  # options that hold whatever a checkpoint says


DECODER = options_of(DecoderOptions())
WITHOUT_LATENTS = {"dim": 0, "added_to": "decoder_input"}

FULLY_NAT = Form(
    paper="Fully-NAT",
    architecture="cmlm_transformer_ctc",
    first_word=4,
    after_words=1,
    rows={BLANK: 0, BOS: -1, MASK: 1},  # with fairseq's option --force-eps-zero
    # of the posterior, whose networks have positions of their own again
    left_out=("q_encoder_y.", "q_encoder_xy.", "bottleneck."),
    options={
        **dict.fromkeys(("dynamic_upsample", "axe_eps", "share_all_embeddings"), True),
        **dict.fromkeys(("prepend_bos", "add_first_token_encoder"), False),
        **dict.fromkeys(("layernorm_embedding", "left_pad_source"), False),
    },
    system={
        "decoder": {**DECODER, "copy": "soft_upsampled", "count_source_end": True},
        "latents": "decoder_input",
    },
)
"""Gu and Kong (2021), of fairseq 0.9. Decodings take EOS for BLANK."""

MASK_PREDICT = Form(
    paper="Mask-Predict",
    architecture="bert_transformer_seq2seq",
    first_word=5,
    rows={BOS: 0, MASK: 4, BLANK: 1},
    renamed={
        r"\.layer_norms\.0\.": ".self_attn_layer_norm.",
        r"\.layer_norms\.1\.": ".final_layer_norm.",
        r"\.gamma$": ".weight",
        r"\.beta$": ".bias",
    },
    options={
        **dict.fromkeys(("no_enc_token_positional_embeddings", "dynamic_length"), False),
        "no_dec_token_positional_embeddings": False,
        "share_all_embeddings": True,
    },
    # it has one form, whatever the options of a checkpoint say
    fixed={
        **dict.fromkeys(("encoder_learned_pos", "decoder_learned_pos", "no_scale_embedding"), True),
        **{"activation_fn": "gelu", "src_upsample": None, "latent_dim": 0},
    },
    system={
        **{"positions": "learned_apart", "norm_epsilon": 1e-12},
        **{"length": "token", "decoder": DECODER},
    },
)
"""Ghazvininejad et al. (2019), of a fairseq before 0.9. The number of positions of the canvas, with
EOS, is predicted by a token; of its 10,000 lengths, those up to 255 are taken over."""


class Checkpoint(NamedTuple):
    """Content of a checkpoint: options and weights by the names of fairseq."""

    path: Path
    options: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    updates: int  # 0 where the file does not say

    @property
    def form(self) -> Form:
        """Their paper's form; that of Fully-NAT unless the architecture says otherwise."""
        name = str(self.options.get("arch"))
        return MASK_PREDICT if name.startswith(MASK_PREDICT.architecture) else FULLY_NAT


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
    The weights of a posterior, which decoding does not need, are not a number, so that no analysis
    of the posterior can go unnoticed.

    Raises:
        UserError: if they do not fit, or the checkpoint has another form than is known.
    """
    form = checkpoint.form
    if different := _differences(checkpoint, training):
        raise UserError(
            f"the system '{training.system}' has another form than {checkpoint.path} "
            f"({'; '.join(different)}); change its keys 'size', 'decoder', 'parts' and 'length', "
            "or import another checkpoint"
        )
    left = _renamed(checkpoint)
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
        if lacking := [part for part in parts or [name] if part not in left]:
            unfit += [f"{part} is missing" for part in lacking]
            continue
        value = torch.cat([left.pop(part).float() for part in parts])
        if name == "embedding.weight":
            value = value[_rows(checkpoint, dictionary, vocabulary)]
        elif name.endswith("positions"):
            value = value[FIRST_POSITION:][: training.architecture.max_positions]
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


def _differences(checkpoint: Checkpoint, training: Training) -> list[str]:
    """How a system differs from a checkpoint, as far as weights do not show it."""
    form, latents = checkpoint.form, training.parts.get("latent", WITHOUT_LATENTS)
    expected = {
        **fairseq_options(training.architecture),
        "src_upsample": training.decoder.upsample,
        "latent_dim": latents["dim"],
        **form.options,
    }
    said = {**checkpoint.options, **form.fixed}
    given = {name: said.get(name, 0) for name in expected}
    for name, value in expected.items():
        if isinstance(value, bool):  # as fairseq's command line has them, or as text
            given[name] = given[name] in (True, 1, "True")
    system = {
        **vars(training.architecture),
        "length": training.length,
        "decoder": {**options_of(training.decoder), "upsample": DECODER["upsample"]},
        "latents": latents["added_to"],
    }
    mine = {name: system[name] for name in form.system}
    return differences(expected, given) + differences(mine, form.system)


def _renamed(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Weights by the names that fairseq 0.9 gives them."""
    renamed = {}
    for name, value in checkpoint.weights.items():
        for old, new in checkpoint.form.renamed.items():
            name = re.sub(old, new, name)
        # attentions had query, key and value in one matrix
        attention, joined, kind = name.partition(".in_proj_")
        if not joined:
            renamed[name] = value
            continue
        for each, rows in zip("qkv", value.chunk(3), strict=True):
            renamed[f"{attention}.{each}_proj.{kind}"] = rows
    return renamed


def _parts_of(name: str) -> list[str]:
    """The names in fairseq of the parts of a weight; none if it has no counterpart."""
    if name.endswith("positions"):
        side = "decoder" if name.startswith("decoder") else "encoder"
        return [f"{side}.embed_positions.weight"]
    stem, _, kind = name.rpartition(".")
    layer = re.match(r"(encoder|decoder)_layers\.(\d+)\.", stem)
    before = f"{layer[1]}.layers.{layer[2]}." if layer else ""
    part = stem.removeprefix(layer[0]) if layer else stem
    return [f"{before}{theirs}.{kind}" for theirs in PARTS.get(part, ())]


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
    specials = {PAD: 1, EOS: 2, UNK: 3, **form.rows}
    if form is FULLY_NAT and not checkpoint.options.get("force_eps_zero"):
        specials |= {BLANK: specials[BOS], BOS: specials[BLANK]}
    own = vocabulary.symbols[len(SPECIALS) :]
    rows = [dictionary.ids[symbol] - len(SPECIALS) + form.first_word for symbol in own]
    return [*(specials[number] for number in range(len(SPECIALS))), *rows]
