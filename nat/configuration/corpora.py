"""What the keys of a corpus must agree on, beyond their schema."""

from collections.abc import Iterator, Mapping

from nat.configuration.file_names import file_of
from nat.data.corpus import STEPS, Corpus, Part, Source, Split
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.invented.language import language_of
from nat.data.sources import test_set
from nat.data.splits import TRAIN, VALID, is_cut_out, parts_by_key, split_names
from nat.data.vocabulary import SIDES
from nat.errors import UserError, told_of
from nat.options import hint

_OF_TSV = ("columns", "minimum", "undecodable")
_OF_FILES = ("segmented", "format", *_OF_TSV)
_OF_ORIGINS: Mapping[str, tuple[str, ...]] = {
    "files": _OF_FILES,
    "urls": ("sha256", *_OF_FILES),
    "archive": ("sha256", "md5", "members", *_OF_FILES),
    "sacrebleu": ("segmented",),
    "parts": ("segmented",),
    "every": (),
}
"""Keys that say more about text from an origin."""


def check_corpus(name: str, corpus: Corpus) -> None:
    """Check what the keys of a corpus say together.

    Raises:
        UserError: for the first problem; names file and key.
    """
    with told_of(f"{file_of('corpora', name)}: "):
        for problem in _problems(corpus):
            raise UserError(problem)
        if corpus.generator is not None:
            language_of(corpus.generator)


def _problems(corpus: Corpus) -> Iterator[str]:
    """What is wrong with a corpus: the key, what was found, and what is expected."""
    options, languages = corpus.preprocessing, {corpus.source, corpus.target}
    if len(languages) == 1:
        yield f"'source' and 'target' are both '{corpus.source}'"
    if len(corpus.model_fields_set & {"splits", "generator", "derived"}) != 1:
        yield "expected either 'splits' or 'generator'"
    key = "splits" if corpus.generator is None else "generator.pairs"
    for split in (TRAIN, VALID) if corpus.derived is None else ():  # which has those of its parent
        if split not in split_names(corpus):
            yield (
                f"missing key '{key}.{split}', which trainings read ('splits.valid' can be cut out "
                "of 'train' with 'every')"
            )
    learned = (options.bpe_merges, options.sentencepiece, corpus.subwords)
    if learned.count(None) != len(learned) - 1:
        yield (
            "key 'preprocessing': expected either 'bpe_merges' or 'sentencepiece', or 'subwords' "
            "that were learned elsewhere"
        )
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
    if corpus.has_separate_vocabularies and options.corruption is not None:
        yield (
            "key 'preprocessing.bpe_merges': expected one number, since 'preprocessing.corruption' "
            "makes the source of subwords of the target"
        )
    for name, description in corpus.splits.items():
        yield from _problems_of_split(name, description, corpus)
    for teacher, text in corpus.distilled.items():
        yield from _problems_of_origin(text, f"distilled.{teacher}", {corpus.target})
        for cut in (split for split in corpus.splits if is_cut_out(corpus, split)):
            yield (
                f"'distilled.{teacher}': its lines are those of 'train', but 'splits.{cut}.every' "
                f"takes some of these away; give '{cut}' text of its own"
            )
    if corpus.subwords is not None:
        due = {"codes", "vocabulary"}, {"pieces", "vocabulary"}
        yield from _problems_of_origin(corpus.subwords, "subwords", *due)
    for step in STEPS:
        of_vocabulary = SIDES if corpus.has_separate_vocabularies else ("size",)
        known = of_vocabulary if step == "vocabulary" else split_names(corpus)
        for each in corpus.expected.after(step):
            if each not in known:
                yield f"unknown key '{each}' at 'expected.{step}'; {hint(each, known)}"


def _problems_of_split(name: str, split: Split, corpus: Corpus) -> Iterator[str]:
    key, languages = f"splits.{name}", {corpus.source, corpus.target}
    if split.parts or split.every is not None:
        yield from _problems_of_origin(split, key)
    if split.every is not None and name == TRAIN:
        yield f"'{key}': key 'every': the training text cannot be cut out of itself"
    for place, part in parts_by_key(name, split).items():
        yield from _problems_of_origin(
            part, place, {PAIRS} if part.format in TOGETHER else languages
        )
        if part.sacrebleu is not None:
            with told_of(f"'{place}': key 'sacrebleu': "):
                test_set(part.sacrebleu, corpus.source, corpus.target)
        columns = part.columns
        if part.format == "tsv" and (columns.keys() != languages or len({*columns.values()}) == 1):
            said = ", ".join(f"{language}: {column}" for language, column in columns.items())
            yield (
                f"'{place}': key 'columns': found {said or 'none'}, expected different columns of "
                f"the tsv for {_listed(languages)}, counted from 0"
            )
    for number, further in enumerate(split.references):
        alone = [{language} for language in languages]
        due = alone if further.format == EXTRA_REFERENCES else [*alone, languages]
        yield from _problems_of_origin(further, f"{key}.references[{number}]", *due)


def _problems_of_origin(text: Source, key: str, *due: set[str]) -> Iterator[str]:
    """Problems of where text comes from; `due`: the labels that its files may have."""
    if len(text.origins) != 1:
        known = [f"'{each}'" for each in _OF_ORIGINS if each in type(text).model_fields]
        found = " and ".join(text.origins) or "none"
        yield f"'{key}': found {found}, expected one of {', '.join(known)}"
    (origin,) = text.origins
    for each in text.model_fields_set - {origin, "pairs", "references"}:
        is_of_tsv = each in _OF_TSV and isinstance(text, Part) and text.format != "tsv"
        if each not in _OF_ORIGINS[origin] or is_of_tsv:
            beside = "a format other than tsv" if is_of_tsv else f"'{origin}'"
            yield f"'{key}': key '{each}' has no effect beside {beside}; remove it"
    if origin == "archive" and not text.members:
        yield f"'{key}': missing key 'members', the files of its 'archive'"
    for each, value in (("urls", text.urls), ("files", text.files), ("members", text.members)):
        if value and set(value) not in due:
            expected = " or ".join(map(_listed, due))
            yield f"'{key}': key '{each}': found {', '.join(value)}, expected files for {expected}"
    sums = text.sha256.keys() if isinstance(text.sha256, dict) else None
    if origin == "urls" and sums != text.urls.keys():
        yield f"'{key}': key 'sha256': expected one checksum for each of the 'urls'"
    is_given = "sha256" in text.model_fields_set
    if origin == "archive" and (sums is not None or is_given == (text.md5 is not None)):
        yield (
            f"'{key}': expected either 'sha256' or 'md5' of the archive; use 'sha256: null' if "
            "none is published"
        )


def _listed(labels: Mapping[str, object] | set[str]) -> str:
    return " and ".join(sorted(labels))
