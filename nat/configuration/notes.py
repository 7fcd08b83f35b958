"""Notes on a configuration that is valid but may not do what a user expects."""

from collections.abc import Iterable, Iterator

from nat.configuration.configuration import Configuration
from nat.configuration.entries import replacements
from nat.configuration.files import PAPER_SCALE, file_of
from nat.configuration.references import references
from nat.configuration.systems import dependencies


def notes(configuration: Configuration, asked_for: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for each thing that is noteworthy; reports ask for these corpora and systems."""
    pairs, overridden = set(asked_for), configuration.overridden.get("recipes", {})
    used = _recipes(configuration, pairs)
    changed = {*configuration.files["scales"][configuration.scale]["recipes"], *overridden}
    long = [name for name in sorted(used) if replacements(configuration, name)[-1] not in changed]
    if long and configuration.scale != PAPER_SCALE:
        yield (
            f"{file_of('scales', configuration.scale)}: these recipes train as long as in the "
            f"papers, since the key 'recipes' does not change them: {', '.join(long)}"
        )
    # any decoding may be shown, and with it the systems that it uses besides
    named = references(configuration.files["decodings"])
    helpers = {name for _, folder, name in named if folder == "systems"}
    used |= _recipes(configuration, {(corpus, name) for corpus, _ in pairs for name in helpers})
    effective = {each for name in used for each in replacements(configuration, name)}
    ends = tuple(point.name for point in configuration.choice.points)
    for recipe in (name for name in overridden.keys() - effective if not name.endswith(ends)):
        yield f"override: no system that reports show uses the recipe '{recipe}'"


def _recipes(configuration: Configuration, pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The recipes of these systems and of those that they need."""
    left, needed = list(pairs), set()
    while left:
        corpus, system = left.pop()
        if (corpus, system) not in needed:
            needed.add((corpus, system))
            left += [(corpus, name) for name in dependencies(configuration.on(corpus), system)]
    return {configuration.on(corpus).system(system).recipe.like for corpus, system in needed}
