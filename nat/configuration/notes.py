"""Notes on a configuration that is valid but may not do what a user expects."""

from collections.abc import Iterable, Iterator

from nat.configuration.configuration import Configuration
from nat.configuration.files import PAPER_SCALE, file_of
from nat.configuration.systems import dependencies, references, replacements


def notes(configuration: Configuration, asked_for: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for each thing that is noteworthy; reports ask for these corpora and systems."""
    pairs, scales = set(asked_for), configuration.files["scales"]
    scale, corpora = file_of("scales", configuration.scale), {corpus for corpus, _ in pairs}
    overridden, used = configuration.overrides.recipes, _recipes(configuration, pairs)
    changed = {**scales[configuration.scale]["recipes"], **overridden}
    long = [name for name in sorted(used) if replacements(configuration, name)[-1] not in changed]
    listed = ", ".join(f"{name} ({_length(configuration, name)})" for name in long)
    if long and configuration.scale != PAPER_SCALE:
        yield (
            f"{scale}: these recipes train as long as in the papers, since the key 'recipes' does "
            f"not change them: {listed}"
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


def _length(configuration: Configuration, name: str) -> str:
    recipe = configuration.recipe(name)
    by_epochs = recipe.updates is None
    return f"{recipe.epochs:,g} epochs" if by_epochs else f"{recipe.updates:,} updates"


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
