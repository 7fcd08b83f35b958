"""A cache of what several decodings of a job need alike, for each batch of source sentences.

Kept are symbols and their probabilities, which are not much larger than the translations that a job
holds anyway. Encoder states are not: D numbers for each source token of a text are too many, and
computing them again takes 2% of the time of one to ten steps of mask-predict with five lengths.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from torch import Tensor

Made = TypeVar("Made")

Known = dict[tuple[Hashable, int, bytes], Any]
"""Results that are kept, by what makes them and a batch of source sentences: width and content."""


def once(known: Known | None, by: Hashable, source: Tensor, make: Callable[[], Made]) -> Made:
    """The result for a batch [B, S], made unless it is known; callers must not change it.

    It depends on the source and what it is made `by`: a method and its options, say. Without a
    cache nothing is kept.
    """
    if known is None:
        return make()
    key = by, source.size(1), source.cpu().numpy().tobytes()
    if key not in known:
        known[key] = make()
    made: Made = known[key]
    return made
