"""Parallel decoding in ONNX Runtime, with a model that `nat.export.onnx` wrote."""

import torch
from torch import Tensor

from nat.decoding.engines.onnx import OnnxEngine
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.imputation import imputed_translations
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.network import EngineNetwork
from nat.decoding.options import OnnxParallelDecodingOptions
from nat.transformer.model import Transformer


class OnnxParallel(OnnxParallelDecodingOptions):
    """Mask-predict or, on an upsampled canvas, CTC and Imputer decoding, in ONNX Runtime.

    Scores and choices are those of `mask_predict` and `imputer`, which with one step are `one_pass`
    and `ctc`. int8 are products of integers: weights are quantised once, by output channel, and the
    inputs of each product when it is computed, with one scale for a whole batch. So the int8
    translation of a sentence can depend on the other sentences of its batch.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor, engine: OnnxEngine) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        network = EngineNetwork(model, engine)
        if model.decoder.upsample is not None:
            encoded = network.encode(source)
            return imputed_translations(network, encoded, self.steps, self.blank_penalty)
        return MaskPredict(steps=self.steps, length_beam=self.length_beam)(network, source)


METHOD = OnnxParallel
