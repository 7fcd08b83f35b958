"""Forced decoding: scores of given translations under a model with a causal decoder."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nat.data.batch import pad
from nat.data.vocabulary import BOS, EOS, PAD
from nat.transformer.model import Encoded, Transformer


@torch.inference_mode()
def forced_tokens(
    model: Transformer,
    encoded: Encoded,
    translations: Sequence[Sequence[int]],
    begin: int = BOS,
    stride: int = 1,
    group: int = 1,
) -> Tensor:
    """Log-probability of each token of N translations and of their EOS, nats, [N, T]; else zero.

    Args:
        model: with a causal decoder.
        encoded: encoder states of the N sources.
        translations: token sequences without EOS.
        begin: token before the first one.
        stride: difference between the position numbers of neighbouring tokens.
        group: tokens that the model predicts at once, from `begin` or the group before.
    """
    device = encoded.states.device
    labels = pad([[*tokens, EOS] for tokens in translations]).to(device)
    inputs = [[*[begin] * group, *tokens, EOS] for tokens in translations]
    tokens = pad([each[: (len(each) - 1) // group * group] for each in inputs]).to(device)
    padding = tokens.eq(PAD)
    positions = (torch.arange(tokens.size(1), device=device) * stride).expand_as(tokens)
    positions = positions.masked_fill(padding, 0)
    states = model.decode(tokens, padding, encoded, causal=True, positions=positions, group=group)
    real = labels.ne(PAD)
    own = model.output.log_probabilities(states[:, : labels.size(1)][real], labels[real][:, None])
    return states.new_zeros(labels.shape).masked_scatter(real, own)
