"""Prefix beam search over the frames of a CTC model, with an n-gram language model."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from nat.data.vocabulary import MASK, NEVER_WRITTEN, PAD
from nat.decoding.beams import best_continuations
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.network import silent
from nat.decoding.options import CtcBeamDecodingOptions
from nat.decoding.prefixes import Prefixes
from nat.language_model.ngram import LanguageModel
from nat.transformer.model import Encoded, Transformer


class CtcBeam(CtcBeamDecodingOptions):
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
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, language_model: LanguageModel | None = None
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return self.search(model, model.encode(source), language_model)

    def search(
        self, model: Transformer, encoded: Encoded, language_model: LanguageModel | None
    ) -> list[Hypothesis]:
        """The best translation of each encoded sentence."""
        if (self.language_model is None) != (language_model is None):
            raise ValueError("a language model must come with its options")
        translations = []
        for words, *frames in self.emissions(model, encoded):
            prefixes = Prefixes(words, self, language_model)
            for symbols, scores, blank in zip(*frames, strict=True):
                prefixes.advance(symbols, scores[symbols], blank, scores[prefixes.last])
            tokens, score = prefixes.best()
            translations.append(Hypothesis(tokens, score, 1))
        return translations

    def emissions(self, model: Transformer, encoded: Encoded) -> Iterator[tuple[np.ndarray, ...]]:
        """The T frames of each encoded sentence, as a search needs them.

        Yields:
            Ids of the U different tokens that some frame can extend a prefix with, [U]; tokens that
            each frame can extend one with, as places among these, [T, S]; log-probabilities of all
            U, which a prefix may end in, [T, U]; and of BLANK, [T].
        """
        padding = model.upsampled_padding(encoded)
        states = model.decode(torch.where(padding, PAD, MASK), padding, encoded, causal=False)
        frames = states[~padding]  # of all sentences, one after the other
        number = min(self.symbols, len(model.output.weight) - len(NEVER_WRITTEN))
        _, *found = best_continuations(frames, model.output, number, silent(model))
        lengths = (~padding).sum(1).tolist()
        parts = zip(*(each.split(lengths) for each in (frames, *found)), strict=True)
        for rows, symbols, blank, normaliser in parts:
            chosen = symbols.cpu().numpy()
            words, places = np.unique(chosen, return_inverse=True)
            logits = rows @ model.output.weight[torch.from_numpy(words).to(rows.device)].T
            yield (
                words,
                places.reshape(chosen.shape),
                (logits - normaliser[:, None]).double().cpu().numpy(),
                blank.double().cpu().numpy(),
            )


METHOD = CtcBeam
