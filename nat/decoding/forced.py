"""Forced decoding: scores of given translations under a model with a causal decoder."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nat.data.batch import pad
from nat.data.vocabulary import BOS, EOS, PAD
from nat.transformer.model import Encoded, Transformer
from nat.transformer.projection import gathered_log_probabilities


@torch.inference_mode()
def forced_scores(
    model: Transformer,
    encoded: Encoded,
    translations: Sequence[Sequence[int]],
    begin: int = BOS,
    stride: int = 1,
) -> Tensor:
    """Log-probability of each translation and its EOS, nats, [N].

    Args:
        model: with a causal decoder.
        encoded: encoder states of the N sources.
        translations: N token sequences without EOS.
        begin: token before the first one.
        stride: difference between the position numbers of neighbouring tokens.
    """
    device = encoded.states.device
    labels = pad([[*tokens, EOS] for tokens in translations]).to(device)
    padding = labels.eq(PAD)
    tokens = pad([[begin, *tokens] for tokens in translations]).to(device)
    positions = (torch.arange(labels.size(1), device=device) * stride).expand_as(labels)
    positions = positions.masked_fill(padding, 0)
    states = model.decode(tokens, padding, encoded, causal=True, positions=positions)
    found = gathered_log_probabilities(
        states[~padding], model.embedding.weight, labels[~padding][:, None]
    )
    return states.new_zeros(labels.shape).masked_scatter(~padding, found).sum(1)
