"""Prefix beam search over the frames of a CTC model, with an n-gram language model."""

from typing import Literal

import numpy as np
import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.data.vocabulary import BLANK, MASK, NEVER_WRITTEN, PAD
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
    sentence, which is scored once the search has ended; the published code leaves the end out. It
    takes one pass over an upsampled canvas.

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
        frames = states[~padding]  # of all sentences, one after the other
        weight = model.embedding.weight
        found = self._frames(frames, weight)
        lengths = (~padding).sum(1).tolist()
        parts = zip(*(each.split(lengths) for each in (frames, *found)), strict=True)
        return [
            self._translation(rows, normaliser, blank, symbols, weight, language_model)
            for rows, normaliser, blank, symbols in parts
        ]

    def _frames(self, states: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Distributions over the symbols.

        Args:
            states: of n frames, [n, D].
            weight: output embedding, [V, D].

        Returns:
            Normaliser of the logits, [n]; logit of BLANK, [n]; most probable tokens, [n, S].
        """
        never = torch.tensor(NEVER_WRITTEN, device=states.device)
        number = min(self.symbols, len(weight) - len(NEVER_WRITTEN))
        parts = []
        for _, logits in chunks_of_logits(states, weight):
            normaliser, blank = logits.logsumexp(1), logits[:, BLANK].clone()
            logits[:, never] = -torch.inf
            parts.append((normaliser, blank, logits.topk(number, dim=1).indices))
        normaliser, blank, symbols = (torch.cat(each) for each in zip(*parts, strict=True))
        return normaliser, blank, symbols

    def _translation(
        self,
        states: Tensor,
        normaliser: Tensor,
        blank: Tensor,
        symbols: Tensor,
        weight: Tensor,
        language_model: LanguageModel | None,
    ) -> Hypothesis:
        """The best translation of a sentence, whose frames `_frames` has described."""
        chosen = symbols.cpu().numpy()
        words, places = np.unique(chosen, return_inverse=True)
        # a prefix may end in any of these words, and repeat it in any frame
        logits = states @ weight[torch.from_numpy(words).to(weight.device)].T
        scores = (logits - normaliser[:, None]).double().cpu().numpy()
        blanks = (blank - normaliser).double().cpu().numpy()
        prefixes = Prefixes(
            words,
            self.beam,
            language_model,
            0.0 if self.language_model is None else self.language_model.weight,
            self.word_bonus,
            logarithmic=self.bonus == "log_tokens",
        )
        for of_frame, places_of_frame, silence in zip(
            scores, places.reshape(chosen.shape), blanks, strict=True
        ):
            prefixes.advance(
                places_of_frame, of_frame[places_of_frame], silence, of_frame[prefixes.last]
            )
        tokens, score = prefixes.best()
        return Hypothesis(tokens, score, 1)


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
