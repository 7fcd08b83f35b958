"""Systems that a paper declares, checked whether or not anything shows them.

Their names are templates, whose variables have values only where a system is shown. So a system is
as it should be if it exists and is decoded for some of the values that the file gives anywhere.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from nat.cells.resolver import Resolver, variables
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError

Values = dict[str, list[Any]]
"""The values of each coordinate and variable."""


def check_systems(configuration: Configuration, paper: str) -> None:
    """Check all systems of a paper.

    Raises:
        UserError: for one that exists, or is decoded, for no values of its variables.
    """
    content = configuration.paper(paper)
    values: Values = {}
    for name, value in _given(content.model_dump()):
        values.setdefault(name, []).append(value)
    bases = {each.like for each in content.systems.values()}
    for name, own in content.systems.items():
        resolver = Resolver(configuration, paper, f"systems.{name}")
        for task in (None, *own.tasks):
            system = resolver.system(name, task)
            assert system is not None
            known = values | {"draw": system.draws or []} | ({"task": [task]} if task else {})
            if system.system is not None:
                _check(resolver, system, known)
            elif name not in bases:  # others complete what they only share
                raise UserError(f"{resolver.where}: missing key 'system'")


def _given(node: Any) -> Iterator[tuple[str, models.Scalar]]:
    """Each value of a coordinate or a variable in a part of the file, with its name."""
    if isinstance(node, Mapping):
        given = {key: node[key] for key in models.COORDINATES if key in node}
        given |= node.get("with") or {}
        if node.get("values") is not None and "of" in node:  # an axis
            given[node["of"]] = node["values"]
        for key, value in given.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, models.Scalar):
                    yield key, each
    if isinstance(node, Mapping | list):
        for each in node.values() if isinstance(node, Mapping) else node:
            yield from _given(each)


def _check(resolver: Resolver, system: models.System, known: Values) -> None:
    decodings: list[tuple[str, Values]] = [("", {})]
    if isinstance(system.decoding, str):
        decodings = [(system.decoding, {})]
    elif system.decoding is not None:
        decodings = [
            (template, {} if steps == "n" else {"steps": [steps]})
            for steps, template in system.decoding.items()
        ]
    for template, of_steps in decodings:
        problems: list[UserError] = []
        for words in _combinations(f"{system.system}{template}", known | of_steps):
            ours = resolver.filled(str(system.system), words)
            decoding = resolver.filled(template, words)
            try:
                resolver.configuration.system(ours)
                if decoding:
                    resolver.configuration.check_decoding(ours, decoding)
                break
            except UserError as error:
                problems.append(error)
        else:
            raise UserError(f"{resolver.where}: {problems[0]}") from problems[0]


def _combinations(template: str, known: Values) -> Iterator[dict[str, Any]]:
    """Values for the variables of a template; of others the first, which messages only name."""
    first = {name: values[0] for name, values in known.items() if values}
    names = [name for name in dict.fromkeys(variables(template)) if name in first]
    for chosen in itertools.product(*(dict.fromkeys(known[name]) for name in names)):
        yield first | dict(zip(names, chosen, strict=True))
