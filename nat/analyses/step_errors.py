"""Sources of the error of each decoding, learning and factorisation, on a known law.

KL(P || Q) from the law P of an invented language to the law Q of a model's outputs is the sum of
both (`nat.analyses.revealing`); tokens are drawn where a decoding writes the most probable ones.
Models with hidden variables h complete P by their posterior, R(y, h) = P(y) Q(h | y), which leaves
the divergence as it is (docs/laboratory.md has the reasons, and what is an upper bound):

- *CTC*: KL(P || Q) = KL(R(A) || product of p_j(a_j)), A the alignment, which is the sum over frames
  of KL(R_j || p_j), the learning error, and the total correlation of the frames under R. P(y) and
  R_j are exact (forward and backward).
- *latents*: h is revealed first, so the learning error is KL(R(h) || p(h)) plus the expectation
  over R(h) of the sum over i of KL(R(y_i | h) || q_i(. | h)), and the factorisation error the
  expectation of the total correlation of R(y | h). The integral over h is a mean over `DRAWS` draws
  by importance sampling, from the posteriors of the most probable targets and from the prior; the
  split is exact for this mixture.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from nat.alignment.ctc import frames_needed, negative_log_likelihood, own_symbols
from nat.alignment.reveal import most_confident
from nat.analyses import analysis, known_law, revealing
from nat.analyses.analysis import Found
from nat.analyses.known_law import STEPS, Targets
from nat.analyses.revealing import Decoding, Errors, Revealed, State
from nat.analyses.schedule_bounds import to_reveal
from nat.artifacts import Analysis
from nat.data.batch import pad, source_tensor
from nat.data.vocabulary import BEGIN_OF_CHUNKS, BOS, EOS, MASK, NEVER_WRITTEN, PAD
from nat.job import Job
from nat.parts.latent import LatentVariables
from nat.transformer.length import LengthPredictor
from nat.transformer.model import Encoded, Transformer

ALL = "all"  # in names of measures: as many steps as the system makes
DRAWS = 256  # of the latents of a source
POSTERIORS = 32  # targets whose posteriors latents are drawn from
FROM_PRIOR = 0.1  # share of the draws that are from the prior
TARGETS = 2048  # aligned at a time


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Split the divergence of a system from the law of an invented language.

    It is measured for each number of steps that the system is trained for.
    """
    known, subject = known_law.sentences(job), analysis.subject(job)
    model, system, laws, seed = subject.model, subject.system, known.laws, job.artifact.seed
    tokens = job.configuration.scale.decoding_tokens
    with torch.no_grad():
        source = source_tensor(known.sources).to(next(model.parameters()).device)
        encoded = model.encode(source)
    split = partial(revealing.split, seed=seed, batch_tokens=tokens)
    errors: dict[int | str, Iterable[Errors]]
    lengths = np.zeros(len(laws))
    latents = model.part(LatentVariables)
    order = system.training.order
    if order != "parallel":
        chunk = model.decoder.chunk or 1 if order == "hybrid" else 1
        ends = (revealing.ended(targets, chunk) for targets in laws)
        roots = [revealing.root(number, law) for number, law in enumerate(ends)]
        errors = {ALL: split(roots, left_to_right(model, encoded, chunk)).values()}
    elif model.decoder.upsample is not None:
        errors = {1: of_alignments(model, encoded, laws)}
    else:
        lengths = length_errors(model, encoded, laws)
        if latents is not None:
            errors = {1: of_latents(model, latents, encoded, laws, seed)}
        else:
            roots = revealing.roots_by_length(laws)
            every = STEPS if system.refines else STEPS[:1]
            errors = {n: split(roots, masked(model, encoded, n)).values() for n in every}
    also = lengths[:, None] * [1, 0, 0]  # the length is learned, too
    return known.result({("law", n): also + [*of_each] for n, of_each in errors.items()})


def masked(model: Transformer, encoded: Encoded, steps: int) -> Decoding:
    """The steps of mask-predict on canvases as long as the target, without masking again."""

    def choose(states: Sequence[State], step: int) -> Iterator[Revealed]:
        counts = [to_reveal(state, steps, step) for state in states]
        tokens = pad([np.where(state.revealed, state.tokens, MASK) for state in states])
        log_p = _log_probabilities(model, encoded, states, tokens, causal=False)
        confidence = log_p.index_fill(2, torch.tensor(NEVER_WRITTEN), -torch.inf).amax(2)
        chosen = most_confident(confidence, torch.tensor(counts), tokens.eq(MASK))
        for row, own in zip(log_p, chosen, strict=True):
            positions = own.nonzero()[:, 0]
            yield Revealed(positions.numpy(), row[positions].numpy())

    return choose


def left_to_right(model: Transformer, encoded: Encoded, chunk: int) -> Decoding:
    """Every k-th token from left to right until EOS, then all between at once; with k = 1 none."""
    begin = BOS if chunk == 1 else BEGIN_OF_CHUNKS

    def choose(states: Sequence[State], step: int) -> Iterator[Revealed]:
        # generators, which compute nothing for no state
        next_one = stage_one([state for state in states if not ended(state)], step)
        between = stage_two([state for state in states if ended(state)])
        for state in states:
            yield next(between if ended(state) else next_one)

    def ended(state: State) -> bool:
        return bool((state.tokens[state.revealed] == EOS).any())

    def stage_one(states: Sequence[State], step: int) -> Iterator[Revealed]:
        tokens = pad([[begin, *state.tokens[state.revealed]] for state in states])
        positions = (torch.arange(tokens.size(1)) * chunk).expand_as(tokens)
        log_p = _log_probabilities(model, encoded, states, tokens, True, positions)
        place = np.array([step * chunk - 1])
        yield from (Revealed(place, row[step - 1 : step].numpy()) for row in log_p)

    def stage_two(states: Sequence[State]) -> Iterator[Revealed]:
        ends = [int(state.revealed.nonzero()[0][-1]) + 1 for state in states]
        shown = (np.where(state.revealed, state.tokens, MASK) for state in states)
        tokens = pad([row[:end] for row, end in zip(shown, ends, strict=True)])
        positions = torch.arange(1, tokens.size(1) + 1).expand_as(tokens)
        positions = positions.masked_fill(tokens.eq(PAD), 0)
        log_p = _log_probabilities(model, encoded, states, tokens, False, positions)
        for row, (state, end) in enumerate(zip(states, ends, strict=True)):
            hidden = (~state.revealed[:end]).nonzero()[0]
            yield Revealed(hidden, log_p[row, hidden].numpy())

    return choose


@torch.no_grad()
def _log_probabilities(
    model: Transformer,
    encoded: Encoded,
    states: Sequence[State],
    tokens: Tensor,
    causal: bool,
    positions: Tensor | None = None,
) -> Tensor:
    """Log-probabilities of all symbols at all positions of decoder inputs, nats, [N, T, V]."""
    device = encoded.source.device
    rows = torch.tensor([state.sentence for state in states], device=device)
    tokens = tokens.to(device)
    positions = None if positions is None else positions.to(device)
    decoded = model.decode(tokens, tokens.eq(PAD), encoded.rows(rows), causal, positions)
    return model.output.all_log_probabilities(decoded).cpu()


@torch.no_grad()
def length_errors(model: Transformer, encoded: Encoded, laws: Sequence[Targets]) -> np.ndarray:
    """KL from the law of the length to the length predictor, of each source, nats, [N]."""
    predictor = model.length_predictor
    assert isinstance(predictor, LengthPredictor)
    errors = np.zeros(len(laws))
    for number, targets in enumerate(laws):
        shares = {length: share for length, (share, _) in revealing.by_length(targets).items()}
        lengths = torch.tensor(list(shares), device=encoded.padding.device)
        rows = encoded.rows(torch.full_like(lengths, number))
        nats = predictor.loss(rows.length_states, rows.padding, lengths).double().cpu().numpy()
        p = np.array(list(shares.values()))
        errors[number] = p @ (np.log(p) + nats)
    return errors


def of_alignments(
    model: Transformer, encoded: Encoded, laws: Sequence[Targets]
) -> Iterator[Errors]:
    """Errors of a CTC model on each source."""
    with torch.no_grad():
        padding = model.upsampled_padding(encoded)
        tokens = torch.where(padding, PAD, MASK)
        states = model.decode(tokens, padding, encoded, causal=False)
    for number, targets in enumerate(laws):
        frames = model.output.all_log_probabilities(states[number, ~padding[number]])
        yield alignment_errors(frames.double().cpu(), targets)


def alignment_errors(frames: Tensor, targets: Targets) -> Errors:
    """Errors of one source, from the log-probabilities of its frames [F, V], float64."""
    sequences = pad(list(targets))
    fits = frames_needed(sequences) <= len(frames)
    sequences = sequences[fits]
    weights = torch.tensor(list(targets.values()), dtype=torch.float64)[fits]
    weights = weights / weights.sum()
    symbols, classes = own_symbols(sequences).unique(return_inverse=True)
    table = frames[:, symbols].detach().requires_grad_()
    total = 0.0
    for start in range(0, len(classes), TARGETS):
        part = slice(start, start + TARGETS)
        own = table[:, classes[part]].transpose(0, 1)
        padding = torch.zeros(own.shape[:2], dtype=torch.bool)
        nll = negative_log_likelihood(own, sequences[part], padding)
        cost = weights[part] @ nll
        cost.backward()
        total += float(cost.detach())
    assert table.grad is not None
    # the derivative of log Q(y) by log p_j(v) is the posterior probability of v in frame j
    posterior = (-table.grad).clamp(min=0)  # rounding errors are on both sides of zero
    learning = torch.special.xlogy(posterior, posterior) - posterior * table.detach()
    divergence = total + float(torch.special.xlogy(weights, weights).sum())
    return Errors(float(learning.sum()), divergence - float(learning.sum()), 1.0)


@torch.no_grad()
def of_latents(
    model: Transformer,
    latents: LatentVariables,
    encoded: Encoded,
    laws: Sequence[Targets],
    seed: int,
) -> Iterator[Errors]:
    """Errors of a model with latents on each source, without that of the length."""
    numbers = np.random.default_rng(seed)
    for number, targets in enumerate(laws):
        one = model.encode(encoded.source[number : number + 1, ~encoded.padding[number]])
        drawn, log_weights = draw_latents(model, latents, one, targets, numbers)
        several = latents.added(one.repeat(len(drawn)), drawn)
        roots = revealing.roots_by_length([targets])
        learning = factorisation = 0.0
        for state in revealing.prune(roots, revealing.SMALLEST, numbers):
            tokens = torch.full((len(drawn), len(state.revealed)), MASK, device=drawn.device)
            decoded = model.decode(tokens, tokens.eq(PAD), several, causal=False)
            log_p = model.output.all_log_probabilities(decoded).double().cpu().numpy()
            errors = mixture_errors(log_p, log_weights, state.law)
            learning += state.weight * errors[0]
            factorisation += state.weight * errors[1]
        yield Errors(learning, factorisation, 1.0)


def draw_latents(
    model: Transformer,
    latents: LatentVariables,
    one: Encoded,
    targets: Targets,
    numbers: np.random.Generator,
) -> tuple[Tensor, np.ndarray]:
    """Draws of the latents of one source, [M, S, d], and log p(h) / r(h) of each, [M].

    r mixes the posteriors of the most probable targets, by their probabilities, with the prior.
    """
    likely = sorted(targets, key=lambda target: -targets[target])[:POSTERIORS]
    shares = np.array([targets[target] for target in likely])
    shares = np.append(shares / shares.sum() * (1 - FROM_PRIOR), FROM_PRIOR)
    posterior = latents.posterior(model, one.repeat(len(likely)), pad(likely).to(one.source.device))
    prior = latents.prior(one)
    means = torch.cat((posterior.mean, prior.mean)).double()
    deviations = torch.cat((posterior.deviation, prior.deviation)).double()
    chosen = torch.from_numpy(numbers.choice(len(shares), DRAWS, p=shares)).to(means.device)
    noise = torch.from_numpy(numbers.standard_normal((DRAWS, *means.shape[1:]))).to(means.device)
    drawn = means[chosen] + deviations[chosen] * noise
    densities = torch.distributions.Normal(means, deviations).log_prob(drawn[:, None])
    of_each = densities.flatten(2).sum(2)
    mixed = torch.logsumexp(of_each + torch.from_numpy(np.log(shares)).to(means.device), 1)
    log_weights: np.ndarray = (of_each[:, -1] - mixed).cpu().numpy()
    return drawn.to(one.states.dtype), log_weights


def mixture_errors(
    log_probabilities: np.ndarray, log_weights: np.ndarray, law: revealing.Law
) -> tuple[float, float]:
    """Learning and factorisation error of a mixture of products on targets of length L, nats.

    The components have `log_probabilities` [M, L, V], and weights divided by their mean, [M].
    """
    log_prior = log_weights - np.log(len(log_probabilities))
    places = np.arange(law.tokens.shape[1])
    # log of prior times likelihood, [M, K]
    joint = log_prior[:, None] + log_probabilities[:, places, law.tokens].sum(2)
    log_q = np.logaddexp.reduce(joint, 0)
    divergence = float(law.weights @ (np.log(law.weights) - log_q))
    completed = law.weights * np.exp(joint - log_q)  # R(h, y)
    of_component = completed.sum(1)
    there = of_component > 0
    completed, of_component = completed[there], of_component[there]
    learning = float(of_component @ (np.log(of_component) - log_prior[there]))
    for place in places:
        symbols, numbers = np.unique(law.tokens[:, place], return_inverse=True)
        together = completed @ np.eye(len(symbols))[numbers.reshape(-1)]  # R(h, y_i), [M, S]
        log_marginal = np.log(np.maximum(together, 1e-300) / of_component[:, None])
        learning += float(
            (together * (log_marginal - log_probabilities[there][:, place, symbols])).sum()
        )
    return learning, divergence - learning
