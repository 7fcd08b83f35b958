"""Checks of corpus files beyond their schema, and corpora that are like another one."""

import copy
from collections.abc import Mapping
from typing import Any

from nat.data.corpus import STEPS, Corpus, Part, Source, Split
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.invented.parameters import Parameters, read_parameters
from nat.data.sources import parts_of, test_set
from nat.data.splits import TRAIN, VALID, is_cut_out, split_names
from nat.data.vocabulary import SIDES
from nat.errors import UserError, told_of
from nat.spelling import hint

_KINDS = {"splits", "generator", "derived"}
_MERGED = ("splits", "preprocessing", "expected")
_LEARNED = ("bpe_merges", "sentencepiece")
_OF_TSV = ("columns", "minimum", "undecodable")
_OF_FILES = ("format", *_OF_TSV)
_OF_ORIGINS: Mapping[str, tuple[str, ...]] = {
    "files": ("segmented", *_OF_FILES),
    "urls": ("segmented", "sha256", *_OF_FILES),
    "archive": ("segmented", "sha256", "md5", "members", *_OF_FILES),
    "sacrebleu": ("segmented",),
    "parts": ("segmented",),
    "every": (),
}
"""Keys that say more about text from an origin."""


def resolved(corpora: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Corpora with the keys that they inherit from others.

    A corpus with `like` inherits all keys that it does not give, and single entries of `splits`,
    `preprocessing` and `expected`. A derived corpus has the splits of the corpus that it is
    derived from.

    Raises:
        UserError: if there is no such corpus, or one that is itself like another.
    """
    found = {}
    for name, corpus in corpora.items():
        if "like" in corpus:
            found[name] = _like(name, corpus, corpora)
        else:
            found[name] = copy.deepcopy(corpus)
    for name, corpus in found.items():
        if "derived" in corpus:
            if "from" not in corpus["derived"]:
                raise UserError(f"config/corpora/{name}.yaml: missing key 'from' at 'derived'")
            parent = corpus["derived"]["from"]
            where = f"config/corpora/{name}.yaml: key 'derived.from'"
            if parent not in found:
                raise UserError(f"{where}: unknown corpus '{parent}'; {hint(parent, found)}")
            if "derived" in found[parent] or not _splits(found[parent]):
                raise UserError(f"{where}: '{parent}' has no 'splits'; name another corpus")
            corpus["derived"]["splits"] = list(_splits(found[parent]))
    return found


def _like(
    name: str, corpus: Mapping[str, Any], corpora: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    other = corpus["like"]
    where = f"config/corpora/{name}.yaml: key 'like'"
    if other not in corpora:
        names = [known for known in corpora if known != name]
        raise UserError(f"{where}: unknown corpus '{other}'; {hint(other, names)}")
    if "like" in corpora[other]:
        raise UserError(
            f"{where}: '{other}' is itself like '{corpora[other]['like']}'; name that one"
        )
    merged = {key: copy.deepcopy(value) for key, value in corpora[other].items()}
    learns = any(key in corpus.get("preprocessing", {}) for key in _LEARNED)
    if learns or "subwords" in corpus:  # instead of those of the other one
        for key in _LEARNED:
            merged.get("preprocessing", {}).pop(key, None)
        merged.pop("subwords", None)
    for key, value in corpus.items():
        if key in _MERGED:
            merged[key] = merged.get(key, {}) | copy.deepcopy(value)
        elif key != "like":
            merged[key] = copy.deepcopy(value)
    return merged


def check_corpus(name: str, corpus: Corpus) -> None:
    """Check what the keys of a corpus say together.

    Raises:
        UserError: for the first problem; names file and key.
    """
    file = f"config/corpora/{name}.yaml"
    languages = {corpus.source, corpus.target}
    if len(languages) == 1:
        raise UserError(f"{file}: 'source' and 'target' are both '{corpus.source}'")
    if len(corpus.model_fields_set & _KINDS) != 1:
        raise UserError(f"{file}: give either 'splits' or 'generator'")
    _check_trained_on(file, corpus)
    _check_preprocessing(file, corpus, languages)
    if corpus.generator is not None:
        with told_of(f"{file}: "):
            read_parameters(corpus.generator, Parameters)
    for split, description in corpus.splits.items():
        _check_split(split, description, file, corpus)
    _check_given(corpus, file)
    for step in STEPS:
        of_vocabulary = SIDES if corpus.has_separate_vocabularies else ("size",)
        known = of_vocabulary if step == "vocabulary" else split_names(corpus)
        for split in corpus.expected.after(step):
            if split not in known:
                raise UserError(
                    f"{file}: unknown key '{split}' at 'expected.{step}'; {hint(split, known)}"
                )


def _check_trained_on(file: str, corpus: Corpus) -> None:
    """Check that a corpus has the splits that trainings read."""
    if corpus.derived is not None:
        return  # it has those of its parent, which is checked as well
    key = "splits" if corpus.generator is None else "generator.pairs"
    for split in (TRAIN, VALID):
        if split not in split_names(corpus):
            raise UserError(
                f"{file}: missing key '{key}.{split}', which trainings read ('splits.valid' can be "
                "cut out of 'train' with 'every')"
            )


def _check_given(corpus: Corpus, file: str) -> None:
    """Check what a corpus has from elsewhere besides text."""
    given: dict[str, Source] = {
        f"distilled.{key}": corpus.distilled[key] for key in corpus.distilled
    }
    if corpus.subwords is not None:
        given["subwords"] = corpus.subwords
    for key, source in given.items():
        where = f"{file}: '{key}'"
        if not corpus.splits:
            raise UserError(f"{where}: only a corpus with 'splits' has the key; remove it")
        if key == "subwords":
            _check_origin(source, where, {"codes", "vocabulary"}, {"pieces", "vocabulary"})
            continue
        _check_origin(source, where, {corpus.target})
        cut = [split for split in corpus.splits if is_cut_out(corpus, split)]
        if cut:
            raise UserError(
                f"{where}: the translations belong to the training text line by line, but the key "
                f"'splits.{cut[0]}.every' takes lines out of it; give '{cut[0]}' text of its own"
            )


def _splits(corpus: Mapping[str, Any]) -> list[str]:
    if "generator" in corpus:
        return list(corpus["generator"].get("pairs", {}))
    return list(corpus["derived"]["splits"] if "derived" in corpus else corpus.get("splits", {}))


def _check_preprocessing(file: str, corpus: Corpus, languages: set[str]) -> None:
    options = corpus.preprocessing
    learned = [key for key in _LEARNED if getattr(options, key) is not None]
    if len(learned) + (corpus.subwords is not None) != 1:
        raise UserError(
            f"{file}: 'preprocessing': give either 'bpe_merges' or 'sentencepiece', or subwords "
            "that were learned elsewhere under the key 'subwords'"
        )
    for key, value in (
        ("preprocessing.tokeniser", options.tokeniser),
        ("preprocessing.bpe_merges", options.bpe_merges),
        ("diacritics", corpus.diacritics),
    ):
        if isinstance(value, Mapping):
            unknown = set(value) - languages
            missing = languages - set(value) if key != "diacritics" else set()
            if unknown or missing:
                raise UserError(
                    f"{file}: key '{key}': found {', '.join(sorted(value))}, expected the "
                    f"languages {corpus.source} and {corpus.target}"
                )
    if corpus.has_separate_vocabularies and options.corruption is not None:
        raise UserError(
            f"{file}: key 'preprocessing.bpe_merges': the source is made of subwords of the "
            "target ('preprocessing.corruption'), so both share one vocabulary; give one number"
        )


def _check_split(split: str, description: Split, file: str, corpus: Corpus) -> None:
    where = f"{file}: 'splits.{split}'"
    languages = {corpus.source, corpus.target}
    if description.parts or description.every is not None:
        _check_origin(description, where)
    if description.every is not None and split == TRAIN:
        raise UserError(f"{where}: the training text cannot be cut out of itself; drop 'every'")
    for number, part in enumerate(parts_of(description) if description.every is None else ()):
        place = f"{where[:-1]}.parts[{number}]'" if description.parts else where
        _check_origin(part, place, {PAIRS} if part.format in TOGETHER else languages)
        if part.sacrebleu is not None:
            with told_of(f"{place}: key 'sacrebleu': "):
                test_set(part.sacrebleu, corpus.source, corpus.target)
        columns = part.columns
        if part.format == "tsv" and (set(columns) != languages or len({*columns.values()}) == 1):
            found = ", ".join(f"{language}: {column}" for language, column in columns.items())
            raise UserError(
                f"{place}: key 'columns': found {found or 'none'}, expected columns of the tsv, "
                f"counted from 0: one for {corpus.source} and another for {corpus.target}"
            )
    for number, further in enumerate(description.references):
        alone = [{language} for language in languages]
        due = alone if further.format == EXTRA_REFERENCES else [*alone, languages]
        _check_origin(further, f"{where[:-1]}.references[{number}]'", *due)


def _check_origin(text: Source, where: str, *due: set[str]) -> None:
    """Check where text comes from; `due`: the labels that its files may have."""
    if len(text.origins) != 1:
        known = ", ".join(f"'{key}'" for key in _OF_ORIGINS if key in type(text).model_fields)
        found = " and ".join(text.origins) or "none"
        raise UserError(f"{where}: give one of the keys {known} (found {found})")
    (origin,) = text.origins
    for key in type(text).model_fields:
        if key not in text.model_fields_set or key in (origin, "pairs", "references"):
            continue
        if key not in _OF_ORIGINS[origin]:
            remedy = "give it in the parts that it belongs to" if origin == "parts" else "remove it"
            raise UserError(f"{where}: key '{key}' has no effect beside '{origin}'; {remedy}")
        if key in _OF_TSV and isinstance(text, Part) and text.format != "tsv":
            raise UserError(f"{where}: the key '{key}' belongs to the format tsv, and to no other")
    if origin == "archive" and not text.members:
        raise UserError(f"{where}: missing key 'members', the files of its 'archive'")
    for key, value in (("urls", text.urls), ("files", text.files), ("members", text.members)):
        if value and set(value) not in due:
            expected = " or ".join(" and ".join(sorted(each)) for each in due)
            raise UserError(
                f"{where}: key '{key}': found {', '.join(value)}, expected files for {expected}"
            )
    sums = set(text.sha256) if isinstance(text.sha256, dict) else None
    if origin == "urls" and sums != set(text.urls):
        raise UserError(f"{where}: key 'sha256': give one checksum for each of the 'urls'")
    if origin == "archive" and (
        sums is not None or ("sha256" in text.model_fields_set) == (text.md5 is not None)
    ):
        raise UserError(
            f"{where}: give either 'sha256' or 'md5' of the archive; use 'sha256: null' "
            "if none is published"
        )
