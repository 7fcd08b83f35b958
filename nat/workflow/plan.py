"""Estimates of a run: jobs, hours and disk space.

The jobs are those of a dry run, so they are exactly the ones still to be run. Hours are estimates:
for models, the tokens of the recipe, or sentences and passes of the decoder, divided by the speed
that the scale assumes (`speed`); for texts, their pairs divided by the speeds in docs/corpora.md.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from nat.artifacts import TIMED
from nat.configuration import Configuration
from nat.configuration.file_names import file_of
from nat.configuration.lengths import counts_epochs, estimated_tokens
from nat.configuration.models import Stage
from nat.data.corpus import number_of
from nat.data.splits import TRAIN, VALID, split_names
from nat.files import read_json
from nat.measures.latency_setting import LARGEST, parse_setting
from nat.papers.relation import latency as latency_of
from nat.registry import Method
from nat.transformer.architecture import Architecture
from nat.workflow.cluster import (
    ATTEMPTS,
    devices,
    hours_of_attempts,
    needs,
    nodes,
    read_cluster,
)
from nat.workflow.dry_run import Job
from nat.workflow.together import RULE as TRANSLATE_AND_SCORE

PARTS = {
    "generate_text": "corpora",
    "fetch_text": "corpora",
    "generate_test_text": "corpora",
    "fetch_test_text": "corpora",
    "fetch_references": "corpora",
    "fetch_test_references": "corpora",
    "prepare_test_set": "corpora",
    "clean": "corpora",
    "tokenise": "corpora",
    "apply_bpe": "corpora",
    "binarise": "corpora",
    "summarise_corpus": "corpora",
    "train": "training",
    "train_and_keep": "training",
    "import_checkpoint": "training",
    "convert": "translation",
    "translate": "translation",
    TRANSLATE_AND_SCORE: "translation",
    "merge_shards": "scores",
    "tune_decoding": "translation",
    "trace_decoding": "translation",
    "distil": "distilled text",
    "compare_texts": "distilled text",
    "merge_comparisons": "distilled text",
    "tune_gamma": "distilled text",
    "estimate_ngrams": "distilled text",
    "score": "scores",
    "analyse": "analyses",
    "estimate_total_correlation": "analyses",
    "measure_latency": "latencies",
    "table": "reports",
    "figure": "reports",
    "claims": "reports",
    "make_report": "reports",
}
"""Parts of a run by rule; any other rule is a part by itself."""

TRAININGS = ("train", "train_and_keep")
"""Rules that train."""

_OF_MODELS = {
    *TRAININGS,
    "translate",
    TRANSLATE_AND_SCORE,
    "tune_decoding",
    "trace_decoding",
    "analyse",
    "measure_latency",
}
"""Rules that run a model. Their hours are those of devices; those of other rules are of cores."""

PASSES_OF_BEAM_SEARCH = 4.0
"""Cost of each hypothesis of a beam, whose tokens are predicted one by one, in passes of the
decoder over a whole sentence."""

SECONDS_OF_A_SEARCH = 0.006
"""Seconds of a beam search over the frames of a sentence on a processor; docs/performance.md."""

PASSES_OF_AN_ANALYSIS = 10.0
"""Passes of an analysis over each held-out split; most analyses need fewer."""

ALONE_ON_A_GPU = 20.0
"""How many times slower than with full batches a GPU translates one sentence at a time."""

PER_SECOND_ON_A_PROCESSOR = 20.0
"""Sentences that a processor translates in a second, one at a time, for each pass of the decoder of
size base; docs/performance.md."""

SYMBOLS_GIVEN = 40_000
"""Size of a vocabulary from elsewhere, if the corpus does not say what is expected."""

TOKENS = 28
"""Subwords of one side of a pair, as estimates assume."""

PAIRS_PER_SECOND = {
    "fetch_text": 68_000,
    "clean": 33_000,
    "tokenise": 1_800,
    "apply_bpe": 10_000,
    "binarise": 42_000,
    "merge_shards": 110_000,
    "distil": 22_000,
    "estimate_ngrams": 30_000,
}
"""Pairs of a training text that a rule processes in a second on one core, from docs/corpora.md; the
last three were measured in the same way."""

COMPARISONS_PER_SECOND = 30_000
"""Sentence BLEUs that `compare_texts` computes in a second on one core."""

SECONDS_OF_SMALL_STEPS = 10
"""Seconds of making a score, table or figure; most of them pass while the program starts."""

BYTES_PER_SIDE = 150
"""Bytes of a sentence of a few dozen words, as text; its tokens take about as many."""

BYTES_OF_IDS = 2 * TOKENS
BYTES_PER_PAIR = {
    "generate_text": 2 * BYTES_PER_SIDE,
    "fetch_text": 3 * BYTES_PER_SIDE,  # with what was downloaded, compressed
    "clean": 2 * BYTES_PER_SIDE,
    "tokenise": 2 * BYTES_PER_SIDE,
    "apply_bpe": 2 * BYTES_PER_SIDE,
    "binarise": 2 * BYTES_OF_IDS,
    "distil": BYTES_PER_SIDE + BYTES_OF_IDS,
}

BYTES_PER_CONVERTED_WEIGHT = 5
"""The engines have the weights as float32 and as int8."""

NGRAMS_PER_TOKEN, BYTES_PER_NGRAM = 0.4, 20
"""Different n-grams of an order for each token, and bytes of each; `nat.language_model.ngram`."""

FULL_CHECKPOINTS, NUMBERS_PER_WEIGHT = 2, 3
"""A training keeps two full checkpoints; each has every weight and two moments of its gradient."""


@dataclass(frozen=True)
class Estimate:
    """One part of a run: its jobs and what they take.

    Attributes:
        part: its name.
        jobs: still to run.
        device_hours: hours of jobs that run models, summed over devices; None where there are none,
            or where the scale assumes no speed.
        core_hours: hours of all other jobs; None where there are none.
        longest: hours from start to end of the longest job; None where no hours are known.
        disk_bytes: bytes that stay on the disk, roughly.
    """

    part: str
    jobs: int
    device_hours: float | None
    core_hours: float | None
    longest: float | None
    disk_bytes: float


def estimate(configuration: Configuration, jobs: Iterable[Job]) -> list[Estimate]:
    """Sum up jobs by part, in the order of the graph."""
    by_part: dict[str, list[Job]] = {part: [] for part in PARTS.values()}
    for job in jobs:
        if not job.outputs:  # a target
            continue
        by_part.setdefault(PARTS.get(job.rule, job.rule), []).append(job)
    found = []
    for part, members in by_part.items():
        if members:
            hours = [(job.rule, _hours(configuration, job)) for job in members]
            known = [(rule, hour) for rule, hour in hours if hour is not None]
            on_devices = [hour for rule, hour in known if rule in _OF_MODELS]
            on_cores = [hour for rule, hour in known if rule not in _OF_MODELS]
            found.append(
                Estimate(
                    part,
                    len(members),
                    sum(on_devices) if on_devices else None,
                    sum(on_cores) if on_cores else None,
                    max(
                        (hour / _at_once(configuration, rule) for rule, hour in known), default=None
                    ),
                    sum(_disk(configuration, job) for job in members),
                )
            )
    return found


def table(configuration: Configuration, estimates: list[Estimate]) -> Table:
    """The estimates, for the screen."""
    on_gpu = needs(configuration, "train").gpu
    columns = ["jobs", *(["GPU hours"] if on_gpu else []), "core hours", "longest, h", "disk, GB"]
    shown = Table(title=f"still to run at the scale {configuration.scale}", title_justify="left")
    shown.add_column("part")
    for column in columns:
        shown.add_column(column, justify="right")

    def row(
        part: str, jobs: int, hours: list[float | None], longest: float | None, disk: float
    ) -> None:
        times = hours if on_gpu else [_sum(hours)]
        shown.add_row(part, f"{jobs:,}", *map(_rounded, [*times, longest, disk / 1e9]))

    for one in estimates:
        hours = [one.device_hours, one.core_hours]
        row(one.part, one.jobs, hours, one.longest, one.disk_bytes)
    shown.add_section()
    row(
        "all",
        sum(one.jobs for one in estimates),
        [_sum(one.device_hours for one in estimates), _sum(one.core_hours for one in estimates)],
        max((one.longest for one in estimates if one.longest is not None), default=None),
        sum(one.disk_bytes for one in estimates),
    )
    return shown


def _sum(hours: Iterable[float | None]) -> float | None:
    known = [hour for hour in hours if hour is not None]
    return sum(known) if known else None


def _rounded(value: float | None) -> str:
    """A number with one digit; small positive numbers are not shown as zero."""
    if value is None or value == 0:
        return ""
    return f"{value:,.1f}" if value >= 0.05 else "< 0.1"


def assumptions(configuration: Configuration, jobs: Sequence[Job]) -> list[str]:
    """The assumptions behind the estimates of these jobs, as sentences."""
    speed = configuration.scale_settings.speed
    where = file_of("scales", configuration.scale)
    each, several = devices(configuration), nodes(configuration)
    corpora = dict.fromkeys(job.wildcards["corpus"] for job in jobs if "corpus" in job.wildcards)
    of_unknown_size = [
        f"the size of {corpus} is not known: without 'expected' or 'pairs' in "
        f"{file_of('corpora', corpus)}, its texts, its translations and trainings whose length is "
        "given in epochs count nothing until it is made"
        for corpus in corpora
        if not sentences(configuration, corpus, TRAIN)
    ]
    if not speed:
        without = f"{where} assumes no 'speed', so there are no hours of what runs models"
        return [without, *of_unknown_size]
    unit = "GPU" if needs(configuration, "train").gpu else "core"
    assumed = [
        f"assumed in {where}, for the size base: {speed.training:,.10g} tokens/s in training and "
        f"{speed.decoding:,.10g} sentences/s for each pass of the decoder, on one {unit}; other "
        "sizes in proportion to their weights",
        "every training to its last update; early stopping, second passes of an objective and "
        "validation are not counted",
        f"each training on {several} node(s) with {each or 1} device(s) each",
        f"beam search as {PASSES_OF_BEAM_SEARCH:.0f} passes for each member of the beam, an "
        f"analysis of a model as {PASSES_OF_AN_ANALYSIS:.0f} over what is held out",
    ]
    if unit == "GPU" and any(job.rule == "measure_latency" for job in jobs):
        assumed.append(
            f"latencies of one sentence at a time at 1/{ALONE_ON_A_GPU:.0f} of that speed, and on "
            f"a processor at {PER_SECOND_ON_A_PROCESSOR:.0f} sentences/s for each pass"
        )
    if any(_counts_epochs(configuration, job) for job in jobs):
        assumed.append(f"an epoch as {TOKENS} tokens for each pair of the training text")
    assumed.append("texts at the speeds of docs/corpora.md, on cores like those measured there")
    return [*assumed, *of_unknown_size]


_LIMITED: dict[str, tuple[Stage, str]] = {
    **dict.fromkeys(TRAININGS, ("train", "let several 'devices' share each training")),
    "translate": ("translate", "divide the training text into more 'shards'"),
    "measure_latency": ("latency", "time fewer sentences ('latency.sentences')"),
}
"""Rules whose jobs take longest, the stage whose minutes they have, and how they take less."""


def too_long(configuration: Configuration, jobs: Iterable[Job]) -> list[str]:
    """Which jobs would not end on a cluster within the time that they request, as sentences.

    A training goes on in its next attempt; all others start again.
    """
    cluster, where = read_cluster(configuration), file_of("scales", configuration.scale)
    hours: dict[str, list[float]] = {}
    for job in jobs:
        if job.rule in _LIMITED and (each := _hours(configuration, job)) is not None:
            hours.setdefault(_LIMITED[job.rule][0], []).append(
                each / _at_once(configuration, job.rule)
            )
    found = []
    for stage, remedy in dict.fromkeys(_LIMITED.values()):
        attempts = hours_of_attempts(configuration, cluster, stage)
        limit = sum(attempts) if stage == "train" else attempts[-1]
        over = [each for each in hours.get(stage, []) if each > limit]
        if over:
            least = "" if len(over) == 1 else f"{min(over):,.0f} to "
            found.append(
                f"on a cluster {len(over)} of the jobs of stage '{stage}' would not end: by this "
                f"estimate they take {least}{max(over):,.0f} hours, and have {limit:,.0f} in "
                f"{'all' if stage == 'train' else 'the last'} of {ATTEMPTS} attempts; raise "
                f"'stages.{stage}.minutes' in {where}, or {remedy}"
            )
    return found


def sentences(configuration: Configuration, corpus: str, split: str) -> int:
    """Pairs of a split: counted where the corpus is made, else as its file says; 0 if unknown."""
    made = configuration.root / f"results/corpora/{corpus}/corpus.json"
    if made.exists():
        counted = read_json(made).get("splits", {}).get(split, {}).get("pairs")
        if isinstance(counted, int):
            return counted
    found = configuration.corpus(corpus)
    if found.generator is not None:
        return found.generator.pairs.get(split, 0)
    for sizes in (found.expected.tokens, found.expected.clean, found.expected.text):
        if split in sizes:
            return number_of(sizes[split])
    return (found.splits[split].pairs or 0) if split in found.splits else 0


def weights(architecture: Architecture, symbols: int = 0) -> int:
    """Weights of a Transformer, and of its embedding of so many symbols."""
    width, inner = architecture.model_dim, architecture.ffn_dim
    encoder = architecture.encoder_layers * (4 * width**2 + 2 * width * inner)
    decoder = architecture.decoder_layers * (8 * width**2 + 2 * width * inner)
    return encoder + decoder + symbols * width


def _counts_epochs(configuration: Configuration, job: Job) -> bool:
    names = job.wildcards
    return job.rule in TRAININGS and counts_epochs(
        configuration.training(names["corpus"], names["system"]).recipe
    )


def _hours(configuration: Configuration, job: Job) -> float | None:
    """Hours of a job, as if it ran on one device or core; None if the scale assumes no speed."""
    seconds = (
        _seconds_of_models(configuration, job)
        if job.rule in _OF_MODELS
        else _seconds_of_texts(configuration, job)
    )
    return None if seconds is None else seconds / 3600


def _seconds_of_models(configuration: Configuration, job: Job) -> float | None:
    speed, names = configuration.scale_settings.speed, job.wildcards
    if not speed:
        return None
    corpus = names["corpus"]
    configuration = configuration.on(corpus)
    if job.rule == "measure_latency":
        return _seconds_of_latencies(configuration, job, speed.decoding)
    size = _size(configuration, names["system"])
    if job.rule in TRAININGS:
        recipe = configuration.training(corpus, names["system"]).recipe
        tokens = estimated_tokens(recipe, TOKENS * sentences(configuration, corpus, TRAIN))
        return float(tokens / speed.training * size)
    if job.rule == "translate":
        decoded = _share(configuration, names) * _passes(configuration.decoding(names["decoding"]))
    elif job.rule == TRANSLATE_AND_SCORE:
        passes = _passes_of_all(configuration, _decodings(job))
        decoded = sentences(configuration, corpus, names["split"]) * passes
    elif job.rule == "trace_decoding":
        shown = sentences(configuration, corpus, names["split"])
        shown = min(shown, configuration.scale_settings.browser.sentences)
        # decoded twice: once for the passes, once for the translations
        decoded = 2 * shown * _passes(configuration.decoding(names["decoding"]))
    elif job.rule == "tune_decoding":
        decoding = configuration.decoding(names["decoding"])
        points = math.prod(map(len, configuration.tried(names["decoding"]).values()))
        translated = points * _tuned_on(configuration, corpus)
        searching = SECONDS_OF_A_SEARCH * translated if "symbols" in decoding.options else 0.0
        return float(translated * _passes(decoding) / speed.decoding * size) + searching
    else:
        splits = split_names(configuration.corpus(corpus))
        held_out = sum(sentences(configuration, corpus, each) for each in splits if each != TRAIN)
        decoded = held_out * PASSES_OF_AN_ANALYSIS
    return float(decoded / speed.decoding * size)


def _tuned_on(configuration: Configuration, corpus: str) -> float:
    """Sentences of the validation set on which decodings are tuned."""
    there, most = (
        sentences(configuration, corpus, VALID),
        configuration.scale_settings.tuning.sentences,
    )
    return there if most is None else min(there, most)


def _decodings(job: Job) -> list[str]:
    """The decodings by which a job translates a split."""
    return [Path(path).parent.name for path in job.outputs if path.endswith(".jsonl")]


def _passes_of_all(configuration: Configuration, decodings: Sequence[str]) -> float:
    """Passes of a job's decodings; what several of them have in common is made once."""
    searches: list[float] = []
    first, later, alone = {}, {}, 0.0
    for name in decodings:
        decoding, traits = configuration.decoding(name), configuration.decoding_traits(name)
        passes = _passes(decoding)
        if traits.starts_from_assistant:
            searches.append(passes)
        elif traits.starts_from_masks:
            lengths = float(decoding.options["length_beam"])
            first[lengths, decoding.options.get("length_factor", 1.0)] = lengths
            plain = {**decoding.as_json(), "deduplicate": False}
            later[tuple(sorted(plain.items()))] = passes - lengths
        else:
            alone += passes
    of_masks = sum(first.values()) + sum(later.values())
    return alone + of_masks + max(searches, default=0.0) + len(searches)


def in_shards(configuration: Configuration, corpus: str, split: str, decodings: int) -> int:
    """How many times as long as a shard of the training text a job may take, at least 1.

    Args:
        configuration: of the run.
        corpus: corpus with the split.
        split: split that the job translates.
        decodings: number of decodings by which it does.
    """
    shard = sentences(configuration, corpus, TRAIN) / configuration.shards[TRAIN]
    work = sentences(configuration, corpus, split) * decodings
    return max(1, math.ceil(work / shard)) if shard else 1


def _seconds_of_latencies(configuration: Configuration, job: Job, speed: float) -> float:
    """Seconds of timing all systems of a group."""
    names, options = job.wildcards, configuration.latency
    corpus, setting = names["corpus"], names["setting"]
    latency = latency_of(configuration, corpus, names["group"], int(names["seed"]), setting)
    translated = options.repeats * min(
        sentences(configuration, corpus, TIMED), options.sentences or math.inf
    )
    if needs(configuration, "latency").gpu:
        device, batch, _ = parse_setting(setting)
        if device == "cpu":
            speed = PER_SECOND_ON_A_PROCESSOR
        elif batch != LARGEST:
            speed /= max(1.0, ALONE_ON_A_GPU / int(batch))
    passes = sum(
        _passes(configuration.decoding(each.decoding)) * _size(configuration, each.system)
        for each in latency.timed
    )
    return float(translated * passes / speed)


def _share(configuration: Configuration, names: Mapping[str, str]) -> float:
    """Sentences of a shard."""
    return sentences(configuration, names["corpus"], names["split"]) / int(names["shards"])


def _seconds_of_texts(configuration: Configuration, job: Job) -> float | None:
    if job.rule not in PARTS:
        return None
    speed = PAIRS_PER_SECOND.get(job.rule)
    pairs = _pairs(configuration, job)
    if job.rule == "compare_texts":
        return _compared(configuration, job) / COMPARISONS_PER_SECOND
    return SECONDS_OF_SMALL_STEPS if speed is None else pairs / speed


def _pairs(configuration: Configuration, job: Job) -> int:
    """Sentences that a job of texts reads: those of the training text, unless it has a split."""
    names = job.wildcards
    return (
        sentences(configuration, names["corpus"], names.get("split", TRAIN))
        if "corpus" in names
        else 0
    )


def _at_once(configuration: Configuration, rule: str) -> int:
    """Number of devices or cores that share a job."""
    if rule in TRAININGS:
        return (devices(configuration) or 1) * nodes(configuration)
    if rule in ("clean", "tokenise", "apply_bpe"):
        return needs(configuration, "prepare").cores
    return 1


def _disk(configuration: Configuration, job: Job) -> float:
    names = job.wildcards
    if job.rule in TRAININGS:
        training = configuration.training(names["corpus"], names["system"])
        symbols = _symbols(configuration, names["corpus"])
        numbers = 4 * weights(training.architecture, symbols)
        kept = training.recipe.average.checkpoints
        return float(numbers * (1 + kept + FULL_CHECKPOINTS * NUMBERS_PER_WEIGHT))
    if job.rule == "convert":
        size = configuration.on(names["corpus"]).system(names["system"]).size
        symbols = _symbols(configuration, names["corpus"])
        numbers = weights(configuration.architecture(size), symbols)
        return float(BYTES_PER_CONVERTED_WEIGHT * numbers)
    if job.rule == "translate":  # the gathered file lies beside its shards for a while
        return 2 * _share(configuration, names) * 2 * BYTES_PER_SIDE
    if job.rule == TRANSLATE_AND_SCORE:
        decoded = sentences(configuration, names["corpus"], names["split"]) * len(_decodings(job))
        return float(decoded * 2 * BYTES_PER_SIDE)
    pairs = _pairs(configuration, job)
    if job.rule in ("compare_texts", "merge_comparisons"):
        return 4.0 * _compared(configuration, job)
    if job.rule == "estimate_ngrams":
        return pairs * TOKENS * int(names["order"]) * NGRAMS_PER_TOKEN * BYTES_PER_NGRAM
    return float(pairs * BYTES_PER_PAIR.get(job.rule, 0))


def _symbols(configuration: Configuration, corpus: str) -> int:
    """Symbols of the vocabularies: as expected, or as many as the preparation makes."""
    found = configuration.corpus(corpus)
    expected = found.expected.vocabulary.values()
    if expected:
        return sum(map(number_of, expected))
    if found.subwords is not None:
        return SYMBOLS_GIVEN
    subwords = found.preprocessing
    if subwords.sentencepiece is not None:
        return subwords.sentencepiece
    assert subwords.bpe_merges is not None
    merges = subwords.bpe_merges
    merges = sum(merges.values()) if isinstance(merges, Mapping) else merges
    return int(merges * 1.25)  # and the symbols that are merged


def _compared(configuration: Configuration, job: Job) -> float:
    """Comparisons of the texts of a job, or of a shard of them."""
    pairs = _pairs(configuration, job) / int(job.wildcards.get("shards", 1))
    return pairs * len(job.wildcards["candidates"].split("+")) ** 2


def _size(configuration: Configuration, system: str) -> float:
    """How many times as many weights as the size `base` the layers of a system have."""
    own = configuration.architecture(configuration.system(system).size)
    sizes = configuration.scale_settings.sizes
    base = "base" if "base" in sizes else next(iter(sizes))
    return weights(own) / weights(configuration.architecture(base))


def _passes(decoding: Method) -> float:
    options = decoding.options
    if "symbols" in options:  # a search over the frames of one pass, or of one for each draw
        return float(options.get("samples") or 1)
    if "beam" in options and "steps" not in options:
        return PASSES_OF_BEAM_SEARCH * float(options["beam"])
    return float(options.get("steps") or 1) * float(options.get("length_beam") or 1)
