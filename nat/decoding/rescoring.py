"""Noisy parallel decoding: an autoregressive partner chooses among candidates (Gu et al. 2018)."""

from collections.abc import Sequence

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.forced import forced_scores
from nat.decoding.hypothesis import Hypothesis
from nat.transformer.model import Encoded, Transformer


def best_of_partner(
    partner: Transformer, source: Tensor, candidates: Sequence[Sequence[Hypothesis]]
) -> list[Hypothesis]:
    """The candidate of each sentence that the partner likes best, by forced decoding.

    Open reading, settled here: its score is the mean log-probability per token, EOS included, which
    is what beam search with a length penalty of one ranks by; without it, short candidates win. Of
    equals, the first. A candidate that is too long for the partner is never chosen.

    Args:
        partner: autoregressive.
        source: sentences [B, S] (tokens, EOS, padding on the right).
        candidates: of each sentence, one at least.

    Returns:
        With the partner's score; its steps are the most of all candidates and one for the partner.
    """
    # each different candidate once
    different = [list(dict.fromkeys(tuple(one.tokens) for one in group)) for group in candidates]
    wanted = [
        (row, tokens)
        for row, group in enumerate(different)
        for tokens in group
        if len(tokens) <= partner.longest_target
    ]
    known = {}
    if wanted:
        encoded = partner.encode(source)
        rows = torch.tensor([row for row, _ in wanted], device=source.device)
        found = forced_scores(partner, encoded.rows(rows), [tokens for _, tokens in wanted])
        known = dict(zip(wanted, found.tolist(), strict=True))
    chosen = []
    for row, group in enumerate(candidates):
        scored = []
        for one in group:
            total = known.get((row, tuple(one.tokens)), -torch.inf)
            # what is no number stays so
            score = total / (len(one.tokens) + 1) + 0 * one.score
            scored.append(Hypothesis(one.tokens, score, one.steps))
        best = max(scored, key=lambda one: one.score)
        steps = max(one.steps for one in scored) + 1
        chosen.append(Hypothesis(best.tokens, best.score, steps))
    return chosen


def groups(hypotheses: Sequence[Hypothesis], size: int) -> list[Sequence[Hypothesis]]:
    """Hypotheses in groups of `size`, one after the other."""
    return [hypotheses[start : start + size] for start in range(0, len(hypotheses), size)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RescoredDraws:
    """Several draws of the latents give the candidates.

    Attributes:
        samples: draws from the prior.
        temperature: factor of the prior's standard deviations.
        seed: of the draws, which depend on the source sentence besides.
    """

    samples: int = Field(default=5, ge=1)
    temperature: float = Field(default=0.1, ge=0.0)
    seed: int = Field(default=0, ge=0)

    latent = True
    partner = "autoregressive"

    def draw(self, model: Transformer, source: Tensor) -> Encoded:
        """Encode source sentences [B, S] once for each draw; those of a sentence side by side."""
        return model.with_sampled_latents(
            model.encode(source), self.samples, self.temperature, self.seed
        )

    def choose(
        self, partner: Transformer, source: Tensor, found: Sequence[Hypothesis]
    ) -> list[Hypothesis]:
        """The partner's choice among the translations of each sentence's draws."""
        return best_of_partner(partner, source, groups(found, self.samples))
