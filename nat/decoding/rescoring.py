"""Noisy parallel decoding (Gu et al. 2018): an autoregressive assistant chooses a candidate."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from nat.decoding.forced import forced_tokens
from nat.decoding.hypothesis import Hypothesis, most_probable
from nat.decoding.options import Draws, LengthPenalty
from nat.parts.latent import LatentVariables
from nat.transformer.model import Encoded, Transformer


def best_of_assistant(
    assistant: Transformer,
    source: Tensor,
    candidates: Sequence[Sequence[Hypothesis]],
    length_penalty: LengthPenalty = "mean",
) -> list[Hypothesis]:
    """The candidate of each sentence with the assistant's highest score, by forced decoding.

    Where the papers are ambiguous: Hints (Li et al. 2019, section 3.2) selects "the highest
    probability", which is `sum` and favours short candidates; its published code divides by
    ((5 + n) / 6)^alpha (Wu et al. 2016, equation 14) and does not say with which alpha. `mean` is
    what beam search with a length penalty of one ranks by, and what fairseq's re-ranking uses. The
    first of equal candidates is chosen. A candidate that is too long for the assistant is never
    chosen.

    Args:
        assistant: autoregressive model.
        source: sentences [B, S] (tokens, EOS, padding on the right).
        candidates: those of each sentence, at least one.
        length_penalty: how the assistant's log-probability depends on the length.

    Returns:
        The chosen candidates with the assistant's score. Their number of steps is the largest of
        the sentence's candidates plus one for the assistant.
    """
    # each different candidate once
    different = [list(dict.fromkeys(tuple(one.tokens) for one in group)) for group in candidates]
    wanted = [
        (row, tokens)
        for row, group in enumerate(different)
        for tokens in group
        if len(tokens) <= assistant.longest_target
    ]
    known = {}
    if wanted:
        encoded = assistant.encode(source)
        rows = torch.tensor([row for row, _ in wanted], device=source.device)
        scores = forced_tokens(assistant, encoded.rows(rows), [tokens for _, tokens in wanted])
        known = dict(zip(wanted, scores.sum(1).tolist(), strict=True))
    chosen = []
    for row, group in enumerate(candidates):
        scored = []
        for one in group:
            score = known.get((row, tuple(one.tokens)), -torch.inf)
            if length_penalty == "mean":
                score /= len(one.tokens) + 1
            # so that a failed decoding is reported as such, whatever the assistant's score is
            score = score if math.isfinite(one.score) else math.nan
            scored.append(Hypothesis(one.tokens, score, one.steps))
        best = most_probable(scored)
        steps = max(one.steps for one in scored) + 1
        chosen.append(Hypothesis(best.tokens, best.score, steps))
    return chosen


def groups(hypotheses: Sequence[Hypothesis], size: int) -> list[Sequence[Hypothesis]]:
    """Hypotheses in groups of `size`, one after the other."""
    return [hypotheses[start : start + size] for start in range(0, len(hypotheses), size)]


class RescoredDraws(Draws):
    """The candidates are translations with several draws of the latents."""

    def draw(self, model: Transformer, source: Tensor) -> Encoded:
        """Encode source sentences [B, S] once for each draw; those of a sentence side by side."""
        latents = model.part(LatentVariables)
        assert latents is not None
        return latents.sampled(model.encode(source), self.samples, self.temperature, self.seed)

    def choose(
        self, assistant: Transformer, source: Tensor, translations: Sequence[Hypothesis]
    ) -> list[Hypothesis]:
        """The assistant's choice among the translations of each sentence's draws."""
        return best_of_assistant(
            assistant, source, groups(translations, self.samples), self.length_penalty
        )
