"""CTC decoding in CTranslate2's encoder, with a model without decoder layers that was converted."""

from pathlib import Path

import numpy as np
import torch
from ctranslate2 import Device, Encoder, StorageView
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.checksums import verified_folder
from nat.data.vocabulary import BLANK, EOS, PAD
from nat.decoding.ctranslate2_beam import folder_of, noting_out_of_memory, opened
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.network import never_chosen, silent
from nat.decoding.options import Ctranslate2CtcOptions
from nat.files import read_json
from nat.transformer.copying import repeated_places
from nat.transformer.linear import has_bfloat16_products
from nat.transformer.model import Transformer
from nat.transformer.output import Output

PROJECTION = "projection.npy"
"""In the folder of a model that is an encoder."""


class EncoderEngine:
    """A converted encoder in CTranslate2, with as many threads as PyTorch uses.

    Args:
        folder: written by `nat.export.ctranslate2`.
        precision: of the weights.
        device: `cpu` or `cuda`.

    Attributes:
        source_symbols: of the source vocabulary, in the order of their ids.
        symbols: of the target vocabulary, likewise.
        projection: [V, D], on the processor.

    Raises:
        UserError: if the folder is missing or damaged.
    """

    def __init__(self, folder: Path, precision: str, device: str = "cpu") -> None:
        verified_folder(folder)
        self.source_symbols: list[str] = read_json(folder_of(folder, precision) / "vocabulary.json")
        self.symbols: list[str] = read_json(folder / "labels.json")
        self.projection = torch.from_numpy(np.load(folder / PROJECTION))
        if precision == "int8" and has_bfloat16_products(torch.device("cpu")):
            self.projection = self.projection.bfloat16()
        self._encoder = opened(Encoder, folder, precision, device)

    def states(self, frames: Tensor, lengths: Tensor) -> Tensor:
        """Last states of ids [B, T] of which the first `lengths` [B] count, [B, T, D].

        Raises:
            torch.OutOfMemoryError: if the batch does not fit the memory of a GPU.
        """
        given = (
            StorageView.from_array(np.ascontiguousarray(ids.cpu().numpy(), dtype=np.int32))
            for ids in (frames, lengths)
        )
        with noting_out_of_memory():
            found = self._encoder.forward_batch(*given).last_hidden_state.to_device(Device.cpu)
        return torch.from_numpy(np.array(found))


class CTranslate2Ctc(Ctranslate2CtcOptions):
    """The best alignment of `nat.decoding.ctc`, with the states of CTranslate2's encoder.

    The engine has no projection for the states of an encoder, so PyTorch projects them: in float32,
    or with int8 in bfloat16 where the processor multiplies such numbers faster.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, engine: EncoderEngine
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        Args:
            model: only the length of its canvas is used.
            source: the sentences.
            engine: with the converted model.
        """
        source = source.cpu()
        lengths = model.copied_lengths(source)
        padding = model.upsampled_padding_of(lengths)
        frames = (~padding).sum(1)
        places = repeated_places(lengths, frames, padding.size(1))
        states = engine.states(source.gather(1, places), frames)
        output = Output(engine.projection, engine.projection.dtype == torch.bfloat16)
        best = output.best(
            states[~padding],
            forbidden=torch.tensor(never_chosen(model)),
            penalties=dict.fromkeys(silent(model), self.blank_penalty),
        )
        labels = source.new_full(padding.shape, PAD)
        labels[~padding] = best.symbols.masked_fill(best.symbols == EOS, BLANK)
        written = collapse(labels, padding)
        scores = [float(each.mean()) for each in best.log_probabilities.split(frames.tolist())]
        return [
            Hypothesis(tokens[:length], score, 1)
            for tokens, length, score in zip(
                written.tokens.tolist(), written.lengths.tolist(), scores, strict=True
            )
        ]


METHOD = CTranslate2Ctc
