"""The effective configuration of systems as text: of one, or what differs between two."""

from typing import Any

import yaml

from nat.configuration.configuration import Configuration
from nat.configuration.entries import replacements
from nat.configuration.json_values import differences
from nat.configuration.merging import LENGTHS
from nat.configuration.runnable import cannot_train
from nat.errors import UserError


def effective(configuration: Configuration, corpus: str, system: str) -> str:
    """Everything that determines the training of a system, with all defaults, as YAML.

    Comments before it name the file, and corpora of the scale on which something differs.
    """
    lines = [_heading(configuration, corpus, system)]
    name, here = configuration.canonical(corpus, system), _settings(configuration, corpus, system)
    if name != system:
        lines.append(f"# trained under the name {name}, whose settings are the same")
    corpora = dict.fromkeys(configuration.tasks.values())
    different = [each for each in corpora if _settings(configuration, each, system) != here]
    if different:
        lines.append(f"# differs on {', '.join(different)}: see --corpus")
    lines += _lengths(configuration.on(corpus), system)
    text = yaml.safe_dump(
        here, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None
    )
    return "\n".join([*lines, text])


def compared(configuration: Configuration, corpus: str, system: str, other: str) -> str:
    """The settings of two systems that differ, from the first one to the other."""
    headings = [_heading(configuration, corpus, name) for name in (system, other)]
    one, second = (_settings(configuration, corpus, name) for name in (system, other))
    return "\n".join([*headings, *(differences(one, second) or ["# no setting differs"]), ""])


def _settings(configuration: Configuration, corpus: str, system: str) -> dict[str, Any]:
    """The effective configuration without the names of corpus and system."""
    if why := cannot_train(configuration.on(corpus), system):
        raise UserError(f"{configuration.file_of('systems', system)}: {why}")
    settings = configuration.training(corpus, system).as_json()
    return {key: value for key, value in settings.items() if key not in ("corpus", "system")}


def _lengths(view: Configuration, system: str) -> list[str]:
    """A comment with the lengths that are not those of the recipe's file; none without any."""
    recipe = replacements(view, view.system(system).recipe.like)[-1]
    written, here = view.written("recipes", recipe), view.recipe_of(system).as_written()
    before, after = ({key: its.get(key) for key in LENGTHS} for its in (written, here))
    changed = differences(before, after)
    return [f"# lengths in {view.file_of('recipes', recipe)}: {'; '.join(changed)}"] * bool(changed)


def _heading(configuration: Configuration, corpus: str, system: str) -> str:
    file = configuration.file_of("systems", system)
    return f"# {system} on {corpus}, scale {configuration.scale}: {file}"
