"""Checkpoints of Mask-Predict (Ghazvininejad et al. 2019), of a fairseq before 0.9.

- The dictionary begins with BOS, padding, EOS, UNK and MASK. BLANK does not exist; no decoding
  chooses it, and its row is that of padding.
- The number of positions of the canvas, with EOS, is predicted by a token (`length: token`). Of
  its 10,000 lengths, those up to 255 are taken over.
- Layers have other names, and their attentions have query, key and value in one matrix.
- Normalisation adds 1e-12 to the variance (`norm_epsilon`).
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from nat.configuration import differences
from nat.configuration.models import Training
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.fairseq_plugin.published_form import FAIRSEQ_EOS, FAIRSEQ_PAD, FAIRSEQ_UNK, Form
from nat.options import options_of
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.fairseq_models import fairseq_options

NAMES = {
    r"\.layer_norms\.0\.": ".self_attn_layer_norm.",
    r"\.layer_norms\.1\.": ".final_layer_norm.",
    r"\.gamma$": ".weight",
    r"\.beta$": ".bias",
}
"""What becomes what in the names of weights."""

ARCHITECTURE = {
    "activation": "gelu",
    "positions": "learned_apart",
    "scale_embeddings": False,
    "norm_epsilon": 1e-12,
}
"""The one form that this architecture of fairseq has, whatever the options of a checkpoint say."""

UNSAID = ("learned_pos", "activation_fn", "no_scale_embedding")
"""Ends of the names of options about that form."""


def _special_rows(options: Mapping[str, Any], last: int) -> dict[int, int]:
    both = {MASK: 4, BLANK: FAIRSEQ_PAD}
    return {PAD: FAIRSEQ_PAD, BOS: 0, EOS: FAIRSEQ_EOS, UNK: FAIRSEQ_UNK, **both}


def _renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, value in weights.items():
        for old, new in NAMES.items():
            name = re.sub(old, new, name)
        attention, joined, kind = name.partition(".in_proj_")
        if not joined:
            renamed[name] = value
            continue
        for each, rows in zip("qkv", value.chunk(3), strict=True):
            renamed[f"{attention}.{each}_proj.{kind}"] = rows
    return renamed


def _differences(options: Mapping[str, Any], training: Training) -> list[str]:
    expected = {
        **{
            name: value
            for name, value in fairseq_options(training.architecture).items()
            if not name.endswith(UNSAID)
        },
        **dict.fromkeys(("no_enc_token_positional_embeddings", "dynamic_length"), False),
        "no_dec_token_positional_embeddings": False,
        "share_all_embeddings": True,
    }
    form = {
        **{key: getattr(training.architecture, key) for key in ARCHITECTURE},
        "length": training.length,
        "parts": training.parts,
        "decoder": options_of(training.decoder),
    }
    known = {
        **ARCHITECTURE,
        "length": "token",
        "parts": {},
        "decoder": options_of(DecoderOptions()),
    }
    given = {name: options.get(name, False) for name in expected}
    return differences(expected, given) + differences(form, known)


FORM = Form(
    paper="Mask-Predict",
    architecture="bert_transformer_seq2seq",
    first_word=5,
    after_words=0,
    left_out=(),
    special_rows=_special_rows,
    renamed=_renamed,
    differences=_differences,
)
