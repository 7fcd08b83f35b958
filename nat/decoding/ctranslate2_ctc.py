"""CTC decoding in CTranslate2's encoder, with a model without decoder layers that was converted."""

import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.data.vocabulary import BLANK, EOS, PAD
from nat.decoding.engines.ctranslate2 import CTranslate2Engine
from nat.decoding.hypothesis import Hypothesis, written
from nat.decoding.network import choice
from nat.decoding.options import Ctranslate2CtcDecodingOptions
from nat.transformer.copying import places_of
from nat.transformer.model import Transformer
from nat.transformer.output import Output


class CTranslate2Ctc(Ctranslate2CtcDecodingOptions):
    """The best alignment of `nat.decoding.ctc`, with the states of CTranslate2's encoder.

    The engine has no projection for the states of an encoder, so PyTorch projects them: in float32,
    or with int8 in bfloat16 where the processor multiplies such numbers faster.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, engine: CTranslate2Engine
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        Of the model, only the length of the canvas is used.
        """
        source = source.cpu()
        lengths = model.copied_lengths(source)
        frames = model.canvas_lengths(lengths)
        padding = torch.arange(int(frames.max())) >= frames[:, None]
        places = places_of("repeated", lengths, frames, padding.size(1))
        states = engine.states(source.gather(1, places), frames)[~padding]
        output = Output(engine.projection, engine.projection.dtype == torch.bfloat16)
        best = output.best(states, *choice(model, self.blank_penalty))
        labels = source.new_full(padding.shape, PAD)
        labels[~padding] = best.symbols.masked_fill(best.symbols == EOS, BLANK)
        scores = [each.mean() for each in best.log_probabilities.split(frames.tolist())]
        return written(collapse(labels, padding), torch.stack(scores), torch.ones_like(frames))


METHOD = CTranslate2Ctc
