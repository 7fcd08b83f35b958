"""The folder `text` of a corpus: one raw file per split and language, all counts checked.

A corpus comes from downloads, local files or test sets of sacreBLEU (`splits`), from a generator,
or from one side of another corpus (`derived`). The text is not changed, except for line separators
within a line and, if the corpus says so, Romanian diacritics, which belong to the text that
translations are compared with.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from nat.checksums import sha256_of
from nat.data.bpe import DICTIONARY
from nat.data.clean import DIGEST, Seen, usable_digest
from nat.data.corpus import Corpus, PairSource
from nat.data.flags import TextFlags
from nat.data.formats import REMEDIES, read_format, read_sentences
from nat.data.invented.text import write_corpus
from nat.data.lines import read_lines, read_pairs, unpacked, write_lines, writing_pairs
from nat.data.sources import FetchedSource, Place, fetch
from nat.data.splits import (
    CORPORA,
    TRAIN,
    VALID,
    check_expected,
    folder_of,
    is_cut_out,
    is_segmented,
    parts_by_key,
    preparations,
    sides,
    sources_of,
    split_names,
)
from nat.data.subwords import CODES, PIECES, joined
from nat.errors import UserError
from nat.files import atomic_directory, write_json

GIVEN = "given"
"""Folder in the text of a corpus with what it has from elsewhere besides text: subwords, and
`{teacher}.{target}`, a published translation of the training text."""

REPEATED = "pairs that equal one that is cut out"
_REMEDY = "they are left out, unless its split has 'keep_repeated: true'"
_LEFT = ".left"  # split that takes the place of the training text

SUBWORDS = {"codes": CODES, "pieces": PIECES, "vocabulary": DICTIONARY}
"""Files of subwords by their label in a corpus file."""


def make_text(corpus: Corpus, output: Path, place: Place, corpora: Path = CORPORA) -> None:
    """Write `{split}.{lang}` and `text.json` to the folder `output`.

    The corpus is a part that `nat.data.splits.text_part` returns. A generated one also gets its
    references, in the folder `references` beside `output`; a derived one reads the text of another
    in `corpora`, where a test set that is cut out of the training text is found, too. Raises a
    `UserError` if a file cannot be obtained, is not UTF-8, or the counts do not agree.
    """
    with atomic_directory(output) as folder:
        if corpus.generator is not None:
            with atomic_directory(output.parent / "references") as references:
                facts = write_corpus(corpus, folder, references)
        elif corpus.derived or all(is_cut_out(corpus, split) for split in split_names(corpus)):
            facts = _copy(corpus, folder, corpora, place.name)
        else:
            facts = _collect(corpus, folder, place)
        check_expected(corpus, "text", facts["pairs"], output)
        write_json(folder / "text.json", {"corpus": place.name, **facts})


def _copy(corpus: Corpus, folder: Path, corpora: Path, name: str) -> dict[str, Any]:
    """Copy one side of another corpus to both sides, or what was cut out of the training text."""
    derived, pairs = corpus.derived, {}
    for split in split_names(corpus):
        for side in sides(corpus):
            text = corpora / name / "text" / f"{split}.{side}"
            if derived is not None:  # `preprocessing.corruption` changes the subwords of the source
                of_split = folder_of(derived.source, split, corpora)
                text = of_split / "text" / f"{split}.{derived.side}"
            pairs[split] = write_lines(folder / f"{split}.{side}", read_lines(text))
    origin = f"{derived.side} of {derived.source}" if derived else "cut out of the training text"
    return {"origin": origin, "pairs": pairs}


def _collect(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Read all splits from their parts."""
    by_key = {split: parts_by_key(split, corpus.splits[split]) for split in split_names(corpus)}
    # All files are fetched before any is read, so that a missing file is reported early.
    parts = {
        split: [fetch(part, corpus, key, place) for key, part in of_split.items()]
        for split, of_split in by_key.items()
    }
    cut = [split for split in parts if is_cut_out(corpus, split)]
    pairs = dict.fromkeys(parts, 0)
    of_parts: dict[str, list[int]] = {}
    flags = TextFlags()
    for split in parts:
        if split not in cut:
            together = [split, *cut] if split == TRAIN else [split]
            of_parts[split] = _write(corpus, together, parts[split], folder, pairs, flags)
    for split, count in pairs.items():
        key, description = place.key(f"splits.{split}"), corpus.splits[split]
        if description.pairs not in (None, count):
            raise UserError(
                f"{key}.pairs is {description.pairs}, but there are {count}; correct the key or "
                "the files"
            )
        if count == 0:
            raise UserError(f"{key}: no pair is left; give more text")
    given = _fetch_given(corpus, folder / GIVEN, place)
    kinds = {part.origins[0] for each in by_key.values() for part in each.values()}
    files = {f"{split}.{side}": (split, side) for split in parts for side in sides(corpus)}
    facts = {
        "origin": " and ".join(
            kind for kind in ("urls", "archive", "sacrebleu", "files") if kind in kinds
        ),
        "source": corpus.source,
        "target": corpus.target,
        "pairs": pairs,
        "pairs_of_parts": of_parts,
        "sha256": {name: sha256_of(folder / name) for name in files},
        "read_from": {
            name: [file for part in parts[split] for file in part.read_from(side)]
            for name, (split, side) in files.items()
        },
        "downloads": {
            url: sha256_of(path)
            for part in chain.from_iterable(parts.values())
            for url, path in part.downloaded.items()
        },
    }
    return facts | flags.as_written | ({"given": given} if given else {})


def _write(
    corpus: Corpus,
    splits: Sequence[str],
    parts: Sequence[FetchedSource],
    folder: Path,
    pairs: dict[str, int],
    flags: TextFlags,
) -> list[int]:
    """Write a split and what is cut out of it, and count their pairs; return those of each part."""
    one, other = (how.changed for how in preparations(corpus, splits[0]))
    is_joined, in_pieces = is_segmented(corpus, splits[0]), corpus.in_pieces
    cutter = _Cutter(corpus, splits)
    # cleaning drops an empty pair of the training text only
    all_columns = splits[0] != TRAIN
    of_parts = []
    with ExitStack() as stack:
        write = {
            split: stack.enter_context(writing_pairs(folder, split, sides(corpus)))
            for split in splits
        }
        for part in parts:
            before = sum(pairs.values())
            assert isinstance(part.description, PairSource)

            def odd(kind: str, path: Path, number: int, line: str) -> None:
                flags.add(kind, splits[0], REMEDIES[kind], f"line {number} of {path}", line)

            with part.opened(folder) as files:
                read = read_format(part.description, files, *sides(corpus), all_columns, odd)
                for source, target in read:
                    if is_joined:
                        source, target = joined(source, in_pieces), joined(target, in_pieces)
                    pair = one(source), other(target)
                    split = cutter.split_of(*pair)
                    pairs[split] += 1
                    write[split](*pair)
            of_parts.append(sum(pairs.values()) - before)
    pairs[splits[0]] -= cutter.remove_repeated(folder, flags)
    return of_parts


class _Cutter:
    """Tells which of several splits each successive pair belongs to.

    All but the first get every nth of the pairs that cleaning will keep, as in the usual recipes,
    but in raw form like all other text here. Of several, `valid` chooses first and the test sets
    follow by name, whatever their order in the file, each from the pairs that are left. Pairs that
    are equal when they are clean count once, unless the splits keep such pairs.
    """

    def __init__(self, corpus: Corpus, splits: Sequence[str]) -> None:
        self._sides, (self._rest, *cut) = sides(corpus), splits
        in_order = sorted(cut, key=lambda split: (split != VALID, split))
        self._nth = {name: every for name in in_order if (every := corpus.splits[name].every)}
        self._alone = {name for name in cut if not corpus.splits[name].keep_repeated}
        self._counts = dict.fromkeys(self._nth, 0)
        self._digest = usable_digest(corpus) if cut else None
        self._seen, self._chosen, self._left = Seen(), Seen(), bytearray()

    def split_of(self, source: str, target: str) -> str:
        """The split of the next pair."""
        if self._digest is None:
            return self._rest
        digest = self._digest(source, target)
        if digest is not None and not (self._alone and self._seen.add(digest)):
            for split, every in self._nth.items():
                self._counts[split] += 1
                if self._counts[split] % every == 0:
                    if split in self._alone:
                        self._chosen.add(digest)
                    return split
        self._left += digest or bytes(DIGEST)
        return self._rest

    def remove_repeated(self, folder: Path, flags: TextFlags) -> int:
        """Take pairs that are chosen out of what is left, and count them."""
        digests = zip(*[iter(self._left)] * DIGEST, strict=True)
        repeated = [bytes(digest) in self._chosen for digest in digests]
        if any(repeated):
            pairs = zip(repeated, read_pairs(folder, self._rest, self._sides), strict=True)
            with writing_pairs(folder, _LEFT, self._sides) as write:
                for number, (is_repeated, pair) in enumerate(pairs, start=1):
                    if is_repeated:
                        flags.add(
                            REPEATED, self._rest, _REMEDY, f"pair {number} of the rest", *pair
                        )
                    else:
                        write(*pair)
            for side in self._sides:
                (folder / f"{_LEFT}.{side}").replace(folder / f"{self._rest}.{side}")
        return sum(repeated)


def _fetch_given(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Write subwords that were learned elsewhere, and published translations; return the facts."""
    facts: dict[str, Any] = {}
    for key, source in sources_of(corpus).items():
        kind, _, teacher = key.partition(".")
        if kind not in ("subwords", "distilled"):
            continue
        folder.mkdir(exist_ok=True)
        fetched = fetch(source, corpus, key, place)
        with fetched.opened(folder) as files:
            for label, paths in files.items():
                if kind == "subwords":
                    output = folder / SUBWORDS[label]
                    with unpacked(paths[0]) as file:
                        output.write_bytes(file.read())
                else:
                    output = folder / f"{teacher}.{label}"
                    lines = (read_sentences("lines", path) for path in paths)
                    write_lines(output, chain.from_iterable(lines))
                read_from = fetched.read_from(label)
                facts[output.name] = {"read_from": read_from, "sha256": sha256_of(output)}
    return facts
