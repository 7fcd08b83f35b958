"""One pass over an upsampled canvas, collapsed: decoding of CTC models."""

import torch
from torch import Tensor

from nat.decoding.hypothesis import Hypothesis
from nat.decoding.imputation import imputed_passes, imputed_translations
from nat.decoding.options import CtcDecodingOptions
from nat.decoding.passes import Pass
from nat.transformer.model import Transformer


class CtcDecoding(CtcDecodingOptions):
    """Each frame takes its most probable label; equal neighbours are merged, blanks are dropped.

    This is the most probable alignment, not the most probable translation, whose probability is the
    sum over its alignments (see `ctc_beam`). The score is the mean log-probability per frame of
    that alignment. Probabilities are those of the full softmax; special symbols other than UNK and
    BLANK are never chosen.

    The probability of a token is often spread over several frames, of which none prefers it to
    BLANK; then the best alignment is too short. A penalty of BLANK makes it longer, and costs no
    time. The papers have none; it is to be tuned on a validation set.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return imputed_translations(model, model.encode(source), 1, self.blank_penalty)

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The pass, of frames; see `nat.decoding.passes.Traced`."""
        return imputed_passes(model, source, 1, self.blank_penalty)


METHOD = CtcDecoding
