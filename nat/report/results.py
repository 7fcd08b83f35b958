"""What exists of a run: tables, figures, judged claims, and the records of trainings.

A report that a job has made is read back, unless a result that it shows, what the paper's file says
of it, or a published value has changed since. All others are computed here from the results that
exist, by the same functions as in the job.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nat.artifacts import Score, TotalCorrelation, TrainingRecord
from nat.cached_method import cached_method
from nat.configuration import Configuration, differences
from nat.data.splits import TRAIN, prepared_as
from nat.data.translations import MADE_WITH
from nat.figures import points
from nat.figures.points import Plot
from nat.files import read_json
from nat.measures.results import read, read_file
from nat.papers import claim_formats, judgements, published, reports, tables
from nat.papers.cells import Cell
from nat.papers.claims import Check, checks, made_from
from nat.papers.conflicts import Conflict, conflicts
from nat.papers.reports import Target, snakemake
from nat.papers.table_formats import TableText, read_records
from nat.papers.values import Record
from nat.report import scale

MEASURED = ("sacrebleu", "tokenised_bleu", "multi_reference_bleu", "chrf", "repeated_tokens")
"""The measures that pages show of every score."""

COMPLETE, PART, NOTHING = "complete", "part", "nothing"


def made_again(configuration: Configuration, cells: Iterable[Cell]) -> str:
    """The command line that makes the numbers of cells again, and nothing else.

    A job that is forced keeps translations of the same model with the same options, so they are
    removed before.
    """
    asked = list(cells)
    files = list(dict.fromkeys(cell.path for cell in asked))
    command = snakemake(configuration, *files, "--forcerun", *files)
    kept = dict.fromkeys(
        cell.source.translations.path for cell in asked if isinstance(cell.source, Score)
    )
    return f"{shlex.join(['rm', '-f', *kept])} && {command}" if kept else command


@dataclass(frozen=True)
class State:
    """How much of a report's results exists.

    Attributes:
        kind: `COMPLETE`, `PART` or `NOTHING`.
        text: for the reader.
    """

    kind: str
    text: str


CONFIGURED = State(COMPLETE, "configuration")
"""The state of a table of settings, which needs no results."""


def state(configuration: Configuration, target: Target, cells: Iterable[Cell]) -> State:
    """How much exists of what a table, figure or the claims of a paper are made from."""
    paths = {cell.path for cell in cells}
    if not paths:
        paper, kind, number = target
        if kind == "table" and configuration.paper(paper).tables[number].kind == "settings":
            return CONFIGURED
        return State(NOTHING, "no corpus")
    there = sum((Path(configuration.root) / path).exists() for path in paths)
    if there == len(paths):
        return State(COMPLETE, "complete")
    return State(PART, f"{there} of {len(paths)}") if there else State(NOTHING, "not run")


class Results:
    """The results of a run that exist.

    Attributes:
        configuration: of the run.
        root: folder of `config` and `results`.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.root = Path(configuration.root)
        self._changes: dict[tuple[str, str, int], list[str]] = {}

    @cached_property
    def papers(self) -> list[str]:
        """The files of `config/papers` that reproduce a paper, which has published values."""
        return [name for name in self.configuration.papers if published.exists(self.root, name)]

    @cached_property
    def others(self) -> list[str]:
        """The files of `config/papers` that are not a paper."""
        return [name for name in self.configuration.papers if name not in self.papers]

    @cached_property
    def targets(self) -> list[Target]:
        """Every table, figure and set of claims, those of papers first."""
        order = [*self.papers, *self.others]
        return sorted(reports.targets(self.configuration), key=lambda each: order.index(each[0]))

    @cached_property
    def stand_ins(self) -> str:
        """What stands in for the corpora and models of the papers."""
        return scale.stand_ins(self.configuration)

    @cached_property
    def cells(self) -> dict[Target, list[Cell]]:
        """The cells of every table, figure and set of claims."""
        return {target: reports.cells(self.configuration, target) for target in self.targets}

    @cached_property
    def states(self) -> dict[Target, State]:
        """How much exists of every table, figure and set of claims."""
        return {
            target: state(self.configuration, target, self.cells[target]) for target in self.targets
        }

    def made(self, target: Target) -> Path | None:
        """The main file of a report, if a job made it from all that exists today."""
        path = self.root / reports.report(self.configuration, target).path
        if not path.exists():
            return None
        when = path.stat().st_mtime
        shown = (self.root / cell.path for cell in self.cells[target])
        return None if any(_changed_after(each, when) for each in shown) else path

    def table(self, paper: str, number: str) -> TableText:
        """A table, filled with what exists.

        Raises:
            UserError: for damaged results.
        """
        path = self.made((paper, "table", number))
        if path is not None:
            grid = self.configuration.paper(paper).tables[number].kind == "grid"
            made = read_records(path) if grid else []
            asked = tables.made_from(self.configuration, paper, number)
            if made and [each.get("made_from") for each in made] == asked:
                return reports.read_table(self.configuration, paper, number, path)
        return reports.make_table(self.configuration, paper, number)

    def judged(self, paper: str) -> list[Record]:
        """The claims of a paper, judged by what exists.

        Raises:
            UserError: for damaged results.
        """
        path = self.made((paper, "claims", ""))
        if path is not None:
            found = claim_formats.read(path)
            asked = [made_from(self.configuration, each) for each in self.checks[paper]]
            if [each.get("made_from") for each in found] == asked:
                return found
        return judgements.judge(self.configuration, paper)

    @cached_property
    def claims(self) -> dict[str, list[Record]]:
        """The judged claims of each paper that makes some."""
        return {paper: self.judged(paper) for paper in self.checks}

    @cached_property
    def checks(self) -> dict[str, tuple[Check, ...]]:
        """What each of these claims is judged by."""
        with_claims = [paper for paper, kind, _ in self.targets if kind == "claims"]
        return {paper: checks(self.configuration, paper) for paper in with_claims}

    @cached_property
    def conflicts(self) -> list[Conflict]:
        """The conflicts in what the papers print, see `nat.papers.conflicts`."""
        return conflicts(self.configuration)

    def plot(self, paper: str, number: str) -> Plot:
        """The points of a figure that exist.

        Raises:
            UserError: for damaged results.
        """
        return points.make(self.configuration, paper, number)

    def drawn(self, paper: str, number: str, plot: Plot) -> Path | None:
        """The main file of a figure, if a job drew it with all that `plot` shows.

        Raises:
            UserError: if the points of the job's figure are damaged.
        """
        path = self.root / reports.report(self.configuration, (paper, "figure", number)).path
        csv = path.with_suffix(".csv")
        if not (path.exists() and csv.exists()):
            return None
        records = read_records(csv)
        return path if records and records[0].get("made_from") == plot.made_from else None

    @cached_method
    def scores(self, corpus: str, system: str) -> list[dict[str, Any]]:
        """Every score of a system that exists, whatever asked for it.

        Returns:
            The names of the score, the values of `MEASURED` and their `intervals`, the mean number
            of `passes` of the decoder for a sentence, the configuration that the translations were
            `made_with`, and the fingerprint of the training of the `model` that translated; `None`
            for what is unknown.
        """
        template = Score(self.configuration.run, corpus, system, 0, "decoding", "split").path
        folder = self.root / Path(template).parents[2]
        return [self._score(path, corpus, system) for path in sorted(folder.glob("seed*/*/*.json"))]

    def _score(self, path: Path, corpus: str, system: str) -> dict[str, Any]:
        content, found = read_file(path), read(path, path.stem)
        seed, decoding = path.parts[-3].removeprefix("seed"), path.parts[-2]
        score = Score(self.configuration.run, corpus, system, int(seed), decoding, path.stem)
        summary = self.root / score.translations.summary
        translated = read_json(summary) if summary.exists() else {}
        numbers = {name: found[name] for name in MEASURED if name in found}
        return {
            **vars(score),
            **{name: numbers[name].value if name in numbers else None for name in MEASURED},
            "intervals": {
                name: (each.low, each.high)
                for name, each in numbers.items()
                if each.low is not None
            },
            "passes": translated.get("mean_steps"),
            MADE_WITH: translated.get(MADE_WITH),
            "model": content.get("model", {}).get("fingerprint"),
        }

    # Trainings

    def training(self, corpus: str, system: str, seed: int) -> dict[str, Any] | None:
        """The record of a training, if it has ended."""
        path = self.root / TrainingRecord(self.configuration.run, corpus, system, seed).path
        return read_json(path) if path.exists() else None

    def changes(self, corpus: str, system: str, seed: int) -> list[str]:
        """How the configuration that a model was trained with differs from today's.

        That of the systems that it learned or started from counts, too.

        Returns:
            Lines such as `recipe.dropout: 0.1 is now 0.3`, none if there is no record.
        """
        key = corpus, system, seed
        if key not in self._changes:
            self._changes[key] = []  # also ends circles
            self._changes[key] = list(self._found_changes(*key))
        return self._changes[key]

    def _found_changes(self, corpus: str, system: str, seed: int) -> Iterable[str]:
        record = self.training(corpus, system, seed)
        if record is None:
            return
        today = self.configuration.training(corpus, system).as_json()
        yield from differences(record["training"], today)
        if record.get("corpus"):
            prepared = prepared_as(self.configuration.corpus(corpus), TRAIN)
            yield from differences({"corpus": record["corpus"]}, {"corpus": prepared})
        there = self.configuration.on(corpus)
        for name, key in there.needed_systems(system):
            its = seed if key == "init_from" else self.configuration.teacher_seed
            yield from (f"{name}: {line}" for line in self.changes(corpus, name, its))

    def older(self, cells: Sequence[Cell]) -> list[str]:
        """Why numbers are of an older configuration; nothing if they are of today's."""
        found: dict[str, None] = {}
        for cell in cells:
            path = self.root / cell.path
            if not cell.of_training or not path.exists():
                continue
            found |= dict.fromkeys(self.changes(cell.corpus, cell.model, cell.seed))
            if isinstance(cell.source, TotalCorrelation):
                found |= dict.fromkeys(self.changes(cell.corpus, cell.source.other, cell.seed))
            if isinstance(cell.source, Score):
                found |= dict.fromkeys(self._translated_otherwise(cell))
        return list(found)

    def _translated_otherwise(self, cell: Cell) -> Iterable[str]:
        """Why the translations of a score are not those of today's model and configuration."""
        record = self.training(cell.corpus, cell.model, cell.seed)
        names = cell.seed, cell.decoding, cell.split
        for score in self.scores(cell.corpus, cell.model):
            if (score["seed"], score["decoding"], score["split"]) != names:
                continue
            if record is not None and score["model"] not in (None, record.get("fingerprint")):
                yield "translated by an earlier training of this system"
            if score[MADE_WITH] is not None:
                there = self.configuration.on(cell.corpus)
                today = {
                    "decoding": there.decoding(cell.decoding).as_json(),
                    "corpus": prepared_as(there.corpus(cell.corpus), cell.split),
                }
                yield from differences(score[MADE_WITH], today)


def _changed_after(path: Path, when: float) -> bool:
    return path.exists() and path.stat().st_mtime > when
