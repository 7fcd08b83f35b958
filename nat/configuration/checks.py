"""What files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` for the first problem, with file, key and reason.
"""

from collections.abc import Iterable
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from nat import registry
from nat.configuration import families
from nat.configuration.compatibility import check_assistant, check_system
from nat.configuration.configuration import Configuration
from nat.configuration.corpora import check_corpus
from nat.configuration.families import require
from nat.configuration.file_names import FOLDERS, file_of
from nat.configuration.lengths import check_lengths
from nat.configuration.models import MODELS, read_model
from nat.configuration.overrides import Overrides
from nat.data.splits import sides
from nat.errors import UserError, told_of

_OF_ALL_PAPERS = "settings.csv"
"""Settings that all papers print, see `nat.papers.settings`."""


def check(configuration: Configuration) -> None:
    """Check all files of a configuration, and what they say of each other.

    Raises:
        UserError: for the first problem.
    """
    _check_files(configuration)
    _check_options(configuration)
    check_names(configuration)
    _check_what_fits(configuration)


def _check_files(configuration: Configuration) -> None:
    """Validate each file; a paper is validated when it is asked for."""
    for folder in (folder for folder in FOLDERS if folder in MODELS):
        for name in configuration.bases_first[folder]:
            content, place = configuration.files[folder][name], configuration.places[folder][name]
            read_model(MODELS[folder], content, place)
            for task in content.get("tasks", {}) if folder in families.WITH_TASKS else ():
                change = families.on_task(content, task)
                read_model(MODELS[folder], change, f"{place}: 'tasks.{task}'")


def check_names(configuration: Configuration) -> None:
    """Check scales and recipes, and that systems name what there is, without a circle."""
    for folder in families.WITH_TASKS:
        for name in configuration.bases_first[folder]:
            for task in configuration.files[folder][name].get("tasks", {}):
                where = f"{configuration.places[folder][name]}: key 'tasks'"
                require(task, configuration.all_tasks, "task", where)
    for scale in configuration.bases_first["scales"]:
        _check_scale(replace(configuration, scale=scale, overrides=Overrides()))
    _check_scale(configuration)
    plain = configuration.for_tasks(())
    for view in map(configuration.for_tasks, _tasks(configuration)):
        written, without = view.files["systems"], plain.files["systems"]
        for name in view.bases_first["systems"]:
            if view is plain or written[name] != without[name]:
                _check_names(view, name)
        _check_cycles(view)


def _check_options(configuration: Configuration) -> None:
    """Check that decodings have options of their methods, and that families have such names.

    It comes first: what names a decoding of a family knows only the names that the family has.
    """
    view = configuration.for_tasks(())
    for name in view.bases_first["decodings"]:
        view.decoding(view.example_of(name))


def _check_what_fits(configuration: Configuration) -> None:
    """Check all corpora, papers, decodings, and the systems at the chosen scale."""
    for name in configuration.bases_first["corpora"]:
        found, file = configuration.corpus(name), file_of("corpora", name)
        check_corpus(name, found)
        if found.derived is not None:
            languages = sides(configuration.corpus(found.derived.source))
            require(found.derived.side, languages, "language", f"{file}: key 'derived.side'")
        for teacher in found.distilled:
            require(teacher, configuration.systems, "system", f"{file}: key 'distilled'")
    for name in configuration.papers:
        systems = configuration.paper(name).systems
        for own, described in systems.items():
            key = f"{file_of('papers', name)}: key 'systems.{own}"
            for task in described.tasks:
                require(task, configuration.all_tasks, "task", f"{key}.tasks'")
            if described.baseline is not None:
                known = [*systems, *configuration.systems]
                require(described.baseline, known, "system", f"{key}.baseline'")
    for path in sorted((configuration.root / "config" / "published").glob("[!.]*.csv")):
        if path.name != _OF_ALL_PAPERS:
            require(path.stem, configuration.papers, "paper", f"config/published/{path.name}")
    for tasks in _tasks(configuration):
        view = configuration.for_tasks(tasks)
        for name in view.bases_first["decodings"]:
            _check_decoding(view, name)
        for name in view.bases_first["systems"]:
            if name in view.changed:
                _check_kept(view, name)
                check_system(view, name)


def _tasks(configuration: Configuration) -> list[tuple[str, ...]]:
    """No task, and the tasks of each corpus of the scale."""
    of_corpora = map(configuration.tasks_of, configuration.tasks.values())
    return list(dict.fromkeys([(), *of_corpora]))


def _check_decoding(configuration: Configuration, family: str) -> None:
    """Check what a decoding uses besides a system, and the values among which it is tuned."""
    name, file = configuration.example_of(family), configuration.file_of("decodings", family)
    if (assistant := configuration.assistant(name)) is not None:
        require(assistant, configuration.systems, "system", f"{file}: key 'assistant'")
    check_assistant(configuration, name)
    if (model := configuration.language_model(name)) is not None:
        key = f"{file}: key 'language_model"
        require(model.system, configuration.systems, "system", f"{key}.system'")
        require(model.decoding, configuration.decodings, "decoding", f"{key}.decoding'")
        with told_of(f"{key}.decoding': "):
            if configuration.language_model(model.decoding) is not None:
                raise UserError(f"'{model.decoding}' has a language model; give one without")
            configuration.check_decoding(model.system, model.decoding)
    for option, values in configuration.tried(name).items():
        with told_of(f"{file}: key 'tuning.{option}': "):
            if option in families.placeholders(family):
                raise UserError(f"the name '{family}' says its value, so it is not tuned")
            for value in values:
                method = configuration.decoding(name).with_options({option: value})
                registry.describe("decoding", method)


def _check_scale(configuration: Configuration) -> None:
    scale, settings = file_of("scales", configuration.scale), configuration.scale_settings
    recipes = configuration.files["recipes"]
    for task, corpus in configuration.tasks.items():
        require(corpus, configuration.corpora, "corpus", f"{scale}: key 'tasks.{task}'")
    for recipe, change in configuration.files["scales"][configuration.scale]["recipes"].items():
        require(recipe, recipes, "recipe", f"{scale}: key 'recipes'")
        require(change.get("as", recipe), recipes, "recipe", f"{scale}: key 'recipes.{recipe}.as'")
    for decoding in settings.browser.steps:
        require(decoding, configuration.decodings, "decoding", f"{scale}: key 'browser.steps'")
    names = configuration.bases_first["recipes"]
    _check_recipes(configuration, names)
    for task in dict.fromkeys(task for each in recipes.values() for task in each.get("tasks", {})):
        view = configuration.for_tasks((task,))
        own = {name for name in names if task in recipes[name].get("tasks", {})}
        _check_recipes(view, [name for name in names if view.replacements(name)[-1] in own])


def _check_recipes(configuration: Configuration, names: Iterable[str]) -> None:
    """Check recipes, each with those that replace it in turn at the scale."""
    for name in names:
        chain, recipe = configuration.replacements(name), configuration.recipe(name)
        overridden = [each for each in chain if each in configuration.overrides.recipes]
        # what replaces a recipe leaves nothing of it but its own overrides
        where = configuration.file_of("recipes", [*overridden, chain[-1]][0])
        if name in configuration.files["scales"][configuration.scale]["recipes"]:
            where += f" with {file_of('scales', configuration.scale)}"
        if overridden:
            where += " with 'override'"
        decoding = recipe.validation.decoding
        if decoding is not None:
            place = f"{where}: key 'validation.decoding'"
            require(decoding, configuration.decodings, "decoding", place)
            if (
                configuration.assistant(decoding)
                or configuration.language_model(decoding)
                or configuration.is_tuned(decoding)
            ):
                raise UserError(
                    f"{place}: found '{decoding}', expected one without 'assistant', "
                    "'language_model' and 'tuning'"
                )
        check_lengths(recipe, where)


def _check_names(configuration: Configuration, name: str) -> None:
    file, system = configuration.file_of("systems", name), configuration.system(name)
    sizes = {size for scale in configuration.files["scales"].values() for size in scale["sizes"]}
    require(system.size, sorted(sizes), "size", f"{file}: key 'size' (sizes of config/scales)")
    require(system.recipe, configuration.files["recipes"], "recipe", f"{file}: key 'recipe'")
    start = None if system.init_from is None else system.init_from.system
    for key, other in (("init_from", start), ("teacher", system.teacher)):
        if other is not None:
            require(other, configuration.systems, "system", f"{file}: key '{key}'")
    for text in system.text.candidates:
        if text.system is not None and text.decoding is not None:
            where = f"{file}: key '{text.key}"
            require(text.system, configuration.systems, "system", f"{where}.system'")
            require(text.decoding, configuration.decodings, "decoding", f"{where}.decoding'")


def _check_kept(configuration: Configuration, name: str) -> None:
    start = configuration.system(name).init_from
    if start is not None and start.kept is not None:
        recipe = configuration.system(start.system).recipe
        where = f"{configuration.file_of('systems', name)}: key 'init_from.kept'"
        where += f" (key 'keep' of the recipe '{recipe}')"
        require(start.kept, configuration.recipe(recipe).keep or {}, "checkpoint", where)


def _check_cycles(configuration: Configuration) -> None:
    needed = {name: dict(configuration.needed_systems(name)) for name in configuration.systems}
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]
        start = circle.index(min(circle))
        names = [*circle[start:], *circle[: start + 1]]
        steps = [f"{one} -({needed[one][two]})-> " for one, two in pairwise(names)]
        file = configuration.file_of("systems", names[0])
        raise UserError(
            f"{file}: '{names[0]}' needs itself: {''.join(steps)}{names[0]}; change one of these "
            "keys"
        ) from error
