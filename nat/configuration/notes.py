"""Notes on a configuration that is valid but may not do what a user expects."""

from collections.abc import Iterable, Iterator

from nat.configuration.at_scale import replacements
from nat.configuration.checks import references
from nat.configuration.configuration import Configuration
from nat.configuration.files import PAPER_SCALE, file_of
from nat.configuration.systems import dependencies


def notes(configuration: Configuration, asked_for: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for each thing that the reports of a run make noteworthy.

    Args:
        configuration: of the run.
        asked_for: corpus and system of everything that reports show.
    """
    pairs, scales = set(asked_for), configuration.files["scales"]
    scale, corpora = file_of("scales", configuration.scale), {corpus for corpus, _ in pairs}
    overridden, used = configuration.overrides.recipes, _recipes(configuration, pairs)
    changed = {**scales[configuration.scale]["recipes"], **overridden}
    long = [name for name in sorted(used) if replacements(configuration, name)[-1] not in changed]
    if long and configuration.scale != PAPER_SCALE:
        yield (
            f"{scale}: these recipes train as long as in the papers, since the key 'recipes' does "
            f"not change them: {', '.join(_with_length(configuration, name) for name in long)}"
        )
    # any decoding may be shown, and with it the systems that it uses besides
    named = references(configuration.files["decodings"])
    helpers = {name for _, folder, name in named if folder == "systems"}
    used |= _recipes(configuration, {(corpus, name) for corpus in corpora for name in helpers})
    effective = {each for name in used for each in replacements(configuration, name)}
    for recipe in overridden.keys() - effective:
        yield f"override: no system that reports show uses the recipe '{recipe}'"
    # only a user's own tasks; those of papers may not be described yet
    others = [scales[name]["tasks"] for name in scales if name != configuration.scale]
    known, tasks = {task for each in others for task in each}, configuration.tasks.items()
    own = [task for task, corpus in tasks if task not in known and corpus not in corpora]
    if own:
        yield (
            f"{scale}: no paper asks for {', '.join(own)} (key 'tasks'), so nothing of it is run; "
            "write a file of config/papers, see docs/papers.md"
        )


def _with_length(configuration: Configuration, name: str) -> str:
    recipe = configuration.recipe(name)
    if recipe.updates is None:
        return f"{name} ({recipe.epochs:,g} epochs)"
    return f"{name} ({recipe.updates:,} updates)"


def _recipes(configuration: Configuration, pairs: set[tuple[str, str]]) -> set[str]:
    """The recipes of these systems and of those that they need."""
    left, trained, used = list(pairs), set(), set()
    while left:
        corpus, system = left.pop()
        if (corpus, system) not in trained:
            trained.add((corpus, system))
            there = configuration.on(corpus)
            used.add(there.system(system).recipe)
            left += [(corpus, name) for name in dependencies(there, system)]
    return used
