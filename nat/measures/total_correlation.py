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
from nat.measures import bleu
from nat.measures.results import Measures

EXACT = {
    "exact_total_correlation": "given_length",
    "exact_total_correlation_padded": "padded",
    "parallel_excess": "parallel_excess",
    "autoregressive_excess": "autoregressive_excess",
}
"""Measures that are known for invented languages alone, and their keys here."""

PARTS = ("nll", "length")
"""Parts of the likelihood of a NAT; without a length predictor, only the first."""


def estimate_total_correlation(job: Job[Any]) -> None:
    """Estimate C from the likelihoods of two models, and write it."""
    parallel, autoregressive, summary = (
        read_json(Path(each.path)) for each in job.inputs.artifacts()
    )
    found = with_exact(estimate(parallel, autoregressive), summary)
    write_json(job.path, with_measures(found))


def estimate(parallel: Mapping[str, Any], autoregressive: Mapping[str, Any]) -> dict[str, Any]:
    """C of each split from the analyses `likelihood` of a NAT and an AT.

    Returns:
        For each split, C per token and per sentence, in nats and bits; it may be negative. `losses`
        are those of the whole split, nats. `by_sentence` has the difference of the losses in bits
        and the tokens of each sentence.

    Raises:
        UserError: if the two likelihoods are not of the same text.
    """
    if _measured(parallel) != _measured(autoregressive):
        raise UserError(
            f"likelihoods of {parallel['system']} and {autoregressive['system']} are not of the "
            "same sentences; analyse both again, with models of as many positions"
        )
    splits = {}
    for name, of_parallel in parallel["splits"].items():
        nat = sum(of_parallel["totals"].get(part, 0.0) for part in PARTS)
        at = autoregressive["splits"][name]["totals"]["nll"]
        splits[name] = {
            "sentences": of_parallel["sentences"],
            "tokens": of_parallel["tokens"],
            "per_token": _in_units((nat - at) / max(of_parallel["tokens"], 1)),
            "per_sentence": _in_units((nat - at) / max(of_parallel["sentences"], 1)),
            "losses": {"parallel": nat, "autoregressive": at},
            "by_sentence": _by_sentence(of_parallel, autoregressive["splits"][name]),
        }
    return {
        "corpus": parallel["corpus"],
        "parallel": parallel["system"],
        "autoregressive": autoregressive["system"],
        "seed": parallel["seed"],
        "splits": splits,
    }


def with_exact(found: dict[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """Add, for an invented language, the exact C of the same subwords, and what the models lose.

    `given_length` is C for a parallel model that predicts the length and knows it, `padded` for one
    that makes nothing of it (`nat.data.invented.law`). The estimate is the first of them +
    `parallel_excess`, by which the loss of the NAT is above its optimum, minus
    `autoregressive_excess`, by which that of the AT is above H(Y|X). The optima are expectations
    over targets, the losses those of the drawn ones, so the excesses of a small split are noisy.

    Args:
        found: from `estimate`.
        summary: the corpus as `corpus.json` describes it.
    """
    for name, split in found["splits"].items():
        exact = summary.get("entropies", {}).get(name, {}).get("subwords")
        if exact is None:
            continue
        optimum = exact["length"] + exact["given_length"]
        sentences, joint = max(split["sentences"], 1), exact["joint"]
        per_sentence = {
            "given_length": optimum - joint,
            "padded": exact["padded"] - joint,
            "parallel_excess": split["losses"]["parallel"] / sentences - optimum,
            "autoregressive_excess": split["losses"]["autoregressive"] / sentences - joint,
        }
        tokens = max(split["tokens"], 1)
        split["exact_per_sentence"] = {
            kind: _in_units(value) for kind, value in per_sentence.items()
        }
        split["exact_per_token"] = {
            kind: _in_units(value * sentences / tokens) for kind, value in per_sentence.items()
        }
    return found


def with_measures(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same with its numbers by split, see `nat.measures.results`."""
    moved = ("per_token", "exact_per_token", "by_sentence")
    splits = {
        name: {key: value for key, value in split.items() if key not in moved}
        for name, split in found["splits"].items()
    }
    numbers = {name: _numbers(split) for name, split in found["splits"].items()}
    return {"measures": numbers, **found, "splits": splits}


def _numbers(split: Mapping[str, Any]) -> Measures:
    exact = split.get("exact_per_token", {})
    return {
        "total_correlation": {
            "value": split["per_token"]["bits"],
            "by_sentence": split["by_sentence"],
        },
        "total_correlation_nats": {"value": split["per_token"]["nats"]},
        **{name: {"value": exact[key]["bits"]} for name, key in EXACT.items() if key in exact},
    }


def check(configuration: Configuration, corpus: str, parallel: str, autoregressive: str) -> None:
    """Refuse models that were not trained on raw text by maximum likelihood.

    Raises:
        UserError: naming the file and the key.
    """
    for system, method in ((parallel, "full_mask"), (autoregressive, "previous_tokens")):
        training = configuration.training(corpus, system)
        for key, found, expected in (
            ("input", training.input.method, method),
            ("target", training.target.method, "cross_entropy"),
        ):
            if found != expected:
                where = configuration.file_of("systems", system)
                raise UserError(
                    f"{where}: key '{key}.method': found {found}, expected {expected} for a total "
                    "correlation"
                )
        if training.text.kind != RAW:
            where = configuration.file_of("systems", system)
            raise UserError(
                f"{where}: key 'text': the total correlation is that of the "
                "raw text; use a system trained on it"
            )


def _measured(likelihood: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The corpus, and the numbers and tokens of the sentences of each split."""
    rows = {name: split["by_sentence"] for name, split in likelihood["splits"].items()}
    return likelihood["corpus"], {
        name: (each["numbers"], each["tokens"]) for name, each in rows.items()
    }


def _by_sentence(parallel: Mapping[str, Any], autoregressive: Mapping[str, Any]) -> dict[str, Any]:
    of_nat, of_at = parallel["by_sentence"], autoregressive["by_sentence"]
    pairs = zip(of_nat["sums"], of_at["sums"], strict=True)
    bits = [round((nat - at) / math.log(2), bleu.DIGITS) for nat, at in pairs]
    return {**of_nat, "sums": bits}


def _in_units(nats: float) -> dict[str, float]:
    return {
        "nats": round(nats, bleu.DIGITS),
        "bits": round(nats / math.log(2), bleu.DIGITS),
    }
