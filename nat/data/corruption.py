"""Corrupted sources: the synthetic corpora A and B of Huang et al. 2022 (MPLE, appendix B).

The target is clean text and the source the same text with some of its tokens replaced by random
ones, and, in B, some dropped. Where the paper is ambiguous: tokens are
subwords, the unit that the models see; a replacement is uniform over the vocabulary of the clean
training text; and each token is replaced, and then dropped, independently of the others.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from nat.data.corpus import Corruption

_CHUNK = 2000  # lines that share one call of the generator


def corrupt_lines(
    lines: Iterable[str], symbols: Sequence[str], options: Corruption, split: str
) -> Iterator[str]:
    """Yield corrupted lines.

    Args:
        lines: subwords joined by spaces. A line keeps one token at least, if it has any.
        symbols: the vocabulary that replacements are drawn from.
        options: the probabilities, and the seed.
        split: name of the split; splits use different random numbers.
    """
    named = hashlib.sha256(f"{options.seed} {split}".encode()).digest()
    numbers = np.random.default_rng(list(named))
    source = iter(lines)
    for chunk in iter(lambda: [line.split() for line in islice(source, _CHUNK)], []):
        total = sum(map(len, chunk))
        replaced = (numbers.random(total) < options.replace).tolist()
        dropped = (numbers.random(total) < options.drop).tolist()
        drawn = numbers.integers(len(symbols), size=total).tolist()
        start = 0
        for tokens in chunk:
            places = range(start, start + len(tokens))
            start = places.stop
            changed = [
                symbols[drawn[place]] if replaced[place] else token
                for place, token in zip(places, tokens, strict=True)
            ]
            kept = [
                token for place, token in zip(places, changed, strict=True) if not dropped[place]
            ]
            yield " ".join(kept or changed[:1])
