"""Names that fairseq has for models and their sizes; this module does not import fairseq."""

import importlib.util
from pathlib import Path
from typing import Any, Literal, get_args

from nat.transformer.architecture import Architecture

FairseqModelName = Literal[
    "iterative_nonautoregressive_transformer",
    "nacrf_transformer",
    "insertion_transformer",
    "levenshtein_transformer",
]
INAT, CRF, INSERTION, LEVT = get_args(FairseqModelName)
COMPILED = (INSERTION, LEVT)
"""Models that insert and delete tokens. Fairseq computes their labels in compiled parts, which an
installation may lack."""

NEEDS_COMPILED = "not run: needs fairseq's compiled parts"


def has_compiled_parts() -> bool:
    """Return True if fairseq is installed with `libnat`."""
    spec = importlib.util.find_spec("fairseq")
    folders = [] if spec is None else spec.submodule_search_locations or []
    return any(any(Path(folder).glob("libnat.*")) for folder in folders)


def fairseq_options(architecture: Architecture) -> dict[str, Any]:
    """The options that say in fairseq what an architecture is, but for its positions' number."""
    of_each_side = {
        "embed_dim": architecture.model_dim,
        "ffn_embed_dim": architecture.ffn_dim,
        "attention_heads": architecture.heads,
        "normalize_before": architecture.pre_norm,
        "learned_pos": architecture.positions != "sinusoidal",
    }
    return {
        **{f"encoder_{key}": value for key, value in of_each_side.items()},
        **{f"decoder_{key}": value for key, value in of_each_side.items()},
        "encoder_layers": architecture.encoder_layers,
        "decoder_layers": architecture.decoder_layers,
        "activation_fn": architecture.activation,
        "no_scale_embedding": not architecture.scale_embeddings,
    }
