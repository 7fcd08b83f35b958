"""Where a number comes from: what a page says of it on demand.

The lines that many numbers share, such as those of a model, are written once to a page.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nat.artifacts import Latency, Score
from nat.papers.cells import Cell
from nat.papers.reader import NOT_RUN
from nat.papers.reports import snakemake
from nat.report import addresses
from nat.report.page import root_of
from nat.report.results import Results, made_again

Line = tuple[str, str, str, bool]
"""A term, its text, the page that it leads to (or nothing), and whether it is code."""


def line(term: str, text: Any, address: str = "", code: bool = False) -> Line:
    """A line of details."""
    return term, str(text), address, code


@dataclass
class Details:
    """What a page says of its numbers.

    Attributes:
        results: of the run.
        path: of the page.
        numbers: a title, the lines of this number alone, and the places of the others in `shared`.
        shared: groups of lines.
    """

    results: Results
    path: str
    numbers: list[dict[str, Any]] = field(default_factory=list)
    shared: list[list[Line]] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def add(self, title: str, lines: Iterable[Line], cells: Sequence[Cell]) -> int:
        """Add a number with the cells behind it; returns its place in `numbers`."""
        own = list(lines)
        there = [cell for cell in cells if (self.results.root / cell.path).exists()]
        missing = [cell for cell in cells if cell not in there]
        for cell in there:
            own.append(line("file", cell.path, code=True))
            if isinstance(cell.source, Score):
                own.append(line("translations", cell.source.translations.path, code=True))
        shared = [self._of_model(cell) for cell in there if cell.of_training]
        shared += [self._of_decoding(cell) for cell in there if cell.decoding]
        shared += [self._of_setting(cell) for cell in there if isinstance(cell.source, Latency)]
        configuration = self.results.configuration
        if missing:
            paths = dict.fromkeys(cell.path for cell in cells)
            own.append(line(NOT_RUN, "; ".join(cell.path for cell in missing), code=True))
            own.append(line("made by", snakemake(configuration, *paths), code=True))
        elif there:
            own.append(line("made again by", made_again(configuration, there), code=True))
        self.numbers.append({"title": title, "lines": own, "shared": list(dict.fromkeys(shared))})
        return len(self.numbers) - 1

    def as_json(self) -> dict[str, Any]:
        """For the script of the page."""
        return {"numbers": self.numbers, "shared": self.shared}

    def _share(self, key: Any, lines: list[Line]) -> int:
        if key not in self._places:
            self._places[key] = len(self.shared)
            self.shared.append(lines)
        return self._places[key]

    def _of_model(self, cell: Cell) -> int:
        key = cell.corpus, cell.model, cell.seed
        if key in self._places:
            return self._places[key]
        address = root_of(self.path) + addresses.system(cell.corpus, cell.model)
        lines = [line("model", f"{cell.model} on {cell.corpus}, seed {cell.seed}", address)]
        record = self.results.training(*key)
        if record is not None:
            hours = f"{record['seconds'] / 60:,.1f} min" if "seconds" in record else "unknown time"
            lines.append(
                line(
                    "trained", f"{record['updates']:,} updates, {hours}, {record.get('device', '')}"
                )
            )
            lines.append(line("versions", addresses.listed(record.get("versions", {}))))
        older = self.results.changes(*key)
        if older:
            lines.append(line("older configuration", "; ".join(older)))
        return self._share(key, lines)

    def _of_decoding(self, cell: Cell) -> int:
        key = cell.corpus, cell.decoding
        if key in self._places:
            return self._places[key]
        options = self.results.configuration.on(cell.corpus).decoding(cell.decoding).as_json()
        text = f"{cell.decoding}: {json.dumps(options)}"
        return self._share(key, [line("decoding", text, code=True)])

    def _of_setting(self, cell: Cell) -> int:
        key = cell.corpus, Latency, cell.setting
        if key in self._places:
            return self._places[key]
        latency = self.results.configuration.on(cell.corpus).latency.model_dump(mode="json")
        text = f"{cell.setting}: {json.dumps(latency)}"
        return self._share(key, [line("latency", text, code=True)])
