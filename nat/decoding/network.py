"""A network that predicts in parallel, in PyTorch or in another engine."""

from functools import partial
from typing import Any

from torch import Tensor

from nat.data.vocabulary import BLANK, EOS, NEVER_WRITTEN
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Best, Output


class EngineNetwork:
    """A model that another engine runs: it encodes and predicts, and all else is the model's."""

    def __init__(self, model: Transformer, engine: Any) -> None:
        self._model, self.predict = model, engine.predict
        self.encode = partial(engine.encode, weight=model.output.weight)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


Network = Transformer | EngineNetwork


def never_chosen(network: Network) -> list[int]:
    """Symbols that a parallel decoding never chooses.

    BLANK is a label on an upsampled canvas, and the empty token of a model that was trained with
    it; EOS is one of a model whose canvas ends in it.
    """
    upsampled = network.decoder.upsample is not None
    allowed = {BLANK} if upsampled or network.empty_token else set()
    if network.predicts_end:
        allowed.add(EOS)
    return [symbol for symbol in NEVER_WRITTEN if symbol not in allowed]


def silent(network: Network) -> list[int]:
    """Symbols that stand for no token: BLANK, and EOS where the canvas ends in it."""
    return [BLANK, EOS] if network.predicts_end else [BLANK]


def choice(network: Network, blank_penalty: float) -> tuple[list[int], dict[int, float]]:
    """How `Output.best` chooses in a parallel decoding: what is forbidden, and penalties in nats.

    The `blank_penalty` is that of the `silent` symbols.
    """
    return never_chosen(network), dict.fromkeys(silent(network), blank_penalty)


def predict(
    network: Network,
    tokens: Tensor,
    padding: Tensor,
    encoded: Encoded,
    chosen: Tensor,
    blank_penalty: float = 0.0,
    output: Output | None = None,
) -> Best:
    """The most probable symbols at chosen positions, in one bidirectional pass.

    Args:
        tokens: decoder input, [B, T].
        padding: True at padding, [B, T].
        encoded: encoder states of the same sentences, by the same network.
        chosen: True at positions to predict, N of them, [B, T].
        blank_penalty: see `choice`.
        output: with which states become probabilities, in PyTorch; None for the network's own.

    Returns:
        Symbols other than `never_chosen` and their log-probabilities under the full softmax, [N].
    """
    if isinstance(network, EngineNetwork):
        best: Best = network.predict(tokens, encoded, chosen, blank_penalty)
        return best
    states = network.decode(tokens, padding, encoded, causal=False)[chosen]
    return (output or network.output).best(states, *choice(network, blank_penalty))
