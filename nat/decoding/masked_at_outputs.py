"""The probe of HRT, figure 2: masked parts of an AT translation are predicted again."""

import torch
from torch import Tensor

from nat import randomness
from nat.alignment.reveal import least_confident, share_of
from nat.data.batch import pad
from nat.data.vocabulary import EOS, PAD
from nat.decoding.beam_search import BeamSearch
from nat.decoding.canvas import Canvases
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.known import Known, once
from nat.decoding.options import MaskedAtOutputsDecodingOptions
from nat.transformer.model import Transformer


class MaskedAtOutputs(MaskedAtOutputsDecodingOptions):
    """Mask a part of the assistant's translation, and predict it in one pass from the rest.

    Wang et al. (2022), section 4 and figure 2. Of N tokens, `head` masks the first
    max(1, floor(share N)), `tail` as many at the end, `random` as many at random positions, and
    `chunk` all but the first of every k. The assistant decodes by beam search with a length penalty
    of one; the length of its translation is kept. The paper's RANDOM is the mean of three seeds.

    The score is the mean log-probability of the tokens that are predicted, zero where there are
    none. Symbols are chosen as in `one_pass`.
    """

    @torch.inference_mode()
    def __call__(
        self,
        model: Transformer,
        source: Tensor,
        assistant: Transformer,
        known: Known | None = None,
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        `known` has what assistants wrote before; what this one writes now is added.
        """
        search = BeamSearch(beam=self.beam)
        written = once(known, (assistant, self.beam), source, lambda: search(assistant, source))
        # a model with fewer positions sees the tokens that fit
        end = [EOS] if model.predicts_end else []
        longest = model.architecture.max_positions - len(end)
        tokens = pad([[*one.tokens[:longest], *end] for one in written]).to(source.device)
        words = tokens.ne(PAD) & tokens.ne(EOS)
        masked = self.masks(words, randomness.numbers_of(source, source.eq(PAD)))
        encoded = model.encode(source)
        canvases = Canvases(tokens, encoded)
        canvases.predict(model, encoded, masked)
        scores = canvases.log_probabilities.sum(1) / masked.sum(1).clamp(min=1)
        return [
            Hypothesis(one.tokens, before.scored(score).score, before.steps + one.steps)
            for one, before, score in zip(canvases.all(), written, scores.tolist(), strict=True)
        ]

    def masks(self, real: Tensor, ids: Tensor) -> Tensor:
        """Positions that are masked, [B, T].

        Args:
            real: True at tokens, which are on the left, [B, T].
            ids: numbers of the sentences, [B].
        """
        places = torch.arange(real.size(1), device=real.device)
        lengths = real.sum(1)
        if self.chunk is not None:
            return real & (places % self.chunk != 0)
        assert self.share is not None
        number = share_of(lengths, self.share).long().clamp(min=1)[:, None]
        if self.scheme == "head":
            return real & (places < number)
        if self.scheme == "tail":
            return real & (places >= lengths[:, None] - number)
        order = randomness.uniform(self.seed, 0, ids, real.size(1))
        return least_confident(order, number[:, 0], real)


METHOD = MaskedAtOutputs
