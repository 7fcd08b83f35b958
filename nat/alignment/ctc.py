"""Alignments of connectionist temporal classification: their sum, the best one, and collapsing.

Graves et al. (2006). An alignment labels each frame (position of an upsampled canvas) with a token
or BLANK. It collapses to a target: equal neighbours are merged, then blanks are dropped. So a
target needs a frame per token, and one more, for a blank, between two equal neighbours.

A target of N tokens asks for the log-probabilities of its own symbols only, K = 1 + N classes:
class 0 is BLANK, class n the nth token. Dynamic programmes loop over frames and are vectorised
over sentences and states; they are computed in float32 at least.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.vocabulary import BLANK, MASK, PAD


def own_symbols(targets: Tensor) -> Tensor:
    """Symbols of the classes of each sentence: BLANK, then its tokens, [B, N] to [B, 1 + N].

    The classes of padding, which are never used, are BLANK as well.
    """
    return F.pad(targets.masked_fill(targets.eq(PAD), BLANK), (1, 0), value=BLANK)


def frames_needed(targets: Tensor) -> Tensor:
    """Fewest frames that can be aligned with each target [B, N], [B]."""
    repeated = targets[:, 1:].eq(targets[:, :-1]) & targets[:, 1:].ne(PAD)
    return targets.ne(PAD).sum(1) + repeated.sum(1)


def negative_log_likelihood(log_probabilities: Tensor, targets: Tensor, padding: Tensor) -> Tensor:
    """Minus the log-probability that an alignment collapses to the target, nats, [B].

    The sum over alignments is that of `torch.nn.functional.ctc_loss`. Its gradient assumes that
    the classes are the whole vocabulary; here it is that of the given log-probabilities.

    Args:
        log_probabilities: of a sentence's own symbols, [B, T, 1 + N]; may be minus infinity.
        targets: right-padded, [B, N].
        padding: True at padding, which is on the right, [B, T].

    Returns:
        Infinity, with a gradient of zero, where no alignment has a probability above zero.
    """
    value: Tensor = _NegativeLogLikelihood.apply(log_probabilities, targets, padding)
    return value


class _NegativeLogLikelihood(torch.autograd.Function):
    """The gradient is computed together with the value, since both need the same sums."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, targets: Tensor, padding: Tensor) -> Tensor:
        exact, needed = _exact(given.detach()), ctx.needs_input_grad[0]
        symbols = own_symbols(targets)
        # The first class of each token's symbol, so that equal tokens are of one class. They are
        # int64, which keeps torch from cuDNN.
        classes = symbols[:, 1:, None].eq(symbols[:, None]).to(torch.uint8).argmax(2)
        with torch.set_grad_enabled(needed):
            inputs = exact.transpose(0, 1).contiguous().requires_grad_(needed)
            nll = F.ctc_loss(
                inputs,
                classes,
                (~padding).sum(1),
                targets.ne(PAD).sum(1),
                blank=0,
                reduction="none",
            )
            if not needed:
                return nll
            (gradient,) = torch.autograd.grad(nll.sum(), inputs)
        # Subtract exp(log p), which torch adds for a softmax over all classes. The result is NaN
        # where a probability is zero, and where there is no alignment.
        nothing = padding[:, :, None] | nll.isposinf()[:, None, None] | exact.isneginf()
        gradient = (gradient.transpose(0, 1) - exact.exp()).masked_fill_(nothing, 0)
        ctx.save_for_backward(gradient.to(given.dtype))
        return nll.detach()

    @staticmethod
    def backward(ctx: Any, of_nll: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * of_nll[:, None, None].to(gradient.dtype), None, None


@torch.no_grad()
def best_alignment(log_probabilities: Tensor, targets: Tensor, padding: Tensor) -> Tensor:
    """The most probable of the alignments that collapse to the target (Viterbi).

    The choice among equally probable ones is the same on every device: read from the end, it stays
    in a state as long as possible, prefers the previous state to a skipped blank, and ends with the
    token.

    Arguments are those of `negative_log_likelihood`.

    Returns:
        BLANK or a token, PAD at padding; MASK at all frames of a sentence that has no alignment of
        a probability above zero, [B, T].
    """
    sentences, frames, classes = log_probabilities.shape
    device = targets.device
    # States: a blank, then each token followed by a blank.
    states = torch.arange(2 * classes - 1, device=device)
    is_token = states % 2 == 1
    class_of = torch.where(is_token, (states + 1) // 2, 0)
    by_frame = _exact(log_probabilities).transpose(0, 1)
    emissions = by_frame[:, :, class_of]
    # a blank can be skipped between two different tokens
    symbols = own_symbols(targets)[:, class_of]
    before = F.pad(symbols, (2, 0), value=BLANK)[:, : symbols.size(1)]
    no_skip = torch.zeros_like(symbols, dtype=emissions.dtype)
    no_skip.masked_fill_(~is_token | symbols.eq(before), -torch.inf)
    no_skip[:, :2] = -torch.inf

    # Scores after two unreachable states; every path starts in the first blank.
    padded = emissions.new_full((sentences, symbols.size(1) + 2), -torch.inf)
    padded[:, 2] = 0
    scores, one_before, two_before = padded[:, 2:], padded[:, 1:-1], padded[:, :-2]
    moves = torch.empty(emissions.shape, dtype=torch.int8, device=device)
    real = ~padding.t()[:, :, None]
    for frame in range(frames):
        skipping = two_before + no_skip
        nearer = torch.maximum(scores, one_before)
        moves[frame] = one_before > scores
        moves[frame].masked_fill_(skipping > nearer, 2)
        reached = torch.maximum(nearer, skipping).add_(emissions[frame])
        scores.copy_(torch.where(real[frame], reached, scores))
    moves.masked_fill_(~real, 0)

    ends = 2 * targets.ne(PAD).sum(1, keepdim=True)
    in_blank = scores.gather(1, ends)
    in_token = padded.gather(1, ends + 1)  # state before the last; for no token, that in front
    infeasible = ~(torch.maximum(in_token, in_blank) > -torch.inf)
    state = torch.where((in_token >= in_blank) & (ends > 0), ends - 1, ends)
    path = torch.empty((frames, sentences, 1), dtype=torch.int64, device=device)
    for frame in range(frames - 1, -1, -1):
        path[frame] = state
        state = (state - moves[frame].gather(1, state)).clamp_(min=0)
    labels = symbols.gather(1, path[:, :, 0].t())
    return labels.masked_fill(infeasible, MASK).masked_fill(padding, PAD)


def collapse(labels: Tensor, padding: Tensor) -> Tensor:
    """Merge equal neighbours of labels [B, T], whose padding is on the right, then drop blanks.

    The tokens that are left have PAD after their end, [B, N].
    """
    tokens = collapsed(labels, padding)
    width = int(tokens.ne(PAD).sum(1).max()) if tokens.numel() else 0
    return tokens[:, :width]


def collapsed(labels: Tensor, padding: Tensor) -> Tensor:
    """The same in the shape of the labels, [B, T], which does not depend on what they are."""
    before = F.pad(labels, (1, 0), value=BLANK)[:, :-1]
    kept = labels.ne(before) & labels.ne(BLANK) & ~padding
    width = labels.size(1)
    places = torch.where(kept, kept.cumsum(1) - 1, width)
    tokens = labels.new_full((labels.size(0), width + 1), PAD)
    return tokens.scatter_(1, places, labels)[:, :width]


def _exact(log_probabilities: Tensor) -> Tensor:
    """In float32, or as they are if that is float64."""
    return log_probabilities.to(torch.promote_types(log_probabilities.dtype, torch.float32))
