"""ONNX Runtime, with a model that `nat.export.onnx` wrote."""

from pathlib import Path
from typing import Any

import onnxruntime
import torch
from torch import Tensor

from nat.checksums import verified_folder
from nat.data.vocabulary import PAD
from nat.decoding.engines import BLANK_PENALTY, running
from nat.transformer.model import Encoded
from nat.transformer.output import Best


class OnnxEngine:
    """The two graphs of a model in ONNX Runtime, on a processor, with PyTorch's threads.

    Attributes:
        encoder, decoder: sessions.

    Raises:
        UserError: if the folder is missing or damaged.
    """

    def __init__(self, folder: Path, precision: str, *_: Any) -> None:
        verified_folder(folder)
        self.folder = folder
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        # the two graphs have threads of their own, and those that wait would not leave their cores
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        with running(folder):
            self.encoder, self.decoder = (
                onnxruntime.InferenceSession(
                    folder / f"{part}.{precision}.onnx",
                    options,
                    providers=["CPUExecutionProvider"],
                )
                for part in ("encoder", "decoder")
            )

    def encode(self, source: Tensor, weight: Tensor) -> Encoded:
        """Encode source tokens [B, S], see `Transformer.encode`; states are like a weight."""
        with running(self.folder):
            outputs = self.encoder.run(None, {"source": source.cpu().numpy()})
        named: dict[str, Any] = {
            each.name: torch.from_numpy(array).to(weight)
            for each, array in zip(self.encoder.get_outputs(), outputs, strict=True)
            if each.name != "lengths"
        }
        return Encoded(padding=source.eq(PAD), source=source, **named)

    def predict(
        self, tokens: Tensor, encoded: Encoded, chosen: Tensor, blank_penalty: float
    ) -> Best:
        """See `nat.decoding.network.predict`."""
        given: dict[str, Any] = {
            BLANK_PENALTY: torch.tensor(blank_penalty),
            "source": encoded.source,
            "states": encoded.states,
            "copied": encoded.copied,
            "tokens": tokens,
        }
        names = {each.name for each in self.decoder.get_inputs()}
        arrays = {
            name: (value.float() if value.is_floating_point() else value).cpu().numpy()
            for name, value in given.items()
            # the engine refuses a penalty for a graph of an older version, which has none
            if name in names or (name == BLANK_PENALTY and blank_penalty)
        }
        with running(self.folder):
            symbols, log_probabilities = self.decoder.run(["symbols", "log_probabilities"], arrays)
        return Best(
            torch.from_numpy(symbols).to(tokens.device)[chosen],
            torch.from_numpy(log_probabilities).to(encoded.states)[chosen],
        )


ENGINE = OnnxEngine
