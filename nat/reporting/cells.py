"""Measures that can be reported, and the files that contain them.

A measure comes from one of five sources: the score file of a decoding, the record of a training, a
latency, the total correlation of a pair of systems, or an analysis of a model, which needs no
decoding. Everything that is reported refers to a measure, so a new one is an entry of `MEASURES`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nat.artifacts import (
    Analysis,
    Artifact,
    Latency,
    Score,
    Statistics,
    TotalCorrelation,
    TrainingCurve,
    TrainingRecord,
    Translations,
)
from nat.checksums import remedy
from nat.errors import UserError
from nat.files import read_json
from nat.measures.latency_setting import STATE, parse_setting
from nat.measures.lengths import BUCKETS, LONG
from nat.reporting.training_runs import FIFTHS, read_run

SCORE, TRAINING, LATENCY, PAIR = "score", "training", "latency", "total_correlation"
"""Sources of measures; any other source is the name of an analysis."""

SPEED_UP = "speed_up"
"""The measure that compares two latencies."""

COORDINATES = {
    SCORE: ("decoding", "split"),
    TRAINING: (),
    LATENCY: ("decoding", "setting"),
    PAIR: ("partner", "split"),
}
"""What a cell of a source names besides system, seed, task and measure; of an analysis the split.

The setting of a latency is a device and a batch, as in `cpu-1` or `cuda-largest`. The partner of a
total correlation is an autoregressive system.
"""

BETA = "0.2"
"""Default setting of L_target and L_MPLE: beta, the weight of BLEU (Huang et al. 2022,
section 4: 0.2 for WMT14 En-De, 0.25 for WMT17 Zh-En)."""

CANDIDATES = 5
"""Most texts that a system of dynamic distillation chooses among."""

TIMES = "milliseconds_per_sentence"
"""Key of the times in the file of a latency."""

LAW_STEPS = (1, 2, 4, 8)
"""Steps after which outputs are compared with a known law, see `nat.measures.known_law`."""

VALIDATION = "valid"
"""The split of L_NAT and L_input in L_MPLE, as in the paper (section 4)."""


@dataclass(frozen=True)
class Measure:
    """The name, format and source of a measure.

    Attributes:
        label: in headings.
        unit: of the number.
        digits: after the decimal point.
        definition: for footnotes.
        source: one of `COORDINATES`, or the name of an analysis, a module of `nat/measures`.
        setting: the default; empty if the measure has no settings, or if one must be given.
        relative: whether the number is that of a place over that of another, so that it takes two
            cells, see `nat.reporting.differences`.
        counted: whether it is counted in a training rather than estimated.
        of_corpus: whether it depends on the corpus of its task; what does not has no stand-in.
        known_law: whether it is defined on invented languages alone, which then stand for no other
            corpus.
    """

    label: str
    unit: str
    digits: int
    definition: str = ""
    source: str = SCORE
    setting: str = ""
    relative: bool = False
    counted: bool = False
    of_corpus: bool = True
    known_law: bool = False

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What a cell must name besides system, seed, task and measure."""
        return COORDINATES.get(self.source, ("split",))


AGAINST_SEVERAL = (
    "against all references that a sentence has; those of an invented language are its correct "
    "translations, without noise"
)
"""The definition of BLEU with several references."""

MEASURES = {
    "sacrebleu": Measure("sacreBLEU", "BLEU", 2),
    "tokenised_bleu": Measure("tokenised BLEU", "BLEU", 2),
    "multi_reference_bleu": Measure("multi-ref. sacreBLEU", "BLEU", 2, AGAINST_SEVERAL),
    "multi_reference_tokenised_bleu": Measure(
        "multi-ref. tokenised BLEU", "BLEU", 2, AGAINST_SEVERAL
    ),
    "chrf": Measure("chrF2", "chrF", 2),
    "brevity_penalty": Measure("brevity penalty", "ratio", 3, "of tokenised BLEU"),
    "sacrebleu_brevity_penalty": Measure("brevity penalty, sacreBLEU", "ratio", 3, "of sacreBLEU"),
    "length_ratio": Measure(
        "length ratio", "ratio", 3, "words of the translations / words of the reference"
    ),
    "repeated_tokens": Measure(
        "repeated words (%)", "%", 2, "words equal to the word directly before them"
    ),
    "passes": Measure("passes", "passes", 1, "of the decoder, mean over sentences"),
    **{
        f"{measure}_long": Measure(
            f"{label}, long", "BLEU", 2, f"sentences of at least {LONG} source words"
        )
        for measure, label in (
            ("tokenised_bleu", "tokenised BLEU"),
            ("multi_reference_bleu", "multi-ref. sacreBLEU"),
        )
    },
    **{
        f"{measure}_bucket_{number}": Measure(
            f"{label}, fifth {number}",
            "BLEU",
            2,
            f"fifth {number} of {BUCKETS} of the test set by target length, the longest last",
        )
        for measure, label in (
            ("tokenised_bleu", "tokenised BLEU"),
            ("multi_reference_bleu", "multi-ref. sacreBLEU"),
        )
        for number in range(1, BUCKETS + 1)
    },
    "best_validation_bleu": Measure(
        "best validation BLEU", "BLEU", 2, "of one checkpoint, in training", TRAINING
    ),
    "updates": Measure("updates", "updates", 0, "until training ended", TRAINING, counted=True),
    "epochs": Measure("epochs", "epochs", 1, "until training ended", TRAINING, counted=True),
    "training_tokens": Measure(
        "tokens", "tokens", 0, "target tokens seen in training", TRAINING, counted=True
    ),
    "training_seconds": Measure("seconds", "s", 0, "from start to end of training", TRAINING),
    "parameters": Measure("parameters", "", 0, "numbers that are trained", TRAINING, counted=True),
    "million_parameters": Measure(
        "parameters (M)", "M", 2, "numbers that are trained, in millions", TRAINING, counted=True
    ),
    "parameter_share": Measure(
        "parameters (%)",
        "%",
        1,
        "numbers that are trained, as a share of those of the other system",
        TRAINING,
        relative=True,
    ),
    "model_dim": Measure("model dim.", "", 0, source=TRAINING, counted=True),
    "ffn_dim": Measure("FFN dim.", "", 0, source=TRAINING, counted=True),
    "layers": Measure("layers", "", 0, "of the decoder", TRAINING, counted=True),
    "heads": Measure("heads", "", 0, source=TRAINING, counted=True),
    "dropout": Measure("dropout", "", 1, source=TRAINING, counted=True),
    **{
        f"candidate_{number}_share": Measure(
            f"candidate {number} (%)", "%", 1, "of what was learned", TRAINING
        )
        for number in range(1, CANDIDATES + 1)
    },
    **{
        f"candidate_{number}_share_fifth_{fifth}": Measure(
            "share of the training (%)", "%", 1, f"candidate {number}, fifth {fifth}", TRAINING
        )
        for number in range(1, CANDIDATES + 1)
        for fifth in range(1, FIFTHS + 1)
    },
    "collapsed": Measure(
        "collapsed",
        "",
        0,
        "1: training gave the model up or lost what it knew",
        TRAINING,
        counted=True,
    ),
    "epochs_held": Measure(
        "epochs before a collapse",
        "epochs",
        2,
        "all of them if there was none",
        TRAINING,
        counted=True,
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
    "l_nat": Measure("L_NAT", "bits", 3, "of the proxy target, per target token", "mple"),
    "l_nat_nats": Measure("L_NAT", "nats", 3, "of the proxy target, per target token", "mple"),
    "l_target": Measure(
        "L_target", "", 3, "-beta * sentence BLEU of the proxy target", "mple", setting=BETA
    ),
    "l_input": Measure("L_input", "bits", 3, "of the proxy input, per target token", "mple"),
    "l_input_nats": Measure("L_input", "nats", 3, "of the proxy input, per target token", "mple"),
    "l_mple": Measure(
        "L_MPLE",
        "",
        3,
        "L_NAT and L_input of the validation set, in bits, and L_target",
        "mple",
        setting=BETA,
    ),
    "target_bleu": Measure(
        "BLEU of the target", "BLEU", 2, "sentence BLEU of the proxy target", "mple"
    ),
    **{
        f"reference_bleu_{which}": Measure(
            f"sentence BLEU, {which}", "BLEU", 2, "of the learned text", "reference_distances"
        )
        for which in ("nearest", "mean", "farthest")
    },
    "plane_log_likelihood": Measure(
        "log-likelihood", "nats", 3, "per position of the raw reference", "weight_plane"
    ),
    "plane_bleu": Measure("BLEU", "BLEU", 2, "tokenised, of one pass", "weight_plane"),
    "perplexity_ratio": Measure(
        "ratio of perplexities", "x", 2, "over that of maximum likelihood", "weight_plane"
    ),
    "two_modes_kl": Measure(
        "KL from the law", "bits", 2, "to the model", "two_modes", of_corpus=False
    ),
    "two_modes_mixed": Measure(
        "mixed modes (%)", "%", 1, "values of both modes together", "two_modes", of_corpus=False
    ),
    "total_correlation": Measure(
        "C", "bits", 3, "conditional total correlation, per target token", PAIR
    ),
    "total_correlation_nats": Measure(
        "C", "nats", 3, "conditional total correlation, per target token", PAIR
    ),
    "exact_total_correlation": Measure(
        "exact C", "bits", 3, "per subword, for a model that knows the length", PAIR
    ),
    "exact_total_correlation_padded": Measure(
        "exact C, padded", "bits", 3, "per subword, for a model that does not use the length", PAIR
    ),
    "parallel_excess": Measure(
        "excess of the NAT", "bits", 3, "how far its loss is above the least one, per subword", PAIR
    ),
    "autoregressive_excess": Measure(
        "excess of the AT", "bits", 3, "how far its loss is above H(Y|X), per subword", PAIR
    ),
    "latency": Measure("latency", "ms", 2, "a sentence, median of the repeats", LATENCY),
    "latency_mean": Measure("latency", "ms", 2, "a sentence, mean of the repeats", LATENCY),
    "latency_quartile_1": Measure(
        "latency, 1st quartile", "ms", 2, "a sentence, of the repeats", LATENCY
    ),
    "latency_quartile_3": Measure(
        "latency, 3rd quartile", "ms", 2, "a sentence, of the repeats", LATENCY
    ),
    "decoding_seconds": Measure(
        "time", "s", 1, "of the whole test set, mean of the repeats", LATENCY
    ),
    "words_per_second": Measure(
        "words/s", "words/s", 0, "of the source, in the median time of the repeats", LATENCY
    ),
    "model_size": Measure(
        "size", "MB", 1, "of the files with weights that the engine opens", LATENCY
    ),
    "memory": Measure(
        "memory", "MB", 0, "peak of loading the model and translating a sentence", LATENCY
    ),
    SPEED_UP: Measure(
        "speed-up",
        "x",
        1,
        "median latency of the other system over its own",
        LATENCY,
        relative=True,
    ),
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
            f"share of the variance, component {number} (%)",
            "%",
            1,
            "of the latents, by principal component",
            "latent_components",
        )
        for number in range(1, 9)
    },
    **{
        f"two_orders_{output}": Measure(
            f"probability, {output} (%)",
            "%",
            1,
            "of a text with the sentences AB and BA",
            "two_orders",
            of_corpus=False,
        )
        for output in ("AB", "BA", "AA", "BB", "other")
    },
    "latent_moved": Measure(
        "moved latents (%)", "%", 1, "assigned to another position", "latent_assignment"
    ),
    **{
        f"changed_tokens_{steps}": Measure(
            f"tokens changed, {steps} steps (%)",
            "%",
            1,
            "by the passes of mask-predict after the first, with the likeliest length",
            "decoding_steps",
        )
        for steps in (4, 10)
    },
    **{
        f"{law}_{part}_{passes}": Measure(label, unit, 2, source=source, known_law=True)
        for law, source, counts in (
            ("law", "step_errors", (*LAW_STEPS, "all")),
            ("bound", "schedule_bounds", LAW_STEPS),
            ("even", "schedule_bounds", LAW_STEPS),
            ("random", "schedule_bounds", LAW_STEPS),
        )
        for part, label, unit in (
            ("kl", "KL from the law", "bits"),
            ("learning", "learning error", "bits"),
            ("factorisation", "factorisation error", "bits"),
            ("passes", "passes", "passes"),
        )
        for passes in counts
    },
    "law_length": Measure(
        "learning error of the length",
        "bits",
        2,
        "a sentence, of the length predictor",
        "step_errors",
        known_law=True,
    ),
    "shown_tokens": Measure(
        "tokens shown (%)", "%", 1, "to the decoder before a late pass", "shown_tokens"
    ),
    "right_shown_tokens": Measure(
        "shown tokens that are right (%)",
        "%",
        1,
        "in the reference, of which each token counts once",
        "shown_tokens",
    ),
}


AGAINST_ALL = {"sacrebleu": "multi_reference_bleu"} | {
    name: name.replace("tokenised_bleu", "multi_reference_bleu")
    for name in MEASURES
    if name.startswith("tokenised_bleu")
}
"""For each BLEU against one reference, the measure against all references of a sentence."""

EXACT = {
    "exact_total_correlation": "given_length",
    "exact_total_correlation_padded": "padded",
    "parallel_excess": "parallel_excess",
    "autoregressive_excess": "autoregressive_excess",
}
"""Measures of a pair that are known for invented languages alone, and their keys."""

ANALYSES = sorted({measure.source for measure in MEASURES.values()} - set(COORDINATES))
"""Analyses of a model, each a module of `nat/measures` with a function `analyse`."""

TOYS = {measure.source for measure in MEASURES.values() if not measure.of_corpus}
"""Analyses that train a toy with the objective of a system; its model is not read."""


@dataclass(frozen=True)
class Cell:
    """One number, for one seed; coordinates that its measure does not need are empty.

    Attributes:
        run: the run with the result, see `nat.configuration.Configuration.run`.
        group: of a latency, the table or figure whose systems are measured together.
        timed: of a latency, what is measured together, see `nat.artifacts.Latency`.
    """

    run: str
    corpus: str
    system: str
    seed: int
    decoding: str
    split: str
    measure: str
    setting: str = ""
    partner: str = ""
    group: str = ""
    timed: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where the number comes from, see `Measure`."""
        known = MEASURES.get(self.measure)
        return known.source if known else SCORE

    @property
    def result(self) -> Artifact:
        """The artefact with the number."""
        if self.source == TRAINING:
            return self.record
        if self.source == SCORE:
            return Score(*self._names, self.decoding, self.split)
        if self.source == LATENCY:
            where = self.run, self.corpus, self.group, self.seed, self.setting
            return Latency(*where, self.timed)
        if self.source == PAIR:
            return TotalCorrelation(self.run, self.corpus, self.system, self.partner, self.seed)
        return Analysis(*self._names, self.source)

    @property
    def timed_name(self) -> str:
        """The name of a latency in the file of its group."""
        return f"{self.system}/{self.decoding}"

    @property
    def results(self) -> list[Artifact]:
        """The artefacts that are read for the number, including the curve of a training."""
        return self.of_training if self.source == TRAINING else [self.result]

    @property
    def translations(self) -> Translations:
        """What a score was measured on."""
        return Translations(*self._names, self.decoding, self.split)

    @property
    def statistics(self) -> Statistics:
        """What the number of a score is computed from, see `nat.measures.statistics`."""
        return Statistics(*self._names, self.decoding, self.split)

    @property
    def record(self) -> TrainingRecord:
        """The record of the training of the model."""
        return TrainingRecord(*self._names)

    @property
    def of_training(self) -> list[Artifact]:
        """The record and the curve of the training of the model; of a toy there are none."""
        if self.source in TOYS:
            return []
        return [self.record, TrainingCurve(*self._names)]

    @property
    def score_path(self) -> str:
        """The file that holds the number."""
        return self.result.path

    @property
    def translations_path(self) -> str:
        """The translations behind a score."""
        return self.translations.path

    @property
    def _names(self) -> tuple[str, str, str, int]:
        return self.run, self.corpus, self.system, self.seed


@dataclass(frozen=True)
class Measured:
    """A number from a file.

    `low` and `high` are its 95% bootstrap interval, if any, or the quartiles of a time. If the
    number is a share of sentences, `hits` has a digit 1 for each sentence that counts and 0 for the
    others. If it is a ratio of sums over sentences, `by_sentence` has both terms of each sentence,
    by its number. `flags` says what makes the translations or their model suspicious.
    """

    value: float
    low: float | None = None
    high: float | None = None
    signature: str = ""
    not_decoded: int = 0
    hits: str = ""
    by_sentence: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def measured(cell: Cell, root: Path) -> Measured | None:
    """Read the number of a cell in `root`; `None` if there is none, see `state`.

    Raises:
        UserError: if the file is missing or damaged.
    """
    path = root / cell.score_path
    if cell.source == TRAINING:
        relative = MEASURES[cell.measure].relative
        value = None if relative else read_run(path).measure(cell.measure)
        return None if value is None else Measured(value)
    if cell.source == LATENCY:
        return _of_latency(cell, path)
    if cell.source == PAIR:
        return _of_pair(cell, path)
    if cell.source == SCORE:
        content = read_score(path)
        found, lost = content["measures"].get(cell.measure), int(content["not_decoded"])
        flags = tuple(content.get("flags", ()))
    else:
        found, lost, flags = _of_analysis(cell, path), 0, ()
    if found is None:
        return None
    return Measured(
        value=float(found["value"]),
        low=found.get("low"),
        high=found.get("high"),
        signature=found.get("signature", ""),
        not_decoded=lost,
        hits=found.get("hits", ""),
        by_sentence=_by_sentence(found),
        flags=flags,
    )


def state(cell: Cell, root: Path) -> str:
    """The reason in the file of a cell why it has no number; otherwise empty.

    Raises:
        UserError: if the file is missing or damaged.
    """
    if cell.source != LATENCY:
        return ""
    return str(read_latency(root / cell.score_path, cell.timed_name).get(STATE, ""))


def check_setting(measure: str, setting: str) -> None:
    """Refuse a setting that a measure cannot have.

    Raises:
        UserError: naming what was expected.
    """
    known = MEASURES[measure]
    if known.source == LATENCY:
        parse_setting(setting)
    elif known.setting:
        beta_of(setting)
    elif setting:
        raise UserError(f"setting: found '{setting}', but the measure '{measure}' has no settings")


def beta_of(setting: str) -> float:
    """The weight of BLEU in L_target, positive.

    Raises:
        UserError: for any other setting.
    """
    try:
        beta = float(setting or BETA)
    except ValueError:
        beta = math.nan
    if not 0 < beta < math.inf:
        raise UserError(f"setting: found '{setting}', expected beta, a number above 0 such as 0.25")
    return beta


def _of_latency(cell: Cell, path: Path) -> Measured | None:
    content = read_latency(path, cell.timed_name)
    if STATE in content or MEASURES[cell.measure].relative:
        return None
    times = content[TIMES]
    median, mean, low, high = (
        float(times[name]) for name in ("median", "mean", "quartile_1", "quartile_3")
    )

    def seconds(milliseconds: float) -> float:
        return milliseconds * float(content["sentences_of_split"]) / 1000

    def words(milliseconds: float) -> float:
        return 1000 * float(content["source_words_per_sentence"]) / milliseconds

    values: dict[str, Callable[[], Measured | None]] = {
        "latency": lambda: Measured(median, low, high),
        "latency_mean": lambda: Measured(mean, low, high),
        "latency_quartile_1": lambda: Measured(low),
        "latency_quartile_3": lambda: Measured(high),
        "decoding_seconds": lambda: Measured(seconds(mean), seconds(low), seconds(high)),
        "words_per_second": lambda: Measured(words(median), words(high), words(low)),
        "model_size": lambda: Measured(content["model_bytes"] / 1e6),
        "memory": lambda: (
            Measured(content["memory_bytes"] / 1e6) if content["memory_bytes"] else None
        ),
    }
    try:
        return values[cell.measure]()
    except KeyError as error:
        raise UserError(f"{path} has no {error}; remove it and run again") from error


def _of_pair(cell: Cell, path: Path) -> Measured | None:
    content = read_json(path)
    unit = MEASURES[cell.measure].unit
    exact = EXACT.get(cell.measure)
    try:
        split = content["splits"].get(cell.split)
        if split is None or (exact is not None and "exact_per_token" not in split):
            return None
        found = split["per_token"] if exact is None else split["exact_per_token"][exact]
        ratio = exact is None and unit == "bits"
        return Measured(float(found[unit]), by_sentence=_by_sentence(split) if ratio else {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a total correlation; {remedy(path)}") from error


def _by_sentence(found: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    given = found.get("by_sentence")
    if given is None:
        return {}
    # files of earlier versions have no numbers
    numbers = given.get("numbers", range(len(given["sums"])))
    pairs = zip(given["sums"], given["tokens"], strict=True)
    return dict(zip(numbers, pairs, strict=True))


def _of_analysis(cell: Cell, path: Path) -> Mapping[str, Any] | None:
    found = read_analysis(path, cell.split)
    if cell.measure not in ("l_target", "l_mple") or "target_bleu" not in found:
        return found.get(cell.measure)
    value = -beta_of(cell.setting) * float(found["target_bleu"]["value"])
    if cell.measure == "l_mple":
        held_out = read_analysis(path, VALIDATION)
        value += sum(float(held_out[name]["value"]) for name in ("l_nat", "l_input"))
    return {"value": value}


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
        raise UserError(f"{path} is not a score file; {remedy(path)}") from error
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
        raise UserError(f"{path} is not an analysis; {remedy(path)}") from error
    return measures


def read_latency(path: Path, name: str) -> dict[str, Any]:
    """Read what a file of latencies says of one decoding and of all.

    Args:
        path: of the file.
        name: of the decoding, as in `at-base/beam5`.

    Raises:
        UserError: if the file is not JSON, or not one of latencies with this one.
    """
    content: dict[str, Any] = read_json(path)
    try:
        if STATE in content:
            return content
        found: dict[str, Any] = content["systems"][name]
        if STATE not in found:
            times = found[TIMES]
            [float(times[each]) for each in ("median", "mean", "quartile_1", "quartile_3")]
            [float(value) for value in times["repeats"]]
            int(content["sentences_of_split"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a latency of {name}; {remedy(path)}") from error
    return {key: content[key] for key in content if key != "systems"} | found


def _check_measures(measures: Mapping[str, Any]) -> None:
    for found in measures.values():
        float(found["value"])
