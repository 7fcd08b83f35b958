"""One pass over an upsampled canvas, collapsed: decoding of CTC models."""

from nat.decoding.imputation import Imputing
from nat.decoding.options import CtcDecodingOptions


class CtcDecoding(Imputing, CtcDecodingOptions):
    """Each frame takes its most probable label; equal neighbours are merged, blanks are dropped.

    This is the most probable alignment, not the most probable translation, whose probability is the
    sum over its alignments (see `ctc_beam`). The score is the mean log-probability per frame of
    that alignment. Probabilities are those of the full softmax; special symbols other than UNK and
    BLANK are never chosen.

    The probability of a token is often spread over several frames, of which none prefers it to
    BLANK; then the best alignment is too short. A penalty of BLANK makes it longer, and costs no
    time. The papers have none; it is to be tuned on a validation set.
    """


METHOD = CtcDecoding
