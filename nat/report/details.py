"""Where a number comes from: what a page says of it on demand.

The lines that many numbers share, such as those of a model, are written once to a page.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from nat.artifacts import Latency, Score
from nat.papers.cells import Cell, training_of
from nat.papers.reader import NOT_RUN
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
        shared = [self._place(*group) for cell in there for group in self._groups(cell)]
        self.numbers.append({"title": title, "lines": own, "shared": sorted(set(shared))})
        return len(self.numbers) - 1

    def _place(self, key: Hashable, lines: Callable[[], list[Line]]) -> int:
        if key not in self._places:
            self._places[key] = len(self.shared)
            self.shared.append(lines())
        return self._places[key]

    def _groups(self, cell: Cell) -> Iterator[tuple[Hashable, Callable[[], list[Line]]]]:
        """What a number shares with others: a key, and what makes the lines."""
        if training_of(cell):
            yield (cell.corpus, cell.model, cell.seed), partial(self._model, cell)
        there = self._results.configuration.on(cell.corpus)
        if cell.decoding:
            options = there.decoding(cell.decoding).as_json()
            text = f"{cell.decoding}: {json.dumps(options)}"
            yield text, lambda: [("decoding", text, CODE)]
        if isinstance(cell.source, Latency):
            options = there.scale_settings.latency.model_dump(mode="json")
            setting = f"{cell.setting}: {json.dumps(options)}"
            yield setting, lambda: [("latency", setting, CODE)]

    def _model(self, cell: Cell) -> list[Line]:
        names = cell.corpus, cell.model, cell.seed
        said = f"{cell.model} on {cell.corpus}, seed {cell.seed}"
        found = [("model", said, self._root + addresses.system(cell.corpus, cell.model))]
        if record := self._results.training(*names):
            time = f"{record['seconds'] / 60:,.1f} min" if "seconds" in record else "?"
            done = f"{record['updates']:,} updates, {time}, {record.get('device', '')}"
            found += [("trained", done, ""), ("versions", versions(record), "")]
        if older := self._results.changes(*names):
            found.append(("older configuration", "; ".join(older), ""))
        return found


def versions(record: dict[str, Any]) -> str:
    """The packages that a training used."""
    return ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items())
