"""The `text` folder of a corpus: one raw file per split and language, all counts checked.

A corpus comes from downloads, local files or test sets of sacreBLEU (`splits`), from a generator,
or from one side of another corpus (`derived`). The text is not changed, except for line separators
within a line and, if the corpus says so, Romanian diacritics, which belong to the text that
translations are compared with.
"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from nat.checksums import sha256_of
from nat.data.bpe import CODES, DICTIONARY, PIECES, joined
from nat.data.corpus import Corpus, Derived, Generator, Source, Split
from nat.data.diacritics import line_change
from nat.data.expected import check_expected
from nat.data.lines import check_count, count_lines, read_lines, unpacked, write_lines
from nat.data.sources import FetchedSource, Place, fetch, parts_of
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
from nat.data.synthetic import write_corpus
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
    if corpus.generator is not None:
        _generate(name, corpus, corpus.generator, output)
    elif corpus.derived is not None:
        _derive(name, corpus, corpus.derived, corpora, output)
    elif all(is_cut_out(corpus, split) for split in split_names(corpus)):
        _copy(name, corpus, corpora / name / "text", output)
    else:
        _collect(corpus, output, Place(name, root, mirror, downloads))


def _generate(name: str, corpus: Corpus, generator: Generator, output: Path) -> None:
    with (
        atomic_directory(output) as folder,
        atomic_directory(output.parent / "references") as references,
    ):
        facts = write_corpus(generator, *sides(corpus), folder, references)
        for split, pairs in facts["pairs"].items():
            for language in sides(corpus):
                check_count(folder / f"{split}.{language}", pairs)
        write_json(folder / "text.json", {"corpus": name, **facts})


def _copy(name: str, corpus: Corpus, text: Path, output: Path) -> None:
    """Copy splits that were cut out of the training text from its folder."""
    with atomic_directory(output) as folder:
        pairs = {}
        for split in split_names(corpus):
            for side in sides(corpus):
                pairs[split] = write_lines(
                    folder / f"{split}.{side}", read_lines(text / f"{split}.{side}")
                )
        check_expected(corpus, "text", pairs, output)
        facts = {"corpus": name, "origin": "cut out of the training text", "pairs": pairs}
        write_json(folder / "text.json", facts)


def _derive(name: str, corpus: Corpus, derived: Derived, corpora: Path, output: Path) -> None:
    """Write one side of another corpus as both sides of this one.

    The source is changed later, in its subwords, by `preprocessing.corruption`.
    """
    with atomic_directory(output) as folder:
        pairs = {}
        for split in split_names(corpus):
            text = folder_of(derived.source, split, corpora) / "text"
            path = text / f"{split}.{derived.side}"
            for side in sides(corpus):
                pairs[split] = write_lines(folder / f"{split}.{side}", read_lines(path))
                check_count(folder / f"{split}.{side}", count_lines(path))
        check_expected(corpus, "text", pairs, output)
        facts = {
            "corpus": name,
            "origin": f"{derived.side} of {derived.source}",
            "pairs": pairs,
        }
        write_json(folder / "text.json", facts)


def _collect(corpus: Corpus, output: Path, place: Place) -> None:
    """Read all splits from their parts."""
    languages = sides(corpus)
    parts: dict[str, list[FetchedSource]] = {}
    # All files are fetched before any is read, so that a missing file is reported early.
    for split, description in corpus.splits.items():
        key = f"config/corpora/{place.name}.yaml, splits.{split}"
        parts[split] = [
            fetch(part, *languages, f"{key}.parts[{n}]" if description.parts else key, place)
            for n, part in enumerate(parts_of(description))
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
            key = f"config/corpora/{place.name}.yaml, splits.{split}"
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
        outputs: dict[str, list[IO[str]]] = {
            split: [
                stack.enter_context(
                    (folder / f"{split}.{language}").open("w", encoding="utf-8", newline="\n")
                )
                for language in languages
            ]
            for split in splits
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
                    outputs[split][0].write(source + "\n")
                    outputs[split][1].write(target + "\n")
            of_parts.append(sum(pairs.values()) - before)
    for split, count in pairs.items():
        for language in languages:
            check_count(folder / f"{split}.{language}", count)
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
    if found == 0 and description.every is not None:
        raise UserError(
            f"{key}.every is {description.every}, but train has fewer pairs that cleaning keeps; "
            "give a smaller number there, or larger ones for 'max_tokens' and 'max_ratio'"
        )
    if found == 0:
        raise UserError(f"{key}: {name} holds no line; give a file with text")
