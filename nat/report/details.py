"""Where a number comes from: what a page says of it on demand.

The lines that many numbers share, such as those of a model, are written once to a page.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from nat.artifacts import Latency, Score
from nat.papers.reader import NOT_RUN
from nat.papers.relation import Cell
from nat.papers.reports import snakemake
from nat.report import addresses
from nat.report.results import Results, made_again

Line = tuple[str, str, str]
"""A term, its text, and `CODE`, the address that it leads to, or nothing."""
CODE = "code"


class Details:
    """What a page says of its numbers.

    Attributes:
        numbers: of each a title, the lines of it alone, and the places of others in `shared`.
        shared: groups of lines.
    """

    def __init__(self, results: Results, path: str) -> None:
        self.numbers: list[dict[str, Any]] = []
        self.shared: list[list[Line]] = []
        self._results = results
        self._root = addresses.root_of(path)
        self._places: dict[Hashable, int] = {}

    def add(self, title: str, lines: Iterable[Line], cells: Sequence[Cell]) -> int:
        """Add a number with the cells behind it; returns its place in `numbers`."""
        own, configuration = list(lines), self._results.configuration
        there = [cell for cell in cells if (self._results.root / cell.path).exists()]
        missing = [cell.path for cell in cells if cell not in there]
        for cell in there:
            own.append(("file", cell.path, CODE))
            if isinstance(cell.source, Score):
                own.append(("translations", cell.source.translations.path, CODE))
        if missing:
            paths = dict.fromkeys(cell.path for cell in cells)
            own.append((NOT_RUN, "; ".join(missing), CODE))
            own.append(("made by", snakemake(configuration, *paths), CODE))
        elif there:
            own.append(("made again by", made_again(configuration, there), CODE))
        shared = [
            place
            for of in (self._model, self._decoding, self._latency)
            for cell in there
            for place in of(cell)
        ]
        self.numbers.append({"title": title, "lines": own, "shared": list(dict.fromkeys(shared))})
        return len(self.numbers) - 1

    def _share(self, key: Hashable, lines: Callable[[], list[Line]]) -> list[int]:
        if key not in self._places:
            self._places[key] = len(self.shared)
            self.shared.append(lines())
        return [self._places[key]]

    def _model(self, cell: Cell) -> list[int]:
        key = cell.corpus, cell.model, cell.seed

        def lines() -> list[Line]:
            said = f"{cell.model} on {cell.corpus}, seed {cell.seed}"
            found = [("model", said, self._root + addresses.system(cell.corpus, cell.model))]
            if record := self._results.training(*key):
                time = f"{record['seconds'] / 60:,.1f} min" if "seconds" in record else "?"
                done = f"{record['updates']:,} updates, {time}, {record.get('device', '')}"
                found.append(("trained", done, ""))
                found.append(("versions", versions(record), ""))
            if older := self._results.changes(*key):
                found.append(("older configuration", "; ".join(older), ""))
            return found

        return self._share(key, lines) if cell.of_training else []

    def _decoding(self, cell: Cell) -> list[int]:
        def lines() -> list[Line]:
            there = self._results.configuration.on(cell.corpus)
            options = json.dumps(there.decoding(cell.decoding).as_json())
            return [("decoding", f"{cell.decoding}: {options}", CODE)]

        return self._share((cell.corpus, cell.decoding), lines) if cell.decoding else []

    def _latency(self, cell: Cell) -> list[int]:
        def lines() -> list[Line]:
            latency = self._results.configuration.on(cell.corpus).latency
            options = json.dumps(latency.model_dump(mode="json"))
            return [("latency", f"{cell.setting}: {options}", CODE)]

        key = cell.corpus, Latency, cell.setting
        return self._share(key, lines) if isinstance(cell.source, Latency) else []


def versions(record: dict[str, Any]) -> str:
    """The packages that a training used."""
    return ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items())
