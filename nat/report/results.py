"""The results of a run that exist: how much of each report, its claims, its trainings."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nat.artifacts import Score, TotalCorrelation, TrainingRecord
from nat.configuration import Configuration, differences
from nat.configuration.configuration import needed_systems
from nat.configuration.files import PAPER_SCALE
from nat.configuration.overrides import RunChoice
from nat.data.corpus_parts import prepared_as
from nat.data.splits import TRAIN
from nat.data.translations import MADE_WITH
from nat.files import read_json
from nat.measures.results import read_file
from nat.options import cached_method
from nat.papers import judgements, published, reports
from nat.papers.cells import Cell, Check, training_of
from nat.papers.coordinates import heading
from nat.papers.relation import relation
from nat.papers.reports import Report
from nat.papers.values import Record
from nat.report.page import COMPLETE, NOTHING, Entry


class Results:
    """The results of a run that exist; `root` is the folder of `config` and `results`."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.root = Path(configuration.root)

    @cached_property
    def papers(self) -> list[str]:
        """Files of `config/papers`; first those of papers, which have published values."""
        files = self.configuration.files["papers"]
        return sorted(files, key=lambda name: not (self.root / published.file_of(name)).exists())

    @cached_property
    def cells(self) -> dict[Report, list[Cell]]:
        """Cells of every table, figure and set of claims, in the order of `papers`."""
        every = reports.every(self.configuration, self.papers)
        return {report: reports.cells(self.configuration, report) for report in every}

    @cached_method
    def counted(self, report: Report) -> tuple[int, int]:
        """Count the results behind a report that exist, and all of them."""
        paths = {cell.path for cell in self.cells[report]}
        return sum((self.root / path).exists() for path in paths), len(paths)

    def state(self, report: Report) -> Entry:
        """Say how much exists of a table, a figure or the claims of a paper."""
        there, of = self.counted(report)
        if of:
            return Entry.share(there, of)
        part = relation(self.configuration, report.paper).get(report.part)
        if part is not None and part.described.kind == "settings":
            return Entry("configuration", look=COMPLETE)
        return Entry("no corpus", look=NOTHING)

    def shown(self, paper: str | None = None) -> list[Cell]:
        """Cells that exist of tables, figures and claims, all or those of a paper."""
        return [
            cell
            for report, cells in self.cells.items()
            if report.paper == (paper or report.paper)
            for cell in cells
            if cell.source and (self.root / cell.path).exists()
        ]

    @cached_property
    def claims(self) -> dict[str, list[tuple[Check, Record]]]:
        """Claims of each paper that makes some, and the judgement of each."""
        claims = {}
        for report in self.cells:
            if report.form == "claims":
                resolved = reports.resolve_claims(self.configuration, report.paper)
                judged = judgements.judge(resolved, self.root)
                claims[report.paper] = list(zip(resolved.checks, judged, strict=True))
        return claims

    def training(self, corpus: str, system: str, seed: int) -> dict[str, Any] | None:
        """Read the record of a training, if it has ended."""
        path = self.root / TrainingRecord(self.configuration.run, corpus, system, seed).path
        return read_json(path) if path.exists() else None

    @cached_method
    def changes(self, corpus: str, system: str, seed: int) -> list[str]:
        """List how the configuration that a model was trained with differs from today's.

        That of the systems that it learned or started from counts, too.

        Returns:
            Lines such as `recipe.dropout: 0.1 is now 0.3`, none if there is no record.
        """
        record = self.training(corpus, system, seed)
        if record is None:
            return []
        today = self.configuration.training(corpus, system).as_json()
        lines = differences(record["training"], today)
        if record.get("corpus"):
            prepared = prepared_as(self.configuration.corpus(corpus), TRAIN)
            lines += differences({"corpus": record["corpus"]}, {"corpus": prepared})
        for name, how in needed_systems(self.configuration.on(corpus), system):
            its = seed if how == "init_from" else self.configuration.scale_settings.seeds[0]
            lines += [f"{name}: {line}" for line in self.changes(corpus, name, its)]
        return lines

    def older(self, cells: Sequence[Cell]) -> list[str]:
        """Say why numbers are of an older configuration; nothing if they are of today's."""
        reasons: dict[str, None] = {}
        for cell in cells:
            path = self.root / cell.path
            if training_of(cell) is None or not path.exists():
                continue
            reasons |= dict.fromkeys(self.changes(cell.corpus, cell.model, cell.seed))
            if isinstance(cell.source, TotalCorrelation):
                reasons |= dict.fromkeys(self.changes(cell.corpus, cell.source.other, cell.seed))
            if isinstance(cell.source, Score):
                reasons |= dict.fromkeys(self._translated_otherwise(cell, cell.source))
        return list(reasons)

    def _translated_otherwise(self, cell: Cell, score: Score) -> Iterator[str]:
        """Say why the translations of a score are not those of today's model and configuration."""
        record = self.training(cell.corpus, cell.model, cell.seed)
        model = read_file(self.root / score.path).get("model", {}).get("fingerprint")
        if record is not None and model not in (None, record.get("fingerprint")):
            yield "translated by an earlier training of this system"
        summary = self.root / score.translations.summary
        if summary.exists() and (made_with := read_json(summary).get(MADE_WITH)) is not None:
            there = self.configuration.on(cell.corpus)
            today = {
                "decoding": there.decoding(cell.decoding).as_json(),
                "corpus": prepared_as(there.corpus(cell.corpus), cell.split),
            }
            yield from differences(made_with, today)

    def cost(self, papers: Collection[str]) -> dict[str, str]:
        """Count what the trainings behind papers took."""
        models = {
            (cell.corpus, cell.model, cell.seed)
            for report, cells in self.cells.items()
            for cell in cells
            if report.paper in papers and training_of(cell)
        }
        records = [record for key in sorted(models) if (record := self.training(*key))]
        seconds = sum(
            float(record.get("seconds") or 0) * int(record.get("devices") or 1)
            for record in records
        )
        devices = dict.fromkeys(str(record.get("device", "unknown device")) for record in records)
        tokens = sum(int(record.get("tokens") or 0) for record in records)
        return {
            "trainings": f"{len(records)} of {len(models)}",
            "device hours": f"{seconds / 3600:,.2f}",
            "target tokens": f"{tokens:,}",
            "devices": ", ".join(devices),
        }


def stand_ins(configuration: Configuration, shown: Iterable[Cell]) -> str:
    """Say which corpora of cells are not those of the papers, and what the scale is; else nothing.

    A corpus that no paper names stands in for none.
    """
    papers = replace(configuration, choice=RunChoice(PAPER_SCALE)).tasks
    tasks = {cell.task for cell in shown}
    corpora: dict[str, str] = {}
    for task, corpus in configuration.tasks.items():
        if task in tasks and papers.get(task, corpus) != corpus:
            corpora.setdefault(corpus, heading(task))
    pairs = ", ".join(f"{corpus} for {task}" for corpus, task in corpora.items())
    described = f"Scale {configuration.scale}: {configuration.scale_settings.description}"
    return f"{described}. Here, {pairs}." if corpora else ""
