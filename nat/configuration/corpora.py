"""Checks of what the keys of a corpus must agree on, beyond their schema."""

from collections.abc import Iterator, Mapping

from nat.configuration.files import file_of
from nat.data.corpus import Corpus, Source, Split
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.invented.language import language_of
from nat.data.sources import test_set
from nat.data.splits import TRAIN, VALID, parts_by_key, split_names
from nat.data.vocabulary import SIDES
from nat.errors import UserError, told_of
from nat.options import hint


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
        for place, part in parts_by_key(name, text).items():
            if part.sacrebleu is not None:
                with told_of(f"'{place}': key 'sacrebleu': "):
                    test_set(part.sacrebleu, corpus.source, corpus.target)
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
    for place, part in parts_by_key(name, split).items():
        labels = {PAIRS} if part.format in TOGETHER else languages
        yield from _problems_of_origin(part, place, labels)
        columns = part.columns
        if part.format == "tsv" and (columns.keys() != languages or len({*columns.values()}) == 1):
            yield f"'{place}': key 'columns': expected columns for {_listed(languages)}, from 0"
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
