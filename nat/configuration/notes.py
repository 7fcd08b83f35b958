"""Notes on a configuration that is valid but may not do what a user expects."""

from collections.abc import Iterable, Iterator

from nat.configuration.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE, file_of


def notes(configuration: Configuration, asked_for: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence for each thing that the reports of a run make noteworthy.

    Args:
        configuration: of the run.
        asked_for: corpus and system of everything that reports show.
    """
    pairs = set(asked_for)
    used = _used_recipes(configuration, pairs)
    return [
        *_lengths_of_papers(configuration, used),
        *_overrides_without_use(configuration, pairs, used),
        *_tasks_without_paper(configuration, {corpus for corpus, _ in pairs}),
    ]


def _used_recipes(configuration: Configuration, pairs: set[tuple[str, str]]) -> set[str]:
    """The recipes of these systems and of those that they need."""
    left, trained, used = list(pairs), set(), set()
    while left:
        corpus, system = left.pop()
        if (corpus, system) not in trained:
            trained.add((corpus, system))
            there = configuration.on(corpus)
            used.add(there.system(system).recipe)
            left += [(corpus, name) for name in there.dependencies(system)]
    return used


def _lengths_of_papers(configuration: Configuration, used: set[str]) -> list[str]:
    if configuration.scale == PAPER_SCALE:
        return []
    recipes = sorted(name for name in used if not _is_changed(configuration, name))
    if not recipes:
        return []
    shown = ", ".join(f"{name} ({_length(configuration, name)})" for name in recipes)
    return [
        f"{file_of('scales', configuration.scale)}: these recipes train as long as in the papers, "
        f"since the key 'recipes' does not change them: {shown}"
    ]


def _overrides_without_use(
    configuration: Configuration, pairs: set[tuple[str, str]], used: set[str]
) -> list[str]:
    if set(configuration.overrides.recipes) <= used:
        return []
    # any decoding may be shown, and with it the systems that it uses besides
    helpers = {
        (corpus, helper)
        for corpus in {corpus for corpus, _ in pairs}
        for helper in _helpers(configuration.on(corpus))
    }
    used = used | _used_recipes(configuration, helpers)
    changes = configuration.files["scales"][configuration.scale]["recipes"]
    for recipe in list(used):
        while "as" in changes.get(recipe, {}):
            recipe = changes[recipe]["as"]
            used.add(recipe)
    return [
        f"override: no system that reports show uses the recipe '{recipe}'; it changes nothing"
        for recipe in configuration.overrides.recipes
        if recipe not in used
    ]


def _helpers(configuration: Configuration) -> Iterator[str]:
    """The systems that decodings use besides the one that they decode."""
    for name in map(configuration.example_of, configuration.decodings):
        assistant, estimated = configuration.assistant(name), configuration.language_model(name)
        if assistant is not None:
            yield assistant
        if estimated is not None:
            yield estimated.system


def _is_changed(configuration: Configuration, recipe: str) -> bool:
    changes = configuration.files["scales"][configuration.scale]["recipes"]
    if "as" in changes.get(recipe, {}):
        return _is_changed(configuration, changes[recipe]["as"])
    return recipe in changes or recipe in configuration.overrides.recipes


def _length(configuration: Configuration, name: str) -> str:
    recipe = configuration.recipe(name)
    if recipe.epochs is not None:
        return f"{recipe.epochs:,g} epochs"
    return f"{recipe.updates:,} updates"


def _tasks_without_paper(configuration: Configuration, corpora: set[str]) -> list[str]:
    """Only for a user's own tasks; those of papers may not be described yet."""
    scales = configuration.files["scales"]
    known = {
        task for name in scales if name != configuration.scale for task in scales[name]["tasks"]
    }
    own = [
        f"'{task}'"
        for task, corpus in configuration.tasks.items()
        if task not in known and corpus not in corpora
    ]
    if not own:
        return []
    return [
        f"{file_of('scales', configuration.scale)}: no paper asks for {', '.join(own)} (key "
        "'tasks'), so nothing of it is run; write a file of config/papers, see docs/papers.md"
    ]
