"""Checks of what files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` for the first problem, with file, key and reason.
"""

from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from nat import registry
from nat.configuration import families
from nat.configuration.compatibility import check_decoding, check_system
from nat.configuration.configuration import Configuration
from nat.configuration.entries import all_tasks, replacements
from nat.configuration.families import require
from nat.configuration.files import FOLDERS, file_of
from nat.configuration.recipes import Recipe
from nat.configuration.references import WITH_TASKS, references
from nat.configuration.systems import needed_systems
from nat.data.corpus import Corpus, Source, Split
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.invented.language import language_of
from nat.data.splits import TRAIN, VALID, parts_by_key, sides, split_names, with_archive
from nat.data.vocabulary import SIDES
from nat.errors import UserError, told_of
from nat.options import hint


def check(configuration: Configuration) -> None:
    """Check what the files of a configuration say of each other at its scale."""
    for family, content in configuration.files["decodings"].items():
        # first, since families know the names that others use
        configuration.decoding(families.example(family, content))
    for where, name, known, what in _names(configuration):
        require(name, known, what, where)
    for name in configuration.corpora:
        check_corpus(name, configuration.corpus(name))
    tasks = [configuration.tasks_of(corpus) for corpus in configuration.tasks.values()]
    for view in map(configuration.for_tasks, dict.fromkeys([(), *tasks])):
        _check_cycles(view)
        for name in view.files["recipes"]:
            _check_recipe(view, view.recipe(name), view.place("recipes", name))
        for family, content in view.files["decodings"].items():
            _check_decoding(view, family, families.example(family, content))
        for name in view.overridden.get("decodings", {}):
            _check_decoding(view, name, name)
        for name in view.systems:
            where = f"{view.place('systems', name)}: key 'recipe'"
            _check_recipe(view, view.recipe_of(name), where)
            _check_kept(view, name)
            check_system(view, name)


def _names(configuration: Configuration) -> Iterator[tuple[str, str, Collection[str], str]]:
    """Places where a file names something, the name, what there is of its kind, and the kind."""
    for name, content in configuration.files["scales"].items():
        for task in (task for task, corpus in content["tasks"].items() if corpus is None):
            where = f"{file_of('scales', name)}: key 'tasks'"
            yield where, task, all_tasks(configuration), "task"
    file, scale = file_of("scales", configuration.scale), configuration.scale_settings
    for task, corpus in configuration.tasks.items():
        yield f"{file}: key 'tasks.{task}'", corpus, configuration.corpora, "corpus"
    for recipe in scale.recipes:
        for name in replacements(configuration, recipe):
            yield f"{file}: key 'recipes.{recipe}'", name, configuration.files["recipes"], "recipe"
    for system in scale.targets:
        yield f"{file}: key 'targets'", system, configuration.systems, "system"
    for size in scale.tokens_per_device.keys() - {"others"}:
        yield f"{file}: key 'tokens_per_device'", size, scale.sizes, "size"
    for paper in scale.apart:
        yield f"{file}: key 'apart'", paper, configuration.papers, "paper"
    for decoding in scale.browser.steps:
        yield f"{file}: key 'browser.steps'", decoding, configuration.decodings, "decoding"
    scales = configuration.files["scales"].values()
    known = {**configuration.files, "sizes": {size for its in scales for size in its["sizes"]}}
    for folder in WITH_TASKS:
        overridden = configuration.overridden.get(folder, {})
        for name, content in (*configuration.files[folder].items(), *overridden.items()):
            where = configuration.file_of(folder, name)
            for key, other, value in references(content):
                yield f"{where}: key '{key}'", value, known[other], FOLDERS.get(other, "size")
            for task in content.get("tasks", {}):
                yield f"{where}: key 'tasks'", task, all_tasks(configuration), "task"
    for name in configuration.corpora:
        its, file = configuration.corpus(name), file_of("corpora", name)
        if its.derived is not None:
            languages = sides(configuration.corpus(its.derived.source))
            yield f"{file}: key 'derived.side'", its.derived.side, languages, "language"
        for teacher in its.distilled:
            yield f"{file}: key 'distilled'", teacher, configuration.systems, "system"
    for name in configuration.papers:
        systems = configuration.paper(name).systems
        for own, described in systems.items():
            key = f"{file_of('papers', name)}: key 'systems.{own}"
            for task in described.tasks:
                yield f"{key}.tasks'", task, all_tasks(configuration), "task"
            if described.baseline is not None:
                known_systems = [*systems, *configuration.systems]
                yield f"{key}.baseline'", described.baseline, known_systems, "system"


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


def _check_recipe(view: Configuration, recipe: Recipe, where: str) -> None:
    if (decoding := recipe.validation.decoding) is not None:
        its = view.decoding_file(decoding)
        if its.assistant or its.language_model or its.tuning:
            raise UserError(
                f"{where}: key 'validation.decoding': found '{decoding}', expected one without "
                "'assistant', 'language_model' and 'tuning'"
            )


def _check_decoding(view: Configuration, family: str, name: str) -> None:
    """Check what a decoding uses besides a system, and the values among which it is tuned."""
    its, file = view.decoding_file(name), view.file_of("decodings", name)
    if (model := its.language_model) is not None:
        with told_of(f"{file}: key 'language_model.decoding': "):
            if view.decoding_file(model.decoding).language_model is not None:
                raise UserError(f"'{model.decoding}' has a language model; give one without")
            check_decoding(view, model.system, model.decoding)
    for option, values in its.tuning.items():
        with told_of(f"{file}: key 'tuning.{option}': "):
            if option in families.placeholders(family):
                raise UserError(f"the name '{family}' says its value, so it is not tuned")
            for value in values:
                registry.describe("decoding", view.decoding(name).with_options({option: value}))


def _check_kept(view: Configuration, name: str) -> None:
    start = view.system(name).init_from
    if start is not None and start.kept is not None:
        known = view.recipe_of(start.system).keep or {}
        where = f"{view.file_of('systems', name)}: key 'init_from.kept'"
        require(start.kept, known, "checkpoint", where)


def check_corpus(name: str, corpus: Corpus) -> None:
    """Check what the keys of a corpus say together."""
    with told_of(f"{file_of('corpora', name)}: "):
        for problem in _problems(corpus):
            raise UserError(problem)
        if corpus.generator is not None:
            language_of(corpus.generator)


def _problems(corpus: Corpus) -> Iterator[str]:
    """Problems of a corpus: the key, what was found, and what is expected."""
    options, languages = corpus.preprocessing, {corpus.source, corpus.target}
    if len(languages) == 1:
        yield f"'source' and 'target' are both '{corpus.source}'"
    if len(corpus.model_fields_set & {"splits", "generator", "derived"}) != 1:
        yield "expected either 'splits' or 'generator'"
    key, splits = "splits" if corpus.generator is None else "generator.pairs", split_names(corpus)
    for split in (TRAIN, VALID) if corpus.derived is None else ():  # which has those of its parent
        if split not in splits:
            yield f"missing key '{key}.{split}' ('splits.valid' can be cut out with 'every')"
    learned = (options.bpe_merges, options.sentencepiece, corpus.subwords)
    if learned.count(None) != len(learned) - 1:
        yield "key 'preprocessing': expected one of 'bpe_merges', 'sentencepiece' and 'subwords'"
    if "sentencepiece_normalisation" in options.model_fields_set and options.sentencepiece is None:
        yield "key 'preprocessing.sentencepiece_normalisation': expected also 'sentencepiece'"
    for key, value, some in (
        ("preprocessing.tokeniser", options.tokeniser, False),
        ("preprocessing.bpe_merges", options.bpe_merges, False),
        ("diacritics", corpus.diacritics, True),
    ):
        if isinstance(value, Mapping) and not (
            value.keys() == languages or some and value.keys() < languages
        ):
            wanted = f"{corpus.source} and {corpus.target}"
            yield f"key '{key}': found {', '.join(value)}, expected {wanted}"
    for name, text in corpus.splits.items():
        yield from _problems_of_split(name, text, languages)
        for key, part in parts_by_key(name, text).items():
            with told_of(f"'{key}': key 'sacrebleu': "):
                with_archive(part, corpus)
    for teacher, its in corpus.distilled.items():
        yield from _problems_of_origin(its, f"distilled.{teacher}", {corpus.target})
    if corpus.subwords is not None:
        due = {"codes", "vocabulary"}, {"pieces", "vocabulary"}
        yield from _problems_of_origin(corpus.subwords, "subwords", *due)
    for step, sizes in corpus.expected.items():
        of_vocabulary = SIDES if corpus.has_separate_vocabularies else ("size",)
        known = of_vocabulary if step == "vocabulary" else splits
        for each in sizes:
            if each not in known:
                yield f"unknown key 'expected.{step}.{each}'; {hint(each, known)}"


def _problems_of_split(name: str, split: Split, languages: set[str]) -> Iterator[str]:
    if split.parts or split.every is not None:
        yield from _problems_of_origin(split, f"splits.{name}")
    if split.keep_repeated and split.every is None:
        yield f"'splits.{name}': key 'keep_repeated' is of splits that are cut out with 'every'"
    for key, part in parts_by_key(name, split).items():
        labels = {PAIRS} if part.format in TOGETHER else languages
        yield from _problems_of_origin(part, key, labels)
        columns = part.columns
        if part.format == "tsv" and (columns.keys() != languages or len({*columns.values()}) == 1):
            yield f"'{key}': key 'columns': expected columns for {_listed(languages)}, from 0"
    for number, further in enumerate(split.references):
        alone = [{language} for language in languages]
        due = alone if further.format == EXTRA_REFERENCES else [*alone, languages]
        yield from _problems_of_origin(further, f"splits.{name}.references[{number}]", *due)


def _problems_of_origin(text: Source, key: str, *due: set[str]) -> Iterator[str]:
    """Problems of where text comes from; `due`: the labels that its files may have."""
    if len(text.origins) != 1:
        known = ("files", "urls", "archive", "sacrebleu", "parts", "every")
        own = ", ".join(f"'{each}'" for each in known if each in type(text).model_fields)
        yield f"'{key}': found {' and '.join(text.origins) or 'none'}, expected one of {own}"
    for name, value in (("urls", text.urls), ("files", text.files), ("members", text.members)):
        if value and set(value) not in due:
            expected = " or ".join(map(_listed, due))
            yield f"'{key}': key '{name}': found {', '.join(value)}, expected files for {expected}"
    if text.archive is not None and not text.members:
        yield f"'{key}': missing key 'members', the files of its 'archive'"
    of_files = text.sha256 if isinstance(text.sha256, dict) else {}
    if text.urls and of_files.keys() != text.urls.keys():
        yield f"'{key}': key 'sha256': expected one checksum for each of the 'urls'"
    sums = text.model_fields_set & {"sha256", "md5"}
    if text.archive is not None and (of_files or len(sums) != 1):
        yield f"'{key}': expected either 'sha256' or 'md5' of the archive (null: unpublished)"


def _listed(labels: set[str]) -> str:
    return " and ".join(sorted(labels))
