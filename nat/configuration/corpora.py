"""Checks of corpus files beyond their schema, and corpora that are like another one."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from nat.data.corpus import STEPS, Corpus, FurtherReferences, Part, Source, Split
from nat.data.formats import EXTRA_REFERENCES, PAIRS, TOGETHER
from nat.data.sources import parts_of, test_set
from nat.data.splits import TRAIN, VALID, is_cut_out, split_names
from nat.data.vocabulary import SIDES
from nat.errors import UserError
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
    for name, corpus in corpora.items():
        _refuse_references_of_source(name, corpus, found[name].get("source"))
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


def _refuse_references_of_source(name: str, own: Mapping[str, Any], source: str | None) -> None:
    """Refuse references in the source language alone, which no measure reads.

    Only those that a file itself gives: a corpus may inherit them from one of the other direction.
    """
    for split, description in own.get("splits", {}).items():
        for number, part in enumerate(description.get("references", [])):
            for key in ("files", "urls", "members"):
                if list(part.get(key, {})) == [source]:
                    raise UserError(
                        f"config/corpora/{name}.yaml: 'splits.{split}.references[{number}]': key "
                        f"'{key}': found {source} alone, the source language; give the target, or "
                        "both languages"
                    )


def _like(
    name: str, corpus: Mapping[str, Any], corpora: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    other = corpus["like"]
    where = f"config/corpora/{name}.yaml: key 'like'"
    if other == name:
        raise UserError(f"{where}: '{name}' is like itself; name another corpus")
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
        from nat.data.synthetic import read_options  # imports numpy, which is slow

        try:
            read_options(corpus.generator)
        except UserError as error:
            raise UserError(f"{file}: {error}") from error
    for split, description in corpus.splits.items():
        where = f"{file}: 'splits.{split}'"
        for part, place in _parts(split, description, where):
            _check_part(part, place, corpus)
        for number, further in enumerate(description.references):
            _check_references(further, f"{where[:-1]}.references[{number}]'", languages)
    _check_given(corpus, file)
    for step in STEPS:
        of_vocabulary = SIDES if corpus.has_separate_vocabularies else ("size",)
        known = of_vocabulary if step == "vocabulary" else split_names(corpus)
        for split in corpus.expected.after(step):
            if split not in known:
                raise UserError(
                    f"{file}: unknown key '{split}' at 'expected.{step}'; {hint(split, known)}"
                )


def check_derived(name: str, side: str, parent: str, languages: tuple[str, str]) -> None:
    """Check that the side that a corpus takes from another one is a language of that one.

    Raises:
        UserError: names file and key, and the languages of the other corpus.
    """
    if side not in languages:
        raise UserError(
            f"config/corpora/{name}.yaml: key 'derived.side': found {side}, expected a language of "
            f"'{parent}', {' or '.join(languages)}"
        )


def _check_trained_on(file: str, corpus: Corpus) -> None:
    """Check that a corpus has the splits that trainings read."""
    if corpus.derived is not None:
        return  # it has those of its parent, which is checked as well
    key, remedy = "splits", "give its text; 'valid' can be cut out of 'train' with 'every'"
    if corpus.generator is not None:
        key, remedy = "generator.pairs", "say how many pairs it has"
    for split in (TRAIN, VALID):
        if split not in split_names(corpus):
            raise UserError(f"{file}: missing key '{key}.{split}', which trainings read; {remedy}")


def _check_given(corpus: Corpus, file: str) -> None:
    """Check what a corpus has from elsewhere besides text."""
    given: dict[str, tuple[Source, list[set[str]]]] = {
        f"distilled.{teacher}": (text, [{corpus.target}])
        for teacher, text in corpus.distilled.items()
    }
    if corpus.subwords is not None:
        due = [{"codes", "vocabulary"}, {"pieces", "vocabulary"}]
        given["subwords"] = (corpus.subwords, due)
    for key, (source, wanted) in given.items():
        where = f"{file}: '{key}'"
        if not corpus.splits:
            raise UserError(f"{where}: only a corpus with 'splits' has the key; remove it")
        cut = [split for split in corpus.splits if is_cut_out(corpus, split)]
        if cut and key != "subwords":
            raise UserError(
                f"{where}: the translations belong to the training text line by line, but the key "
                f"'splits.{cut[0]}.every' takes lines out of it; give '{cut[0]}' text of its own"
            )
        _check_source(source, where)
        if set(source.labelled) not in wanted:
            expected = " or ".join(" and ".join(sorted(each)) for each in wanted)
            found = ", ".join(source.labelled)
            raise UserError(f"{where}: found files for {found}, expected {expected}")
        if key == "subwords" and any(isinstance(each, list) for each in source.labelled.values()):
            raise UserError(f"{where}: give one file each, no lists")


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


def _parts(split: str, description: Split, where: str) -> Iterator[tuple[Part, str]]:
    given = description.origins
    if len(given) != 1:
        found = f"found {' and '.join(given)}" if given else "found none"
        raise UserError(
            f"{where}: give either 'urls' or 'files', or one of 'archive', 'sacrebleu', 'every' "
            f"and 'parts' ({found})"
        )
    _check_keys(description, where)
    if description.every is not None:
        if split == TRAIN:
            raise UserError(f"{where}: the training text cannot be cut out of itself; drop 'every'")
        return
    for number, part in enumerate(parts_of(description)):
        place = where
        if description.parts:
            place = f"{where[:-1]}.parts[{number}]'"
            if len(part.origins) != 1:
                raise UserError(
                    f"{place}: give one of 'urls', 'files', 'archive' and 'sacrebleu' as its origin"
                )
            _check_keys(part, place)
        yield part, place


def _check_keys(part: Source, where: str) -> None:
    """Refuse a key that nothing looks at where text comes from this origin."""
    (origin,) = part.origins
    for key in type(part).model_fields:
        if key not in part.model_fields_set or key in (origin, "pairs", "references"):
            continue
        if key not in _OF_ORIGINS[origin]:
            remedy = "give it in the parts that it belongs to" if origin == "parts" else "remove it"
            raise UserError(f"{where}: key '{key}' has no effect beside '{origin}'; {remedy}")
        if key in _OF_TSV and isinstance(part, Part) and part.format != "tsv":
            raise UserError(f"{where}: the key '{key}' belongs to the format tsv, and to no other")


def _check_source(part: Source, where: str) -> None:
    if len(part.origins) != 1:
        found = " and ".join(part.origins) or "none"
        raise UserError(f"{where}: give one of 'urls', 'files' and 'archive' (found {found})")
    _check_keys(part, where)
    _check_members(part, where)
    _check_checksums(part, where)
    if part.urls and (not isinstance(part.sha256, dict) or set(part.sha256) != set(part.urls)):
        raise UserError(f"{where}: key 'sha256': give one checksum for each file to download")


def _check_references(part: FurtherReferences, where: str, languages: set[str]) -> None:
    _check_source(part, where)
    for label in part.labelled:
        if label not in languages:
            raise UserError(f"{where}: unknown language '{label}'; {hint(label, languages)}")
    if part.format == EXTRA_REFERENCES and len(part.labelled) != 1:
        raise UserError(
            f"{where}: the format extra_refs is one file, under the language of the references"
        )


def _check_members(part: Source, where: str) -> None:
    if part.archive is not None and not part.members:
        raise UserError(f"{where}: missing key 'members', the files of its 'archive'")


def _check_checksums(part: Source, where: str) -> None:
    if part.urls and "sha256" not in part.model_fields_set:
        raise UserError(f"{where}: missing key 'sha256', the checksums of its 'urls'")
    if part.archive is not None and ("sha256" in part.model_fields_set) == (part.md5 is not None):
        raise UserError(
            f"{where}: give either 'sha256' or 'md5' of the archive; use 'sha256: null' "
            "if none is published"
        )


def _check_part(part: Part, where: str, corpus: Corpus) -> None:
    languages = {corpus.source, corpus.target}
    if part.sacrebleu is not None:
        try:
            test_set(part.sacrebleu, corpus.source, corpus.target)
        except UserError as error:
            raise UserError(f"{where}: key 'sacrebleu': {error}") from error
    _check_members(part, where)
    _check_checksums(part, where)
    due = {PAIRS} if part.format in TOGETHER else languages
    meant = (
        f"'{PAIRS}'"
        if part.format in TOGETHER
        else f"the languages {corpus.source} and {corpus.target}"
    )
    for key, value in (
        ("urls", part.urls),
        ("files", part.files),
        ("members", part.members),
        ("sha256", part.sha256),
    ):
        if isinstance(value, dict) and value and set(value) != due:
            raise UserError(f"{where}: key '{key}': found {', '.join(value)}, expected {meant}")
    if "sha256" in part.model_fields_set and isinstance(part.sha256, dict) != bool(part.urls):
        raise UserError(f"{where}: key 'sha256': give one checksum for each file to download")
    if part.format == "tsv" and not part.columns:
        raise UserError(f"{where}: missing key 'columns', the columns of the tsv by language")
    if part.format == "tsv" and set(part.columns) != languages:
        raise UserError(
            f"{where}: key 'columns': found {', '.join(part.columns)}, expected the languages "
            f"{corpus.source} and {corpus.target}"
        )
    if part.format == "tsv" and len(set(part.columns.values())) == 1:
        raise UserError(
            f"{where}: key 'columns': both languages are column {part.columns[corpus.source]}, "
            "expected two columns, counted from 0"
        )
