"""The losses that MPLE compares: L_NAT, L_target, L_input and their sum (Huang et al. 2022).

A method trains on a proxy distribution Q(T | Z, X): it learns the proxy target T from the proxy
input Z. The sum of three losses tells how well that serves translation,

    L_NAT = E_Q KL[Q(T | Z, X) || P(T | Z, X)], for one T the negative log-likelihood of it,
    L_target = -beta E S(Y, T), S the sentence BLEU from 0 to 100 against all references Y,
    L_input = KL[Q(Z | X) || P(Z | X)],

as in equations 8 to 15. Each is a mean over held-out text, of which T is the method's own: the
teacher's translation for distillation, its alignment for AXE and OaXE.

Open readings, settled here. L_NAT and L_input are nats per target token, a revealed token
included, which costs nothing. L_target is a mean over sentences, as printed beside them. Where Q
draws its positions with unequal chances (masking by P_ref), its entropy is taken for that of even
chances, which is the most that it can be, so that L_input comes out a little too low. With
Gaussian latents L_input is their divergence.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from nat.configuration import Configuration
from nat.data.batch import Batch
from nat.data.bpe import merge
from nat.data.lines import read_lines
from nat.data.splits import sides
from nat.data.tokenise import detokenise
from nat.data.translations import read_in_order
from nat.data.vocabulary import BLANK, MASK, PAD, Vocabulary
from nat.decoding.job import matching_model
from nat.errors import UserError
from nat.measures import analysis
from nat.measures.distortion import likeness
from nat.measures.score import read_references, reference_files
from nat.texts.candidates import RAW, candidates
from nat.training.objective import Objective
from nat.training.step import DecoderInput, Step
from nat.transformer.model import Transformer

BETA = 0.2
"""Weight of S in L_target, of WMT14 En-De; the paper has 0.25 for WMT17 Zh-En, 0.1 to 0.5 else."""

UNITS = {
    "l_nat": "nats per target token",
    "l_input": "nats per target token",
    "l_target": "-beta * BLEU",
    "l_mple": "mixed",
    "target_bleu": "BLEU",
}


class Proxy(NamedTuple):
    """What a method makes of a text.

    Attributes:
        targets: T of each sentence that was measured, by its number; without empty tokens.
        nll: sum of -log P(T | Z, X), nats.
        input: sum of log Q(Z | X) - log P(Z | X), nats.
        tokens: of the targets that Z and T are made from.
    """

    targets: dict[int, list[int]]
    nll: float
    input: float
    tokens: int


def losses(nll: float, input: float, tokens: int, bleu: float, beta: float) -> dict[str, float]:
    """The four losses.

    Args:
        nll: sum over a text, nats.
        input: the same of log Q(Z | X) - log P(Z | X).
        tokens: of the text.
        bleu: mean of S(Y, T), 0 to 100.
        beta: weight of S.
    """
    l_nat, l_input, l_target = nll / max(tokens, 1), input / max(tokens, 1), -beta * bleu
    return {
        "l_nat": l_nat,
        "l_input": l_input,
        "l_target": l_target,
        "l_mple": l_nat + l_input + l_target,
    }


def log_proxy_input(method: str, masked: Tensor, real: Tensor) -> Tensor:
    """log Q(Z | X) of the masks of a proxy input, nats, [B].

    With l of N tokens masked at evenly drawn positions it is -log binomial(N, l); to that comes the
    logarithm of the probability of l where the method draws it evenly. A glance counts what it gets
    wrong, so that l is no news; the Poisson distribution that may be between is left out.

    Args:
        method: name of the proxy input.
        masked: real positions that show MASK, [B, T].
        real: [B, T].
    """
    number, total = (each.sum(1).double() for each in (masked, real))
    factorials = [torch.lgamma(each + 1) for each in (total, number, total - number)]
    found = factorials[1] + factorials[2] - factorials[0]
    if method == "random_mask":
        found = found - total.clamp(min=1).log()
    elif method == "random_reveal":
        # 0 to N are drawn, but at least one stays masked
        found = found - torch.where(number.eq(1), (total + 1) / 2, total + 1).log()
    return found


@torch.no_grad()
def measure(
    objective: Objective,
    method: str,
    model: Transformer,
    sources: analysis.Sentences,
    targets: analysis.Sentences,
    batch_tokens: int,
) -> Proxy:
    """Run an objective over a text as training does, but without dropout.

    Args:
        objective: in training mode, so that it consults its teacher.
        method: name of its proxy input.
        model: in evaluation mode.
        sources: of the text.
        targets: what the method is to be trained on there.
        batch_tokens: most tokens of a batch.
    """
    found: dict[int, list[int]] = {}
    nll = input_ = 0.0
    tokens = 0
    for batch in analysis.pair_batches(model, sources, targets, batch_tokens):
        loss = objective(model, batch, objective.updates)
        nll += float(loss.parts["nll"].double().sum())
        # a pair that no alignment fits has no loss
        kept = loss.positions.gt(0)
        tokens += int(batch.target_lengths[kept].sum())
        if "kl" in loss.parts:
            input_ += float(loss.parts["kl"].double().sum())
        if "input" in loss.parts:
            _, shown = proxy_input(objective, model, batch)
            masked, real = shown.tokens.eq(MASK), ~shown.padding
            input_ += float(loss.parts["input"].double().sum())
            input_ += float(log_proxy_input(method, masked & real, real).sum())
        learnt = batch.target
        if hasattr(objective.target, "proxy_target"):
            learnt = objective.target.proxy_target(*proxy_input(objective, model, batch))
        for number, row in zip(batch.ids[kept].tolist(), learnt[kept].tolist(), strict=True):
            found[number] = [token for token in row if token not in (PAD, BLANK)]
    return Proxy(found, nll, input_, tokens)


def proxy_input(
    objective: Objective, model: Transformer, batch: Batch
) -> tuple[Step, DecoderInput]:
    """Z as the objective has it at the end of training, of a batch."""
    encoded, update = model.encode(batch.source), objective.updates
    if model.latents is not None:
        posterior = model.posterior(encoded, batch.target)
        encoded = model.with_latents(encoded, posterior.draw(objective.seed, update, batch.ids))
    step = Step(model, batch, encoded, objective.seed, update, teacher=objective.teacher)
    shown = objective.input(step)
    if isinstance(shown, tuple):
        raise ValueError("a proxy input of several tasks has no single loss")
    return step, shown


def analyse(configuration: Configuration, corpus: str, system: str, seed: int) -> dict[str, Any]:
    """Measure the four losses of a system on every split but the training text.

    Of a split without several references, the one that it has is Y; the raw text then has the
    distortion of an identical text. `left_out` counts pairs that cannot be measured.

    Raises:
        UserError: if the system is not parallel, has a choice of texts, or does not fit; or if it
            masks its input, and no input predictor says how hard the masks are to predict.
    """
    _check(configuration, system)
    found = analysis.subject(configuration, corpus, system, seed)
    named = found.training["teacher"]
    teacher = None
    if named is not None:
        path = Path("results/models") / corpus / named["system"] / f"seed{named['seed']}/model.pt"
        teacher = matching_model(
            path, configuration, corpus, named["system"], len(found.vocabulary)
        )
    objective = Objective(found.training, found.model, seed, bfloat16=False, teacher=teacher)
    objective.train()
    found.model.eval()
    description = configuration.corpus(corpus)
    splits = {}
    for split in found.splits:
        targets: analysis.Sentences = split.targets
        path = texts_of(configuration, corpus, system, split.name)
        if path is not None:
            targets = _encoded(path, found.vocabulary, len(split.sources))
        proxy = measure(
            objective,
            found.training["input"]["method"],
            found.model,
            split.sources,
            targets,
            found.batch_tokens,
        )
        references = _references(corpus, description, split.name, len(split.sources))
        covered = [number for number in sorted(proxy.targets) if number in references]
        if not covered:
            raise UserError(f"{corpus}: no sentence of the split '{split.name}' can be measured")
        tokeniser = description["preprocessing"]["tokeniser"]
        _, target = sides(description)
        texts = [
            detokenise(merge(found.vocabulary.decode(proxy.targets[number])), target, tokeniser)
            for number in covered
        ]
        several = [references[number] for number in covered]
        bleu = float(likeness([texts], several).references.mean())
        values = losses(proxy.nll, proxy.input, proxy.tokens, bleu, BETA) | {"target_bleu": bleu}
        splits[split.name] = {
            "sentences": len(proxy.targets),
            "left_out": len(split.sources) - len(proxy.targets),
            "sentences_with_references": len(covered),
            "references_per_sentence": round(sum(map(len, several)) / len(several), 2),
            "tokens": proxy.tokens,
            "beta": BETA,
            "measures": analysis.measures(values, UNITS),
        }
    return {"splits": splits}


def texts_of(configuration: Configuration, corpus: str, system: str, split: str) -> Path | None:
    """The translations of a split that stand for what a system learns; None for raw text."""
    [text] = candidates(configuration.training(corpus, system)["text"])
    if text.system is None:
        return None
    folder = Path("results/outputs") / corpus / text.system / f"seed{text.seed}"
    return folder / str(text.decoding) / f"{split}.jsonl"


def _check(configuration: Configuration, system: str) -> None:
    file, description = f"config/systems/{system}.yaml", configuration.system(system)
    if configuration.order(system) != "parallel":
        raise UserError(f"{file}: the losses of MPLE are those of a parallel system")
    if description["text"] != RAW and "distilled" not in description["text"]:
        raise UserError(
            f"{file}: key 'text': the losses of MPLE are of one text, raw or distilled, not of a "
            "choice; take the system out of that table or figure"
        )
    reveals = configuration.input_traits(system)["reveals_tokens"]
    if reveals and not configuration.decoder(system)["input_predictor"]:
        raise UserError(
            f"{file}: key 'decoder.input_predictor': {description['input']['method']} reveals "
            "tokens, and L_input needs a model that has learnt to predict them; set it to true, "
            "with a 'teacher', and train the system again"
        )


def _encoded(path: Path, vocabulary: Vocabulary, sentences: int) -> list[np.ndarray]:
    rows = list(read_in_order(path))
    if len(rows) != sentences:
        raise UserError(
            f"{path} has {len(rows)} translations but the split has {sentences} sentences; remove "
            "the translations and decode again"
        )
    return [np.array(vocabulary.encode(row["tokens"]), dtype=np.int64) for row in rows]


def _references(
    corpus: str, description: dict[str, Any], split: str, sentences: int
) -> dict[int, list[str]]:
    files = reference_files(corpus, description, split)
    if files.references is not None:
        return read_references(files.references, sentences)
    return {number: [line] for number, line in enumerate(read_lines(files.reference))}
