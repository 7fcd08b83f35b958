"""The `text` folder of a corpus: one raw file per split and language, all counts checked.

A corpus comes from downloads, local files or test sets of sacreBLEU (`splits`), from a generator,
or from one side of another corpus (`derived`). The text is not changed, except for line separators
within a line and, if the corpus says so, Romanian diacritics, which belong to the text that
translations are compared with.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from nat.checksums import sha256_of
from nat.data.bpe import CODES, DICTIONARY, PIECES, joined
from nat.data.corpus import Corpus, Generator, Source, Split
from nat.data.diacritics import line_change
from nat.data.expected import check_expected
from nat.data.invented.text import write_corpus
from nat.data.lines import read_lines, unpacked, write_lines, writing_pairs
from nat.data.sources import FetchedSource, Place, fetch, parts_by_key, parts_of
from nat.data.splits import (
    CORPORA,
    TRAIN,
    VALID,
    folder_of,
    is_cut_out,
    is_segmented,
    sides,
    split_names,
)
from nat.data.tokenise import usefulness
from nat.errors import UserError
from nat.files import atomic_directory, write_json

GIVEN = "given"
"""Folder in the text of a corpus with what it has from elsewhere besides text: subwords, and
`{teacher}.{target}`, a published translation of the training text."""

SUBWORDS = {"codes": CODES, "pieces": PIECES, "vocabulary": DICTIONARY}
"""Files of subwords by their label in a corpus file."""


def make_text(
    name: str,
    corpus: Corpus,
    output: Path,
    *,
    root: Path,
    mirror: Path | None,
    downloads: Path,
    corpora: Path = CORPORA,
) -> None:
    """Write `{split}.{lang}` and `text.json` to the folder `output`.

    A generated corpus also gets its references, in the folder `references` beside `output`.

    Args:
        name: name of the corpus, for messages and `text.json`.
        corpus: the corpus, or a part of it
            (`nat.data.splits.text_part`).
        output: folder to make; it appears whole or not at all.
        root: repository root, to which local files are relative.
        mirror: folder MIRROR/HOST/PATH that is asked before the network.
        downloads: folder of downloads, also of incomplete ones to be resumed.
        corpora: folder of all corpora; a derived one reads the text of another, and a test set
            that is cut out of the training text is found there.

    Raises:
        UserError: if a file cannot be obtained, is not UTF-8, or the counts do not agree.
    """
    derived = corpus.derived
    if corpus.generator is not None:
        _generate(name, corpus, corpus.generator, output)
    elif derived is not None:
        # the source is changed later, in its subwords, by `preprocessing.corruption`
        files = {
            split: [folder_of(derived.source, split, corpora) / "text" / f"{split}.{derived.side}"]
            * 2
            for split in split_names(corpus)
        }
        _copy(name, corpus, files, f"{derived.side} of {derived.source}", output)
    elif all(is_cut_out(corpus, split) for split in split_names(corpus)):
        text = corpora / name / "text"
        files = {
            split: [text / f"{split}.{side}" for side in sides(corpus)]
            for split in split_names(corpus)
        }
        _copy(name, corpus, files, "cut out of the training text", output)
    else:
        _collect(corpus, output, Place(name, root, mirror, downloads))


def _generate(name: str, corpus: Corpus, generator: Generator, output: Path) -> None:
    with (
        atomic_directory(output) as folder,
        atomic_directory(output.parent / "references") as references,
    ):
        facts = write_corpus(generator, *sides(corpus), folder, references)
        write_json(folder / "text.json", {"corpus": name, **facts})


def _copy(
    name: str, corpus: Corpus, files: Mapping[str, Sequence[Path]], origin: str, output: Path
) -> None:
    """Write splits whose two sides are in files of other folders."""
    with atomic_directory(output) as folder:
        pairs = {}
        for split, paths in files.items():
            for side, path in zip(sides(corpus), paths, strict=True):
                pairs[split] = write_lines(folder / f"{split}.{side}", read_lines(path))
        check_expected(corpus, "text", pairs, output)
        write_json(folder / "text.json", {"corpus": name, "origin": origin, "pairs": pairs})


def _collect(corpus: Corpus, output: Path, place: Place) -> None:
    """Read all splits from their parts."""
    languages = sides(corpus)
    parts: dict[str, list[FetchedSource]] = {}
    # All files are fetched before any is read, so that a missing file is reported early.
    file = f"config/corpora/{place.name}.yaml"
    for split in split_names(corpus):
        parts[split] = [
            fetch(part, *languages, f"{file}, {key}", place)
            for key, part in parts_by_key(split, corpus.splits[split]).items()
        ]
    cut = [split for split in parts if not parts[split]]
    with atomic_directory(output) as folder:
        pairs: dict[str, int] = {}
        of_parts: dict[str, list[int]] = {}
        for split in parts:
            if split not in cut:
                together = [split, *cut] if split == TRAIN else [split]
                written, of_parts[split] = _write(corpus, together, parts[split], folder)
                pairs |= written
        pairs = {split: pairs[split] for split in parts}
        for split in parts:
            key = f"{file}, splits.{split}"
            _check_pairs(corpus.splits[split], pairs[split], key, parts[split], languages[0])
        check_expected(corpus, "text", pairs, output)
        given = _fetch_given(corpus, folder / GIVEN, place)
        files = {f"{split}.{side}": (split, side) for split in parts for side in languages}
        facts = {
            "corpus": place.name,
            "origin": _origin(corpus),
            "source": languages[0],
            "target": languages[1],
            "pairs": pairs,
            "pairs_of_parts": of_parts,
            "sha256": {name: sha256_of(folder / name) for name in files},
            "read_from": {
                name: [file for part in parts[split] for file in part.read_from(side)]
                for name, (split, side) in files.items()
            },
            "downloads": {
                url: sha256_of(path)
                for its_parts in parts.values()
                for part in its_parts
                for url, path in part.downloaded.items()
            },
        }
        write_json(folder / "text.json", facts | ({"given": given} if given else {}))


def _fetch_given(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Write subwords that were learned elsewhere, and published translations.

    Returns:
        For each file what it was read from, and its checksum.
    """
    wanted: list[tuple[str, Source, dict[str, str]]] = [
        (f"distilled.{teacher}", text, {corpus.target: f"{teacher}.{corpus.target}"})
        for teacher, text in corpus.distilled.items()
    ]
    if corpus.subwords is not None:
        wanted.append(("subwords", corpus.subwords, SUBWORDS))
    found: dict[str, Any] = {}
    for key, source, names in wanted:
        folder.mkdir(exist_ok=True)
        part = fetch(source, *sides(corpus), f"config/corpora/{place.name}.yaml, {key}", place)
        with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
            for label, paths in part.paths(Path(members)).items():
                output = folder / names[label]
                if source is corpus.subwords:
                    with unpacked(paths[0]) as file:
                        content = file.read()
                    output.write_bytes(content)
                else:
                    write_lines(output, chain.from_iterable(map(read_lines, paths)))
                read_from = part.read_from(label)
                found[output.name] = {"read_from": read_from, "sha256": sha256_of(output)}
    return found


def _write(
    corpus: Corpus, splits: Sequence[str], parts: Sequence[FetchedSource], folder: Path
) -> tuple[dict[str, int], list[int]]:
    """Write a split and what is cut out of it.

    Returns:
        The pairs of each split, and those of each part.
    """
    languages = sides(corpus)
    changes = [line_change(corpus, language) for language in languages]
    join = partial(joined, in_pieces=corpus.in_pieces) if is_segmented(corpus, splits[0]) else str
    split_of = _cutter(corpus, splits)
    pairs = dict.fromkeys(splits, 0)
    of_parts = []
    with ExitStack() as stack:
        write = {
            split: stack.enter_context(writing_pairs(folder, split, languages)) for split in splits
        }
        for part in parts:
            before = sum(pairs.values())
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                # cleaning drops an empty pair of the training text only
                all_columns = splits[0] != TRAIN
                for pair in part.pairs(*languages, Path(members), all_columns):
                    source, target = (
                        change(join(line)) for change, line in zip(changes, pair, strict=True)
                    )
                    split = split_of(source, target)
                    pairs[split] += 1
                    write[split](source, target)
            of_parts.append(sum(pairs.values()) - before)
    return pairs, of_parts


def _cutter(corpus: Corpus, splits: Sequence[str]) -> Callable[[str, str], str]:
    """A function that returns the split of `splits` that each successive pair belongs to.

    All but the first get every nth of the pairs that cleaning will keep, as in the usual recipes,
    but in raw form like all other text here. Of several, `valid` chooses first and the test sets
    follow by name, whatever their order in the file, each from the pairs that are left.
    """
    rest, *cut = splits
    if not cut:
        return lambda source, target: rest
    useful = usefulness(corpus)
    in_order = sorted(cut, key=lambda split: (split != VALID, split))
    nth = {split: every for split in in_order if (every := corpus.splits[split].every)}
    seen = dict.fromkeys(nth, 0)

    def split_of(source: str, target: str) -> str:
        if useful(source, target):
            for split, every in nth.items():
                seen[split] += 1
                if seen[split] % every == 0:
                    return split
        return rest

    return split_of


def _origin(corpus: Corpus) -> str:
    parts = [part for split in corpus.splits.values() for part in parts_of(split)]
    kinds = ("urls", "archive", "sacrebleu", "files")
    return " and ".join(kind for kind in kinds if any(kind in part.origins for part in parts))


def _check_pairs(
    description: Split, found: int, key: str, parts: Sequence[FetchedSource], language: str
) -> None:
    files = [file for part in parts for file in part.read_from(language)]
    name = files[0] if len(files) == 1 else "the split"
    expected = description.pairs
    if expected not in (None, found):
        raise UserError(
            f"{key}.pairs is {expected}, but {name} has {found} lines; correct the key or the file"
        )
    if found == 0:
        every = description.every
        cut_out = f": too few pairs of train are kept by cleaning for {key}.every {every}"
        raise UserError(f"{key}: {name} holds no line" + (cut_out if every else ""))
