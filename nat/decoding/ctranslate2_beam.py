"""Beam search of CTranslate2, on a model that was converted for it."""

import math
from typing import Any

from torch import Tensor

from nat.data.vocabulary import EOS, NEVER_WRITTEN, PAD, SPECIALS
from nat.decoding.beams import LeftToRightSearch
from nat.decoding.engines import running
from nat.decoding.engines.ctranslate2 import CTranslate2Engine
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import Ctranslate2BeamDecodingOptions
from nat.transformer.model import Transformer


class CTranslate2Beam(LeftToRightSearch, Ctranslate2BeamDecodingOptions):
    """Beam search of CTranslate2, with the options and the score of `nat.decoding.beams.Beams`.

    There are two differences. The engine removes the symbols that are never written before the
    softmax, not after it, so its probabilities are higher by their share. And it stops at the
    maximal length without an EOS: of the hypotheses that it then has, the best that ended is
    returned, or the best one if none has. The steps of a hypothesis, which the engine does not
    tell, are counted as one for each token and its EOS.
    """

    def __call__(
        self, model: Transformer, source: Tensor, engine: CTranslate2Engine
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        Of the model, only the positions are used: they limit the length of a translation.
        """
        lengths = source.ne(PAD).sum(1) - 1
        limits = self.longest(lengths).clamp(max=model.longest_target).tolist()
        sentences = [
            [engine.source_symbols[token] for token in row if token not in (PAD, EOS)]
            for row in source.tolist()
        ]
        results = self._search(engine, sentences, max(limits))
        # The engine has one limit for a batch: those that went beyond their own are done again.
        beyond: dict[int, list[int]] = {}
        for row, (result, limit) in enumerate(zip(results, limits, strict=True)):
            if limit < max(limits) and max(map(len, result.hypotheses)) > limit:
                beyond.setdefault(limit, []).append(row)
        for limit, rows in beyond.items():
            again = self._search(engine, [sentences[row] for row in rows], limit)
            for row, result in zip(rows, again, strict=True):
                results[row] = result
        pairs = zip(results, limits, strict=True)
        return [self._best(engine, result, limit) for result, limit in pairs]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `translate_batch` that do not depend on the sentences, JSON-able."""
        return {
            "beam_size": self.beam,
            "num_hypotheses": self.beam,
            "length_penalty": self.length_penalty,
            "suppress_sequences": [[SPECIALS[token]] for token in NEVER_WRITTEN if token != EOS],
            "max_input_length": 0,
            "min_decoding_length": 0,
            "return_end_token": True,
        }

    def _search(
        self, engine: CTranslate2Engine, sentences: list[list[str]], limit: int
    ) -> list[Any]:
        """Results of sentences whose translations have at most `limit` tokens and an EOS."""
        with running(engine.folder):
            results: list[Any] = engine.model.translate_batch(
                sentences,
                max_batch_size=math.ceil(len(sentences) / engine.parts),
                max_decoding_length=limit + 1,
                return_scores=True,
                **self.arguments,
            )
        return results

    def _best(self, engine: CTranslate2Engine, result: Any, limit: int) -> Hypothesis:
        """The best hypothesis that ended."""
        hypotheses = [[engine.ids[word] for word in words] for words in result.hypotheses]
        best = next((row for row, tokens in enumerate(hypotheses) if tokens[-1:] == [EOS]), 0)
        tokens = hypotheses[best]
        tokens = tokens[:-1] if tokens[-1:] == [EOS] else tokens[:limit]
        return Hypothesis(tokens, float(result.scores[best]), len(tokens) + 1)


METHOD = CTranslate2Beam
