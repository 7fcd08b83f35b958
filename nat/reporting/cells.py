"""What can be reported of a system: measures, and the files that hold them.

A measure comes from one of three sources: the score file of a decoding, the record of a training,
or an analysis of a model (`results/analyses`), which needs no decoding. Everything that is
reported is asked for by measure, so a new one is a line of `MEASURES`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nat.errors import UserError
from nat.files import read_json
from nat.measures.lengths import BUCKETS, LONG
from nat.reporting.training_runs import read_run

SCORE, TRAINING = "score", "training"
"""Sources of measures; any other source is the name of an analysis."""


@dataclass(frozen=True)
class Measure:
    """How a measure is named and printed, and where it comes from.

    `definition` is for footnotes. `source` is `score`, `training` or the name of an analysis of a
    model, a module of `nat/measures`.
    """

    label: str
    unit: str
    digits: int
    definition: str = ""
    source: str = SCORE

    @property
    def needs_decoding(self) -> bool:
        """Whether it is about translations rather than a model."""
        return self.source == SCORE


MEASURES = {
    "sacrebleu": Measure("sacreBLEU", "BLEU", 2),
    "tokenised_bleu": Measure("tokenised BLEU", "BLEU", 2),
    "multi_reference_bleu": Measure(
        "multi-ref. sacreBLEU", "BLEU", 2, "against all references that a sentence has"
    ),
    "chrf": Measure("chrF2", "chrF", 2),
    "brevity_penalty": Measure("brevity penalty", "ratio", 3, "of tokenised BLEU"),
    "length_ratio": Measure(
        "length ratio", "ratio", 3, "words of the translations / words of the reference"
    ),
    "repeated_tokens": Measure(
        "repeated words (%)", "%", 2, "words equal to the word directly before them"
    ),
    "tokenised_bleu_long": Measure(
        "tokenised BLEU, long", "BLEU", 2, f"sentences of at least {LONG} source words"
    ),
    **{
        f"tokenised_bleu_bucket_{number}": Measure(
            f"tokenised BLEU, fifth {number}",
            "BLEU",
            2,
            f"fifth {number} of {BUCKETS} of the test set by target length, the longest last",
        )
        for number in range(1, BUCKETS + 1)
    },
    "best_validation_bleu": Measure(
        "best validation BLEU", "BLEU", 2, "of one checkpoint, in training", TRAINING
    ),
    "updates": Measure("updates", "updates", 0, "until training ended", TRAINING),
    "collapsed": Measure(
        "collapsed", "", 0, "1: training gave the model up or lost what it knew", TRAINING
    ),
    **{
        f"length_accuracy_{classes}": Measure(
            f"length accuracy, top {classes} (%)",
            "%",
            2,
            f"sentences whose likeliest length is off by at most {classes // 2} tokens",
            "length_accuracy",
        )
        for classes in (1, 3, 5)
    },
    "nll": Measure(
        "NLL (nats)", "nats", 3, "own objective, per position of the raw reference", "likelihood"
    ),
    "nll_bits": Measure(
        "NLL (bits)", "bits", 3, "own objective, per position of the raw reference", "likelihood"
    ),
    "l_nat": Measure("L_NAT", "nats", 3, "of the proxy target, per target token", "mple"),
    "l_target": Measure("L_target", "", 3, "-0.2 * sentence BLEU of the proxy target", "mple"),
    "l_input": Measure("L_input", "nats", 3, "of the proxy input, per target token", "mple"),
    "l_mple": Measure("L_MPLE", "", 3, "L_NAT + L_target + L_input", "mple"),
    "confidence": Measure(
        "confidence", "nats", 3, "mean largest log-probability of a pass over masks", "confidence"
    ),
    "confidence_sampled": Measure(
        "confidence, input sampling", "nats", 3, "mean log-probability of a token", "confidence"
    ),
    "normalised_entropy": Measure(
        "normalised entropy", "ratio", 3, "of the positions of a pass over masks", "confidence"
    ),
    "state_cosine": Measure(
        "cosine of states", "cosine", 3, "mean over pairs of positions", "state_similarity"
    ),
    "state_cosine_neighbours": Measure(
        "cosine of neighbours", "cosine", 3, "states of adjacent positions", "state_similarity"
    ),
    **{
        f"state_cosine_below_{limit}": Measure(
            f"cosines below {limit} (%)", "%", 1, "of all pairs of positions", "state_similarity"
        )
        for limit in ("0.25", "0.5")
    },
    "latent_effective_dimension": Measure(
        "effective dimension", "dimensions", 0, "95% of the variance", "latent_components"
    ),
    **{
        f"latent_component_{number}": Measure(
            f"component {number} (%)", "%", 1, "of the latents' variance", "latent_components"
        )
        for number in range(1, 9)
    },
    "latent_moved": Measure(
        "moved latents (%)", "%", 1, "assigned to another position", "latent_assignment"
    ),
}


ANALYSES = sorted({measure.source for measure in MEASURES.values()} - {SCORE, TRAINING})
"""Analyses of a model, each a module of `nat/measures` with a function `analyse`."""


@dataclass(frozen=True)
class Cell:
    """One number, for one seed; `decoding` is empty where a measure needs none."""

    corpus: str
    system: str
    seed: int
    decoding: str
    split: str
    measure: str

    @property
    def source(self) -> str:
        """Where the number comes from, see `Measure`."""
        known = MEASURES.get(self.measure)
        return known.source if known else SCORE

    @property
    def score_path(self) -> str:
        """The file that holds the number."""
        if self.source == TRAINING:
            return self.training_path
        if self.source == SCORE:
            return f"results/scores/{self._folder}/{self.split}.json"
        return f"results/analyses/{self.corpus}/{self.system}/seed{self.seed}/{self.source}.json"

    @property
    def statistics_path(self) -> str:
        """What the number of a score is computed from, see `nat.measures.statistics`."""
        return f"results/scores/{self._folder}/{self.split}.npz"

    @property
    def hypotheses_path(self) -> str:
        """The translations behind a score."""
        return f"results/outputs/{self._folder}/{self.split}.jsonl"

    @property
    def training_path(self) -> str:
        """The record of the training of the model."""
        return f"results/models/{self.corpus}/{self.system}/seed{self.seed}/training.json"

    @property
    def _folder(self) -> str:
        return f"{self.corpus}/{self.system}/seed{self.seed}/{self.decoding}"


@dataclass(frozen=True)
class Measured:
    """A number from a file.

    `low` and `high` are its 95% bootstrap interval where it has one. `hits` has a digit 1 for each
    sentence that counts and 0 for each other, where the number is a share of sentences.
    """

    value: float
    low: float | None = None
    high: float | None = None
    signature: str = ""
    not_decoded: int = 0
    hits: str = ""


def measured(cell: Cell, root: Path) -> Measured | None:
    """Read the number of a cell below `root`; `None` if its corpus does not allow the measure.

    Raises:
        UserError: if the file is missing or damaged.
    """
    path = root / cell.score_path
    if cell.source == TRAINING:
        value = read_run(path).measure(cell.measure)
        return None if value is None else Measured(value)
    if cell.source == SCORE:
        content = read_score(path)
        found, lost = content["measures"].get(cell.measure), int(content["not_decoded"])
    else:
        found, lost = read_analysis(path, cell.split).get(cell.measure), 0
    if found is None:
        return None
    return Measured(
        value=float(found["value"]),
        low=found.get("low"),
        high=found.get("high"),
        signature=found.get("signature", ""),
        not_decoded=lost,
        hits=found.get("hits", ""),
    )


def read_score(path: Path) -> dict[str, Any]:
    """Read a score file.

    Raises:
        UserError: if the file is not JSON or not a score file.
    """
    content: dict[str, Any] = read_json(path)
    try:
        int(content["not_decoded"])
        _check_measures(content["measures"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a score file; remove it and run again") from error
    return content


def read_analysis(path: Path, split: str) -> Mapping[str, Any]:
    """The measures of an analysis on a split, by name; none if it was not made on that split.

    Raises:
        UserError: if the file is not JSON or not an analysis.
    """
    content = read_json(path)
    try:
        measures: dict[str, Any] = content["splits"].get(split, {}).get("measures", {})
        _check_measures(measures)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not an analysis; remove it and run again") from error
    return measures


def _check_measures(measures: Mapping[str, Any]) -> None:
    for found in measures.values():
        float(found["value"])
