"""No key in a file of `config/papers` is without effect.

A key has an effect if the file without it, or with another value of it, is refused, or if other
cells, labels or settings follow from it.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache, reduce
from operator import getitem
from typing import Any

import pytest
from pydantic import ValidationError

from nat.configuration import Configuration, read
from nat.errors import UserError
from nat.papers import hyper_parameters
from nat.papers.coordinates import Resolver
from nat.papers.description import FigurePart, PrintedSystem, TablePart
from nat.papers.expansion import ExpandedTable
from nat.papers.figure_expansion import ExpandedFigure
from tests.repository import ROOT

Path = tuple[str | int, ...]
MODELS: dict[str, Any] = {"tables": TablePart, "figures": FigurePart, "systems": PrintedSystem}
PRINTED = ("title", "notes", "text")
"""Keys whose words are printed as they are."""
LAYOUT = ("log", "even", "ticks", "style", "joined", "front", "interval", "hidden")
"""Keys that change only how cells are shown."""
DRAWN = ("x", "y", "analysis")
"""Parts of a figure whose labels are drawn, but are of no cell."""
FOR_CLAIMS = {"fully_nat: tables.3.cells.measure", "fully_nat: systems.NAT + VAE.like"}
"""Keys of tables and systems that claims alone read."""


@cache
def configured() -> Configuration:
    """Of the papers' scale with one seed, which takes a third of the time."""
    configuration = read("paper", ROOT)
    files = deepcopy(dict(configuration.files))
    for content in files["papers"].values():
        content.pop("seeds", None)
    files["scales"]["paper"]["seeds"] = [1]
    return replace(configuration, files=files)


def keys(content: Any, at: Path = ()) -> Iterator[Path]:
    """The path of every key of every mapping, but of those that hold mappings."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        if isinstance(content, dict) and key in PRINTED and at[-1:] != ("with",):
            continue
        if isinstance(content, dict) and not isinstance(value, dict):
            yield (*at, key)
        if isinstance(value, dict | list):
            yield from keys(value, (*at, key))


def changes(content: Any, path: Path) -> Iterator[Any]:
    """The content with another value of a key, and without it."""
    *outer, key = path
    changed = deepcopy(content)
    at = reduce(getitem, outer, changed)
    at[key] = other(at[key])
    yield changed
    del at[key]
    yield changed


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return [other(each) for each in value] if isinstance(value, list) else None


class Described:
    """A paper, and what follows from changes of it."""

    def __init__(self, name: str, patch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.paper = self.changed = configured().paper(name)
        patch.setattr(Configuration, "paper", lambda *_: self.changed)
        content = configured().files["papers"][name]
        self.content = {
            kind: {str(key): value for key, value in content.get(kind, {}).items()}
            for kind in MODELS
        }
        resolver = Resolver(configured(), name)
        self.tables = {number: ExpandedTable(resolver, number) for number in self.paper.tables}
        parts = [("tables", each) for each in self.paper.tables]
        parts += [("figures", each) for each in self.paper.figures]
        self.shown = {part: self._shown(*part) for part in parts}

    def _shown(self, kind: str, number: str) -> Any:
        """Cells, labels, keys of analyses and settings of a table or figure."""
        resolver = Resolver(configured(), self.name)
        part: Any
        if kind == "tables":
            part = ExpandedTable(resolver, number)
        else:
            part = ExpandedFigure(resolver, number, self.tables)
        of_settings = part.described.kind == "settings"
        return (
            part.cells,
            [line.label for line in (*part.rows, *part.columns)],
            part.keys,
            hyper_parameters.settings(resolver, number) if of_settings else None,
        )

    def has_effect(self, kind: str, name: str, path: Path) -> bool:
        """Tell whether a key has an effect."""
        changed = changes(self.content[kind][name], path)
        return any(self._differs(kind, name, path, each) for each in changed)

    def _differs(self, kind: str, name: str, path: Path, changed: Any) -> bool:
        parts = getattr(self.paper, kind)
        try:
            made = MODELS[kind].model_validate(changed)
            of_axis = kind == "figures" and path[0] in DRAWN and path[-1] == "label"
            if path[-1] in LAYOUT or of_axis or path[0] in ("footnotes", "colours"):
                return bool(made != parts[name])
            self.changed = self.paper.model_copy(update={kind: {**parts, name: made}})
            reports = [*self.shown] if kind == "systems" else [(kind, name)]
            # first those that name the system
            reports.sort(key=lambda at: f'"{name}"' not in json.dumps(self.content[at[0]][at[1]]))
            return any(self._shown(*report) != self.shown[report] for report in reports)
        except (UserError, ValidationError):
            return True


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
