"""Iterative refinement by fairseq's own generator, for fairseq's own systems."""

import torch
from fairseq.iterative_refinement_generator import IterativeRefinementGenerator
from torch import Tensor

from nat.data.vocabulary import NEVER_WRITTEN, UNK
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import RefinementDecodingOptions
from nat.fairseq_plugin.own_models import OfFairseq, swapped
from nat.transformer.model import Transformer


class Refinement(RefinementDecodingOptions):
    """fairseq's `IterativeRefinementGenerator`: it ends when a step changes nothing.

    UNK, which stands for a masked token in these models, is never written. The score is that of
    fairseq, the mean over the tokens with BOS and EOS.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        assert isinstance(model, OfFairseq)
        generator = IterativeRefinementGenerator(
            model.dictionary, max_iter=self.steps - 1, eos_penalty=self.end_penalty
        )
        translations = []
        for [best] in generator.generate([model.model], {"net_input": model.source(source)}):
            tokens = [
                token
                for token in swapped(best["tokens"]).tolist()
                if token not in (*NEVER_WRITTEN, UNK)
            ]
            translations.append(Hypothesis(tokens, float(best["score"]), best["steps"] + 1))
        return translations


METHOD = Refinement
