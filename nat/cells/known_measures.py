"""Measures that can be reported, by name.

A measure comes from one of five sources: the score file of a decoding, the record of a training, a
latency, the total correlation of a pair of systems, or an analysis of a model, which needs no
decoding. Everything that is reported refers to a measure, so a new one is an entry of `MEASURES`.
`nat.measures.results` reads their numbers.
"""

from dataclasses import dataclass

from nat.measures.lengths import BUCKETS, LONG
from nat.measures.training_curve import FIFTHS

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

LAW_STEPS = (1, 2, 4, 8)
"""Steps after which outputs are compared with a known law, see `nat.analyses.known_law`."""

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
        source: one of `COORDINATES`, or the name of an analysis, a module of `nat/analyses`.
        setting: the default; empty if the measure has no settings, or if one must be given.
        relative: whether the number is that of a place over that of another, so that it takes two
            cells, see `nat.cells.differences`.
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

ANALYSES = sorted({measure.source for measure in MEASURES.values()} - set(COORDINATES))
"""Analyses of a model, each a module of `nat/analyses` with a function `analyse`.

Each has a module of the same name in `nat/analyses/needs`, too, see `nat.artifacts.Analysis`.
"""

TOYS = {measure.source for measure in MEASURES.values() if not measure.of_corpus}
"""Analyses that train a toy with the objective of a system; its model is not read."""
