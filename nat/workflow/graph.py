"""The targets of a run, the order of its jobs, and what a job reads."""

import difflib
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from nat.artifact import Artifact, CorpusStep, references, step_of
from nat.artifacts import (
    Comparison,
    Distilled,
    Model,
    OfTraining,
    PublishedCheckpoint,
    Score,
    Trace,
)
from nat.configuration import Configuration, fingerprint
from nat.configuration.configuration import dependencies
from nat.configuration.files import file_of
from nat.configuration.runnable import cannot_prepare
from nat.data.splits import MONOLINGUAL, TRAIN
from nat.errors import UserError, told_of
from nat.options import hint
from nat.papers import reports
from nat.papers.relation import PREFIX
from nat.papers.reports import Site
from nat.workflow.dependence import code_of_reports
from nat.workflow.together import Together, together


class Graph:
    """The graph of a configuration; raises a `UserError` for unknown names in a paper.

    Attributes:
        reports: every report of every paper, by the name of its target.
        cells: numbers of each report that this scale can run, by the same names.
        site: path of the first page of the report.
        keeping: systems whose training also writes kept checkpoints.
        imported: systems that are taken over from a checkpoint on some corpus.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.site = Site(configuration.run).path
        self.reports = {report.name: report for report in reports.every(configuration)}
        self.cells = {name: reports.cells(configuration, own) for name, own in self.reports.items()}
        views = {configuration, *map(configuration.on, configuration.tasks.values())}
        both = [(view, name, view.system(name)) for view in views for name in configuration.systems]
        self.keeping = sorted({name for view, name, _ in both if view.recipe_of(name).keep})
        self.imported = sorted({name for _, name, own in both if own.imported is not None})

    @property
    def together(self) -> list[Together]:
        """The jobs that translate a split by several of the decodings that reports show."""
        asked: dict[Score, set[str]] = {}
        for name, cells in self.cells.items():
            for cell in cells:
                if isinstance(cell.source, Score):
                    asked.setdefault(cell.source, set()).add(self.reports[name].paper)
        return together(self.configuration, asked)

    def reports_of(self, *papers: str) -> list[str]:
        """Paths of the tables, figures and judged claims of papers.

        Without a name, these are all papers but those that the scale keeps apart. In a sweep they
        are the tables that it changes and their figures, if there are any.
        """
        apart = self.configuration.scale_settings.apart
        wanted = papers or [
            name for name in self.configuration.files["papers"] if name not in apart
        ]
        own = [report for report in self.reports.values() if report.paper in wanted]
        figures = {(each.paper, each.number) for each in own if each.number.startswith(PREFIX)}
        swept = [e for e in own if {(e.paper, e.number), (e.paper, PREFIX + e.number)} & figures]
        return [path for report in swept or own for path in report.files]

    def before_pages(self, targets: Collection[str]) -> list[str]:
        """Paths that the pages of a run wait for: what they show and the run makes."""
        run, site = f"results/{self.configuration.run}/", Path(self.site).parent
        paths = self.traces() if "traces" in targets else []
        paths += self.reports_of() if _is_all(targets) else []
        for target in targets:
            if target == "scores":
                paths += self.scores()
            elif target in ("students", "teachers"):
                paths += self.models(of_teachers=target == "teachers")
            elif target == "demo" or target in self.configuration.files["papers"]:
                paths += self.reports_of("overview" if target == "demo" else target)
            elif target in self.reports:
                paths += self.reports[target].files
            elif target.startswith(run) and site not in Path(target).parents:
                paths.append(target)
        return list(dict.fromkeys(paths))

    def pages_made_of(self, targets: Collection[str]) -> str:
        """A fingerprint of what the pages are made of; they are made again when it changes.

        It covers the results that exist, the whole configuration and the code. In a run of
        everything it only covers results of papers that are apart, since all else that the pages
        show are then their inputs.
        """
        root, apart = Path(self.configuration.root), self.configuration.scale_settings.apart
        shown = _paths(self.results(apart)) if _is_all(targets) else self.scores()
        there = [path for path in map(root.joinpath, shown) if path.exists()]
        if not _is_all(targets):
            run = root / f"results/{self.configuration.run}"
            there += [*(run / "traces").rglob("*.jsonl"), *run.glob("models/*/*/seed*/training.*")]
        times = {str(path): path.stat().st_mtime_ns for path in sorted(there)}
        return fingerprint([self.configuration.files, code_of_reports(), times])

    def results(self, papers: Collection[str] | None = None) -> list[Artifact]:
        """Every score, analysis and training record that reports of all or of some papers read."""
        wanted = self.configuration.files["papers"] if papers is None else papers
        names = [name for name, report in self.reports.items() if report.paper in wanted]
        sources = [cell.source for name in names for cell in self.cells[name]]
        return [source for source in dict.fromkeys(sources) if source is not None]

    def scores(self) -> list[str]:
        """Paths of these results."""
        return _paths(self.results())

    def traces(self) -> list[str]:
        """Paths of the traces of the decodings that the report shows step by step.

        A decoding is only traced where its model and its translations exist already, and only for
        the first of several seeds.
        """
        configuration, root = self.configuration, Path(self.configuration.root)
        shown = configuration.scale_settings.browser.steps
        scores = [each for each in self.results() if isinstance(each, Score)]
        first: dict[Trace, Trace] = {}
        for score in sorted(scores, key=lambda score: score.seed):
            if score.decoding in shown:
                trace = Trace(**vars(score))
                with told_of(f"{file_of('scales', configuration.scale)}: key 'browser.steps': "):
                    model = trace.inputs(configuration).model
                if all((root / path).exists() for path in (model.path, score.translations.path)):
                    first.setdefault(replace(trace, seed=0), trace)
        return _paths(first.values())

    def texts(self) -> list[str]:
        """Every text of this scale that is not generated, further references, and checkpoints."""
        made = with_inputs(self.configuration, self.results())
        steps: list[Artifact] = [
            each
            for each in made
            if isinstance(each, PublishedCheckpoint)
            or (isinstance(each, CorpusStep) and (each.step, each.split) == ("text", MONOLINGUAL))
        ]
        for corpus in self._prepared():
            described = self.configuration.corpus(corpus)
            for split in described.split_names if described.generator is None else ():
                steps.append(step_of(corpus, split, "text"))
                steps += filter(None, [references(described, corpus, split)])
        return _paths(steps)

    def corpora(self) -> list[str]:
        """The summary of every corpus of this scale whose text can be had."""
        return _paths(CorpusStep(corpus, "corpus.json") for corpus in self._prepared())

    def _prepared(self) -> list[str]:
        names = dict.fromkeys(self.configuration.tasks.values())
        return [name for name in names if not cannot_prepare(self.configuration, name)]

    def models(self, of_teachers: bool) -> list[str]:
        """Every model that others learn from, or every other model."""
        made = with_inputs(self.configuration, self.results())
        trainings = [each for each in made if isinstance(each, OfTraining)]
        return _paths(
            Model.of(vars(each))
            for each in trainings
            if (self.priority(each.corpus, each.system) > 1) == of_teachers
        )

    def distilled(self) -> list[str]:
        """Every distilled text, and the comparisons of some of them."""
        made = with_inputs(self.configuration, self.results())
        return _paths(each for each in made if isinstance(each, Distilled | Comparison))

    def why_no_rule(self, name: str, targets: Collection[str]) -> str:
        """One sentence about a target or path that nothing makes: the nearest that is made."""
        if "/" not in name:
            return f"there is no target '{name}'; {hint(name, targets)}"
        configuration = self.configuration
        run = name.removeprefix("results/").partition("/")[0]
        scale, _, own = run.partition("@")
        if run != configuration.run and scale in configuration.files["scales"]:
            chosen = f"scale={scale}" + (f" name={own} override=..." if own else "")
            return f"{name} is a result of '--config {chosen}', this run is of {configuration.run}"
        known = {each.path for each in with_inputs(configuration, self.reports.values())}
        near = difflib.get_close_matches(name, known - {name}, 1)
        advice = f"did you mean {near[0]}?" if near else "see docs/results.md"
        return f"no rule makes {name}; {advice}"

    def priority(self, corpus: str, system: str, split: str = TRAIN) -> int:
        """The priority of a training, or of translating a split.

        It is the length of the longest chain of systems that depend on each other, starting with
        this one: those run first, so that no core is idle at the end. Other systems wait for
        translations of what they learn alone, so those of any other split are last.
        """
        is_learned = split in (TRAIN, MONOLINGUAL)
        return _generations(self.configuration.on(corpus), system) if is_learned else 0


def priority_of_text(split: str) -> int:
    """The priority of preparing a text; what trainings wait for comes first.

    That of a training is the length of a chain of systems, which is always less.
    """
    return 1000 if split == TRAIN else 0


@cache
def _generations(configuration: Configuration, system: str) -> int:
    heirs = [name for name in configuration.systems if system in dependencies(configuration, name)]
    return 1 + max((_generations(configuration, name) for name in heirs), default=0)


def _is_all(targets: Collection[str]) -> bool:
    return not targets or "all" in targets


def _paths(artifacts: Iterable[Artifact]) -> list[str]:
    return list(dict.fromkeys(artifact.path for artifact in artifacts))


def with_inputs(configuration: Configuration, wanted: Iterable[Artifact]) -> list[Artifact]:
    """Artefacts and all that they are made from, each once."""
    known: dict[Artifact, None] = {}
    left = list(wanted)[::-1]
    while left:
        artifact = left.pop()
        if artifact not in known:
            known[artifact] = None
            left.extend(artifact.inputs(configuration).artifacts())
    return list(known)


def inputs_of(configuration: Configuration, artifact: Artifact) -> dict[str, list[str]]:
    """Paths of the results that are read to make an artefact, by the name of the input.

    Files of the user's are no inputs for Snakemake, which would compare their times: their content
    decides, see `nat.workflow.dependence`.

    Raises a `UserError` if the scale does not have its corpus, if its system has another name
    there, if the configuration does not allow it, or if a file of the user's is missing.
    """
    names = vars(artifact)
    corpus, known = names.get("corpus", ""), dict.fromkeys(configuration.tasks.values())
    if "run" in names and corpus and corpus not in known:
        raise UserError(
            f"{file_of('scales', configuration.scale)}: key 'tasks': the corpus '{corpus}' stands "
            f"for no task; {hint(corpus, known)}"
        )
    for key in {"system", "other"} & names.keys():
        right = configuration.canonical(corpus, names[key])
        if right != names[key]:
            path = replace(artifact, **{key: right}).path
            raise UserError(f"'{names[key]}' is the same as '{right}' on {corpus}; ask for {path}")
    inputs = artifact.inputs(configuration)
    for each in inputs.files:
        if not (configuration.root / each.path).exists():
            raise UserError(
                f"{each.named_by} names the file {each.path}, which does not exist; put it there "
                "or correct the key"
            )
    return inputs.paths()
