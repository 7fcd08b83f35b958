"""The folders `text` and `references` of a corpus: one raw file per split and language.

A corpus comes from downloads, local files or test sets of sacreBLEU (`splits`), from a generator,
or from one side of another corpus (`derived`). The text is not changed, except for line separators
within a line and, if the corpus says so, Romanian diacritics, which belong to the text that
translations are compared with.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from nat.checksums import sha256_of
from nat.data.clean import Seen, usable_digest
from nat.data.corpus import Corpus, check_expected
from nat.data.corpus_parts import listed_references, monolingual_files, sources_of
from nat.data.flags import TextFlags
from nat.data.formats import EXTRA_REFERENCES, REMEDIES, read_format, read_sentences
from nat.data.invented.language import language_of
from nat.data.invented.text import generate, write_corpus
from nat.data.lines import read_lines, unpacked, write_lines, writing_pairs
from nat.data.origins import FurtherReferences, PairSource
from nat.data.references import references_path, write_references
from nat.data.sources import FetchedSource, Place, fetch
from nat.data.splits import CORPORA, GIVEN, MONOLINGUAL, TRAIN, VALID, folder_of
from nat.data.subwords import SUBWORDS, joined
from nat.errors import UserError
from nat.files import atomic_directory, write_json

REPEATED = "pairs that equal one that is cut out"
_REMEDY = "they are left out, unless its split has 'keep_repeated: true'"


def make_text(corpus: Corpus, output: Path, place: Place, corpora: Path = CORPORA) -> None:
    """Write `{split}.{lang}` and `text.json` to the folder `output`.

    The corpus is a part that `Corpus.text_part` returns. A generated one also gets its
    references, in the folder `references` beside `output`; a derived one reads the text of another
    in `corpora`, where a test set that is cut out of the training text is found, too. Raises a
    `UserError` if a file cannot be obtained, is not UTF-8, or the counts do not agree.
    """
    with atomic_directory(output) as folder:
        if corpus.monolingual is not None:
            facts = _collect_monolingual(corpus, folder, place)
        elif corpus.generator is not None:
            with atomic_directory(output.parent / "references") as references:
                facts = write_corpus(corpus, folder, references)
        elif corpus.derived or all(corpus.is_cut_out(split) for split in corpus.split_names):
            facts = _copy(corpus, folder, corpora, place.name)
        else:
            facts = _collect(corpus, folder, place)
        check_expected(corpus, "text", facts.get("pairs", {}), output)
        write_json(folder / "text.json", {"corpus": place.name, **facts})


def _copy(corpus: Corpus, folder: Path, corpora: Path, name: str) -> dict[str, Any]:
    """Copy one side of another corpus to both sides, or what was cut out of the training text."""
    derived, pairs = corpus.derived, {}
    for split in corpus.split_names:
        for side in corpus.sides:
            text = folder_of(name, TRAIN, corpora) / "text" / f"{split}.{side}"
            if derived is not None:  # `preprocessing.corruption` changes the subwords of the source
                of_split = folder_of(derived.source, split, corpora)
                text = of_split / "text" / f"{split}.{derived.side}"
            pairs[split] = write_lines(folder / f"{split}.{side}", read_lines(text))
    origin = f"{derived.side} of {derived.source}" if derived else "cut out of the training text"
    return {"origin": origin, "pairs": pairs}


def _collect(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Read all splits from their parts."""
    cut = [split for split in corpus.split_names if corpus.is_cut_out(split)]
    # All files are fetched before any is read, so that a missing file is reported early.
    parts = {
        split: [
            fetch(part, corpus, key, place)
            for key, part in corpus.splits[split].parts_by_key(f"splits.{split}").items()
        ]
        for split in corpus.split_names
        if split not in cut
    }
    pairs, flags = dict.fromkeys(corpus.split_names, 0), TextFlags()
    of_parts = {}
    for split, own in parts.items():
        together = [split, *cut] if split == TRAIN else [split]
        of_parts[split] = _write(corpus, together, own, folder, pairs, flags)
    for split, count in pairs.items():
        key, due = place.key(f"splits.{split}"), corpus.splits[split].pairs
        if due not in (None, count):
            raise UserError(
                f"{key}.pairs is {due}, but there are {count}; correct the key or the files"
            )
        if count == 0:
            raise UserError(f"{key}: no pair is left; give more text")
    given = _fetch_given(corpus, folder / GIVEN, place)
    files = {f"{split}.{side}": (split, side) for split in pairs for side in corpus.sides}
    fetched = [*chain(*parts.values())]
    kinds = {part.origin for part in fetched}
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
            name: [file for part in parts.get(split, ()) for file in part.read_from(side)]
            for name, (split, side) in files.items()
        },
        "downloads": {
            url: sha256_of(path) for part in fetched for url, path in part.downloaded.items()
        },
    }
    return facts | flags.as_written | ({"given": given} if given else {})


def _collect_monolingual(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Write `monolingual.{source}`: from files, or drawn as the sources of training pairs are."""
    path, due = folder / f"{MONOLINGUAL}.{corpus.source}", corpus.monolingual
    assert due is not None
    if corpus.generator is not None:
        # a stream of its own, from the sentences that belong to the training text
        split, number = f"{TRAIN}_{MONOLINGUAL}", due.sentences or 0
        pairs = generate(language_of(corpus.generator), split, number)
        return {"origin": "generator", "sentences": write_lines(path, (one for one, _ in pairs))}
    parts = [fetch(each, corpus, key, place) for key, each in monolingual_files(corpus).items()]
    change = corpus.preparation(corpus.source).changed

    def sentences() -> Iterator[str]:
        for part in parts:
            with part.opened(folder) as files:
                for file in files[corpus.source]:
                    yield from map(change, read_sentences("lines", file))

    number = write_lines(path, sentences())
    if due.sentences not in (None, number):
        raise UserError(
            f"{place.key(MONOLINGUAL)}.sentences is {due.sentences}, but there are {number}; "
            "correct the key or the files"
        )
    return {
        "origin": " and ".join(dict.fromkeys(part.origin for part in parts)),
        "sentences": number,
        "sha256": sha256_of(path),
        "read_from": [file for part in parts for file in part.read_from(corpus.source)],
        "downloads": {
            url: sha256_of(file) for part in parts for url, file in part.downloaded.items()
        },
    }


def _write(
    corpus: Corpus,
    splits: Sequence[str],
    parts: Sequence[FetchedSource],
    folder: Path,
    pairs: dict[str, int],
    flags: TextFlags,
) -> list[int]:
    """Write a split and what is cut out of it, and count their pairs; return those of each part."""
    split, cutter, of_parts, repeated = splits[0], _Cutter(corpus, splits), [], 0
    one, other = corpus.preparations(split)
    segmented, in_pieces = corpus.is_segmented(split), corpus.in_pieces

    def odd(kind: str, path: Path | str, number: int, line: str) -> None:
        flags.add(kind, split, REMEDIES[kind], f"line {number} of {path}", line)

    with ExitStack() as stack:
        writing = (writing_pairs(folder, each, corpus.sides) for each in splits)
        write = dict(zip(splits, map(stack.enter_context, writing), strict=True))
        for part in parts:
            before = sum(pairs.values())
            assert isinstance(part.description, PairSource)
            with part.opened(folder) as files:
                # cleaning drops an empty pair of the training text only
                whole = split != TRAIN
                read = read_format(part.description, files, *corpus.sides, whole, odd)
                for source, target in read:
                    if segmented:
                        source, target = joined(source, in_pieces), joined(target, in_pieces)
                    pair = one.changed(source), other.changed(target)
                    chosen = cutter.split_of(*pair)
                    pairs[chosen or split] += 1
                    if chosen is not None:
                        write[chosen](*pair)
                        continue
                    repeated += 1
                    where = f"pair {pairs[split]} of the rest"
                    flags.add(REPEATED, split, _REMEDY, where, *pair)
            of_parts.append(sum(pairs.values()) - before)
    pairs[split] -= repeated
    return of_parts


class _Cutter:
    """Tells which of several splits each successive pair belongs to.

    All but the first get every nth of the pairs that cleaning will keep, as in the usual recipes,
    but in raw form like all other text here. Of several, `valid` chooses first and the test sets
    follow by name, whatever their order in the file, each from the pairs that are left. Pairs that
    are equal when they are clean count once, unless the splits keep such pairs.
    """

    def __init__(self, corpus: Corpus, splits: Sequence[str]) -> None:
        self._rest, *cut = splits
        in_order = sorted(cut, key=lambda split: (split != VALID, split))
        self._nth = {name: every for name in in_order if (every := corpus.splits[name].every)}
        self._alone = {name for name in cut if not corpus.splits[name].keep_repeated}
        self._counts = dict.fromkeys(self._nth, 0)
        self._digest = usable_digest(corpus) if cut else None
        self._seen, self._chosen = Seen(), Seen()

    def split_of(self, source: str, target: str) -> str | None:
        """The split of the next pair; None if it equals one that was cut out."""
        digest = self._digest and self._digest(source, target)
        if digest is None:
            return self._rest
        if self._alone and self._seen.add(digest):
            return None if digest in self._chosen else self._rest
        for split, every in self._nth.items():
            self._counts[split] += 1
            if self._counts[split] % every == 0:
                if split in self._alone:
                    self._chosen.add(digest)
                return split
        return self._rest


def _fetch_given(corpus: Corpus, folder: Path, place: Place) -> dict[str, Any]:
    """Write subwords that were learned elsewhere, and published translations; return the facts."""
    facts: dict[str, Any] = {}
    for key, source in sources_of(corpus).items():
        kind, _, teacher = key.partition(".")
        if kind == "splits":
            continue
        folder.mkdir(exist_ok=True)
        fetched = fetch(source, corpus, key, place)
        with fetched.opened(folder) as files:
            for label, paths in files.items():
                output = folder / (SUBWORDS[label] if kind == "subwords" else f"{teacher}.{label}")
                if kind == "subwords":
                    with unpacked(paths[0]) as file:
                        output.write_bytes(file.read())
                else:
                    write_lines(output, chain(*(read_sentences("lines", path) for path in paths)))
                read_from = fetched.read_from(label)
                facts[output.name] = {"read_from": read_from, "sha256": sha256_of(output)}
    return facts


def make_references(
    corpus: Corpus, splits: Sequence[str], text: Path, output: Path, place: Place
) -> None:
    """Write `{split}.{target}.jsonl` of splits, and `references.json`, to the folder `output`.

    `text` is the folder of their raw text. Raises a `UserError` if a file cannot be obtained, or
    does not belong to the split.
    """
    source, target = corpus.sides
    change = corpus.preparation(target).changed
    facts = {}
    with atomic_directory(output) as folder:
        for split in splits:
            sentences = list(read_lines(text / f"{split}.{source}"))
            several: defaultdict[int, list[str]] = defaultdict(list)
            read_from = []
            for number, part in listed_references(corpus, split):
                fetched = fetch(part, corpus, f"splits.{split}.references[{number}]", place)
                read_from += fetched.read_from(target)
                with fetched.opened(folder) as files:
                    before = sum(map(len, several.values()))
                    for ids, line in _references_of(corpus, part, files, sentences):
                        for sentence in ids if line.strip() else ():
                            several[sentence].append(change(line))
                    if sum(map(len, several.values())) == before:
                        raise UserError(
                            f"{' + '.join(map(str, chain(*files.values())))}: no reference of a "
                            "sentence of the split; remove the entry"
                        )
            path = references_path(folder, split, target)
            write_references(path, {id: several[id] for id in sorted(several)})
            facts[split] = {
                "sentences": len(several),
                "references": sum(map(len, several.values())),
                "read_from": read_from,
            }
        write_json(folder / "references.json", {"splits": facts})


def _references_of(
    corpus: Corpus,
    part: FurtherReferences,
    files: Mapping[str, Sequence[Path]],
    sentences: Sequence[str],
) -> Iterator[tuple[Sequence[int], str]]:
    """References with the numbers of their sentences, one reference at a time."""
    source, target = corpus.sides
    if part.format != EXTRA_REFERENCES and source not in files:
        lines = [line for path in files[target] for line in read_sentences(part.format, path)]
        if len(lines) != len(sentences):
            raise UserError(
                f"{files[target][0]} has {len(lines)} lines for the {len(sentences)} sentences of "
                "the split; line n must be a reference of sentence n, or give their sources as "
                f"well, under '{source}'"
            )
        yield from (([number], line) for number, line in enumerate(lines))
        return
    change = corpus.preparation(source).changed
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        numbers[" ".join(sentence.split())].append(number)
    for its_source, line in read_format(part, files, source, target):
        yield numbers.get(" ".join(change(its_source).split()), []), line
