"""Dynamic KD (MPLE): each pair has several targets, of which the model chooses a probable one."""

import torch
from torch import Tensor

from nat.alignment.ctc import negative_log_likelihood, own_symbols
from nat.data.vocabulary import MASK, PAD
from nat.distillation.options import DynamicOptions
from nat.objective.context import BatchContext
from nat.transformer.dropout import without_dropout

LARGEST = 1e30  # cost of an infeasible text, which is chosen only if there is no better one, nats


class Dynamic(DynamicOptions):
    """Dynamic KD (MPLE, Huang et al. 2022, section 3.4 and appendix F).

    Each pair learns from the candidate T that minimises

        -log P(T | Z*, X) + regulariser(T),

    where Z* is the full mask and P the model at this update.

    Where the paper is ambiguous: the negative log-likelihood is that of the whole sentence, as in
    the equation, not per token. It is computed in the same way for every proxy target: over all
    alignments on an upsampled canvas, position by position otherwise. Encoder states are those of
    the update, and the decoder has no dropout. An empty candidate is never chosen, and of equal
    candidates only the first one can be; the first of equally good ones is chosen.
    """

    @torch.no_grad()
    def __call__(self, context: BatchContext) -> Tensor:
        """Numbers of the chosen candidates, [B]."""
        candidates = context.batch.candidates
        assert candidates is not None
        cost = full_mask_nll(context, candidates)
        if context.batch.regulariser is not None:
            cost = cost + context.batch.regulariser.to(cost.dtype)
        # an infeasible candidate is worse than all others except empty ones
        cost = cost.clamp(max=LARGEST).masked_fill(empty_or_repeated(candidates), torch.inf)
        return cost.argmin(1)


def empty_or_repeated(candidates: Tensor) -> Tensor:
    """True at candidates [B, C, T] without tokens and at those equal to an earlier one, [B, C]."""
    same = (candidates[:, :, None] == candidates[:, None]).all(3)
    return candidates.eq(PAD).all(2) | same.tril(-1).any(2)


def full_mask_nll(context: BatchContext, candidates: Tensor) -> Tensor:
    """-log P(T | Z*, X) of each candidate T of [B, C, T] under a full mask, nats, [B, C].

    Infinite where a candidate does not fit an upsampled canvas; zero for an empty one.
    """
    with without_dropout(context.model):
        if context.model.decoder.upsample is None:
            return _by_position(context, candidates)
        return _over_alignments(context, candidates)


def _by_position(context: BatchContext, candidates: Tensor) -> Tensor:
    batch, number, width = candidates.shape
    device = candidates.device
    lengths = candidates.ne(PAD).sum(2)
    # the decoder sees only the length of a candidate: those of one length share a canvas
    sentences = torch.arange(batch, device=device)[:, None]
    keys, canvas = torch.unique(sentences * (width + 1) + lengths, return_inverse=True)
    rows, lengths = keys // (width + 1), keys % (width + 1)
    padding = torch.arange(width, device=device) >= lengths[:, None]
    tokens = torch.where(padding, PAD, MASK)
    states = context.model.decode(tokens, padding, context.encoded.rows(rows), causal=False)
    # log-probabilities at each position of the symbols that the sentence's candidates have there
    sentence, position = (~padding).nonzero().unbind(1)
    symbols = candidates.transpose(1, 2)[rows[sentence], position]
    own = context.output.log_probabilities(states[~padding], symbols)
    sums = own.new_zeros(len(keys), number).index_add_(0, sentence, own)
    return -sums[canvas, torch.arange(number, device=device)]


def _over_alignments(context: BatchContext, candidates: Tensor) -> Tensor:
    canvas = context.fully_masked_input()
    states = context.decode(canvas)
    # log-probabilities at each frame of the symbols of all candidates of its sentence
    symbols = torch.stack([own_symbols(each) for each in candidates.unbind(1)], 1).flatten(1)
    own = context.output.own_log_probabilities(states, ~canvas.padding, symbols)
    each_candidate = zip(own.chunk(candidates.size(1), 2), candidates.unbind(1), strict=True)
    return torch.stack(
        [negative_log_likelihood(its, each, canvas.padding) for its, each in each_candidate], 1
    )


METHOD = Dynamic
