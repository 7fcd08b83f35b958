"""N-gram language models for decoding: many continuations in parallel."""

from pathlib import Path

import numpy as np

from nat.data.vocabulary import BOS
from nat.errors import UserError
from nat.language_model.ngram import NgramModel


class LanguageModel:
    """Log-probabilities of next words under a model that `nat.language_model.ngram` estimated.

    A state is a node of its trie: the longest n-gram, shorter than the order, that is a suffix of
    the sentence so far.

    Attributes:
        vocabulary_size: V.
        begin: state of a sentence without words.
    """

    def __init__(self, ngrams: NgramModel) -> None:
        self.vocabulary_size = ngrams.vocabulary_size
        self.begin = 1 + BOS if ngrams.order > 1 else 0
        self._order = ngrams.order
        self._keys, self._shorter = ngrams.keys, ngrams.shorter
        self._log_probabilities, self._backoffs = ngrams.log_probabilities, ngrams.backoffs
        # nodes of the highest order are no states
        self._states = 1 + int(ngrams.levels[-2]) if ngrams.order > 1 else 1

    def step(self, states: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-probabilities of next words, nats, float64, and the states after them, [n] each.

        Args:
            states: [n].
            words: symbols that can occur in texts, [n].
        """
        scores, after = np.zeros(len(states)), np.zeros(len(states), dtype=np.int64)
        nodes, wanted, open_ = states.astype(np.int64), words, np.arange(len(states))
        for _ in range(self._order):
            keys = nodes * self.vocabulary_size + wanted
            places = np.minimum(self._keys.searchsorted(keys), len(self._keys) - 1)
            known = self._keys[places] == keys
            scores[open_[known]] += self._log_probabilities[places[known]]
            after[open_[known]] = places[known] + 1
            left = ~known
            nodes, wanted, open_ = nodes[left], wanted[left], open_[left]
            if not len(open_):
                break
            scores[open_] += self._backoffs[nodes]
            nodes = self._shorter[nodes].astype(np.int64)
        return scores, np.where(after < self._states, after, self._shorter[after])


def matching_language_model(path: Path, vocabulary_size: int) -> LanguageModel:
    """Load a language model, if it is of the same vocabulary.

    Raises:
        UserError: if it is not, or the file is missing or damaged.
    """
    ngrams = NgramModel.load(path)
    if ngrams.vocabulary_size != vocabulary_size:
        raise UserError(
            f"{path} has {ngrams.vocabulary_size} symbols but the vocabulary has {vocabulary_size}"
            "; remove the language model and estimate it again"
        )
    return LanguageModel(ngrams)
