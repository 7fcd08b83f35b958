"""A stand-in for models whose logits are given, for tests of parallel decodings."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import torch
from torch import Tensor

from nat.data.vocabulary import MASK, PAD
from nat.transformer.architecture import DecoderOptions
from nat.transformer.encoded import Encoded
from nat.transformer.output import Output

SYMBOLS = 12


class Scripted:
    """Stands for a model: its logits are given, and what the decoder sees is logged.

    The embedding is the identity, so the decoder's states are its logits.

    Args:
        logits: [N, T, V], or their function of canvases [N, T].
        lengths: of the canvases of each sentence, the likeliest first.
        frames: of the upsampled canvas of each sentence, instead.
    """

    empty_token = predicts_end = False
    architecture = SimpleNamespace(max_positions=100)

    def __init__(
        self,
        logits: Tensor | Callable[[Tensor], Tensor],
        lengths: Sequence[Sequence[int]] = (),
        frames: Sequence[int] = (),
    ) -> None:
        self.logits, self.lengths, self.frames = logits, torch.tensor(lengths), frames
        size, dtype = SYMBOLS, torch.float32
        if isinstance(logits, Tensor):
            size, dtype = logits.size(2), logits.dtype
        self.output = Output(torch.eye(size, dtype=dtype))
        self.decoder = DecoderOptions(upsample=2.0 if frames else None)
        self.length_predictor = SimpleNamespace(candidates=self.candidates)
        self.seen: list[list[list[int]]] = []

    def candidates(self, states: Tensor, padding: Tensor, number: int, longest: int) -> Tensor:
        return self.lengths[:, :number]

    def encode(self, source: Tensor) -> Encoded:
        return Encoded(torch.zeros(*source.shape, SYMBOLS), source.eq(PAD), source)

    def upsampled_padding(self, encoded: Encoded) -> Tensor:
        return torch.arange(max(self.frames)) >= torch.tensor(self.frames)[:, None]

    def decode(self, tokens: Tensor, padding: Tensor, encoded: Encoded, causal: bool) -> Tensor:
        assert not causal and padding.equal(tokens.eq(PAD)) and len(encoded.states) == len(tokens)
        assert not self.frames or tokens[~padding].eq(MASK).all()
        self.seen.append(tokens.tolist())
        made = self.logits(tokens) if callable(self.logits) else self.logits
        return made.masked_fill(padding[:, :, None], torch.nan) if self.frames else made


def favourites(symbols: Sequence[int], weight: float | Sequence[float] = 5.0) -> Tensor:
    """Logits of one canvas that favour one symbol at each position, by its weight, [1, T, 12]."""
    logits = torch.zeros(1, len(symbols), SYMBOLS)
    logits[0, torch.arange(len(symbols)), list(symbols)] = torch.as_tensor(weight)
    return logits


def log_probability(weight: float) -> float:
    """Log-probability of a symbol that is favoured by this weight."""
    return float(favourites([7], weight).log_softmax(2).max())
