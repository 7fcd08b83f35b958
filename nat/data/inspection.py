"""What one would look for by hand in a clean text, and what its preparation has noticed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nat.data.clean import Seen, compared, digest_of
from nat.data.corpus import Corpus
from nat.data.flags import FLAGS, TextFlags, flag
from nat.data.lines import count_lines, read_lines, read_pairs
from nat.data.splits import TRAIN, folder_of, held_out, is_segmented, sides, split_names
from nat.files import read_json

_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")

REPEATED = "repeated pairs"
IN_TRAINING = "pairs that are in the training text"
SOURCE_IN_TRAINING = "pairs whose source is in the training text, with another target"
ENTITIES = "pairs with XML entities"
NO_RULES = "pairs in '{}', a language that Moses has no rules for"
_ENGLISH_RULES = "it gets those of English; 'tokeniser: unicode' restores any text"

_REMEDIES = {
    REPEATED: "'preprocessing.drop_duplicates: true' leaves them out",
    IN_TRAINING: "take them out of the training text, or scores are too good",
    SOURCE_IN_TRAINING: "take them out of the training text, if its text is to be unknown",
    ENTITIES: "put the characters that they stand for, unless they are meant",
}


def flags_of(corpus: Corpus, folder: Path) -> list[dict[str, Any]]:
    """All flags of a prepared corpus: of its steps, and of what a look at all splits shows."""
    flags: list[dict[str, Any]] = []
    folders = {split: folder_of(folder.name, split, folder.parent) for split in split_names(corpus)}
    for own in dict.fromkeys(folders.values()):
        for path in (own / step / f"{step}.json" for step in ("text", "clean", "tokens", "bpe")):
            flags += read_json(path).get(FLAGS, []) if path.exists() else []
    flags += _without_rules(corpus, folder / "clean")
    return flags + _looked_at(corpus, folders).as_written.get(FLAGS, [])


def _without_rules(corpus: Corpus, clean: Path) -> Iterator[dict[str, Any]]:
    """Flags of the languages for which Moses takes the rules of English."""
    from sacremoses.corpus import NonbreakingPrefixes  # takes long, and few programs need it

    known = NonbreakingPrefixes().available_langs
    for language in sides(corpus):
        name = corpus.preprocessing.tokeniser_of(language)
        if name.startswith("moses") and language.lower() not in known:
            path, kind = clean / f"{TRAIN}.{language}", NO_RULES.format(language)
            first, where = next(read_lines(path), ""), f"line 1 of {path}"
            yield flag(kind, TRAIN, count_lines(path), _ENGLISH_RULES, where, first)


def _looked_at(corpus: Corpus, folders: Mapping[str, Path]) -> TextFlags:
    """Look at the clean pairs of all splits."""
    flags = TextFlags()

    def clean(split: str) -> Iterator[tuple[int, tuple[str, str], bytes, bytes]]:
        """The number of each pair, the pair, and what it and its source are known by."""
        options = corpus.preparation(is_segmented(corpus, split))
        pairs = read_pairs(folders[split] / "clean", split, sides(corpus))
        for number, (source, target) in enumerate(pairs, start=1):
            both, alone = (digest_of(compared(source, each, options)) for each in (target, ""))
            yield number, (source, target), both, alone

    def add(kind: str, split: str, number: int, pair: tuple[str, str]) -> None:
        where = f"line {number} of {folders[split] / 'clean'}"
        flags.add(kind, split, _REMEDIES[kind], where, *pair)

    elsewhere: set[bytes] = set()
    for split in held_out(corpus):
        for *_, both, alone in clean(split):
            elsewhere |= {both, alone}
    shared, seen = set(), Seen()
    for split in (TRAIN, *held_out(corpus)):
        others = is_segmented(corpus, split)
        for number, pair, both, alone in clean(split):
            if split == TRAIN:
                shared |= elsewhere & {both, alone}
                kind = REPEATED if seen.add(both) else None
            else:
                kind = SOURCE_IN_TRAINING if alone in shared else None
                kind = IN_TRAINING if both in shared else kind
            if kind is not None:
                add(kind, split, number, pair)
            # escapes in the subwords of others are flagged where these are read
            if not others and any("&" in side and _ENTITY.search(side) for side in pair):
                add(ENTITIES, split, number, pair)
    return flags
