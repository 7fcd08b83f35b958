"""Prefix beam search over the frames of a CTC model, with an n-gram language model."""

from typing import Literal

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.data.vocabulary import BLANK, MASK, NEVER_WRITTEN, PAD, UNK
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.prefixes import Prefixes
from nat.language_model.options import LanguageModelOptions
from nat.language_model.scorer import LanguageModel
from nat.transformer.model import Encoded, Transformer
from nat.transformer.projection import chunks_of_logits


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class PrefixSearch:
    """Search for the translation, not for the alignment, that is most probable.

    Gu and Kong (2021), section 4.2 and table 3. The score of a translation y is

        log p_CTC(y|x) + alpha log p_LM(y) + bonus(y),

    where p_CTC sums the alignments that the search has kept, and p_LM includes the end of the
    sentence, which is scored once the search has ended. It takes one pass over an upsampled canvas.

    The paper prints the bonus as beta log |y|. Its published code decodes with ctcdecode, which
    adds beta for each token, and alpha = 0.4 and beta = 2.2 of its README belong to that formula:
    with the printed one the 26th token of a translation would earn 0.09 nats instead of 2.2.

    Where the paper is ambiguous: the bonus of an empty translation is zero in both formulas, so
    that it remains possible. A frame extends prefixes only by its most probable tokens, but a
    prefix may always repeat its last token. Probabilities are those of the full softmax; special
    symbols other than UNK and BLANK are never chosen.

    Attributes:
        beam: prefixes kept for each sentence.
        symbols: most probable tokens of each frame that may extend a prefix.
        language_model: the language model and alpha, its weight; None for no language model.
        word_bonus: beta, nats.
        bonus: `tokens` for beta |y|, as in the published code, or `log_tokens` for beta log |y|, as
            in the paper.
    """

    beam: int = Field(default=20, ge=1)
    symbols: int = Field(default=20, ge=1)
    language_model: LanguageModelOptions | None = None
    word_bonus: float = 0.0
    bonus: Literal["tokens", "log_tokens"] = "tokens"

    upsampled = True

    def search(
        self, model: Transformer, encoded: Encoded, language_model: LanguageModel | None
    ) -> list[Hypothesis]:
        """The best translation of each encoded sentence."""
        options = self.language_model
        if (options is None) != (language_model is None):
            raise ValueError("a language model must come with its options")
        padding = model.upsampled_padding(encoded)
        states = model.decode(torch.where(padding, PAD, MASK), padding, encoded, causal=False)
        weight = model.embedding.weight
        normaliser, blank, scores, symbols = self._frames(states, padding, weight)
        sentences, frames = padding.shape
        prefixes = Prefixes(
            states,
            sentences,
            frames,
            self.beam,
            language_model,
            0.0 if options is None else options.weight,
            self.word_bonus,
            logarithmic=self.bonus == "log_tokens",
        )
        for frame in range(frames):
            again = torch.bmm(weight[prefixes.last], states[:, frame, :, None])[:, :, 0]
            again = again - normaliser[:, frame, None]
            again = again.masked_fill(padding[:, frame, None], -torch.inf)
            prefixes.advance(symbols[:, frame], scores[:, frame], blank[:, frame], again)
        found = prefixes.best()
        rows = zip(*(each.tolist() for each in found), strict=True)
        return [Hypothesis(tokens[:length], score, 1) for tokens, length, score in rows]

    def _frames(
        self, states: Tensor, padding: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Log-probabilities of each frame; at padding BLANK has probability one.

        Returns:
            Normaliser of the logits, [B, T]; log-probability of BLANK, [B, T], and of the most
            probable tokens, [B, T, n]; these tokens, [B, T, n].
        """
        never = torch.tensor(NEVER_WRITTEN, device=states.device)
        number = min(self.symbols, len(weight) - len(NEVER_WRITTEN))
        real = ~padding
        normaliser, blank = states.new_zeros(padding.shape), states.new_zeros(padding.shape)
        scores = states.new_full((*padding.shape, number), -torch.inf)
        symbols = torch.full(scores.shape, UNK, device=states.device)
        parts = []
        for _, logits in chunks_of_logits(states[real], weight):
            its_normaliser, its_blank = logits.logsumexp(1), logits[:, BLANK].clone()
            logits[:, never] = -torch.inf
            top = logits.topk(number, dim=1)
            parts.append((its_normaliser, its_blank, top.values, top.indices))
        if parts:
            found = [torch.cat(each) for each in zip(*parts, strict=True)]
            normaliser[real] = found[0]
            blank[real] = found[1] - found[0]
            scores[real] = found[2] - found[0][:, None]
            symbols[real] = found[3]
        return normaliser, blank, scores, symbols


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class CtcBeam(PrefixSearch):
    """Prefix beam search of a CTC model."""

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, language_model: LanguageModel | None = None
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return self.search(model, model.encode(source), language_model)


METHOD = CtcBeam
