"""N-gram language models of subwords: interpolated modified Kneser-Ney (Chen and Goodman 1999).

A sentence of N tokens has N + 1 events, its tokens and EOS; the first follows BOS. With a the count
of an n-gram h w (h its first words), D the discount of that count and h' the words of h but the
first,

    p(w | h) = (a(h w) - D(a(h w))) / sum_v a(h v) + g(h) p(w | h')
    g(h)     = sum_v D(a(h v)) / sum_v a(h v)

and below the unigrams all symbols that a text may contain, including EOS, are equally likely. The
count of an n-gram of the highest order, or at the beginning of a sentence, is its frequency; that
of any other n-gram is the number of different symbols that precede it. Discounts of counts of 1, 2,
and 3 and more are estimated for each order from the numbers of n-grams with counts of 1 to 4.

Where the paper is ambiguous: if a text is so small, or so regular, that these numbers give no
discounts between 0 and the count itself, they are 0.5, 1 and 1.5. Nothing is pruned.
"""

from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nat.checksums import remedy
from nat.data.arrays import read_arrays
from nat.data.binarised import BinarisedText
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, Vocabularies
from nat.errors import UserError
from nat.files import atomic_path, write_json

NO_WORDS = (PAD, BOS, MASK, BLANK)  # symbols that do not occur in text: their probability is zero
FALLBACK = (0.5, 1.0, 1.5)  # discounts if they cannot be estimated

BLOCK = 2**22
"""Number of n-grams that are sorted and counted together; determines the memory needed."""

Level = list[np.ndarray]
"""An array for each order of n-grams."""


@dataclass(frozen=True)
class LanguageModel:
    """A model as a trie. Node 0 is the root, the empty context; node 1 + w the unigram w.

    M is the number of n-grams. The values of a node apply to the context that ends with its words.
    The state of a decoding is a node: the longest n-gram, shorter than the order, that is a suffix
    of the sentence so far.

    Attributes:
        vocabulary_size: V.
        levels: number of n-grams up to each order, the highest one last, [order].
        keys: node of the words before the last times V plus the last word, ascending, [M]; node
            n + 1 is that of key n.
        log_probabilities: of the last word of each n-gram after the words before it, nats, [M].
        backoffs: log g(h) of each node, for words not seen after it, nats, [1 + M].
        shorter: node without its first word, [1 + M].
    """

    vocabulary_size: int
    levels: np.ndarray
    keys: np.ndarray
    log_probabilities: np.ndarray
    backoffs: np.ndarray
    shorter: np.ndarray

    @property
    def order(self) -> int:
        """Longest n-gram."""
        return len(self.levels)

    @property
    def begin(self) -> int:
        """State of a sentence without words."""
        return 1 + BOS if self.order > 1 else 0

    def step(self, states: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-probabilities of next words, nats, float64, and the states after them, [n] each.

        Words are symbols that can occur in texts, [n], and states [n] as well.
        """
        scores, after = np.zeros(len(states)), np.zeros(len(states), dtype=np.int64)
        nodes, wanted, open_ = states.astype(np.int64), words, np.arange(len(states))
        for _ in range(self.order):
            keys = nodes * self.vocabulary_size + wanted
            places = np.minimum(self.keys.searchsorted(keys), len(self.keys) - 1)
            known = self.keys[places] == keys
            scores[open_[known]] += self.log_probabilities[places[known]]
            after[open_[known]] = places[known] + 1
            left = ~known
            nodes, wanted, open_ = nodes[left], wanted[left], open_[left]
            if not len(open_):
                break
            scores[open_] += self.backoffs[nodes]
            nodes = self.shorter[nodes].astype(np.int64)
        # nodes of the highest order are no states
        highest = 1 + int(self.levels[-2]) if self.order > 1 else 1
        return scores, np.where(after < highest, after, self.shorter[after])

    def save(self, path: Path | str) -> None:
        """Write the model as a numpy archive."""
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path: Path | str, vocabulary_size: int) -> "LanguageModel":
        """Read what `save` wrote; a `UserError` for another file, or another vocabulary."""
        arrays: dict[str, Any] = read_arrays(path)
        if arrays.keys() != {field.name for field in fields(cls)}:
            raise UserError(f"{path} holds no language model; {remedy(path)}")
        symbols = arrays["vocabulary_size"] = int(arrays["vocabulary_size"])
        if symbols != vocabulary_size:
            raise UserError(
                f"{path} has {symbols} symbols but the vocabulary has {vocabulary_size}"
            )
        return cls(**arrays)


def estimate(
    tokens: np.ndarray, lengths: np.ndarray, vocabulary_size: int, order: int
) -> LanguageModel:
    """Estimate a model with n-grams up to an order, at least 1.

    `tokens` are the ids of all sentences, one after the other, `lengths` those of each, [n].
    """
    parents, words, shorter, counts, first = _counted(tokens, lengths, vocabulary_size, order)
    levels = np.cumsum([len(each) for each in words])
    total = int(levels[-1])
    keys = np.empty(total, dtype=np.int64)
    logs = np.empty(total, dtype=np.float32)
    backoffs = np.zeros(1 + total, dtype=np.float32)
    lower = np.full(vocabulary_size, 1 / (vocabulary_size - len(NO_WORDS)))
    lower[list(NO_WORDS)] = 0
    for number in range(order):
        adjusted, parent, word = counts.pop(0), parents.pop(0), words.pop(0)
        level = slice(levels[number] - len(word), levels[number])
        keys[level] = parent
        keys[level] *= vocabulary_size
        keys[level] += word
        taken = np.array([0.0, *_discounts(adjusted)])
        context = parent - first[number]
        del parent, word
        below = first[number + 1] - first[number]
        sums = np.bincount(context, adjusted, minlength=below)
        weight = np.bincount(context, taken[np.minimum(adjusted, 3)], minlength=below)
        # Parents from level 1 on have a child with a count; the root may have none.
        weight = np.divide(weight, sums, out=np.ones(below), where=sums > 0)
        backoffs[first[number] : first[number + 1]] = np.log(weight)
        probabilities = np.empty(len(adjusted))
        for start in range(0, len(adjusted), BLOCK):
            part = slice(start, start + BLOCK)
            own, of_all = adjusted[part], sums[context[part]]
            own = own - taken[np.minimum(own, 3)]
            own = np.divide(own, of_all, out=np.zeros(len(own)), where=of_all > 0)
            less = lower[shorter[number][part] - first[number]] if number else lower[part]
            probabilities[part] = own + weight[context[part]] * less
        lower = probabilities
        with np.errstate(divide="ignore"):
            logs[level] = np.log(probabilities)
    del adjusted, context, lower, probabilities, sums, weight
    nodes = np.concatenate([np.zeros(1, dtype=shorter[0].dtype), *shorter])
    return LanguageModel(vocabulary_size, levels, keys, logs, backoffs, nodes)


def _counted(
    tokens: np.ndarray, lengths: np.ndarray, vocabulary_size: int, order: int
) -> tuple[Level, Level, Level, Level, list[int]]:
    """Count the n-grams of sentences, each between BOS and EOS, the nodes of a tree.

    Returns:
        Of the n-grams of each order the node without the last word, the last word, the node without
        the first word, and the count; and the number of the first node of each level, the root's
        included.
    """
    ends = np.cumsum(lengths)
    places = np.stack([ends - lengths, ends], axis=1).ravel()
    stream = np.insert(tokens, places, np.tile([BOS, EOS], len(lengths)))
    # A large text has hundreds of millions of n-grams, so use the smallest sufficient types.
    kind = np.min_scalar_type(-(order * len(stream) + vocabulary_size))
    stream = stream.astype(kind)
    parents = [np.zeros(vocabulary_size, dtype=kind)]
    words = [np.arange(vocabulary_size, dtype=kind)]
    shorter = [np.zeros(vocabulary_size, dtype=kind)]
    counts = [np.bincount(stream, minlength=vocabulary_size).astype(kind)]
    begins = [words[0] == BOS]
    first = [0, 1]
    places = stream + 1  # node of the n-gram that begins at each place, otherwise 0
    for length in range(2, order + 1):
        longer = np.zeros(len(stream), dtype=kind)
        first.append(first[-1] + len(words[-1]))
        node, blocks = first[-1], []
        for low, high in pairwise(_of_contexts(counts[-1])):
            starts = np.flatnonzero((places >= first[-2] + low) & (places < first[-2] + high))
            starts = starts[stream[starts + (length - 2)] != EOS]
            keys = places[starts] * np.int64(vocabulary_size) + stream[starts + (length - 1)]
            keys, one_each, numbers, frequencies = np.unique(
                keys, return_index=True, return_inverse=True, return_counts=True
            )
            longer[starts] = numbers + node
            node += len(keys)
            parent, word = np.divmod(keys, vocabulary_size)
            block = parent, word, places[starts[one_each] + 1], frequencies
            blocks.append([values.astype(kind) for values in block])
        for values, parts in zip(
            (parents, words, shorter, counts), zip(*blocks, strict=True), strict=True
        ):
            values.append(np.concatenate(parts))
        begins.append(begins[-1][parents[-1] - first[-2]])
        places = longer
        del blocks, longer
    del stream, places
    for number in range(order - 1):
        behind = np.bincount(shorter[number + 1] - first[number + 1], minlength=len(words[number]))
        counts[number] = np.where(begins[number], counts[number], behind).astype(kind)
    counts[0][list(NO_WORDS)] = 0
    return parents, words, shorter, counts, first


def _of_contexts(counts: np.ndarray) -> list[int]:
    """Positions that divide the contexts so that each part has about BLOCK n-grams."""
    ends = np.cumsum(counts, dtype=np.int64)
    cuts = np.searchsorted(ends, np.arange(BLOCK, counts.sum(dtype=np.int64), BLOCK))
    return [0, *map(int, cuts), len(counts)]


def _discounts(counts: np.ndarray) -> tuple[float, ...]:
    """Discounts of counts of 1, 2, and 3 and more."""
    once, twice, thrice, four_times = (int(np.count_nonzero(counts == n)) for n in (1, 2, 3, 4))
    if not (once and twice and thrice):
        return FALLBACK
    share = once / (once + 2 * twice)
    discounts = (
        1 - 2 * share * twice / once,
        2 - 3 * share * thrice / twice,
        3 - 4 * share * four_times / thrice,
    )
    fits = all(0 < discount <= count for count, discount in enumerate(discounts, start=1))
    return discounts if fits else FALLBACK


def estimate_from(text: Path, language: str, order: int, output: Path) -> None:
    """Estimate a model of the target side of a training text, and report the numbers of n-grams.

    The folder `text` has `train.{language}` as ids, and the vocabularies. Raises a `UserError` if a
    file is missing or damaged, or the text is empty.
    """
    sentences = BinarisedText(text / f"train.{language}")
    if not len(sentences):
        raise UserError(f"{text} has no sentences to estimate a language model from")
    symbols = len(Vocabularies.load(text).target)
    model = estimate(sentences.tokens, sentences.lengths, symbols, order)
    model.save(output)
    counted = {"sentences": len(sentences), "tokens": len(sentences.tokens)}
    ngrams = np.diff(model.levels, prepend=0).tolist()
    write_json(output.with_suffix(".json"), {"text": str(text), **counted, "ngrams": ngrams})
