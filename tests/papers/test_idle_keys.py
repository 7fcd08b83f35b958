"""No key in a file of `config/papers` is without effect.

A key has an effect if the file without it, or with another value of it, is refused, or if other
cells or another layout follow from it.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from made_up_run import REPOSITORY
from pydantic import ValidationError

from nat.configuration import Configuration
from nat.configuration.reading import read
from nat.errors import UserError
from nat.figures import points
from nat.papers import hyper_parameters, texts
from nat.papers.cells import Cell
from nat.papers.coordinates import Resolver
from nat.papers.description import Figure, Paper, PrintedSystem, Table
from nat.papers.figure_cells import figure_cells
from nat.papers.table_cells import table_cells

Path = tuple[str | int, ...]
MODELS: dict[str, Any] = {"tables": Table, "figures": Figure, "systems": PrintedSystem}
WORDS = ("title", "notes", "text")
LAYOUT = ("log", "even", "ticks", "style", "joined", "front")
"""Keys that change only how cells are shown."""
DRAWN = ("x", "y", "matrix", "points")
"""Parts of a figure whose labels are drawn, but are of no cell."""
FOR_CLAIMS = {"fully_nat: tables.3.cells.measure"}
"""Keys of tables that claims alone read."""


@cache
def configured() -> Configuration:
    """Of the papers' scale with one seed, which takes a third of the time."""
    found = read("paper", REPOSITORY, checked=False)
    papers = {
        name: {key: value for key, value in content.items() if key != "seeds"}
        for name, content in found.files["papers"].items()
    }
    scale = {**found.files["scales"]["paper"], "seeds": [1]}
    scales = {**found.files["scales"], "paper": scale}
    return replace(found, files={**found.files, "papers": papers, "scales": scales})


def keys(content: Any, at: Path = ()) -> Iterator[Path]:
    """The path of every key of every mapping, but for what is only printed.

    A key that has a mapping has the effects of the keys in it.
    """
    if isinstance(content, dict):
        for key, value in content.items():
            if key not in WORDS or at[-1:] == ("with",):
                if not isinstance(value, dict):
                    yield (*at, key)
                yield from keys(value, (*at, key))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from keys(value, (*at, number))


def changes(content: Any, path: Path) -> Iterator[Any]:
    """The content without a key, and with another value of it."""
    key, *rest = path
    same = content.copy()
    if rest:
        for each in changes(content[key], tuple(rest)):
            same[key] = each
            yield same
        return
    yield {**content, key: _other(content[key])}
    del same[key]
    yield same


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return [_other(each) for each in value] if isinstance(value, list) else None


class Described:
    """A paper, and what follows from changes of it."""

    def __init__(self, name: str, patch: pytest.MonkeyPatch) -> None:
        self.name, self.patch = name, patch
        self.paper = self.changed = configured().paper(name)
        patch.setattr(Configuration, "paper", lambda *_: self.changed)
        content = configured().files["papers"][name]
        self.content = {
            kind: {str(key): value for key, value in content.get(kind, {}).items()}
            for kind in MODELS
        }
        resolver = Resolver(configured(), name)
        self.cells = {number: table_cells(resolver, number) for number in self.paper.tables}
        self.tables = {number: self._table(number) for number in self.paper.tables}
        self.figures = {number: self._figure(number) for number in self.paper.figures}

    def _table(self, number: str) -> Any:
        """The cells of a table, and the settings or keys of texts that it shows."""
        resolver, kind = Resolver(configured(), self.name), self.changed.tables[number].kind
        if kind == "settings":
            return hyper_parameters.records(configured(), self.name, number)
        return table_cells(resolver, number), kind == "texts" and texts._keys(resolver, number)

    def _figure(self, number: str) -> Any:
        """The cells of a figure, and the keys of the analyses that it shows."""
        resolver = Resolver(configured(), self.name)

        def quoted(table: str) -> list[Cell]:
            if table not in self.cells:
                raise resolver.unknown("quotes", "table", table, self.cells)
            return self.cells[table]

        keys_ = self.changed.figures[number].keys and points._keys(resolver, number)
        return figure_cells(resolver, number, quoted), keys_

    def has_effect(self, kind: str, name: str, path: Path) -> bool:
        """Tell whether a key has an effect."""
        return any(
            self._differs(kind, name, path, changed)
            for changed in changes(self.content[kind][name], path)
        )

    def _differs(self, kind: str, name: str, path: Path, changed: Any) -> bool:
        parts = getattr(self.paper, kind)
        try:
            made = MODELS[kind].model_validate(changed)
            if self._is_layout(kind, path):
                return bool(made != parts[name])
            paper = self.paper.model_copy(update={kind: {**parts, name: made}})
            return self._shows_others(kind, name, paper)
        except (UserError, ValidationError):
            return True

    @staticmethod
    def _is_layout(kind: str, path: Path) -> bool:
        of_axis = kind == "figures" and path[0] in DRAWN and path[-1] == "label"
        return path[-1] in LAYOUT or of_axis or path[0] == "footnotes"

    def _shows_others(self, kind: str, name: str, paper: Paper) -> bool:
        self.changed = paper
        if kind == "tables":
            return bool(self._table(name) != self.tables[name])
        if kind == "figures":
            return bool(self._figure(name) != self.figures[name])
        reports = [
            (of, number, make, shown)
            for of, make, known in (
                ("tables", self._table, self.tables),
                ("figures", self._figure, self.figures),
            )
            for number, shown in known.items()
        ]
        # first those that name the system
        reports.sort(key=lambda each: f'"{name}"' not in json.dumps(self.content[each[0]][each[1]]))
        return any(make(number) != shown for _, number, make, shown in reports)


@pytest.mark.parametrize("paper", configured().papers)
def test_every_key_has_an_effect(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    described = Described(paper, monkeypatch)
    idle = {
        f"{paper}: {'.'.join(map(str, (kind, name, *path)))}"
        for kind, parts in described.content.items()
        for name, content in parts.items()
        for path in keys(content)
        if not described.has_effect(kind, name, path)
    }
    assert idle <= FOR_CLAIMS
