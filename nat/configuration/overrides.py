"""Changes of the configuration on the command line, and the name of the run.

`snakemake --config scale=demo name=wide override="recipes.student.dropout=0.2 config.threads=2"`
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nat.configuration.families import merged, require
from nat.configuration.files import NAME, read_value
from nat.errors import UserError
from nat.options import nested

KEYS = ("scale", "name", "override")
"""Keys that `snakemake --config` accepts."""
EXAMPLE = "recipes.student.dropout=0.2"
OF_A_RUN = ("precision", "threads", "distillation_engine")
"""Keys of config/config.yaml that concern one run; corpora are made once for all runs."""
_LONGEST_NAME = 100
_BETWEEN = re.compile(r"\s+(?=\w+\.[^\s=]+=)")  # values may contain spaces: betas=[0.9, 0.98]


@dataclass(frozen=True)
class Overrides:
    """Changes of config/config.yaml and of recipes, which are validated with these files.

    Attributes:
        name: of the run, beside the scale; None for the configuration of the files.
        given: the changes as typed, `recipes.student.dropout=0.2`, in order.
    """

    name: str | None = None
    given: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """All changes, by kind of file."""
        return {"config": dict(self.settings), "recipes": dict(self.recipes)}


@dataclass(frozen=True)
class RunChoice:
    """Choice of a command line; without a scale, that of config/config.yaml."""

    scale: str | None = None
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


def choice(config: Mapping[str, Any]) -> RunChoice:
    """Read the choice of `snakemake --config KEY=VALUE ...`."""
    for key, value in config.items():
        require(key, KEYS, "key", "--config")
        is_text = key != "name" or isinstance(value, str)
        if value is None or not str(value).strip() or not is_text:
            raise UserError(
                f"--config: key '{key}': found {json.dumps(value)}, expected text, such as run-1"
            )
    given = str(config.get("override", "")).strip()
    scale = None if "scale" not in config else str(config["scale"])
    return RunChoice(scale, config.get("name"), tuple(_BETWEEN.split(given)) if given else ())


def read_overrides(name: str | None, given: Iterable[str], recipes: Collection[str]) -> Overrides:
    """Read changes of the form KEY=VALUE, of `config.threads` or `recipes.NAME.KEY`, say."""
    given = tuple(given)
    if name is not None and (not NAME.fullmatch(name) or len(name) > _LONGEST_NAME):
        raise UserError(
            f"key 'name': found '{name}', expected at most {_LONGEST_NAME} letters, digits, '.', "
            "'_' and '-', since it is part of the name of a folder"
        )
    if given and name is None:
        raise UserError(
            "missing key 'name': results of a configuration that 'override' changes lie at "
            f"results/SCALE@NAME, so give it a name beside override='{given[0]}'"
        )
    changes: dict[str, Any] = {"config": {}, "recipes": {}}
    for change in given:
        where, (key, equals, text) = f"override '{change}'", change.partition("=")
        kind, _, rest = key.partition(".")
        if not equals or not rest:
            raise UserError(f"{where}: expected KEY=VALUE, such as {EXAMPLE}")
        require(kind, changes, "kind of key", where)
        path = rest.split(".")
        if kind == "recipes":  # a recipe's name may have dots
            known = [each for each in recipes if f"{rest}.".startswith(f"{each}.")]
            recipe = max(known, key=len) if known else require(path[0], recipes, "recipe", where)
            path = [recipe, *rest.removeprefix(recipe).split(".")[1:]]
            if len(path) == 1:
                raise UserError(f"{where}: expected a key of the recipe, such as {EXAMPLE}")
        else:
            require(path[0], OF_A_RUN, "key", where)
        changes = merged(changes, nested([kind, *path], read_value(text, where)))
    return Overrides(name, given, changes["config"], changes["recipes"])
