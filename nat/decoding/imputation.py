"""Imputation: an alignment is completed block by block (Saharia et al. 2020)."""

import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.alignment.reveal import most_confident_in_blocks
from nat.data.vocabulary import BLANK, EOS, MASK, PAD
from nat.decoding.hypothesis import Hypothesis, written
from nat.decoding.network import Network, predict
from nat.decoding.passes import Moment, Pass, passes_of
from nat.traits import DecodingMethod
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Output


@torch.no_grad()
def impute(
    model: Network,
    encoded: Encoded,
    tokens: Tensor,
    padding: Tensor,
    steps: int,
    output: Output | None = None,
    blank_penalty: float = 0.0,
    history: list[Moment] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Replace masks by the most probable labels in several passes (Saharia et al. 2020, sec. 3.3).

    Every pass sees the labels that are revealed already, and reveals the masks that
    `nat.alignment.reveal.most_confident_in_blocks` selects; revealed labels stay. Special symbols
    other than UNK and BLANK are never chosen.

    Args:
        model, encoded, padding, output, blank_penalty: see `nat.decoding.network.predict`.
        tokens: labels, MASK where there is none yet, [B, T].
        steps: number of passes, at least 1.
        history: to which the alignments after each pass are added.

    Returns:
        Labels: BLANK or a token, MASK where none is revealed yet, PAD at padding, [B, T];
        log-probabilities of those that were imputed, each from the pass that revealed it, nats,
        zero at the others, [B, T]; number of decoder passes for each sentence, [B].
    """
    masked = tokens.eq(MASK) & ~padding
    log_probabilities = model.output.weight.new_zeros(tokens.shape)
    passes = torch.zeros_like(tokens[:, 0])
    for number in range(1, steps + 1):
        if not masked.any():
            break
        passes = passes + masked.any(1)
        best = predict(model, tokens, padding, encoded, masked, blank_penalty, output)
        labels = best.symbols.masked_fill(best.symbols == EOS, BLANK)
        confidence = torch.zeros_like(log_probabilities)
        confidence[masked] = best.log_probabilities
        revealed = most_confident_in_blocks(confidence, masked, steps, number)
        tokens = torch.where(revealed, tokens.masked_scatter(masked, labels), tokens)
        log_probabilities = torch.where(revealed, confidence, log_probabilities)
        if history is not None:
            history.append(Moment(masked, revealed, tokens, log_probabilities))
        masked = masked & ~revealed
    return tokens, log_probabilities, passes


def imputed_translations(
    model: Network,
    encoded: Encoded,
    steps: int,
    blank_penalty: float = 0.0,
    history: list[Moment] | None = None,
) -> list[Hypothesis]:
    """Collapsed alignments, imputed from masks only, with their mean log-probability per frame."""
    padding = model.upsampled_padding(encoded)
    masks = torch.where(padding, PAD, MASK)
    labels, log_probabilities, passes = impute(
        model, encoded, masks, padding, steps, None, blank_penalty, history
    )
    scores = log_probabilities.sum(1) / (~padding).sum(1)
    return written(collapse(labels, padding), scores, passes)


class Imputing(DecodingMethod):
    """Impute an alignment from masks only, then merge repeats and drop blanks.

    The score is the mean log-probability per frame of the alignment.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return imputed_translations(model, model.encode(source), *self._how)

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes, of frames; see `nat.decoding.passes.Traced`."""
        encoded, history = model.encode(source), list[Moment]()
        imputed_translations(model, encoded, *self._how, history)
        frames = (~model.upsampled_padding(encoded)).sum(1)
        return passes_of(history, torch.arange(len(frames)), frames)

    @property
    def _how(self) -> tuple[int, float]:
        """Steps, an option of `imputer`, and the penalty of BLANK, one of `ctc`."""
        return getattr(self, "steps", 1), getattr(self, "blank_penalty", 0.0)
