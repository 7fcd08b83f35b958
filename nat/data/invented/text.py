"""Text of an invented language: sentence pairs drawn from its law, and a corpus of them."""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nat.checksums import sha256_of
from nat.data.corpus import Corpus
from nat.data.invented.language import SPLITS, Language, language_of
from nat.data.invented.law import corpus_entropies, modes
from nat.data.invented.words import clause, lexicon
from nat.data.lines import write_lines
from nat.data.references import references_path, write_references
from nat.data.splits import TRAIN
from nat.errors import UserError

HELD_OUT_SHARE = 0.05
"""Share of the space of source sentences that belongs to `valid`, and likewise to test sets."""

_BLOCK = 1024
_MOST_CONTENT_WORDS = 24


def split_of(language: Language, source: str) -> str:
    """The only split in which a source sentence may occur; `test` stands for all test sets.

    It is determined by a hash of seed and sentence, so splits of any size are disjoint.
    """
    digest = hashlib.blake2b(f"{language.seed} {source}".encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    if share < HELD_OUT_SHARE:
        return "test"
    return "valid" if share < 2 * HELD_OUT_SHARE else "train"


def generate(language: Language, split: str, pairs: int) -> Iterator[tuple[str, str]]:
    """Draw pairs of `train`, `valid`, `test` or a further test set `test_NAME`, always the same.

    The first pairs of a longer call are those of a shorter one. Source sentences are drawn
    independently and kept if they belong to the split (`split_of`), so none is in two splits; a
    sentence may occur twice in a split, or in two test sets, with independent targets. Raises a
    `UserError` if the grammar has no sentences for the split.
    """
    kind = split.partition("_")[0]
    own = split.removeprefix(kind).encode()  # of a further test set, so that it is another one
    generator = np.random.default_rng([language.seed, SPLITS.index(kind), *own])
    registers = np.cumsum(language.register_probabilities)[:-1]
    misses = drawn = 0
    while drawn < pairs:
        sources = _draw_sources(language, generator)
        register = np.searchsorted(registers, generator.random(_BLOCK), side="right").tolist()
        front = (generator.random(_BLOCK) < language.front_probability).tolist()
        dropped = (generator.random(_BLOCK) < language.drop_probability).tolist()
        shape = _BLOCK, _MOST_CONTENT_WORDS
        slips = (generator.random(shape) < language.slip_probability).tolist()
        misses += 1
        for number, source in enumerate(sources):
            if drawn == pairs or split_of(language, source) != kind:
                continue
            misses, drawn = 0, drawn + 1
            slip = iter(slips[number])
            target = [
                word.slip if word.slip is not None and next(slip) else word.forms[register[number]]
                for word in clause(language, source).layout(front[number], dropped[number])
            ]
            yield source, " ".join(target)
        if misses >= 30:
            raise UserError(
                f"the invented language has no source sentence for the split '{split}'; "
                "give it more concepts or a richer grammar"
            )


def _draw_sources(language: Language, generator: np.random.Generator) -> list[str]:
    """One block of source sentences, from all splits."""
    nouns, adjectives, prepositions, verbs, adverbs = (
        _draw_distinct(language, letter, count, generator)
        for letter, count in (("N", 5), ("A", 5), ("P", 3), ("V", 1), ("T", 1))
    )
    with_adjective = (generator.random((_BLOCK, 5)) < language.adjective_probability).tolist()
    with_attribute = (generator.random((_BLOCK, 2)) < language.attribute_probability).tolist()
    with_object = (generator.random(_BLOCK) < language.object_probability).tolist()
    with_phrase = (generator.random(_BLOCK) < language.phrase_probability).tolist()
    sources = []
    for row in range(_BLOCK):

        def noun(place: int, row: int = row) -> list[str]:
            return [nouns[row][place], *([adjectives[row][place]] * with_adjective[row][place])]

        words = noun(0)
        if with_attribute[row][0]:
            words += [*noun(1), prepositions[row][0]]
        if with_object[row]:
            words += noun(2)
            if with_attribute[row][1]:
                words += [*noun(3), prepositions[row][1]]
        words += verbs[row]
        words += [*noun(4), prepositions[row][2]] if with_phrase[row] else adverbs[row]
        sources.append(" ".join(words))
    return sources


def _draw_distinct(
    language: Language, letter: str, count: int, generator: np.random.Generator
) -> list[list[str]]:
    """Draw `count` different concepts of a category for each sentence of a block.

    Concepts are drawn one after another without return, with weights by Zipf's law: the order of
    exponential arrival times with these rates.
    """
    words = lexicon(language).source[letter]
    weights = np.arange(1, len(words) + 1) ** -language.zipf_exponent
    arrivals = generator.standard_exponential((_BLOCK, len(words))) / weights
    order = np.argsort(arrivals, axis=1)[:, :count]
    return [[words[place] for place in row] for row in order.tolist()]


def write_corpus(corpus: Corpus, text: Path, references: Path) -> dict[str, Any]:
    """Write `{split}.{language}` into `text`, and of held-out splits all modes into `references`;
    return the facts."""
    assert corpus.generator is not None
    language = language_of(corpus.generator)
    pairs = {split: corpus.generator.pairs[split] for split in corpus.split_names}
    checksums: dict[str, str] = {}
    entropies: dict[str, dict[str, Any]] = {}
    for split, count in pairs.items():
        sources, targets = zip(*generate(language, split, count), strict=True)
        for side, sentences in zip(corpus.sides, (sources, targets), strict=True):
            path = text / f"{split}.{side}"
            write_lines(path, sentences)
            checksums[path.name] = sha256_of(path)
        entropies[split] = corpus_entropies(language, sources)
        if split != TRAIN:
            laws = {number: modes(language, source) for number, source in enumerate(sources)}
            write_references(references_path(references, split, corpus.target), laws)
    return {
        "origin": "generator",
        "source": corpus.source,
        "target": corpus.target,
        "pairs": pairs,
        "sha256": checksums,
        "parameters": asdict(language),
        "entropies": entropies,
    }
