"""Changes of the configuration on the command line, and the name of the run.

`snakemake --config scale=demo name=wide override="recipes.student.dropout=0.2 config.threads=2"`
`snakemake --config scale=demo name=rates sweep="recipes.student.learning_rate=1e-3,2e-3,3e-3"`
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from nat.configuration.families import require
from nat.configuration.files import read_value
from nat.configuration.merging import merged
from nat.configuration.models import read_model
from nat.errors import UserError
from nat.options import Name, OrAbsent, StrictModel, nested

KEYS = ("scale", "name", "override", "sweep")  # keys that `snakemake --config` accepts
EXAMPLE = "recipes.student.dropout=0.2"
OF_A_RUN = ("precision", "threads", "distillation_engine")
"""Keys of config/config.yaml that concern one run; corpora are made once for all runs."""
SCALE = "scale"
NAMED = ("recipes", "systems", "decodings", "sizes", "corpora")
"""Kinds of keys whose first part is a name; those of a `SCALE` have none."""
_COMMA = re.compile(r",(?![^\[{]*[\]}])")  # between values, not inside of a list or mapping
_BETWEEN = re.compile(r"\s+(?=\w+\.[^\s=]+=)")  # values may contain spaces: betas=[0.9, 0.98]


class Change(NamedTuple):
    """A change of one key; the `path` of a kind of `NAMED` begins with a name."""

    where: str
    kind: str
    path: tuple[str, ...]
    value: Any


class Point(NamedTuple):
    """One value of each key of a sweep; `values` are as typed, by key."""

    changes: tuple[Change, ...]
    values: dict[str, str]

    @property
    def ends(self) -> list[str]:
        """For each key, the end of the names of what its value changes."""
        words = ("=".join(each) for each in self.values.items())
        return [f"@{re.sub(r'[^A-Za-z0-9=._-]+', '-', word)}" for word in words]


def _change(text: str, where: str, kinds: tuple[str, ...]) -> Change:
    """Read a change as typed, `recipes.student.dropout=0.2`."""
    key, equals, value = text.partition("=")
    kind, *path = key.split(".")
    require(kind, kinds, "kind of key", where)
    if not equals or len(path) < (2 if kind in NAMED else 1) or "" in path:
        raise UserError(f"{where}: expected KEY=VALUE, such as {EXAMPLE}")
    if kind == "config":
        require(path[0], OF_A_RUN, "key", where)
    return Change(where, kind, tuple(path), read_value(value, where))


@dataclass(frozen=True)
class RunChoice:
    """Choice of a command line."""

    scale: str = ""  # "" for that of config/config.yaml
    name: str | None = None  # of the run, beside the scale; None: the files as they are
    override: tuple[str, ...] = ()  # changes as typed, `recipes.student.dropout=0.2`, in order
    sweep: tuple[str, ...] = ()  # the same with several values; all combinations are run

    @property
    def keys(self) -> dict[str, str]:
        """Keys and values for `snakemake --config`."""
        lists = " ".join(self.override), " ".join(self.sweep)
        values = zip(KEYS, (self.scale, self.name, *lists), strict=True)
        return {key: value for key, value in values if value}

    @property
    def arguments(self) -> list[str]:
        """The same for the programs of `workflow_scripts/`."""
        return [word for key, value in self.keys.items() for word in (f"--{key}", value)]

    @cached_property
    def parsed(self) -> list[Change]:
        """The changes of the override, in order; names and values are checked with the files."""
        for key, given in (("override", self.override), ("sweep", self.sweep)):
            if given and self.name is None:
                where = "its results lie at results/SCALE@NAME"
                raise UserError(f"missing key 'name' beside {key}='{given[0]}': {where}")
        kinds = ("config", SCALE, *NAMED)
        return [_change(text, f"override '{text}'", kinds) for text in self.override]

    @cached_property
    def swept(self) -> dict[str, list[str]]:
        """The values of each key of the sweep, as typed."""
        pairs = (text.partition("=") for text in self.sweep)
        return {key: [*map(str.strip, _COMMA.split(values))] for key, _, values in pairs}

    @cached_property
    def points(self) -> list[Point]:
        """All combinations of the values of the sweep; none without a sweep."""
        keys, short = [*self.swept], [key.rpartition(".")[2] for key in self.swept]
        names = [
            own if short.count(own) == 1 else key for own, key in zip(short, keys, strict=True)
        ]
        points = []
        for values in itertools.product(*self.swept.values()) if keys else ():
            texts = ("=".join(filter(None, each)) for each in zip(keys, values, strict=True))
            changes = tuple(_change(text, f"sweep '{text}'", NAMED) for text in texts)
            points.append(Point(changes, dict(zip(names, values, strict=True))))
        return points

    @cached_property
    def changes(self) -> dict[str, Any]:
        """The same by kind and key, as the record of a name has it."""
        changes: dict[str, Any] = {"config": {}, "recipes": {}}
        for each in self.parsed:
            changes = merged(changes, nested([each.kind, *each.path], each.value))
        return changes


class _Given(StrictModel):
    scale: OrAbsent[Name] = None
    name: OrAbsent[Annotated[Name, Field(max_length=100)]] = None  # part of the name of a folder
    override: OrAbsent[Annotated[str, Field(pattern=r"\S")]] = None
    sweep: OrAbsent[Annotated[str, Field(pattern=r"\S")]] = None


def choice(config: Mapping[str, Any]) -> RunChoice:
    """Read the choice of `snakemake --config KEY=VALUE ...`."""
    its = read_model(_Given, dict(config), "--config")
    given = its.override, its.sweep
    override, sweep = (tuple(_BETWEEN.split(each.strip())) if each else () for each in given)
    return RunChoice(its.scale or "", its.name, override, sweep)
