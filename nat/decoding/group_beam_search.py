"""Beam search for the semi-autoregressive Transformer: k tokens per decoder pass."""

from nat.decoding.beam_search import BeamSearch
from nat.decoding.options import GroupBeamSearchDecodingOptions


class GroupBeamSearch(BeamSearch, GroupBeamSearchDecodingOptions):
    """Left-to-right search in which a decoder pass predicts the next k tokens independently.

    Wang et al. (2018). The tokens of a group extend the hypotheses one after the other, each with
    the distribution of its own position, so a hypothesis can end within a group.
    """


METHOD = GroupBeamSearch
