"""Checks of what files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` for the first problem, with file, key and reason.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from nat import registry
from nat.configuration import families
from nat.configuration.compatibility import check_decoding, check_system
from nat.configuration.configuration import Configuration, needed_systems
from nat.configuration.entries import all_tasks, replacements
from nat.configuration.families import require
from nat.configuration.files import PAPER_SCALE, file_of, kind_of
from nat.configuration.json_values import WITH_TASKS, references
from nat.configuration.recipes import Recipe
from nat.data.corpus import Corpus
from nat.data.corpus_parts import sources_of
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.invented.language import language_of
from nat.data.origins import GivenSubwords, GivenTranslations, PairSource, Source, with_archive
from nat.data.splits import MONOLINGUAL, TRAIN, VALID
from nat.data.vocabulary import SIDES
from nat.errors import UserError, told_of
from nat.options import hint


def check(configuration: Configuration) -> None:
    """Check what the files of a configuration say of each other at its scale."""
    for family, content in configuration.files["decodings"].items():
        # first, since families know the names that others use
        configuration.decoding(families.example(family, content))
    scales = configuration.files["scales"].values()
    known = {
        **configuration.files,
        "sizes": {size for scale in scales for size in scale["sizes"]},
        "tasks": all_tasks(configuration),
    }
    for where, folder, names in _names(configuration):
        for name in names:
            require(name, known[folder], kind_of(folder), where)
    for name in configuration.files["corpora"]:
        check_corpus(name, configuration.corpus(name))
    tasks = [configuration.tasks_of(corpus) for corpus in configuration.tasks.values()]
    for view in map(configuration.for_tasks, dict.fromkeys([(), *tasks])):
        _check_cycles(view)
        for name in view.files["recipes"]:
            _check_recipe(view, view.recipe(name), view.place("recipes", name))
        changed = view.overridden.get("decodings", {})
        for family, content in (*view.files["decodings"].items(), *changed.items()):
            _check_decoding(view, family, families.example(family, content))
        for name in view.systems:
            where = f"{view.place('systems', name)}: key 'recipe'"
            _check_recipe(view, view.recipe_of(name), where)
            if (start := view.system(name).init_from) is not None and start.kept is not None:
                kept, where = view.recipe_of(start.system).keep or {}, view.file_of("systems", name)
                require(start.kept, kept, "checkpoint", f"{where}: key 'init_from.kept'")
            check_system(view, name)


def _names(configuration: Configuration) -> Iterator[tuple[str, str, Collection[str]]]:
    """Places where a file names others, their folder, `sizes` or `tasks`, and these names."""
    for name, content in configuration.files["scales"].items():
        left_out = [task for task, corpus in content["tasks"].items() if corpus is None]
        yield f"{file_of('scales', name)}: key 'tasks'", "tasks", left_out
    file, scale = file_of("scales", configuration.scale), configuration.scale_settings
    for task, corpus in configuration.tasks.items():
        yield f"{file}: key 'tasks.{task}'", "corpora", [corpus]
    for recipe in scale.recipes:
        yield f"{file}: key 'recipes.{recipe}'", "recipes", replacements(configuration, recipe)
    yield f"{file}: key 'processes'", "systems", scale.processes
    yield f"{file}: key 'targets'", "systems", scale.targets
    sizes = scale.tokens_per_device.keys() - {"others"}
    yield f"{file}: key 'tokens_per_device'", "sizes", sizes
    yield f"{file}: key 'apart'", "papers", scale.apart
    yield f"{file}: key 'browser.steps'", "decodings", scale.browser.steps
    for folder in WITH_TASKS:
        overridden = configuration.overridden.get(folder, {})
        for name, content in (*configuration.files[folder].items(), *overridden.items()):
            where = configuration.file_of(folder, name)
            yield f"{where}: key 'tasks'", "tasks", content.get("tasks", {})
            for key, other, value in references(content):
                yield f"{where}: key '{key}'", other, [value]
    for name in configuration.files["corpora"]:
        where = f"{file_of('corpora', name)}: key 'distilled'"
        yield where, "systems", configuration.corpus(name).distilled
    for name in configuration.files["papers"]:
        systems = configuration.paper(name).systems
        for own, its in systems.items():
            where = f"{file_of('papers', name)}: key 'systems.{own}"
            yield f"{where}.tasks'", "tasks", its.tasks
            if its.baseline is not None and its.baseline not in configuration.systems:
                require(its.baseline, systems, "system", f"{where}.baseline'")


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
            expected = "one without 'assistant', 'language_model' and 'tuning'"
            where = f"{where}: key 'validation.decoding'"
            raise UserError(f"{where}: found '{decoding}', expected {expected}")


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
    key, splits = "splits" if corpus.generator is None else "generator.pairs", corpus.split_names
    for split in (TRAIN, VALID) if corpus.derived is None else ():  # which has those of its parent
        if split not in splits:
            yield f"missing key '{key}.{split}' ('splits.valid' can be cut out with 'every')"
    if MONOLINGUAL in splits:
        yield f"'{key}.{MONOLINGUAL}': a key of its own, '{MONOLINGUAL}', names such text"
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
    described: dict[str, Source] = {f"splits.{name}": its for name, its in corpus.splits.items()}
    for name, text in corpus.splits.items():
        if text.keep_repeated and text.every is None:
            yield f"'splits.{name}': key 'keep_repeated' goes with 'every'"
    if (more := corpus.monolingual) is not None and corpus.generator is None:
        described |= {MONOLINGUAL: more, **more.parts_by_key(MONOLINGUAL)}
    elif more is not None and more.model_fields_set != {"sentences"}:
        yield "key 'monolingual': expected 'sentences' alone, which the 'generator' draws"
    for key, source in (described | sources_of(corpus)).items():
        yield from _problems_of_source(key, source, corpus)
    for step, sizes in corpus.expected.items():
        of_vocabulary = SIDES if corpus.has_separate_vocabularies else ("size",)
        known = of_vocabulary if step == "vocabulary" else splits
        for each in sizes:
            if each not in known:
                yield f"unknown key 'expected.{step}.{each}'; {hint(each, known)}"


def _problems_of_source(key: str, source: Source, corpus: Corpus) -> Iterator[str]:
    """Problems of where text comes from, and of the labels that its files have."""
    if len(source.origins) != 1:
        known = ("files", "urls", "archive", "sacrebleu", "parts", "every")
        own = ", ".join(f"'{each}'" for each in known if each in type(source).model_fields)
        yield f"'{key}': found {' and '.join(source.origins) or 'none'}, expected one of {own}"
    languages = {corpus.source, corpus.target}
    due = [{language} for language in languages]  # of references, and of monolingual text
    if isinstance(source, GivenSubwords):
        due = [{"codes", "vocabulary"}, {"pieces", "vocabulary"}]
    elif isinstance(source, GivenTranslations):
        due = [{corpus.target}]
    elif isinstance(source, PairSource):
        due = [{PAIRS} if source.format in TOGETHER else languages]
        columns = source.columns
        if source.format == "tsv" and (columns.keys() != languages or len({*columns.values()}) < 2):
            yield f"'{key}': key 'columns': expected columns for {_listed(languages)}, from 0"
        with told_of(f"'{key}': key 'sacrebleu': "):
            with_archive(source, corpus.sides)
    elif getattr(source, "format", "") != EXTRA_REFERENCES:
        due.append(languages)
    for name, value in (
        ("urls", source.urls),
        ("files", source.files),
        ("members", source.members),
    ):
        if value and set(value) not in due:
            expected = " or ".join(map(_listed, due))
            yield f"'{key}': key '{name}': found {', '.join(value)}, expected files for {expected}"
    if source.archive is not None and not source.members:
        yield f"'{key}': missing key 'members', the files of its 'archive'"
    of_files = source.sha256 if isinstance(source.sha256, dict) else {}
    if source.urls and of_files.keys() != source.urls.keys():
        yield f"'{key}': key 'sha256': expected one checksum for each of the 'urls'"
    sums = source.model_fields_set & {"sha256", "md5"}
    if source.archive is not None and (of_files or len(sums) != 1):
        yield f"'{key}': expected either 'sha256' or 'md5' of the archive (null: unpublished)"


def _listed(labels: set[str]) -> str:
    return " and ".join(sorted(labels))


def notes(configuration: Configuration, trained: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for each thing that is noteworthy; the run trains these systems on corpora."""
    used = {configuration.on(corpus).system(name).recipe.like for corpus, name in trained}
    overridden = configuration.overridden.get("recipes", {})
    changed = {*configuration.files["scales"][configuration.scale]["recipes"], *overridden}
    long = [name for name in sorted(used) if replacements(configuration, name)[-1] not in changed]
    if long and configuration.scale != PAPER_SCALE:
        yield (
            f"{file_of('scales', configuration.scale)}: these recipes train as long as in the "
            f"papers, since the key 'recipes' does not change them: {', '.join(long)}"
        )
    effective = {each for name in used for each in replacements(configuration, name)}
    ends = tuple(end for point in configuration.choice.points for end in point.ends)
    for recipe in (name for name in overridden.keys() - effective if not name.endswith(ends)):
        yield f"override: no system that reports show uses the recipe '{recipe}'"
