"""Estimates of jobs, hours and disk space that are still to run, of each paper or other target.

`config/plan.yaml` says what is assumed of the seconds of jobs; those of the same rule and size that
were measured in this run say how many times as long they take.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import median

from rich.table import Table

from nat.artifacts import TIMED
from nat.configuration import Configuration
from nat.configuration.files import file_of, read_yaml
from nat.configuration.models import read_model
from nat.configuration.scales import Assumptions
from nat.data.splits import TRAIN
from nat.papers.relation import latency
from nat.registry import Method
from nat.transformer.architecture import Architecture
from nat.workflow import cluster
from nat.workflow.together import RULE
from snakemake_logger_plugin_jobs import PendingJob

FILE = "config/plan.yaml"
# rules that run models, which may be on GPUs, and the stages of what their jobs request
STAGES: Mapping[str, str] = {
    **dict.fromkeys(("train", "train_and_keep"), "train"),
    **dict.fromkeys(("translate", RULE, "tune_decoding", "trace_decoding", "analyse"), "translate"),
    "measure_latency": "latency",
    "measure_cpu_latency": "cpu_latency",
}


class Estimates:
    """Seconds and disk space of jobs, by assumptions and the times of jobs that were `made`."""

    def __init__(self, configuration: Configuration, made: Sequence[PendingJob] = ()) -> None:
        self.configuration, self.scale = configuration, configuration.scale_settings
        self.assumed = read_model(Assumptions, read_yaml(configuration.root, FILE), FILE)
        scales = self.assumed.scales  # or else the first that the file names
        self.of_models = scales.get(configuration.scale, next(iter(scales.values())))
        ratios = defaultdict[tuple[str, str], list[float]](list)
        for job in made:
            with suppress(OSError, ValueError, IndexError):  # none, or of a job that was killed
                row = (configuration.root / job.benchmark).read_text().splitlines()[1]
                seconds = float(row.split("\t")[0]) * self.devices(job)
                ratios[self._kind(job)].append(seconds / self._assumed(job))
        # times as long as assumed, by rule and size; not the mean, since what was stopped took less
        self.factors = {kind: median(measured) for kind, measured in ratios.items()}

    def _kind(self, job: PendingJob) -> tuple[str, str]:
        if "system" not in (names := job.wildcards):
            return job.rule, names.get("setting", "")
        return job.rule, self.configuration.on(names["corpus"]).system(names["system"]).size

    def seconds(self, job: PendingJob) -> float:
        """Seconds of a job, as if it ran on one device or core."""
        return self._assumed(job) * self.factors.get(self._kind(job), 1.0)

    def _assumed(self, job: PendingJob) -> float:
        assumed, names, pairs = self.assumed, job.wildcards, self._pairs(job)
        if job.rule in assumed.jobs or job.rule not in STAGES:  # else by models and sentences
            least = assumed.jobs.get(job.rule, assumed.jobs["others"])
            return max(least, assumed.texts.get(job.rule, 0) * pairs / 1e6)
        there = self.configuration.on(names["corpus"])
        if STAGES[job.rule] == "train":
            recipe = there.training(names["corpus"], names["system"]).recipe
            tokens = recipe.estimated_tokens(int(assumed.tokens * pairs))
            most = there.scale_settings.tokens_on_device(there.system(names["system"]).size)
            share = recipe.batch_tokens / self.devices(job)
            work = self.of_models.train * tokens / 1e6 * _size(there, names["system"])
            return work + self.of_models.batch * tokens / min(most or share, share)
        works = [(names.get("system", ""), each) for each in _decodings(job)]
        if "latency" in STAGES[job.rule]:
            works = [(each.system, each.decoding) for each in latency(there, names).timed]
            shown = there.scale_settings.latency
            pairs = cluster.sentences(there, names["corpus"], TIMED)
            pairs = min(pairs, shown.sentences or pairs) * shown.repeats
            if self.scale.stages.translate.gpu:
                pairs *= assumed.settings.get(names["setting"], assumed.settings["others"])
        passes = [_size(there, each) * self._passes(there.decoding(name)) for each, name in works]
        return self.of_models.translate * pairs / 1e6 * sum(passes)

    def _pairs(self, job: PendingJob) -> float:
        # of the training text, unless the job has a split
        corpus, split = (job.wildcards.get(key, "") for key in ("corpus", "split"))
        pairs = cluster.sentences(self.configuration, corpus, split or TRAIN) if corpus else 0
        return pairs / int(job.wildcards.get("shards", 1))

    def _passes(self, decoding: Method) -> float:
        """Passes of the decoder over a sentence; a search over frames makes one for each draw."""
        options = decoding.options
        if "symbols" in options:
            return float(options.get("samples") or 1)
        if "beam" in options and "steps" not in options:
            return self.assumed.beam * float(options["beam"])
        return float(options.get("steps") or 1) * float(options.get("length_beam") or 1)

    def gigabytes(self, job: PendingJob) -> float:
        """Disk space of what a job makes; of a training also of two full checkpoints."""
        if STAGES.get(job.rule) == "train":
            training = self.configuration.training(job.wildcards["corpus"], job.wildcards["system"])
            numbers = _weights(training.architecture, self.of_models.symbols)
            return 4e-9 * numbers * (1 + training.recipe.average.checkpoints + 2 * 3)
        files = len(_decodings(job)) if job.rule == RULE else 1
        return self.assumed.megabytes.get(job.rule, 0) * files * self._pairs(job) / 1e9

    def devices(self, job: PendingJob) -> int:
        """Number of devices that share a job."""
        if STAGES.get(job.rule) != "train":
            return 1
        if self.scale.devices is None and not self.on_gpu(job):
            return self.scale.processes.get(job.wildcards["system"], 1)
        return (self.scale.devices or 1) * self.scale.nodes

    def on_gpu(self, job: PendingJob) -> bool:
        """Return True if the hours of a job are those of a GPU."""
        return job.rule in STAGES and bool(getattr(self.scale.stages, STAGES[job.rule]).gpu)


def table(estimates: Estimates, jobs: Sequence[PendingJob], targets: Iterable[str]) -> Table:
    """A row for each target, the cheapest first, and one of all jobs, which has each once."""
    seconds = [estimates.seconds(job) if job.outputs else 0.0 for job in jobs]
    walls = [each / estimates.devices(job) / 3600 for each, job in zip(seconds, jobs, strict=True)]
    shares = [estimates.of_models.side_by_side if estimates.on_gpu(job) else 1 for job in jobs]
    hours = [each / share / 3600 for each, share in zip(seconds, shares, strict=True)]
    maker = {made: number for number, job in enumerate(jobs) for made in job.outputs or [job.rule]}

    @cache
    def chain(number: int) -> tuple[frozenset[int], float]:
        """A job with all that it waits for, and when it could end."""
        before = [chain(maker[path]) for path in jobs[number].inputs if path in maker]
        end = walls[number] + max((each for _, each in before), default=0)
        return frozenset({number}).union(*(numbers for numbers, _ in before)), end

    made = frozenset(number for number, job in enumerate(jobs) if job.outputs)
    gpus = frozenset(number for number in made if estimates.on_gpu(jobs[number]))
    scarce, at_once = (gpus, estimates.of_models.gpus) if gpus else (made, os.cpu_count() or 1)
    shown = Table(title=f"hours still to run at scale {estimates.configuration.scale}", box=None)
    on = f"on {at_once} {'GPU' if gpus else 'core'}{'s' * (at_once > 1)}"
    for head in ("", "jobs", "of GPUs", "of cores", "not above", "longest job", on, "disk, GB"):
        shown.add_column(head, justify="right", no_wrap=not head)
    needed = [(name, chain(maker[name])[0] & made) for name in targets if name in maker]
    needed.sort(key=lambda each: sum(hours[number] for number in each[1]))
    above: frozenset[int] = frozenset()
    for name, own in [*needed, ("all of it", made)]:
        sets = own & gpus, own - gpus, own & scarce - above, own & scarce
        *numbers, shared = [sum(hours[each] for each in numbered) for numbered in sets]
        numbers += [max((walls[each] for each in own), default=0)]
        numbers += [max(shared / at_once, *(chain(each)[1] for each in own), 0)]
        numbers += [sum(estimates.gigabytes(jobs[each]) for each in own)]
        shown.add_row(name, f"{len(own):,}", *(f"{each:,.{each < 100:d}f}" for each in numbers))
        above |= own
    return shown


def notes(estimates: Estimates, jobs: Sequence[PendingJob]) -> Iterator[str]:
    """Sentences on the assumptions, and on trainings that would not end."""
    measured = ", ".join(sorted({rule for rule, _ in estimates.factors}))
    yield f"hours are assumed in {FILE}" + (f"; measured in this run: {measured}" * bool(measured))
    configuration = estimates.configuration
    for corpus in sorted({job.wildcards.get("corpus", "") for job in jobs} - {""}):
        if not cluster.sentences(configuration, corpus, TRAIN):
            yield f"the size of {corpus} is not known before it is made, and counts as nothing"
    trainings = (job for job in jobs if STAGES.get(job.rule) == "train")
    hours = (estimates.seconds(job) / estimates.devices(job) / 3600 for job in trainings)
    need, limits = estimates.scale.stages.train, cluster.read_cluster(configuration)
    minutes = cluster.growing(need.minutes, (limits.gpu if need.gpu else limits.cpu).most_minutes)
    limit = sum(minutes(None, attempt + 1) for attempt in range(cluster.ATTEMPTS)) / 60
    if (longest := max(hours, default=0)) > limit:
        yield (
            f"a training of {longest:,.0f} hours would not end in the {limit:,.0f} that its "
            f"{cluster.ATTEMPTS} attempts have on a cluster; raise 'stages.train.minutes' in "
            f"{file_of('scales', configuration.scale)}, or let several 'devices' share it"
        )


def _decodings(job: PendingJob) -> list[str]:
    several = [Path(path).parent.name for path in job.outputs if path.endswith(".jsonl")]
    return several if job.rule == RULE else [job.wildcards.get("decoding", "")]


def _size(configuration: Configuration, system: str) -> float:
    """Weights of the layers of a system, in those of the size `base`."""
    sizes = configuration.scale_settings.sizes
    own = sizes[configuration.system(system).size]
    return _weights(own) / _weights(sizes.get("base", own))


def _weights(architecture: Architecture, symbols: int = 0) -> int:
    """Weights of the layers of a Transformer, and of its embedding of so many symbols."""
    width, inner = architecture.model_dim, architecture.ffn_dim
    encoder, decoder = architecture.encoder_layers, architecture.decoder_layers
    layers = 4 * width**2 * (encoder + 2 * decoder) + 2 * width * inner * (encoder + decoder)
    return layers + symbols * width
