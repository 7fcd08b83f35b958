"""Dividing a text into batches by their number of tokens, including padding."""

import numpy as np


def batch_ends(tokens: np.ndarray, max_tokens: int) -> np.ndarray:
    """Find where batches of consecutive sentences end.

    The size of a batch is its number of sentences times the length of the longest of them. Each
    batch is as large as possible. The batches are the same as those of fairseq's
    `batch_by_size` with `required_batch_size_multiple` 1.

    Args:
        tokens: of each sentence, in the order in which the sentences are batched, int64 [n], all
            positive.
        max_tokens: most tokens that a batch may take.

    Returns:
        For each batch the number of the sentence after its last, int64, ascending; the last
        is n.

    Raises:
        ValueError: if a sentence alone takes more than `max_tokens`.
    """
    if len(tokens) and tokens.max() > max_tokens:
        raise ValueError(f"a sentence takes {tokens.max()} tokens, a batch at most {max_tokens}")
    ends: list[int] = []
    start = 0
    while start < len(tokens):
        # no batch has more sentences than this, for each takes at least as much as the first
        longest = np.maximum.accumulate(tokens[start : start + max_tokens // int(tokens[start])])
        # strictly ascending, since no longest sentence gets shorter
        taken = longest * np.arange(1, len(longest) + 1)
        start += int(np.searchsorted(taken, max_tokens, side="right"))
        ends.append(start)
    return np.asarray(ends, dtype=np.int64)
