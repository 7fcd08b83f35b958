"""Coordinates of cells by name, and the products that lists of them stand for."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from nat.configuration import papers as models
from nat.errors import UserError

Chosen = dict[str, Any]
"""Coordinates by name; the variables of templates are a mapping under `with`."""


def product(specification: models.Varied) -> Iterator[tuple[Chosen, tuple[str, ...]]]:
    """Every combination of the values of a description, and the coordinates that are lists."""
    given = flat(specification.coordinates())
    order: list[str] = [key for key in ("system", "task", "steps") if key in given]
    order += [key for key in given if key not in models.COORDINATES]
    order += [key for key in models.COORDINATES if key in given and key not in order]
    values = [given[key] if isinstance(given[key], list) else [given[key]] for key in order]
    varied = tuple(key for key in order if isinstance(given[key], list))
    for combination in itertools.product(*values):
        chosen: Chosen = {"with": {}}
        for key, value in zip(order, combination, strict=True):
            put(chosen, key, value)
        yield chosen, varied


def put(chosen: Chosen, key: str, value: Any) -> None:
    """Set a coordinate, or a variable of this name."""
    if key in models.COORDINATES:
        chosen[key] = value
    else:
        chosen["with"] = {**chosen["with"], key: value}


def merged(*levels: Chosen) -> Chosen:
    """Coordinates of several levels; later ones override earlier ones."""
    found: Chosen = {"with": {}}
    for level in levels:
        variables = {**found["with"], **level.get("with", {})}
        found = {**found, **level, "with": variables}
    return found


def flat(chosen: Chosen) -> dict[str, Any]:
    """Coordinates and variables by name."""
    return {key: value for key, value in chosen.items() if key != "with"} | chosen.get("with", {})


def no_repetition(labels: Sequence[str], where: str) -> None:
    """Refuse repeated labels.

    Raises:
        UserError: for the first one.
    """
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise UserError(f"{where}: the label '{twice[0]}' is used twice here; labels must differ")
