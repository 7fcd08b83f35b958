"""Noisy parallel decoding (Gu et al. 2018): an autoregressive assistant chooses a candidate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from nat.decoding.forced import forced_tokens
from nat.decoding.hypothesis import Hypothesis, most_probable
from nat.decoding.options import Draws, LengthPenalty, Rescored
from nat.parts.latent import LatentVariables
from nat.transformer.model import Encoded, Transformer


class Rescoring(Rescored):
    """Of several candidates, the assistant's choice is the translation, see `best_of_assistant`.

    A method has `candidates`: as many for each of the encoded sentences, side by side.
    """

    candidates: ClassVar[Callable[..., list[Hypothesis]]]

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, assistant: Transformer, **consulted: Any
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        candidates = self.candidates(model, model.encode(source), **consulted)
        return best_of_assistant(assistant, source, candidates, self.length_penalty)


class RescoredDraws(Rescoring, Draws):
    """The candidates are translations with several draws of the latents."""

    def drawn(self, model: Transformer, encoded: Encoded) -> Encoded:
        """Each sentence with as many draws from the prior, side by side."""
        latents = model.part(LatentVariables)
        assert latents is not None
        return latents.sampled(encoded, self.samples, self.temperature, self.seed)


def best_of_assistant(
    assistant: Transformer,
    source: Tensor,
    candidates: Sequence[Hypothesis],
    length_penalty: LengthPenalty = "mean",
) -> list[Hypothesis]:
    """The candidate of each sentence with the assistant's highest score, by forced decoding.

    Where the papers are ambiguous: Hints (Li et al. 2019, section 3.2) selects "the highest
    probability", which is `sum` and favours short candidates; its published code divides by
    ((5 + n) / 6)^alpha (Wu et al. 2016, equation 14) and does not say with which alpha. `mean` is
    what beam search with a length penalty of one ranks by, and what fairseq's re-ranking uses. The
    first of equal candidates is chosen. A candidate that is too long for the assistant is never
    chosen.

    Each of the sources [B, S] has as many candidates, at least one, side by side. Those that are
    chosen have the assistant's score. Their number of steps is the largest of the sentence's
    candidates plus one for the assistant.
    """
    size = len(candidates) // len(source)
    pairs = [(number // size, tuple(one.tokens)) for number, one in enumerate(candidates)]
    # each different candidate once
    wanted = [each for each in dict.fromkeys(pairs) if len(each[1]) <= assistant.longest_target]
    known = {}
    if wanted:
        encoded = assistant.encode(source)
        rows = torch.tensor([row for row, _ in wanted], device=source.device)
        scores = forced_tokens(assistant, encoded.rows(rows), [tokens for _, tokens in wanted])
        known = dict(zip(wanted, scores.sum(1).tolist(), strict=True))
    scored = []
    for one, pair in zip(candidates, pairs, strict=True):
        divisor = len(one.tokens) + 1 if length_penalty == "mean" else 1
        scored.append(one.scored(known.get(pair, -torch.inf) / divisor))
    of_sentences = [scored[start : start + size] for start in range(0, len(scored), size)]
    return [
        replace(most_probable(each), steps=max(one.steps for one in each) + 1)
        for each in of_sentences
    ]
