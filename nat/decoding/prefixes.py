"""The prefixes of a CTC beam search, over a batch."""

import torch
from torch import Tensor

from nat.data.vocabulary import EOS, PAD
from nat.language_model.scorer import LanguageModel

NOTHING, ROOT, NO_PARENT = -1, 0, -2
"""Numbers of an unused place of the beam, of the empty prefix, and of the empty prefix's parent."""

FACTOR = 6364136223846793005
"""Multiplier of Knuth's linear congruential generator."""


class Prefixes:
    """The K best prefixes of each of B sentences.

    Hannun et al. (2014). The probabilities of the alignments that collapse to a prefix are summed,
    separately for those that end in a blank, after which the last token can be repeated, and for
    those that end in that token. A prefix y is ranked by

        log sum of p(alignment) + alpha log p_LM(y) + beta |y|,

    or, if `logarithmic`, with beta log max(|y|, 1) in place of beta |y|.

    A prefix is identified by a 64-bit hash of its tokens, so that it is recognised in whatever way
    it is reached.

    Args:
        like: a tensor with the type and device of log-probabilities.
        sentences: B.
        frames: maximal number of tokens of a prefix.
        beam: K.
        language_model: the language model, or None.
        alpha: factor of its log-probabilities.
        beta: bonus per token, nats.
        logarithmic: multiply the bonus by the logarithm of the number of tokens instead.

    Attributes:
        last: last token of each prefix, PAD of the empty one, [B, K].
    """

    def __init__(
        self,
        like: Tensor,
        sentences: int,
        frames: int,
        beam: int,
        language_model: LanguageModel | None,
        alpha: float,
        beta: float,
        logarithmic: bool = False,
    ) -> None:
        self._language_model, self._alpha, self._beta = language_model, alpha, beta
        self._logarithmic = logarithmic
        shape, device = (sentences, beam), like.device
        self._blank = like.new_full(shape, -torch.inf)  # of alignments that end in a blank
        self._token = like.new_full(shape, -torch.inf)  # of those that end in the last token
        self._fluency = like.new_zeros(shape)  # log p_LM
        begin = 0 if language_model is None else language_model.begin
        self._states = torch.full(shape, begin, device=device)  # of the language model
        self._numbers = torch.full(shape, NOTHING, device=device)
        self._parents = torch.full(shape, NO_PARENT, device=device)
        self._lengths = torch.zeros(shape, dtype=torch.int64, device=device)
        self._tokens = torch.full((*shape, frames), PAD, device=device)
        self.last = torch.full(shape, PAD, device=device)
        self._blank[:, 0], self._numbers[:, 0] = 0, ROOT

    def advance(self, symbols: Tensor, scores: Tensor, blank: Tensor, again: Tensor) -> None:
        """Process a frame.

        Args:
            symbols: S different tokens that can extend a prefix, [B, S].
            scores: their log-probabilities, [B, S].
            blank: log-probability of BLANK, [B].
            again: log-probability of the last token of each prefix, [B, K].
        """
        beam, number = self.last.size(1), symbols.size(1)
        total = torch.logaddexp(self._blank, self._token)
        # prefixes that stay: by a blank, by their last token again, or reached from their parent
        is_parent = self._parents[:, :, None].eq(self._numbers[:, None, :])  # [B, child, parent]
        repeats = self.last[:, :, None].eq(self.last[:, None, :])
        from_parent = torch.where(repeats, self._blank[:, None, :], total[:, None, :])
        from_parent = from_parent.masked_fill(~is_parent, -torch.inf).amax(2)
        stays_blank = total + blank[:, None]
        stays_token = torch.logaddexp(self._token, from_parent) + again
        # prefixes that grow, unless the child with this last token is in the beam already
        same = symbols[:, None, :].eq(self.last[:, :, None])  # [B, K, S]
        grown = torch.where(same, self._blank[:, :, None], total[:, :, None]) + scores[:, None, :]
        there = torch.bmm(is_parent.mT.to(grown.dtype), same.to(grown.dtype)) > 0
        grown = grown.masked_fill(there, -torch.inf)

        fluency = self._fluency[:, :, None].expand_as(grown)
        states = self._states[:, :, None].expand_as(same)
        if self._language_model is not None:
            found, states = self._language_model.step(states, symbols[:, None, :].expand_as(same))
            fluency = fluency + found
        stays_rank = torch.logaddexp(stays_blank, stays_token) + self._bonus(0)
        grown_rank = grown + self._alpha * (fluency - self._fluency[:, :, None])
        grown_rank = grown_rank + self._bonus(1)[:, :, None]
        ranks, chosen = torch.cat((stays_rank, grown_rank.flatten(1)), 1).topk(beam, dim=1)

        grows = chosen >= beam
        extension = (chosen - beam).clamp(min=0)
        origin = torch.where(grows, extension // number, chosen)
        token = symbols.gather(1, extension % number)

        def kept(old: Tensor, new: Tensor) -> Tensor:
            return torch.where(grows, new.flatten(1).gather(1, extension), old.gather(1, origin))

        self._blank = stays_blank.gather(1, origin).masked_fill(grows, -torch.inf)
        self._token = kept(stays_token, grown)
        self._fluency, self._states = kept(self._fluency, fluency), kept(self._states, states)
        own, parents = self._numbers.gather(1, origin), self._parents.gather(1, origin)
        # a prefix of probability zero must not be taken for the one that it was before
        nothing = ranks.isneginf()
        self._numbers = torch.where(grows, own * FACTOR + token, own)
        self._numbers.masked_fill_(nothing, NOTHING)
        self._parents = torch.where(grows, own, parents).masked_fill_(nothing, NO_PARENT)
        self._write(origin, grows, token)

    def _write(self, origin: Tensor, grows: Tensor, token: Tensor) -> None:
        self.last = torch.where(grows, token, self.last.gather(1, origin))
        lengths = self._lengths.gather(1, origin)
        tokens = self._tokens.gather(1, origin[:, :, None].expand_as(self._tokens))
        place = lengths.clamp(max=tokens.size(2) - 1)[:, :, None]
        written = torch.where(grows[:, :, None], token[:, :, None], tokens.gather(2, place))
        self._tokens, self._lengths = tokens.scatter_(2, place, written), lengths + grows

    def _bonus(self, more: int) -> Tensor:
        """Language model and word bonus of prefixes that are longer by `more` tokens, [B, K].

        The language model's score of these tokens is not included.
        """
        lengths = (self._lengths + more).to(self._fluency.dtype)
        if self._logarithmic:
            lengths = lengths.clamp(min=1).log()
        return self._alpha * self._fluency + self._beta * lengths

    def best(self) -> tuple[Tensor, Tensor, Tensor]:
        """The prefix of each sentence with the highest rank, the end of the sentence included.

        Returns:
            Tokens, PAD behind the end [B, T]; their number [B]; rank, nats [B].
        """
        if self._language_model is not None:
            ends, _ = self._language_model.step(self._states, torch.full_like(self._states, EOS))
            self._fluency = self._fluency + ends
        ranks = torch.logaddexp(self._blank, self._token) + self._bonus(0)
        chosen = ranks.argmax(1)
        rows = torch.arange(len(chosen), device=chosen.device)
        return self._tokens[rows, chosen], self._lengths[rows, chosen], ranks[rows, chosen]
