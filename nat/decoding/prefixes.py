"""The prefixes of a CTC beam search."""

import numpy as np

from nat.data.vocabulary import EOS
from nat.decoding.options import CtcBeamDecodingOptions
from nat.language_model.ngram import LanguageModel

NO_TOKEN, ROOT, NO_PARENT = -1, 0, -2
"""The last token of the empty prefix, its number, and the number of its parent."""

FACTOR = 6364136223846793005
"""Multiplier of Knuth's linear congruential generator."""


class Prefixes:
    """The K best prefixes of a sentence, fewer in the first frames.

    Hannun et al. (2014). The probabilities of the alignments that collapse to a prefix are summed,
    separately for those that end in a blank, after which the last token can be repeated, and for
    those that end in that token. A prefix y is ranked by

        log sum of p(alignment) + alpha log p_LM(y) + beta |y|,

    or with beta log max(|y|, 1) in place of beta |y|, as the options say.

    A prefix is identified by a 64-bit hash of its tokens, so that it is recognised in whatever way
    it is reached. A frame rarely has more than a few extensions that can be among the K best: the
    others, which would lose even if the language model gave them probability one, are left out
    before it is asked. The result is the same as if all of them were ranked.

    The sentence may have the tokens `words` [U], here numbered 0 to U - 1.

    Attributes:
        last: last token of each prefix, NO_TOKEN of the empty one, [K].
    """

    def __init__(
        self,
        words: np.ndarray,
        options: CtcBeamDecodingOptions,
        language_model: LanguageModel | None,
    ) -> None:
        self._words, self._options, self._language_model = words, options, language_model
        self._alpha = 0.0 if options.language_model is None else options.language_model.weight
        begin = 0 if language_model is None else language_model.begin
        self._blank = np.zeros(1)  # log-probability of the alignments that end in a blank
        self._token = np.full(1, -np.inf)  # of those that end in the last token
        self._fluency = np.zeros(1)  # log p_LM
        self._states = np.full(1, begin)  # of the language model
        self._lengths = np.zeros(1, dtype=np.int64)
        self._numbers, self._parents = np.full(1, ROOT), np.full(1, NO_PARENT)
        self.last = np.full(1, NO_TOKEN)
        # for each frame that changed the beam: the place of each prefix before, and its new token
        self._history: list[tuple[np.ndarray, np.ndarray]] = []

    def advance(
        self, symbols: np.ndarray, scores: np.ndarray, blank: float, again: np.ndarray
    ) -> None:
        """Process a frame.

        Args:
            symbols: S different tokens that can extend a prefix, [S].
            scores: their log-probabilities, [S].
            blank: log-probability of BLANK.
            again: log-probability of the last token of each prefix, [K].
        """
        total = np.logaddexp(self._blank, self._token)
        # prefixes that stay: by a blank, by their last token again, or reached from their parent
        child, parent = (self._parents[:, None] == self._numbers).nonzero()
        reached = np.full(len(total), -np.inf)
        repeats = self.last[child] == self.last[parent]
        reached[child] = np.where(repeats, self._blank[parent], total[parent])
        stays_blank = total + blank
        stays_token = np.logaddexp(self._token, reached) + again
        ranks = np.logaddexp(stays_blank, stays_token) + self._merit(0)
        # prefixes that grow, unless the child with this last token is in the beam already
        same = self.last[:, None] == symbols
        grown = np.where(same, self._blank[:, None], total[:, None]) + scores
        of_child, there = (self.last[child][:, None] == symbols).nonzero()
        grown[parent[of_child], there] = -np.inf
        # of these, those that can be among the best, since log p_LM is not above zero
        bounds = grown + self._merit(1)[:, None]
        worst = ranks.min() if len(ranks) == self._options.beam else -np.inf
        origin, extension = (bounds > worst).nonzero()
        if not len(origin):
            self._blank, self._token = stays_blank, stays_token
            return

        token = symbols[extension]
        fluency, states = self._fluency[origin], self._states[origin]
        grown_ranks = bounds[origin, extension]
        if self._language_model is not None:
            scores_of_words, states = self._language_model.step(states, self._words[token])
            fluency = fluency + scores_of_words
            grown_ranks = grown_ranks + self._alpha * scores_of_words
        ranks = np.concatenate((ranks, grown_ranks))
        chosen = np.arange(len(ranks))
        if len(ranks) > self._options.beam:
            chosen = np.argpartition(-ranks, self._options.beam - 1)[: self._options.beam]
        stays = chosen[chosen < len(total)]
        grows = chosen[chosen >= len(total)] - len(total)
        origin, token = origin[grows], token[grows]

        def kept(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            return np.concatenate((old[stays], new))

        numbers = self._numbers[origin]
        self._blank = kept(stays_blank, np.full(len(grows), -np.inf))
        self._token = kept(stays_token, grown[origin, extension[grows]])
        self._fluency = kept(self._fluency, fluency[grows])
        self._states = kept(self._states, states[grows])
        self._lengths = kept(self._lengths, self._lengths[origin] + 1)
        self._parents = kept(self._parents, numbers)
        self._numbers = kept(self._numbers, numbers * FACTOR + token + 1)
        self.last = kept(self.last, token)
        self._history.append(
            (np.concatenate((stays, origin)), kept(np.full(len(total), NO_TOKEN), token))
        )

    def _merit(self, more: int) -> np.ndarray:
        """Language model and bonus of prefixes that are longer by `more` tokens, [K].

        The language model's score of these tokens is not included.
        """
        lengths = self._lengths + more
        if self._options.bonus == "log_tokens":
            lengths = np.log(np.maximum(lengths, 1))
        merit: np.ndarray = self._alpha * self._fluency + self._options.word_bonus * lengths
        return merit

    def best(self) -> tuple[list[int], float]:
        """The prefix with the highest rank, sentence end included, and this rank, nats."""
        ranks = np.logaddexp(self._blank, self._token) + self._merit(0)
        if self._language_model is not None:
            ends, _ = self._language_model.step(self._states, np.full_like(self._states, EOS))
            ranks = ranks + self._alpha * ends
        best = place = int(ranks.argmax())
        tokens = []
        for origins, added in reversed(self._history):
            if added[place] != NO_TOKEN:
                tokens.append(int(self._words[added[place]]))
            place = origins[place]
        return tokens[::-1], float(ranks[best])
