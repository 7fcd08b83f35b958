"""ONNX Runtime, with a model that `nat.export.onnx` wrote."""

from pathlib import Path
from typing import Any

import onnxruntime
import torch
from torch import Tensor

from nat.checksums import verified_folder
from nat.data.vocabulary import PAD, vocabulary_files
from nat.decoding.engines import BLANK_PENALTY, running
from nat.decoding.network import EngineNetwork
from nat.files import read_json
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Best


class OnnxEngine:
    """The two graphs of a model in ONNX Runtime, on a processor, with PyTorch's threads.

    Attributes:
        source_symbols, symbols: its vocabularies, in the order of their ids.
        encoder, decoder: sessions.

    Raises:
        UserError: if the folder is missing or damaged.
    """

    def __init__(self, folder: Path, precision: str, *_: Any) -> None:
        verified_folder(folder)
        self.folder = folder
        self.source_symbols: list[str]
        self.symbols: list[str]
        self.source_symbols, self.symbols = map(read_json, vocabulary_files(folder, ".json"))
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


ENGINE = OnnxEngine


class OnnxNetwork(EngineNetwork):
    """A model whose encoder and decoder run in ONNX Runtime; its length predictor is PyTorch's."""

    def __init__(self, model: Transformer, engine: OnnxEngine) -> None:
        super().__init__(model)
        self._engine = engine
        self._outputs = [each.name for each in engine.encoder.get_outputs()]
        self._inputs = {each.name for each in engine.decoder.get_inputs()}

    def encode(self, source: Tensor) -> Encoded:
        """Encode source tokens [B, S], see `Transformer.encode`."""
        with running(self._engine.folder):
            outputs = self._engine.encoder.run(None, {"source": source.cpu().numpy()})
        named: dict[str, Any] = {
            name: torch.from_numpy(array).to(self.output.weight)
            for name, array in zip(self._outputs, outputs, strict=True)
            if name != "lengths"
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
        arrays = {
            name: (value.float() if value.is_floating_point() else value).cpu().numpy()
            for name, value in given.items()
            # the engine refuses a penalty for a graph of an older version, which has none
            if name in self._inputs or (name == BLANK_PENALTY and blank_penalty)
        }
        with running(self._engine.folder):
            symbols, log_probabilities = self._engine.decoder.run(
                ["symbols", "log_probabilities"], arrays
            )
        return Best(
            torch.from_numpy(symbols).to(tokens.device)[chosen],
            torch.from_numpy(log_probabilities).to(encoded.states)[chosen],
        )
