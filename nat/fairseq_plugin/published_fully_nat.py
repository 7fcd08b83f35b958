"""Checkpoints of Fully-NAT (Gu and Kong 2021), of fairseq 0.9.

- BLANK is row 0 of the embedding, and BOS the last row (`--force-eps-zero`). MASK does not exist;
  no position shows it, and its row is that of padding.
- Decodings take EOS for BLANK.
- Posterior networks have positions of their own again, which models here do not have. Decoding
  needs the prior only. The weights of the posterior are left out; they are not a number here, so
  that no analysis of the posterior can go unnoticed.
"""

from collections.abc import Mapping
from typing import Any

from nat.configuration import differences
from nat.configuration.models import Training
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.fairseq_plugin.published_form import FAIRSEQ_EOS, FAIRSEQ_PAD, FAIRSEQ_UNK, Form
from nat.options import options_of
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.fairseq_models import fairseq_options


def _special_rows(options: Mapping[str, Any], last: int) -> dict[int, int]:
    blank, begin = (0, last) if options.get("force_eps_zero") else (last, 0)
    both = {BLANK: blank, BOS: begin}
    return {PAD: FAIRSEQ_PAD, EOS: FAIRSEQ_EOS, UNK: FAIRSEQ_UNK, MASK: FAIRSEQ_PAD, **both}


def _differences(options: Mapping[str, Any], training: Training) -> list[str]:
    latent = training.parts.get("latent")
    expected = {
        **fairseq_options(training.architecture),
        "src_upsample": training.decoder.upsample,
        "latent_dim": latent["dim"] if latent else 0,
        **dict.fromkeys(("dynamic_upsample", "axe_eps", "share_all_embeddings"), True),
        **dict.fromkeys(("prepend_bos", "add_first_token_encoder"), False),
        **dict.fromkeys(("layernorm_embedding", "left_pad_source"), False),
    }
    given = {name: options.get(name, 0) for name in expected}
    for name, value in expected.items():
        if isinstance(value, bool):  # as fairseq's command line has them, or as text
            given[name] = given[name] in (True, 1, "True")
    upsample = training.decoder.upsample or 3.0  # that of all of them
    decoder = DecoderOptions(copy="soft_upsampled", upsample=upsample, count_source_end=True)
    different = differences(expected, given)
    different += differences(options_of(training.decoder), options_of(decoder))
    if latent:
        different += differences(latent["added_to"], "decoder_input", "added_to")
    return different


FORM = Form(
    paper="Fully-NAT",
    architecture="cmlm_transformer_ctc",
    first_word=4,
    after_words=1,
    left_out=("q_encoder_y.", "q_encoder_xy.", "bottleneck."),  # parts of the posterior
    special_rows=_special_rows,
    renamed=dict,
    differences=_differences,
)
