"""What exists of a run: how much of each report, its scores, and the records of its trainings."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nat.artifact import is_generated
from nat.artifacts import Score, TotalCorrelation, TrainingRecord
from nat.configuration import Configuration, differences
from nat.configuration.files import PAPER_SCALE
from nat.configuration.overrides import Overrides
from nat.configuration.systems import needed_systems
from nat.data.splits import TRAIN, derived_from, prepared_as
from nat.data.translations import MADE_WITH
from nat.files import read_json
from nat.measures.results import read, read_file
from nat.options import cached_method
from nat.papers import judgements, published, reports
from nat.papers.cells import Cell, training_of
from nat.papers.checks import Check
from nat.papers.coordinates import heading
from nat.papers.reports import Target, snakemake
from nat.papers.values import Record
from nat.report.page import COMPLETE, NOTHING, PART, Entry

BASE = "base"
"""The size of models that papers compare with."""
CONFIGURED = Entry("configuration", look=COMPLETE)
"""The state of a table of settings, which needs no results."""


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
    def cells(self) -> dict[Target, list[Cell]]:
        """The cells of every table, figure and set of claims, those of papers first."""
        order = [*self.papers, *self.others]
        targets = sorted(reports.targets(self.configuration), key=lambda each: order.index(each[0]))
        return {target: reports.cells(self.configuration, target) for target in targets}

    @cached_method
    def state(self, target: Target) -> Entry:
        """How much exists of what a table, figure or the claims of a paper are made from."""
        paper, kind, number = target
        paths = {cell.path for cell in self.cells[target]}
        if not paths:
            tables = self.configuration.paper(paper).tables
            stated = kind == "table" and tables[number].kind == "settings"
            return CONFIGURED if stated else Entry("no corpus", look=NOTHING)
        there = sum((self.root / path).exists() for path in paths)
        if there == len(paths):
            return Entry("complete", look=COMPLETE)
        if not there:
            return Entry("not run", look=NOTHING)
        return Entry(f"{there} of {len(paths)}", look=PART)

    @cached_property
    def claims(self) -> dict[str, list[tuple[Check, Record]]]:
        """The claims of each paper that makes some, and the judgement of each."""
        found = {}
        for paper, kind, _ in self.cells:
            if kind == "claims":
                claims = reports.resolve_claims(self.configuration, paper)
                judged = judgements.judge(claims, self.root)
                found[paper] = list(zip(claims.checks, judged, strict=True))
        return found

    @cached_method
    def scores(self, corpus: str, system: str) -> list[dict[str, Any]]:
        """Every score of a system that exists, whatever asked for it.

        Returns:
            The names of the score, its `numbers` by measure, the mean number of `passes` of the
            decoder for a sentence, the configuration that the translations were `made_with`, and
            the fingerprint of the training of the `model` that translated; `None` for what is
            unknown.
        """
        template = Score(self.configuration.run, corpus, system, 0, "decoding", "split").path
        folder = self.root / Path(template).parents[2]
        scores = []
        for path in sorted(folder.glob("seed*/*/*.json")):
            seed, decoding = path.parts[-3].removeprefix("seed"), path.parts[-2]
            score = Score(self.configuration.run, corpus, system, int(seed), decoding, path.stem)
            summary = self.root / score.translations.summary
            translated = read_json(summary) if summary.exists() else {}
            found = {
                "numbers": read(path, path.stem),
                "passes": translated.get("mean_steps"),
                MADE_WITH: translated.get(MADE_WITH),
                "model": read_file(path).get("model", {}).get("fingerprint"),
            }
            scores.append(vars(score) | found)
        return scores

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
        if key in self._changes:
            return self._changes[key]
        found = self._changes[key] = []  # also ends circles
        record = self.training(*key)
        if record is None:
            return found
        found += differences(
            record["training"], self.configuration.training(corpus, system).as_json()
        )
        if record.get("corpus"):
            prepared = prepared_as(self.configuration.corpus(corpus), TRAIN)
            found += differences({"corpus": record["corpus"]}, {"corpus": prepared})
        for name, how in needed_systems(self.configuration.on(corpus), system):
            its = seed if how == "init_from" else self.configuration.scale_settings.seeds[0]
            found += [f"{name}: {line}" for line in self.changes(corpus, name, its)]
        return found

    def older(self, cells: Sequence[Cell]) -> list[str]:
        """Why numbers are of an older configuration; nothing if they are of today's."""
        found: dict[str, None] = {}
        for cell in cells:
            path = self.root / cell.path
            if training_of(cell) is None or not path.exists():
                continue
            found |= dict.fromkeys(self.changes(cell.corpus, cell.model, cell.seed))
            if isinstance(cell.source, TotalCorrelation):
                found |= dict.fromkeys(self.changes(cell.corpus, cell.source.other, cell.seed))
            if isinstance(cell.source, Score):
                found |= dict.fromkeys(self._translated_otherwise(cell))
        return list(found)

    def _translated_otherwise(self, cell: Cell) -> Iterator[str]:
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


def stand_ins(configuration: Configuration) -> str:
    """A sentence on corpora and models that are not those of the papers; empty without such."""
    papers = replace(configuration, scale=PAPER_SCALE, overrides=Overrides())
    corpora: dict[str, str] = {}
    for task, corpus in configuration.tasks.items():
        if papers.tasks.get(task, corpus) != corpus:
            corpora.setdefault(corpus, heading(task))
    parts = []
    if corpora:
        invented = all(
            is_generated(configuration, derived_from(configuration.corpus(corpus)) or corpus)
            for corpus in corpora
        )
        kind = "invented languages" if invented else "other corpora"
        pairs = ", ".join(f"{corpus} for {task}" for corpus, task in corpora.items())
        parts.append(f"{kind} stand in for the corpora of the papers ({pairs})")
    ours, theirs = (each.scale_settings.sizes[BASE] for each in (configuration, papers))
    if ours.model_dim != theirs.model_dim:
        parts.append(
            f"a base model is {ours.model_dim} wide with {ours.encoder_layers} + "
            f"{ours.decoder_layers} layers, in the papers {theirs.model_dim} with "
            f"{theirs.encoder_layers} + {theirs.decoder_layers}"
        )
    told = f"Numbers of scale {configuration.scale} are not results on the corpora of the papers"
    return f"{told}: here {', and '.join(parts)}." if parts else ""
