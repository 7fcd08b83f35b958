"""Checks of what files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` for the first problem, with file, key and reason.
"""

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from nat import registry
from nat.configuration import families
from nat.configuration.compatibility import check_system
from nat.configuration.configuration import Configuration, all_tasks
from nat.configuration.corpora import check_corpus
from nat.configuration.families import require
from nat.configuration.files import FOLDERS, file_of
from nat.configuration.lengths import check_lengths
from nat.configuration.models import MODELS, read_model
from nat.configuration.systems import (
    WITH_TASKS,
    for_tasks,
    needed_systems,
    on_task,
    place,
    references,
    replacements,
    tasks_of,
)
from nat.data.splits import sides
from nat.errors import UserError, told_of


def check(configuration: Configuration) -> None:
    """Check all files of a configuration, and what they say of each other at its scale."""
    _check_files(configuration)
    plain = for_tasks(configuration, ())
    for family in plain.decodings:  # first, since families know the names that others use
        plain.decoding(families.example(family, plain.files["decodings"][family]))
    _check_scale(configuration)
    tasks = [tasks_of(configuration, corpus) for corpus in configuration.tasks.values()]
    views = [for_tasks(configuration, each) for each in dict.fromkeys([(), *tasks])]
    _check_names(configuration)
    for view in views:
        _check_cycles(view)
    for name in configuration.corpora:
        _check_corpus(configuration, name)
    for name in configuration.papers:
        _check_paper(configuration, name)
    for view in views:
        for name in view.files["recipes"]:
            _check_recipe(view, name)
        for name in view.decodings:
            _check_decoding(view, name)
        for name in view.systems:
            _check_kept(view, name)
            check_system(view, name)


def _check_files(configuration: Configuration) -> None:
    """Validate each file; a paper is validated when it is asked for."""
    for folder in (folder for folder in FOLDERS if folder in MODELS):
        for name, content in configuration.files[folder].items():
            where = configuration.origins[folder][name].place
            read_model(MODELS[folder], content, where)
            for task in content.get("tasks", {}) if folder in WITH_TASKS else ():
                require(task, all_tasks(configuration), "task", f"{where}: key 'tasks'")
                read_model(MODELS[folder], on_task(content, task), f"{where}: 'tasks.{task}'")


def _check_names(configuration: Configuration) -> None:
    """Check that systems, recipes and decodings name what there is."""
    scales = configuration.files["scales"].values()
    known = {**configuration.files, "sizes": {size for scale in scales for size in scale["sizes"]}}
    for folder in WITH_TASKS:
        for name, content in configuration.files[folder].items():
            for key, other, value in references(content):
                where = f"{configuration.origins[folder][name].place}: key '{key}'"
                require(value, known[other], FOLDERS.get(other, "size"), where)


def _check_cycles(view: Configuration) -> None:
    needed = {name: dict(needed_systems(view, name)) for name in view.systems}
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        names = error.args[1][::-1]
        steps = [f"{one} -({needed[one][two]})-> " for one, two in pairwise(names)]
        raise UserError(
            f"{view.file_of('systems', names[0])}: '{names[0]}' needs itself: {''.join(steps)}"
            f"{names[0]}; change one of these keys"
        ) from error


def _check_scale(configuration: Configuration) -> None:
    scale, settings = file_of("scales", configuration.scale), configuration.scale_settings
    for task, corpus in configuration.tasks.items():
        require(corpus, configuration.corpora, "corpus", f"{scale}: key 'tasks.{task}'")
    recipes = configuration.files["recipes"]
    for recipe in settings.recipes:
        for name in replacements(configuration, recipe):
            require(name, recipes, "recipe", f"{scale}: key 'recipes.{recipe}'")
    for system in settings.targets:
        require(system, configuration.systems, "system", f"{scale}: key 'targets'")
    for decoding in settings.browser.steps:
        require(decoding, configuration.decodings, "decoding", f"{scale}: key 'browser.steps'")


def _check_corpus(configuration: Configuration, name: str) -> None:
    corpus, file = configuration.corpus(name), file_of("corpora", name)
    check_corpus(name, corpus)
    if corpus.derived is not None:
        languages = sides(configuration.corpus(corpus.derived.source))
        require(corpus.derived.side, languages, "language", f"{file}: key 'derived.side'")
    for teacher in corpus.distilled:
        require(teacher, configuration.systems, "system", f"{file}: key 'distilled'")


def _check_paper(configuration: Configuration, name: str) -> None:
    systems = configuration.paper(name).systems
    for own, described in systems.items():
        key = f"{file_of('papers', name)}: key 'systems.{own}"
        for task in described.tasks:
            require(task, all_tasks(configuration), "task", f"{key}.tasks'")
        if described.baseline is not None:
            known = [*systems, *configuration.systems]
            require(described.baseline, known, "system", f"{key}.baseline'")


def _check_recipe(view: Configuration, name: str) -> None:
    where, recipe = place(view, "recipes", name), view.recipe(name)
    check_lengths(recipe, where)
    if (decoding := recipe.validation.decoding) is not None:
        its = view.decoding_file(decoding)
        if its.assistant or its.language_model or its.tuning:
            raise UserError(
                f"{where}: key 'validation.decoding': found '{decoding}', expected one without "
                "'assistant', 'language_model' and 'tuning'"
            )


def _check_decoding(view: Configuration, family: str) -> None:
    """Check what a decoding uses besides a system, and the values among which it is tuned."""
    name = families.example(family, view.files["decodings"][family])
    its, file = view.decoding_file(name), view.file_of("decodings", name)
    if (model := its.language_model) is not None:
        with told_of(f"{file}: key 'language_model.decoding': "):
            if view.decoding_file(model.decoding).language_model is not None:
                raise UserError(f"'{model.decoding}' has a language model; give one without")
            view.check_decoding(model.system, model.decoding)
    for option, values in its.tuning.items():
        with told_of(f"{file}: key 'tuning.{option}': "):
            if option in families.placeholders(family):
                raise UserError(f"the name '{family}' says its value, so it is not tuned")
            for value in values:
                registry.describe("decoding", view.decoding(name).with_options({option: value}))


def _check_kept(view: Configuration, name: str) -> None:
    start = view.system(name).init_from
    if start is not None and start.kept is not None:
        known = view.recipe(view.system(start.system).recipe).keep or {}
        where = f"{view.file_of('systems', name)}: key 'init_from.kept'"
        require(start.kept, known, "checkpoint", where)
