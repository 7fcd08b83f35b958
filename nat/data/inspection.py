"""What one would look for by hand in a clean text, and what its preparation has noticed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from nat.data.clean import Seen, digest_of
from nat.data.corpus import Corpus
from nat.data.flags import Flag, TextFlags, read_flags
from nat.data.lines import count_lines, read_lines, read_pairs
from nat.data.raw_text import MOSES, has_rules
from nat.data.splits import (
    TRAIN,
    folder_of,
    held_out,
    is_segmented,
    preparations,
    sides,
    split_names,
)

_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")

REPEATED = "repeated pairs"
IN_TRAINING = "pairs that are in the training text"
SOURCE_IN_TRAINING = "pairs whose source is in the training text, with another target"
ENTITIES = "pairs with XML entities"
NO_RULES = "pairs in '{}', a language that Moses has no rules for"

_REMEDIES = {
    REPEATED: "'preprocessing.drop_duplicates: true' leaves them out",
    IN_TRAINING: "take them out of the training text, or scores are too good",
    SOURCE_IN_TRAINING: "take them out of the training text, if its text is to be unknown",
    NO_RULES: "it gets those of English; 'tokeniser: unicode' restores any text",
    ENTITIES: "put the characters that they stand for, unless they are meant",
}


def flags_of(corpus: Corpus, folder: Path) -> list[Flag]:
    """All flags of a prepared corpus: of its steps, and of what a look at all splits shows."""
    noticed: list[Flag] = []
    folders = {split: folder_of(folder.name, split, folder.parent) for split in split_names(corpus)}
    for own in dict.fromkeys(folders.values()):
        for report in (own / step / f"{step}.json" for step in ("text", "clean", "tokens", "bpe")):
            noticed += read_flags(report) if report.exists() else []
    flags = TextFlags()
    for language in sides(corpus):
        if corpus.preparation(language).tokeniser in MOSES and not has_rules(language):
            path, kind = folder / "clean" / f"{TRAIN}.{language}", NO_RULES.format(language)
            first, count = next(read_lines(path), ""), count_lines(path)
            where = f"line 1 of {path}"
            flags.add(kind, TRAIN, _REMEDIES[NO_RULES], where, first, count=count)
    _look(corpus, folders, flags)
    return noticed + flags.listed


def _look(corpus: Corpus, folders: Mapping[str, Path], flags: TextFlags) -> None:
    """Look at the clean pairs of all splits."""

    def clean(split: str) -> Iterator[tuple[int, tuple[str, str], bytes, bytes]]:
        """The number of each pair, the pair, and what it and its source are known by."""
        lowercase = preparations(corpus, split)[0].lowercase
        pairs = read_pairs(folders[split] / "clean", split, sides(corpus))
        for number, (source, target) in enumerate(pairs, start=1):
            both, alone = (digest_of(source, each, lowercase) for each in (target, ""))
            yield number, (source, target), both, alone

    elsewhere: set[bytes] = set()
    for split in held_out(corpus):
        for *_, both, alone in clean(split):
            elsewhere |= {both, alone}
    shared, seen = set(), Seen()
    for split in (TRAIN, *held_out(corpus)):
        others = is_segmented(corpus, split)
        for number, pair, both, alone in clean(split):
            kinds = []
            if split == TRAIN:
                shared |= elsewhere & {both, alone}
                kinds += [REPEATED] if seen.add(both) else []
            elif both in shared:
                kinds.append(IN_TRAINING)
            elif alone in shared:
                kinds.append(SOURCE_IN_TRAINING)
            # escapes in the subwords of others are flagged where these are read
            if not others and any("&" in side and _ENTITY.search(side) for side in pair):
                kinds.append(ENTITIES)
            for kind in kinds:
                where = f"line {number} of {folders[split] / 'clean'}"
                flags.add(kind, split, _REMEDIES[kind], where, *pair)
