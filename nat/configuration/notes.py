"""Notes on a configuration that is valid but may not do what a user expects."""

from collections.abc import Iterable

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
    changes = configuration.files["scales"][configuration.scale]["recipes"]
    found = []
    for name in sorted(used):
        replaced = configuration.replacements(name)
        if replaced[-1] not in {**changes, **configuration.overrides.recipes}:
            recipe = configuration.recipe(name)
            updates = f"{recipe.updates:,} updates" if recipe.updates is not None else ""
            found.append(f"{name} ({updates or f'{recipe.epochs:,g} epochs'})")
    if not found:
        return []
    return [
        f"{file_of('scales', configuration.scale)}: these recipes train as long as in the papers, "
        f"since the key 'recipes' does not change them: {', '.join(found)}"
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
        for there in [configuration.on(corpus)]
        for decoding in map(there.example_of, there.decodings)
        for helper in there.helpers(decoding)
    }
    used = used | _used_recipes(configuration, helpers)
    effective = {each for name in used for each in configuration.replacements(name)}
    return [
        f"override: no system that reports show uses the recipe '{recipe}'; it changes nothing"
        for recipe in configuration.overrides.recipes
        if recipe not in effective
    ]


def _tasks_without_paper(configuration: Configuration, corpora: set[str]) -> list[str]:
    """Only for a user's own tasks; those of papers may not be described yet."""
    scales = configuration.files["scales"]
    known = {
        task for name in scales if name != configuration.scale for task in scales[name]["tasks"]
    }
    tasks = configuration.tasks.items()
    own = [task for task, corpus in tasks if task not in known and corpus not in corpora]
    if not own:
        return []
    return [
        f"{file_of('scales', configuration.scale)}: no paper asks for {', '.join(own)} (key "
        "'tasks'), so nothing of it is run; write a file of config/papers, see docs/papers.md"
    ]
