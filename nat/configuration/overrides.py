"""Changes of the configuration on the command line, and the name of the run.

`snakemake --config scale=demo name=wide override="recipes.student.dropout=0.2 config.threads=2"`
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from nat.configuration.families import merged, require
from nat.configuration.files import read_value
from nat.errors import UserError, told_of
from nat.options import Name, OrAbsent, StrictModel, nested, validated

KEYS = ("scale", "name", "override")  # keys that `snakemake --config` accepts
EXAMPLE = "recipes.student.dropout=0.2"
OF_A_RUN = ("precision", "threads", "distillation_engine")
"""Keys of config/config.yaml that concern one run; corpora are made once for all runs."""
SCALE = "scale"
NAMED = ("recipes", "systems", "decodings", "sizes", "corpora")
"""Kinds of keys whose first part is a name; those of a `SCALE` have none."""
_BETWEEN = re.compile(r"\s+(?=\w+\.[^\s=]+=)")  # values may contain spaces: betas=[0.9, 0.98]


class Change(NamedTuple):
    """A change of one key; the `path` of a kind of `NAMED` begins with a name."""

    text: str
    kind: str
    path: tuple[str, ...]
    value: Any

    @property
    def where(self) -> str:
        """Its name in messages."""
        return f"override '{self.text}'"


def change_of(text: str, where: str) -> Change:
    """Read a change as typed, `recipes.student.dropout=0.2`."""
    key, equals, value = text.partition("=")
    kind, *path = key.split(".")
    require(kind, ("config", SCALE, *NAMED), "kind of key", where)
    if not equals or len(path) < (2 if kind in NAMED else 1) or "" in path:
        raise UserError(f"{where}: expected KEY=VALUE, such as {EXAMPLE}")
    if kind == "config":
        require(path[0], OF_A_RUN, "key", where)
    return Change(text, kind, tuple(path), read_value(value, where))


@dataclass(frozen=True)
class RunChoice:
    """Choice of a command line.

    Attributes:
        scale: "" for that of config/config.yaml.
        name: of the run, beside the scale; None for the configuration of the files.
        override: changes as typed, `recipes.student.dropout=0.2`, in order.
    """

    scale: str = ""
    name: str | None = None
    override: tuple[str, ...] = ()

    @property
    def keys(self) -> dict[str, str]:
        """Keys and values for `snakemake --config`."""
        values = zip(KEYS, (self.scale, self.name, " ".join(self.override)), strict=True)
        return {key: value for key, value in values if value}

    @property
    def arguments(self) -> list[str]:
        """The same for the programs of `workflow_scripts/`."""
        return [word for key, value in self.keys.items() for word in (f"--{key}", value)]

    @cached_property
    def parsed(self) -> list[Change]:
        """The changes of the override, in order; names and values are checked with the files."""
        if self.override and self.name is None:
            raise UserError(
                "missing key 'name': results of a configuration that 'override' changes lie at "
                f"results/SCALE@NAME, so give it a name beside override='{self.override[0]}'"
            )
        return [change_of(text, f"override '{text}'") for text in self.override]

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


def choice(config: Mapping[str, Any]) -> RunChoice:
    """Read the choice of `snakemake --config KEY=VALUE ...`."""
    with told_of("--config: "):
        its = validated(_Given, dict(config))
    changes = tuple(_BETWEEN.split(its.override.strip())) if its.override else ()
    return RunChoice(its.scale or "", its.name, changes)
