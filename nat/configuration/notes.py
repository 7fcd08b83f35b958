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
    return list(_notes(configuration, set(asked_for)))


def _notes(configuration: Configuration, pairs: set[tuple[str, str]]) -> Iterator[str]:
    scale, scales = file_of("scales", configuration.scale), configuration.files["scales"]
    corpora, overridden = {corpus for corpus, _ in pairs}, configuration.overrides.recipes
    used = _used_recipes(configuration, pairs)
    changed = {**scales[configuration.scale]["recipes"], **overridden}
    long = [name for name in sorted(used) if configuration.replacements(name)[-1] not in changed]
    if long and configuration.scale != PAPER_SCALE:
        yield (
            f"{scale}: these recipes train as long as in the papers, since the key 'recipes' does "
            f"not change them: {', '.join(_with_length(configuration, name) for name in long)}"
        )
    if not set(overridden) <= used:
        # any decoding may be shown, and with it the systems that it uses besides
        helpers = {
            (corpus, helper)
            for corpus in corpora
            for there in [configuration.on(corpus)]
            for decoding in map(there.example_of, there.decodings)
            for helper in there.helpers(decoding)
        }
        used |= _used_recipes(configuration, helpers)
        effective = {each for name in used for each in configuration.replacements(name)}
        for recipe in overridden:
            if recipe not in effective:
                yield (
                    f"override: no system that reports show uses the recipe '{recipe}'; it changes "
                    "nothing"
                )
    # only a user's own tasks; those of papers may not be described yet
    known = {
        task for name in scales if name != configuration.scale for task in scales[name]["tasks"]
    }
    tasks = configuration.tasks.items()
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
