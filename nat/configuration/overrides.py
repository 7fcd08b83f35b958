"""Changes of the configuration on the command line, and the name of the run.

`snakemake --config scale=demo name=wide override="recipes.student.dropout=0.2 config.threads=2"`
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nat.configuration.models import Changes, read_model
from nat.configuration.yaml_file import NAME, read_value
from nat.errors import UserError
from nat.spelling import hint

KEYS = ("scale", "name", "override")
"""Keys that `snakemake --config` accepts."""
EXAMPLE = "recipes.student.dropout=0.2"
_LONGEST_NAME = 100
_BETWEEN = re.compile(r"\s+(?=\w+\.[^\s=]+=)")  # values may contain spaces: betas=[0.9, 0.98]


@dataclass(frozen=True)
class Overrides:
    """Changes of single keys, validated like the files.

    Attributes:
        name: of the run, beside the scale; None for the configuration of the files.
        given: the changes as typed, `recipes.student.dropout=0.2`, in order.
        settings: changes of config/config.yaml.
        recipes: changes of recipes, by name.
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
class Choice:
    """What a command line chooses.

    Attributes:
        scale: a file of config/scales; None for that of config/config.yaml.
        name: of the run.
        override: changes of single keys.
    """

    scale: str | None = None
    name: str | None = None
    override: tuple[str, ...] = ()


def choice(config: Mapping[str, Any]) -> Choice:
    """What `snakemake --config KEY=VALUE ...` chooses.

    Raises:
        UserError: for a key that would have no effect, for one without a value, and for a name
            that Snakemake reads as a number or a truth value, and so writes in another way.
    """
    for key in config:
        if key not in KEYS:
            raise UserError(
                f"--config: unknown key '{key}'; {hint(key, KEYS)} (a key of a file is changed by "
                f"name=NAME override='{EXAMPLE}')"
            )
        if config[key] is None or str(config[key]).strip() == "":
            raise UserError(f"--config: the key '{key}' has no value; give it one, or leave it out")
    scale, name, given = (config.get(key) for key in KEYS)
    if name is not None and not isinstance(name, str):
        raise UserError(
            f"--config: the name is read as {json.dumps(name)}, not as text; take another one, "
            "such as run-1"
        )
    text = "" if given is None else str(given).strip()
    return Choice(
        None if scale is None else str(scale),
        name,
        tuple(_BETWEEN.split(text)) if text else (),
    )


def read_overrides(name: str | None, given: Iterable[str], recipes: Iterable[str]) -> Overrides:
    """Validate the changes of a command line.

    Args:
        name: of the run, None if there is none.
        given: changes of the form KEY=VALUE; a key is that of a file with its path,
            `config.threads` or `recipes.NAME.KEY`, a value is YAML.
        recipes: names of all recipes.

    Raises:
        UserError: for changes without a name, and for invalid keys or values.
    """
    given = tuple(given)
    if name is not None and not NAME.fullmatch(name):
        raise UserError(
            f"key 'name': found '{name}', but a name is made of letters, digits, '.', '_' and '-'"
        )
    if name is not None and len(name) > _LONGEST_NAME:
        raise UserError(
            f"key 'name': found {len(name)} characters, expected at most {_LONGEST_NAME}, since it "
            "is part of the name of a folder"
        )
    if given and name is None:
        raise UserError(
            "missing key 'name': results of a configuration that 'override' changes lie at "
            f"results/SCALE@NAME, so give it a name beside override='{given[0]}'"
        )
    names = sorted(recipes, key=len, reverse=True)
    changes: dict[str, Any] = {}
    for change in given:
        _enter(changes, change, names)
    found = read_model(Changes, changes, "override").model_dump(exclude_unset=True)
    return Overrides(name, given, found.get("config", {}), found.get("recipes", {}))


def _enter(changes: dict[str, Any], change: str, recipes: list[str]) -> None:
    """Insert one change at the place of its key."""
    where = f"override '{change}'"
    key, equals, text = change.partition("=")
    kind, *path = key.split(".")
    if not (equals and kind and path and all(path)):
        raise UserError(f"{where}: expected KEY=VALUE, such as {EXAMPLE}")
    value = read_value(text, where)
    if isinstance(value, Mapping):
        raise UserError(f"{where}: found keys and values, expected one value; change key by key")
    if kind == "recipes":  # a recipe's name may have dots
        rest = ".".join(path)
        recipe = next((name for name in recipes if f"{rest}.".startswith(f"{name}.")), None)
        if recipe is None:
            raise UserError(f"{where}: unknown recipe '{path[0]}'; {hint(path[0], recipes)}")
        if rest == recipe:
            raise UserError(f"{where}: expected a key of the recipe, such as {EXAMPLE}")
        path = [recipe, *rest.removeprefix(f"{recipe}.").split(".")]
    inner = changes
    for part in (kind, *path[:-1]):
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise UserError(f"{where}: '{part}' has been given a value before")
    if path[-1] in inner:
        raise UserError(f"{where}: this key is given twice")
    inner[path[-1]] = value
