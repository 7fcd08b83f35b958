"""Conditional total correlation of a text: how much its target tokens depend on each other.

C = sum over i of H(y_i | X) - H(Y | X) (Huang et al. 2022, "MPLE", section 2.3). No
non-autoregressive model can be closer to the text than this. As the distribution of the text is not
known, the paper uses V-entropies (Xu et al. 2020) in the family of its models, the negative
log-likelihoods of a NAT and of an AT, both trained on the raw text by maximum likelihood.

Where the paper is ambiguous: C is the difference of negative log-likelihoods of whole sentences,
per target token of the corpus (a subword, EOS not counted). Neither model is given the length: the
likelihood of the AT includes EOS, that of the NAT includes its length predictor. The text is
held-out text, and the unit is the bit.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.configuration import Configuration
from nat.data.candidates import RAW
from nat.errors import UserError
from nat.files import read_json, write_json
from nat.job import Job
from nat.measures.results import DIGITS

PARTS = ("nll", "length")
"""Parts of the likelihood of a NAT; without a length predictor, only the first."""


def estimate_total_correlation(job: Job[Any]) -> None:
    """Estimate C from the likelihoods of two models, and write it."""
    contents = (read_json(Path(each.path)) for each in job.inputs.artifacts())
    names = {name: each for name, each in vars(job.artifact).items() if name != "run"}
    write_json(job.path, {**names, **estimate(*contents)})


def estimate(
    parallel: Mapping[str, Any], autoregressive: Mapping[str, Any], summary: Mapping[str, Any]
) -> dict[str, Any]:
    """C of each split from the analyses `likelihood` of a NAT and an AT, and `corpus.json`.

    C may be negative. Raises a `UserError` if the two likelihoods are not of the same text.
    """
    if _measured(parallel) != _measured(autoregressive):
        raise UserError(
            f"likelihoods of {parallel['system']} and {autoregressive['system']} are not of the "
            "same sentences; analyse both again, with models of as many positions"
        )
    measures, splits = {}, {}
    for name, of_parallel in parallel["splits"].items():
        other = autoregressive["splits"][name]
        nat = sum(of_parallel["totals"].get(part, 0.0) for part in PARTS)
        at = other["totals"]["nll"]
        sentences, tokens = max(of_parallel["sentences"], 1), max(of_parallel["tokens"], 1)
        exact = _exact(summary, name, nat / sentences, at / sentences)
        of_nat, of_at = of_parallel["by_sentence"], other["by_sentence"]
        bits = [_in_bits(p - q) for p, q in zip(of_nat["sums"], of_at["sums"], strict=True)]
        measures[name] = {
            "total_correlation": {
                "value": _in_bits((nat - at) / tokens),
                "by_sentence": {**of_nat, "sums": bits},
            },
            **{key: {"value": _in_bits(each * sentences / tokens)} for key, each in exact.items()},
        }
        splits[name] = {key: of_parallel[key] for key in ("sentences", "tokens")}
    return {
        "measures": measures,
        "corpus": parallel["corpus"],
        "parallel": parallel["system"],
        "autoregressive": autoregressive["system"],
        "seed": parallel["seed"],
        "splits": splits,
    }


def _exact(summary: Mapping[str, Any], split: str, nat: float, at: float) -> dict[str, float]:
    """The exact C of the same subwords of an invented language, and what the models lose, nats.

    C is that of a parallel model that predicts the length and knows it; padded, of one that makes
    nothing of it (`nat.data.invented.law`). The estimate is the first + `parallel_excess`, by which
    the loss of the NAT is above its optimum, minus `autoregressive_excess`, by which that of the AT
    is above H(Y|X). The optima are expectations over targets, the losses (`nat` and `at`, nats a
    sentence) those of the drawn ones, so the excesses of a small split are noisy.
    """
    entropies = summary.get("entropies", {}).get(split, {}).get("subwords")
    if entropies is None:
        return {}
    optimum, joint = entropies["length"] + entropies["given_length"], entropies["joint"]
    return {
        "exact_total_correlation": optimum - joint,
        "exact_total_correlation_padded": entropies["padded"] - joint,
        "parallel_excess": nat - optimum,
        "autoregressive_excess": at - joint,
    }


def check(configuration: Configuration, corpus: str, parallel: str, autoregressive: str) -> None:
    """Refuse, by a `UserError`, models not trained on raw text by maximum likelihood."""
    for system, method in ((parallel, "full_mask"), (autoregressive, "previous_tokens")):
        training = configuration.training(corpus, system)
        for key, given, expected in (
            ("input.method", training.input.method, method),
            ("target.method", training.target.method, "cross_entropy"),
            ("text", training.text.kind, RAW),
        ):
            if given != expected:
                raise UserError(
                    f"{configuration.file_of('systems', system)}: key '{key}': found {given}, "
                    f"expected {expected} for a total correlation"
                )


def _measured(likelihood: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The corpus, and the numbers and tokens of the sentences of each split."""
    rows = {name: split["by_sentence"] for name, split in likelihood["splits"].items()}
    measured = {name: (each["numbers"], each["tokens"]) for name, each in rows.items()}
    return likelihood["corpus"], measured


def _in_bits(nats: float) -> float:
    return round(nats / math.log(2), DIGITS)
