"""The targets of a run, the order of its jobs, and the configuration that they depend on.

The rules use this module for everything that does not follow from the names of a single artefact:
the results of public targets, the priorities of jobs, and the fingerprints by which Snakemake
detects that a part of the configuration has changed.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import nat
from nat.artifacts import (
    Artifact,
    Comparison,
    CorpusStep,
    Distilled,
    File,
    Latency,
    Model,
    Score,
    Trace,
    Training,
    is_generated,
    step_of,
)
from nat.configuration import Configuration, fingerprint
from nat.configuration.file_names import file_of
from nat.data.references import has_references
from nat.data.splits import (
    TRAIN,
    VALID,
    test_names,
)
from nat.errors import UserError, told_of
from nat.options import hint
from nat.papers import reports, settings
from nat.papers.cells import Cell
from nat.papers.relation import latency
from nat.papers.reports import Report, Site, Target
from nat.workflow.code import code_of
from nat.workflow.dependence import depends_on
from nat.workflow.together import Together, together

TARGETS = (
    "all",
    "report",
    "demo",
    "texts",
    "corpora",
    "teachers",
    "distilled",
    "students",
    "scores",
    "traces",
)
"""Public targets besides papers and their reports."""

BEFORE_TRAININGS = 1000
"""Priority of jobs that prepare texts, which trainings wait for; that of a training is the length
of a chain of systems, which is always less."""

FAST_MEMORY = "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456"
"""Variables by which glibc keeps freed memory in the process, so that small models train up to 1.6
times as fast."""


PROCESSES_OF_A_TEXT = 8
"""Processes that share the preparation of a text."""

OF_ALL_SCALES = ("corpora", "downloads", "bench", "logs")
"""Folders in `results/` that a scale must not be named after."""


class Graph:
    """The graph of a configuration.

    Attributes:
        configuration: of the run.
        reports: every report of every paper, by the name of its target.

    Raises:
        UserError: for unknown names in a paper, and for a scale whose results would be mixed with
            others.
    """

    def __init__(self, configuration: Configuration) -> None:
        if configuration.run in OF_ALL_SCALES:
            raise UserError(
                f"config/scales/{configuration.scale}.yaml: results/{configuration.run} is not of "
                "one scale; rename the file"
            )
        self.configuration = configuration
        targets = reports.targets(configuration)
        _check_names(configuration, targets)
        self.reports: dict[str, Report] = {
            reports.name(target): reports.report(configuration, target) for target in targets
        }
        self._cells: dict[str, list[Cell]] = {
            reports.name(target): reports.cells(configuration, target) for target in targets
        }

    def check(self) -> None:
        """Check what papers print of settings against the configuration.

        Raises:
            UserError: for a setting that neither holds nor is a listed deviation.
        """
        configuration = self.configuration
        for paper in configuration.papers:
            for number, table in configuration.paper(paper).tables.items():
                if table.kind == "settings":
                    reports.resolve_table(configuration, paper, number)
        settings.check(configuration)

    # Targets

    def reports_of(self, paper: str) -> list[str]:
        """Paths of the tables, figures and judged claims of a paper."""
        reports = (report for report in self.reports.values() if report.paper == paper)
        return [path for report in reports for path in report.files]

    def all_reports(self) -> list[str]:
        """Paths of the reports of all papers."""
        return [path for report in self.reports.values() for path in report.files]

    @property
    def site(self) -> str:
        """Path of the first page of the report."""
        return Site(self.configuration.run).path

    def before_pages(self, targets: Collection[str]) -> list[str]:
        """Paths that the pages wait for: what they show and the same run makes.

        Args:
            targets: targets of the run; none for everything.
        """
        if _is_all(targets):
            return self.traces_among(targets) + self.all_reports()
        made = [path for target in targets for path in self._made_for(target)]
        return list(dict.fromkeys([*self.traces_among(targets), *made]))

    def _made_for(self, target: str) -> list[str]:
        """Paths of what a target of a run makes, as far as pages show it."""
        stages: dict[str, Callable[[], list[str]]] = {
            "demo": partial(self.reports_of, "overview"),
            "scores": self.scores,
            "students": partial(self.models, of_teachers=False),
            "teachers": partial(self.models, of_teachers=True),
        }
        if target in stages:
            return stages[target]()
        if target in self.reports:
            return list(self.reports[target].files)
        if target in self.configuration.papers:
            return self.reports_of(target)
        own, site = f"results/{self.configuration.run}/", Path(self.site).parent
        return [target] if target.startswith(own) and site not in Path(target).parents else []

    def pages_made_of(self, targets: Collection[str]) -> str:
        """A fingerprint of what the pages are made of; they are made again when it changes.

        It covers the results that exist, the whole configuration and the code. In a run of
        everything it covers no results, since all that the pages show are then their inputs.

        Args:
            targets: targets of the run; none for everything.
        """
        made_of = [self.configuration.files, code_of("nat.report.site")]
        if _is_all(targets):
            return fingerprint(made_of)
        root = Path(self.configuration.root)
        there = [root / path for path in self.scores() if (root / path).exists()]
        there += (root / self._traces).rglob("*.jsonl")
        there += (root / f"results/{self.configuration.run}/models").glob("*/*/seed*/training.*")
        results = {str(path): path.stat().st_mtime_ns for path in sorted(there)}
        return fingerprint([*made_of, results])

    def nothing_to_run(self, targets: Collection[str]) -> list[str]:
        """A sentence for each paper among the targets of a run of which this scale runs nothing."""
        found = {report.paper for name, report in self.reports.items() if self._cells[name]}
        asked = {*targets, *(self.reports[name].paper for name in targets if name in self.reports)}
        papers = [name for name in self.configuration.papers if name in asked]
        return [
            f"{file_of('scales', self.configuration.scale)}: no task of '{paper}' has a corpus at "
            "this scale (key 'tasks'), so nothing of it is run; choose another with --config "
            "scale=NAME"
            for paper in papers
            if paper not in found
        ]

    def systems_shown(self) -> set[tuple[str, str]]:
        """Corpus and system of every cell."""
        return {(cell.corpus, cell.model) for found in self._cells.values() for cell in found}

    def results(self) -> list[Artifact]:
        """Every score, analysis and training record that a report reads."""
        cells = [cell.source for found in self._cells.values() for cell in found]
        return [each for each in dict.fromkeys(cells) if each is not None]

    def scores(self) -> list[str]:
        """Paths of these results."""
        return _paths(self.results())

    def traces(self) -> list[str]:
        """Paths of the traces of the decodings that the report shows step by step.

        A decoding is only traced where its model and its translations exist already, and only for
        the first of several seeds.
        """
        root = Path(self.configuration.root)
        named_by = f"{file_of('scales', self.configuration.scale)}: key 'browser.steps'"
        found: dict[tuple[str, ...], Trace] = {}
        for score in self.results():
            if (
                isinstance(score, Score)
                and score.decoding in self.configuration.scale_settings.browser.steps
            ):
                trace = Trace(**vars(score))
                with told_of(f"{named_by}: "):
                    model = trace.inputs(self.configuration).model
                paths = model.path, score.translations.path
                first = found.get(
                    names := (score.corpus, score.system, score.decoding, score.split)
                )
                if all((root / path).exists() for path in paths) and (
                    first is None or trace.seed < first.seed
                ):
                    found[names] = trace
        return _paths(found.values())

    @property
    def _traces(self) -> str:
        """The folder of all traces."""
        return f"results/{self.configuration.run}/traces/"

    def traces_among(self, targets: Collection[str]) -> list[str]:
        """Paths of the traces that the targets of a run name; `traces` names all of `traces()`."""
        named = [target for target in targets if target.startswith(self._traces)]
        return named + (self.traces() if "traces" in targets else [])

    def texts(self) -> list[str]:
        """Every text of this scale that is not generated, and its further references."""
        found = []
        for corpus in self._prepared():
            if not is_generated(self.configuration, corpus):
                for split in (TRAIN, *test_names(self.configuration.corpus(corpus))):
                    found.append(step_of(corpus, split, "text"))
                    description = self.configuration.corpus(corpus)
                    splits = (TRAIN, VALID) if split == TRAIN else (split,)
                    if any(has_references(description, each) for each in splits):
                        found.append(step_of(corpus, split, "references"))
        return _paths(found)

    def corpora(self) -> list[str]:
        """The summary of every corpus of this scale whose text can be had."""
        return _paths(CorpusStep(corpus, "corpus.json") for corpus in self._prepared())

    def _prepared(self) -> list[str]:
        """Every corpus of this scale whose text can be had."""
        names = dict.fromkeys(map(self.configuration.task, self.configuration.tasks))
        return [name for name in names if not self.configuration.cannot_prepare(name)]

    def models(self, of_teachers: bool) -> list[str]:
        """Every model that others learn from, or every other model."""
        trainings = [each for each in self._everything() if isinstance(each, Training)]
        return _paths(
            Model(each.run, each.corpus, each.system, each.seed)
            for each in trainings
            if (self.generations(each.corpus, each.system) > 1) == of_teachers
        )

    def distilled(self) -> list[str]:
        """Every distilled text, and the comparisons of some of them."""
        return _paths(
            each for each in self._everything() if isinstance(each, Distilled | Comparison)
        )

    def _everything(self) -> list[Artifact]:
        return with_inputs(self.configuration, self.results())

    @cached_property
    def keeping(self) -> list[str]:
        """Systems whose training also writes kept checkpoints."""
        views = {self.configuration, *map(self.configuration.on, self.configuration.tasks.values())}
        return [
            name
            for name in self.configuration.systems
            if any(view.recipe(view.system(name).recipe).keep for view in views)
        ]

    @cached_property
    def together(self) -> list[Together]:
        """The jobs that translate a split by several of the decodings that reports show."""
        asked: dict[Score, set[str]] = {}
        for name, cells in self._cells.items():
            for cell in cells:
                if isinstance(cell.source, Score):
                    asked.setdefault(cell.source, set()).add(self.reports[name].paper)
        return together(self.configuration, asked)

    def inputs_together(self, job: Together, seed: int) -> dict[str, list[str]]:
        """Paths of what such a job reads, by the name of the input.

        Raises:
            UserError: as `inputs_of`, for each of the decodings.
        """
        found: dict[str, dict[str, None]] = {}
        for score in job.scores(self.configuration.run, seed):
            # each decoding can read the model in the format of another engine
            for name, paths in inputs_of(self.configuration, score).items():
                several = [paths] if isinstance(paths, str) else paths
                found.setdefault(name, {}).update(dict.fromkeys(several))
        return {name: list(paths) for name, paths in found.items()}

    @cached_property
    def imported(self) -> list[str]:
        """Systems that are taken over from a checkpoint on some corpus."""
        views = {self.configuration, *map(self.configuration.on, self.configuration.tasks.values())}
        return [
            name
            for name in self.configuration.systems
            if any(view.system(name).imported is not None for view in views)
        ]

    # Order of jobs

    def generations(self, corpus: str, system: str) -> int:
        """Length of the longest chain of systems that depend on each other, starting with this one.

        It orders the jobs: those with the longest chains run first, so that no core is idle at
        the end.
        """
        return _generations(self.configuration.on(corpus), system)

    def priority(self, corpus: str, system: str, split: str = "train") -> int:
        """The priority of a training, or of translating a split.

        Other systems wait for translations of the training text alone, so those of any other split
        have the lowest priority.
        """
        return self.generations(corpus, system) if split == "train" else 0

    # What jobs depend on besides their inputs

    def depends_on(self, artifact: Artifact) -> str:
        """A fingerprint, see `nat.workflow.dependence`."""
        return depends_on(self.configuration, artifact)

    def timed(self, names: Any) -> Latency:
        """The latencies that the names in a path, Snakemake's wildcards, stand for."""
        return latency(
            self.configuration, names.corpus, names.group, int(names.seed), names.setting
        )

    def threads_of_text(self, corpus: str, cores: int | None) -> int:
        """Processes that share the preparation of a text; one is enough for a generated corpus.

        Args:
            corpus: its name.
            cores: number of cores that all jobs share; None where each job has cores of its own. At
                most half of them are used: a job that needs all cores waits until no training runs,
                and cores are idle meanwhile.
        """
        if is_generated(self.configuration, corpus):
            return 1
        return PROCESSES_OF_A_TEXT if cores is None else min(PROCESSES_OF_A_TEXT, cores // 2) or 1


@cache
def _generations(configuration: Configuration, system: str) -> int:
    heirs = [name for name in configuration.systems if system in _dependencies(configuration, name)]
    return 1 + max((_generations(configuration, name) for name in heirs), default=0)


@cache
def _dependencies(configuration: Configuration, system: str) -> list[str]:
    return configuration.dependencies(system)


def _check_names(configuration: Configuration, targets: Iterable[Target]) -> None:
    """Refuse papers whose name, or that of one of their reports, is one of another target."""
    rules = Path(nat.__file__).resolve().parents[1] / "rules"
    text = "".join(path.read_text("utf-8") for path in sorted(rules.glob("*.smk")))
    taken = {*TARGETS, *re.findall(r"^ *(?:use rule \w+ as|rule) (\w+)", text, re.MULTILINE)}
    names = [(reports.name(target), target[0]) for target in targets]
    for name, paper in [*((name, name) for name in configuration.papers), *names]:
        if name in taken:
            where = file_of("papers", paper)
            raise UserError(f"{where}: '{name}' is the name of another target; rename the file")
        taken.add(name)


def _is_all(targets: Collection[str]) -> bool:
    return not targets or "all" in targets


def _paths(artifacts: Iterable[Artifact]) -> list[str]:
    return list(dict.fromkeys(artifact.path for artifact in artifacts))


def with_inputs(configuration: Configuration, wanted: Iterable[Artifact]) -> list[Artifact]:
    """Artefacts and all that they are made from, each once."""
    found: dict[Artifact, None] = {}
    left = list(wanted)[::-1]
    while left:
        artifact = left.pop()
        if artifact not in found:
            found[artifact] = None
            left.extend(artifact.inputs(configuration).artifacts())
    return list(found)


def inputs_of(configuration: Configuration, artifact: Artifact) -> dict[str, str | list[str]]:
    """Paths of what is read to make an artefact, by the name of the input.

    Raises:
        UserError: if the configuration does not allow the artefact, or a file of the user's, which
            no rule can make, is missing.
    """
    check_names(configuration, artifact)
    inputs = artifact.inputs(configuration)
    for each in inputs.artifacts():
        if isinstance(each, File) and not (configuration.root / each.path).exists():
            raise UserError(
                f"{each.named_by} names the file {each.path}, which does not exist; put it there "
                "or correct the key"
            )
    return inputs.paths()


def check_names(configuration: Configuration, artifact: Artifact) -> None:
    """Refuse an artefact of a corpus that the scale does not have, or of a system that has another
    name on its corpus.

    Raises:
        UserError: with the right name, or the key to add the corpus to.
    """
    names = vars(artifact)
    if "run" not in names or "corpus" not in names:
        return
    corpus, known = names["corpus"], dict.fromkeys(configuration.tasks.values())
    if corpus not in known:
        raise UserError(
            f"{file_of('scales', configuration.scale)}: key 'tasks': the corpus '{corpus}' stands "
            f"for no task; {hint(corpus, known)}"
        )
    for key in ("system", "other"):
        if key in names:
            right = configuration.canonical(corpus, names[key])
            if right != names[key]:
                path = replace(artifact, **{key: right}).path
                raise UserError(
                    f"'{names[key]}' is the same as '{right}' on {corpus}; ask for {path}"
                )
