"""N-gram language models for decoding: many continuations in parallel."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nat.data.vocabulary import BOS, EOS
from nat.language_model.ngram import NgramModel


class LanguageModel:
    """Log-probabilities of next words under a model that `nat.language_model.ngram` estimated.

    A state is a node of its trie: the longest n-gram, shorter than the order, that is a suffix of
    the sentence so far.

    Attributes:
        vocabulary_size: V.
        begin: state of a sentence without words.
    """

    def __init__(self, ngrams: NgramModel, device: torch.device | str = "cpu") -> None:
        def tensor(values: object) -> Tensor:
            return torch.as_tensor(values, device=device)

        self.vocabulary_size = ngrams.vocabulary_size
        self.begin = 1 + BOS if ngrams.order > 1 else 0
        self._order = ngrams.order
        self._keys = tensor(ngrams.keys)
        self._log_probabilities = tensor(ngrams.log_probabilities)
        self._backoffs, self._shorter = tensor(ngrams.backoffs), tensor(ngrams.shorter)
        # nodes of the highest order are no states
        self._states = 1 + int(ngrams.levels[-2]) if ngrams.order > 1 else 1

    def step(self, states: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of next words, nats, float32, and the states after them.

        Args:
            states: [...].
            words: of the same shape; symbols that can occur in texts.
        """
        scores = torch.zeros(states.shape, device=states.device)
        after = torch.zeros_like(states)
        open_ = torch.ones_like(states, dtype=torch.bool)
        for _ in range(self._order):
            keys = states * self.vocabulary_size + words
            found = torch.searchsorted(self._keys, keys).clamp(max=len(self._keys) - 1)
            known = open_ & self._keys[found].eq(keys)
            scores += torch.where(known, self._log_probabilities[found], 0)
            after = torch.where(known, found + 1, after)
            open_ = open_ & ~known
            scores += torch.where(open_, self._backoffs[states], 0)
            states = self._shorter[states].long()
        return scores, torch.where(after < self._states, after, self._shorter[after].long())

    def score(self, words: Sequence[int]) -> float:
        """Log-probability of a sentence and its end, nats."""
        state = torch.tensor(self.begin, device=self._keys.device)
        total = 0.0
        for word in (*words, EOS):
            score, state = self.step(state, torch.tensor(word, device=state.device))
            total += score.item()
        return total
