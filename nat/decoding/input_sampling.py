"""Input sampling: a proxy input is sampled, then decoded in one pass (MPLE, section 4.3)."""

import torch
from torch import Tensor

from nat import randomness
from nat.decoding.canvas import canvases_of
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import InputSamplingDecodingOptions
from nat.parts.input_predictor import MaskClassifier
from nat.transformer.model import Transformer


class InputSampling(InputSamplingDecodingOptions):
    """Decode from an input like those of training (Huang et al. 2022, table 3 and appendix E.6).

    A pattern of masks is sampled from the probabilities of the input predictor. At positions that
    it does not mask, the decoder sees the most probable token of a vanilla NAT, the assistant, and
    the translation takes this token; the others are predicted from these in one pass. The first two
    passes see full masks.

    The score is the mean log-probability per token; that of a copied token is the assistant's.
    The length with the highest score is the result (the likelier length of equal ones). A pattern
    depends on the source sentence and its length, not on other sentences of the batch.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, assistant: Transformer
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        predictor = model.part(MaskClassifier)
        assert predictor is not None
        of_sentences = model.encode(source)
        canvases = canvases_of(model, of_sentences, self.length_beam)
        encoded = of_sentences.repeat(self.length_beam)
        states = model.decode(canvases.tokens, ~canvases.real, encoded, causal=False)
        ids = randomness.numbers_of(encoded.source, encoded.padding) ^ canvases.lengths
        drawn = randomness.uniform(self.seed, 0, ids, canvases.tokens.size(1))
        # NaN counts as masked, so that a failed prediction is not replaced by the assistant's
        masked = ~(drawn >= predictor(states).sigmoid()) & canvases.real
        canvases.passes += 1

        of_assistant = assistant.encode(source).repeat(self.length_beam)
        canvases.predict(assistant, of_assistant, canvases.real)
        canvases.predict(model, encoded, masked)
        return canvases.best()


METHOD = InputSampling
