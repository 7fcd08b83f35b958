"""The losses that MPLE compares: L_NAT, L_target, L_input and their sum (Huang et al. 2022).

A method trains on a proxy distribution Q(T | Z, X): it learns the proxy target T from the proxy
input Z. The sum of three losses tells how well that serves translation,

    L_NAT = E_Q KL[Q(T | Z, X) || P(T | Z, X)], for one T the negative log-likelihood of it,
    L_target = -beta E S(Y, T), S the sentence BLEU from 0 to 100 against all references Y,
    L_input = KL[Q(Z | X) || P(Z | X)],

as in equations 8 to 15. Each is a mean over held-out text. T is the proxy target of the method:
the teacher's translation for distillation, the alignment for AXE and OaXE.

Where the paper is ambiguous: L_NAT and L_input are per target token, including revealed tokens,
whose loss is zero; in bits, like the total correlation that they are compared with. L_target is
a mean over sentences, as printed beside them, and of the references of a sentence by their weights
where these are known. What is drawn, Z, is drawn several times. A draw of l revealed tokens has the
probability of these tokens, not of the order that they come in; the Poisson distribution that l may
have is left out. With Gaussian latents L_input is their divergence.

The paper takes L_NAT and L_input from the validation set and L_target from a set with several
references, and beta from the task. So this analysis measures L_NAT, L_input and the BLEU of the
target on every split, and `nat.papers.reader` puts L_target and L_MPLE together.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.analyses.requirements import truth_of
from nat.artifacts import Analysis
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.translations import read_in_order
from nat.data.vocabulary import BLANK, MASK, PAD
from nat.errors import UserError
from nat.inputs.glancing import Glancing
from nat.inputs.random_mask import RandomMask
from nat.inputs.random_reveal import RandomReveal
from nat.job import Job
from nat.measures.distortion import pairwise_bleu
from nat.objective.first_pass import FirstPass
from nat.objective.objective import Objective

DRAWS = 4  # number of draws of Z for each sentence
STEPS = 2000  # steps of the integral in `log_drawn`


class Proxy(NamedTuple):
    """The proxy targets and losses of a method on a text.

    Attributes:
        targets: T of each sentence that was measured, by its number; without empty tokens.
        nll: of each, -log P(T | Z, X), nats, and the tokens that Z and T are made from.
        input_loss: sum of log Q(Z | X) - log P(Z | X), nats.
    """

    targets: dict[int, list[int]]
    nll: dict[int, tuple[float, int]]
    input_loss: float


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Measure L_NAT, L_input and the BLEU of T on every split but the training text.

    Y are several references, of the sentences that have them, or the one of a split without. Raises
    a `UserError` if no pair of a split can be measured, or a source has no translation.
    """
    job, model, vocabulary = subject.job, subject.model, subject.vocabularies.target
    teacher, seed = subject.other(job.inputs.teacher), job.artifact.seed
    objective = Objective(
        subject.system.training, model, seed, bfloat16=False, teacher=teacher
    ).train()
    for translations in job.inputs.translations:
        if translations.split == pairs.name:  # the teacher's translations are learned
            rows = read_in_order(Path(translations.path), sentences=len(pairs.sources))
            learned = [np.array(vocabulary.encode(row["tokens"]), dtype=np.int64) for row in rows]
            pairs = replace(pairs, targets=learned)
    drawn = subject.system.training.input.method != "full_mask" or "latent" in model.part_options
    proxies = [measure(objective, pairs, draw) for draw in range(DRAWS if drawn else 1)]
    references = _references(job, pairs)
    measured = sorted(set(proxies[0].targets).intersection(*(each.targets for each in proxies)))
    covered = [number for number in measured if number in references]
    if not covered:
        raise UserError(
            f"{job.artifact.corpus}: no sentence of the split '{pairs.name}' can be measured"
        )
    truth, weights = zip(*(references[number] for number in covered), strict=True)
    how, counted_as = job.corpus.preparation(job.corpus.target), job.corpus.counted_as

    def bleu(proxy: Proxy) -> np.ndarray:
        subwords = (vocabulary.decode(proxy.targets[number]) for number in covered)
        text = [how.text(each) for each in subwords]
        return pairwise_bleu([text], truth, weights, counted_as).references.mean()

    terms = {}
    for number in measured:
        nats, lengths = zip(*(proxy.nll[number] for proxy in proxies), strict=True)
        terms[number] = sum(nats) / math.log(2), sum(lengths)
    tokens = sum(lengths for _, lengths in terms.values())
    bits = sum(proxy.input_loss for proxy in proxies) / math.log(2)
    values = {"l_input": bits / tokens, "target_bleu": float(np.mean([*map(bleu, proxies)]))}
    return {
        **pairs.counts(len(measured)),
        "sentences_with_references": len(covered),
        "tokens": tokens // len(proxies),
        "draws": len(proxies),
        "measures": {"l_nat": analysis.ratio(terms), **analysis.measures(values)},
    }


def _references(job: Job[Analysis], pairs: Pairs) -> dict[int, tuple[list[str], list[float]]]:
    """References of a split with their weights, by the number of the sentence."""
    truth = truth_of(job.corpus, job.artifact.corpus, pairs.name)
    folder, target = Path(truth.path), job.corpus.target
    if truth.step == "references":
        return read_references(references_path(folder, pairs.name, target), len(pairs.sources))
    lines = read_lines(folder / f"{pairs.name}.{target}")
    return {number: ([line], [1.0]) for number, line in enumerate(lines)}


@torch.no_grad()
def measure(objective: Objective, pairs: Pairs, draw: int = 0) -> Proxy:
    """Run an objective over the targets that it learns as the end of training, without dropout.

    The objective is in training mode, so that it uses its teacher. `draw` numbers the draws of Z.
    """
    update = objective.updates + draw
    targets: dict[int, list[int]] = {}
    nll: dict[int, tuple[float, int]] = {}
    input_loss = 0.0
    for batch in pairs.batches():
        loss = objective(pairs.model, batch, update)
        # a pair that no alignment fits has no loss
        kept = loss.positions.gt(0)
        nats, lengths = loss.parts["nll"][kept].double(), batch.target_lengths[kept]
        numbers = batch.ids[kept].tolist()
        rows = zip(nats.tolist(), lengths.tolist(), strict=True)
        nll |= dict(zip(numbers, rows, strict=True))
        if "kl" in loss.parts:
            input_loss += float(loss.parts["kl"].double().sum())
        if "input" in loss.parts:
            context, [shown] = objective.proxy_inputs(objective.context(pairs.model, batch, update))
            masked, real, weights = shown.tokens.eq(MASK), ~shown.padding, None
            if isinstance(objective.input, Glancing):
                weights = objective.input.log_weights(FirstPass(context))
            log_q = log_proxy_input(objective.input, masked & real, real, weights)
            input_loss += float(loss.parts["input"].double().sum()) + float(log_q.sum())
        learned = batch.target if loss.learned is None else loss.learned
        for number, row in zip(numbers, learned[kept].tolist(), strict=True):
            targets[number] = [token for token in row if token not in (PAD, BLANK)]
    return Proxy(targets, nll, input_loss)


def log_proxy_input(
    method: object, masked: Tensor, real: Tensor, log_weights: Tensor | None = None
) -> Tensor:
    """log Q(Z | X) of the masks of a proxy input, nats, [B]; `masked` and `real` are [B, T].

    With l of N tokens masked at evenly drawn positions it is -log binomial(N, l); to that comes the
    logarithm of the probability of l where the method draws it evenly. A glance counts what it gets
    wrong, so that l is no news. Positions that show a token are drawn in proportion to w, one after
    the other, if `log_weights` has log w [B, T], and otherwise evenly.
    """
    if log_weights is not None:
        return log_drawn(real & ~masked, real, log_weights)
    number, total = (each.sum(1).double() for each in (masked, real))
    factorials = [torch.lgamma(each + 1) for each in (total, number, total - number)]
    log_q = factorials[1] + factorials[2] - factorials[0]
    if isinstance(method, RandomMask):
        log_q = log_q - total.clamp(min=1).log()
    elif isinstance(method, RandomReveal):
        # 0 to N are drawn, but at least one stays masked
        log_q = log_q - torch.where(number.eq(1), (total + 1) / 2, total + 1).log()
    return log_q


def log_drawn(chosen: Tensor, real: Tensor, log_weights: Tensor) -> Tensor:
    """Log-probability that draws without replacement, in proportion to weights, are these, [B].

    The set S is drawn before all others if clocks that ring after exponential times, with the
    weights w as their rates, ring in S before any other does: with W the sum of the other weights,

        P(S) = integral from 0 to infinity of W e^(-W t) prod over i in S of (1 - e^(-w_i t)) dt,

    which is integrated over log t, where the trapezoidal rule is as good as exact. `chosen` is S,
    [B, T], and `real` are the positions that can be drawn, [B, T].
    """
    log_p = torch.zeros(len(chosen), dtype=torch.float64)
    for row in range(len(chosen)):
        first = log_weights[row][chosen[row]].double().cpu()
        others = log_weights[row][real[row] & ~chosen[row]].double().cpu()
        if not len(first) or not len(others):
            continue  # a certain draw has log-probability zero
        rest = others.logsumexp(0)
        fastest = torch.cat([first, rest[None]]).max()
        ends = float(-fastest - 40), float(-rest + 4)
        log_time = torch.linspace(*ends, STEPS, dtype=torch.float64)
        density = rest + log_time - torch.exp(rest + log_time)
        rung = torch.log(-torch.expm1(-torch.exp(first[:, None] + log_time))).sum(0)
        spacing = log_time[1] - log_time[0]
        log_p[row] = torch.logsumexp(density + rung, 0) + torch.log(spacing)
    return log_p.to(chosen.device)
