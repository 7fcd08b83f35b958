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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from nat.transformer.architecture import Architecture
from nat.transformer.decoder_options import DecoderOptions

FAIRSEQ_PAD, FAIRSEQ_EOS, FAIRSEQ_UNK, FAIRSEQ_FIRST = 1, 2, 3, 4
"""Rows of the embedding in fairseq; the symbols of the dictionary begin at the last one."""

EMBEDDING = "encoder.embed_tokens.weight"
"""The embedding of both languages."""

POSTERIOR = ("q_encoder_y.", "q_encoder_xy.", "bottleneck.")
"""Parts of a checkpoint that are left out."""

NEEDED = {
    "dynamic_upsample": True,
    "axe_eps": True,
    "share_all_embeddings": True,
    "encoder_learned_pos": True,
    "decoder_learned_pos": True,
    "prepend_bos": False,
    "layernorm_embedding": False,
    "add_first_token_encoder": False,
    "left_pad_source": False,
}
"""Options of a training whose model has the same form here."""

LATENT = ("dim", "posterior_layers", "added_to")
"""Options of latents that say what form a model has."""


@dataclass(frozen=True)
class Checkpoint:
    """What is read of a checkpoint.

    Attributes:
        path: for messages.
        options: of the training, by name.
        weights: by the names of fairseq.
        updates: updates of the training, 0 where the file does not say.
    """

    path: Path
    options: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    updates: int


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint without executing anything in it.

    Raises:
        UserError: if the file is missing, damaged or no checkpoint of fairseq, does not fit the
            memory, or holds objects.
    """
    with reading(path), torch.serialization.safe_globals([argparse.Namespace]):
        found = torch.load(path, map_location="cpu", weights_only=True)
    match found:
        case {"args": argparse.Namespace() as options, "model": dict(weights)}:
            pass
        case _:
            kind = "is no checkpoint of fairseq 0.9 or 0.10, with the keys 'args' and 'model'"
            if isinstance(found, dict) and "cfg" in found:
                kind = "is a checkpoint of a newer fairseq; only those of 0.9 and 0.10 are imported"
            raise UserError(f"{path} {kind} (docs/checkpoints.md)")
    match found.get("optimizer_history"):
        case [*_, {"num_updates": int(updates)}]:
            pass
        case _:
            updates = 0
    return Checkpoint(path, vars(options), weights, updates)


def converted(
    checkpoint: Checkpoint, dictionary: Vocabulary, vocabulary: Vocabulary, training: Training
) -> dict[str, Tensor]:
    """The weights of a checkpoint under the names of this project.

    Args:
        checkpoint: what was read.
        dictionary: that of fairseq.
        vocabulary: of the corpus; each of its symbols must be in the dictionary.
        training: configuration of the system, which must fit the options of the checkpoint.

    Raises:
        UserError: if they do not fit, or the checkpoint has another form than is known.
    """
    _check_form(checkpoint, training)
    left = dict(checkpoint.weights)
    try:
        rows = _rows(checkpoint, dictionary, vocabulary)
        weights = dict(_converted(checkpoint.path, left, rows, training))
    except KeyError as error:
        raise UserError(
            f"{checkpoint.path} lacks the weights {error}; only checkpoints of fairseq's "
            "architecture cmlm_transformer_ctc can be imported"
        ) from error
    with torch.device("meta"):
        model = build_model(training, VocabularySizes(len(vocabulary)))
    unknown = [
        f"{name} is no part of it"
        for name in left
        if not name.startswith(POSTERIOR) and not name.endswith((".version", "._float_tensor"))
    ]
    for name, value in model.state_dict().items():
        if name not in weights and name.startswith("latents."):
            weights[name] = torch.full(value.shape, torch.nan)
        if name not in weights or weights[name].shape != value.shape:
            found = tuple(weights[name].shape) if name in weights else "missing"
            unknown.append(f"{name} is {found}, expected {tuple(value.shape)}")
    if unknown:
        raise UserError(
            f"{checkpoint.path} does not fit the system '{training.system}': {unknown[0]} "
            f"({len(unknown)} such weights in all); import a checkpoint of Fully-NAT's models "
            "(docs/checkpoints.md)"
        )
    return weights


def _check_form(checkpoint: Checkpoint, training: Training) -> None:
    """Refuse a checkpoint of another form than the system's."""
    options = checkpoint.options
    # as fairseq's command line has them, or as text
    given = {name: options.get(name, False) in (True, 1, "True") for name in NEEDED}
    try:
        described = {**given, **described_by(options)}
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{checkpoint.path}: its options do not describe a CTC model ({error})"
        ) from error
    # how weights are drawn and how the posterior is trained does not concern a finished model
    latent = training.latent
    own: dict[str, Any] = {
        **NEEDED,
        "architecture": options_of(
            replace(training.architecture, initialisation=Architecture.initialisation)
        ),
        "decoder": options_of(training.decoder),
        "latent": latent and {key: getattr(latent, key) for key in LATENT},
    }
    different = differences(own, described)
    if different:
        raise UserError(
            f"the system '{training.system}' has another form than {checkpoint.path} "
            f"({'; '.join(different)}); change its keys 'size', 'decoder' and 'latent', or import "
            "another checkpoint"
        )


def described_by(options: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a model, from the options of its training in fairseq: architecture, decoder and
    latents, JSON-able."""
    sides = "encoder", "decoder"
    for name in ("embed_dim", "ffn_embed_dim", "attention_heads", "normalize_before"):
        values = [options[f"{side}_{name}"] for side in sides]
        if values[0] != values[1]:
            raise ValueError(f"encoder_{name} is {values[0]}, decoder_{name} is {values[1]}")
    architecture = Architecture(
        model_dim=options["encoder_embed_dim"],
        ffn_dim=options["encoder_ffn_embed_dim"],
        encoder_layers=options["encoder_layers"],
        decoder_layers=options["decoder_layers"],
        heads=options["encoder_attention_heads"],
        pre_norm=bool(options["encoder_normalize_before"]),
        activation=options["activation_fn"],
        positions="learned_apart",
        scale_embeddings=not options.get("no_scale_embedding", False),
        max_positions=min(options["max_source_positions"], options["max_target_positions"]),
    )
    decoder = DecoderOptions(
        copy="soft_upsampled", upsample=float(options["src_upsample"]), count_source_end=True
    )
    dim, layers = options.get("latent_dim", 0), options.get("posterior_layers", 3)
    return {
        "architecture": options_of(architecture),
        "decoder": options_of(decoder),
        "latent": dict(zip(LATENT, (dim, layers, "decoder_input"), strict=True)) if dim else None,
    }


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
    special = {
        PAD: FAIRSEQ_PAD,
        BOS: begin,
        EOS: FAIRSEQ_EOS,
        UNK: FAIRSEQ_UNK,
        MASK: FAIRSEQ_PAD,
        BLANK: blank,
    }
    return [special.get(number, row) for number, row in enumerate(rows)]


def _converted(
    path: Path, left: dict[str, Tensor], rows: list[int], training: Training
) -> Iterator[tuple[str, Tensor]]:
    """Names and weights; takes what it uses out of `left`, the weights of the checkpoint `path`."""

    def take(name: str) -> Tensor:
        return left.pop(name).float()

    embedding = take(EMBEDDING)
    for name in ("decoder.embed_tokens.weight", "decoder.output_projection.weight"):
        if name in left and not torch.equal(take(name), embedding):
            raise UserError(
                f"{path} has other weights {name} than {EMBEDDING}; only a checkpoint with one "
                "embedding of both languages can be imported"
            )
    yield "embedding.weight", embedding[rows]
    longest = training.architecture.max_positions
    for side, own in (("encoder", "positions"), ("decoder", "decoder_positions")):
        positions = take(f"{side}.embed_positions.weight")[FAIRSEQ_PAD + 1 :]
        yield own, positions[:longest]
    for side in ("encoder", "decoder"):
        for number in range(getattr(training.architecture, f"{side}_layers")):
            theirs, ours = f"{side}.layers.{number}.", f"{side}_layers.{number}."
            for part in ("weight", "bias"):
                fused = [take(f"{theirs}self_attn.{each}_proj.{part}") for each in "qkv"]
                yield f"{ours}attention.query_key_value.{part}", torch.cat(fused)
                if side == "decoder":
                    fused = [take(f"{theirs}encoder_attn.{each}_proj.{part}") for each in "kv"]
                    yield f"{ours}cross_attention.key_value.{part}", torch.cat(fused)
                for name, own in _LAYER.items():
                    if side == "decoder" or not name.startswith("encoder_attn"):
                        yield f"{ours}{own}.{part}", take(f"{theirs}{name}.{part}")
        if training.architecture.pre_norm:
            for part in ("weight", "bias"):
                yield f"{side}_norm.{part}", take(f"{side}.layer_norm.{part}")
    if training.latent is not None:
        for part in ("weight", "bias"):
            yield f"latents.prior_head.{part}", take(f"prob_esitmator.{part}")
            yield f"latents.output.{part}", take(f"latent_map.{part}")


_LAYER = {
    "self_attn.out_proj": "attention.output",
    "self_attn_layer_norm": "around_attention.norm",
    "encoder_attn.q_proj": "cross_attention.query",
    "encoder_attn.out_proj": "cross_attention.output",
    "encoder_attn_layer_norm": "around_cross_attention.norm",
    "fc1": "feed_forward.inner",
    "fc2": "feed_forward.outer",
    "final_layer_norm": "around_feed_forward.norm",
}
"""Parts of a layer: their names in fairseq, and here. `prob_esitmator` is spelt so there."""
