"""Checks of corpus files beyond their schema, and corpora that are like another one."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from nat.errors import UserError
from nat.spelling import hint

_KINDS = ("splits", "generator", "derived")
_NEEDED = ("lowercase", "normalise_punctuation", "tokeniser", "max_tokens", "max_ratio")
_ORIGINS = ("urls", "files", "archive", "sacrebleu", "every", "parts")
_MERGED = ("splits", "preprocessing", "expected")
_PAIRS = "pairs"
_TOGETHER = ("tsv", "tmx")


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
    if other not in corpora or other == name:
        names = [known for known in corpora if known != name]
        raise UserError(f"{where}: unknown corpus '{other}'; {hint(other, names)}")
    if "like" in corpora[other]:
        raise UserError(
            f"{where}: '{other}' is itself like '{corpora[other]['like']}'; name that one"
        )
    merged = {key: copy.deepcopy(value) for key, value in corpora[other].items()}
    for key, value in corpus.items():
        if key in _MERGED:
            merged[key] = merged.get(key, {}) | copy.deepcopy(value)
        elif key != "like":
            merged[key] = copy.deepcopy(value)
    return merged


def check_corpus(name: str, corpus: Mapping[str, Any]) -> None:
    """Check one corpus.

    Raises:
        UserError: for the first problem; names file and key.
    """
    file = f"config/corpora/{name}.yaml"
    for key in ("source", "target"):
        if key not in corpus:
            raise UserError(f"{file}: missing key '{key}'")
    languages = {corpus["source"], corpus["target"]}
    if len(languages) == 1:
        raise UserError(f"{file}: 'source' and 'target' are both '{corpus['source']}'")
    if sum(kind in corpus for kind in _KINDS) != 1:
        raise UserError(f"{file}: give either 'splits' or 'generator'")
    _check_preprocessing(file, corpus, languages)
    if "generator" in corpus:
        from nat.data.synthetic import read_options  # imports numpy, which is slow

        try:
            read_options(corpus["generator"])
        except UserError as error:
            raise UserError(f"{file}: {error}") from error
    for split, description in corpus.get("splits", {}).items():
        where = f"{file}: 'splits.{split}'"
        for part, place in _parts(split, description, where):
            _check_part(part, place, corpus)
        for number, part in enumerate(description.get("references", [])):
            _check_references(part, f"{where[:-1]}.references[{number}]'", languages)
    for step, sizes in corpus.get("expected", {}).items():
        known = ["size"] if step == "vocabulary" else list(_splits(corpus))
        for split in sizes:
            if split not in known:
                raise UserError(
                    f"{file}: unknown key '{split}' at 'expected.{step}'; {hint(split, known)}"
                )


def _splits(corpus: Mapping[str, Any]) -> list[str]:
    if "generator" in corpus:
        return list(corpus["generator"].get("pairs", {}))
    return list(corpus["derived"]["splits"] if "derived" in corpus else corpus.get("splits", {}))


def _check_preprocessing(file: str, corpus: Mapping[str, Any], languages: set[str]) -> None:
    if "preprocessing" not in corpus:
        raise UserError(f"{file}: missing key 'preprocessing'")
    options = corpus["preprocessing"]
    for key in _NEEDED:
        if key not in options:
            raise UserError(f"{file}: missing key '{key}' at 'preprocessing'")
    if ("bpe_merges" in options) == ("sentencepiece" in options):
        raise UserError(f"{file}: 'preprocessing': give either 'bpe_merges' or 'sentencepiece'")
    for key, value in (
        ("preprocessing.tokeniser", options["tokeniser"]),
        ("diacritics", corpus.get("diacritics")),
    ):
        if isinstance(value, Mapping):
            unknown = set(value) - languages
            missing = languages - set(value) if key != "diacritics" else set()
            if unknown or missing:
                raise UserError(
                    f"{file}: key '{key}': found {', '.join(sorted(value))}, expected the "
                    f"languages {corpus['source']} and {corpus['target']}"
                )


def _parts(
    split: str, description: Mapping[str, Any], where: str
) -> Iterator[tuple[Mapping[str, Any], str]]:
    if sum(key in description for key in _ORIGINS) != 1:
        given = [key for key in _ORIGINS if key in description]
        found = f"found {' and '.join(given)}" if given else "found none"
        raise UserError(
            f"{where}: give either 'urls' or 'files', or one of 'archive', 'sacrebleu', 'every' "
            f"and 'parts' ({found})"
        )
    if "every" in description:
        if split == "train":
            raise UserError(f"{where}: the training text cannot be cut out of itself; drop 'every'")
        return
    for number, part in enumerate(description.get("parts", [description])):
        place = f"{where[:-1]}.parts[{number}]'" if "parts" in description else where
        if "parts" in description and sum(key in part for key in _ORIGINS) != 1:
            raise UserError(
                f"{place}: give one of 'urls', 'files', 'archive' and 'sacrebleu' as its origin"
            )
        yield part, place


def _check_references(part: Mapping[str, Any], where: str, languages: set[str]) -> None:
    origins = [key for key in ("urls", "files", "archive") if key in part]
    if len(origins) != 1:
        found = " and ".join(origins) or "none"
        raise UserError(f"{where}: give one of 'urls', 'files' and 'archive' (found {found})")
    if ("archive" in part) != ("members" in part):
        raise UserError(f"{where}: 'archive' and 'members', its files, belong together")
    _check_checksums(part, where)
    labelled = part.get("members", part.get("urls", part.get("files", {})))
    for label in labelled:
        if label not in languages:
            raise UserError(f"{where}: unknown language '{label}'; {hint(label, languages)}")
    if "urls" in part and (
        not isinstance(part["sha256"], Mapping) or set(part["sha256"]) != set(labelled)
    ):
        raise UserError(f"{where}: key 'sha256': give one checksum for each file to download")
    if part.get("format") == "extra_refs" and len(labelled) != 1:
        raise UserError(
            f"{where}: the format extra_refs is one file, under the language of the references"
        )


def _check_checksums(part: Mapping[str, Any], where: str) -> None:
    if "urls" in part and "sha256" not in part:
        raise UserError(f"{where}: missing key 'sha256', the checksums of its 'urls'")
    if "archive" in part and ("sha256" in part) == ("md5" in part):
        raise UserError(
            f"{where}: give either 'sha256' or 'md5' of the archive; use 'sha256: null' "
            "if none is published"
        )


def _check_part(part: Mapping[str, Any], where: str, corpus: Mapping[str, Any]) -> None:
    languages = {corpus["source"], corpus["target"]}
    format = part.get("format", "lines")
    if "archive" in part and "members" not in part:
        raise UserError(f"{where}: missing key 'members', the files of its 'archive'")
    _check_checksums(part, where)
    due = {_PAIRS} if format in _TOGETHER else languages
    meant = (
        f"'{_PAIRS}'"
        if format in _TOGETHER
        else "the languages " + " and ".join((corpus["source"], corpus["target"]))
    )
    for key in ("urls", "files", "members", "sha256"):
        value = part.get(key)
        if isinstance(value, Mapping) and set(value) != due:
            raise UserError(f"{where}: key '{key}': found {', '.join(value)}, expected {meant}")
        if key == "sha256" and key in part and isinstance(value, Mapping) != ("urls" in part):
            raise UserError(f"{where}: key 'sha256': give one checksum for each file to download")
    if (format == "tsv") != ("columns" in part):
        raise UserError(f"{where}: the key 'columns' belongs to the format tsv, and to no other")
    if format == "tsv" and set(part["columns"]) != languages:
        raise UserError(
            f"{where}: key 'columns': found {', '.join(part['columns'])}, expected the languages "
            f"{corpus['source']} and {corpus['target']}"
        )
