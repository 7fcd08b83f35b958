"""Text of an invented language: sentence pairs drawn from its law, and a corpus of them."""

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.corpus import Generator
from nat.data.invented.language import Language
from nat.data.invented.parameters import FURTHER_TEST, SPLITS, read_parameters
from nat.data.references import References, references_path, write_references
from nat.errors import UserError
from nat.files import atomic_write_text, write_json

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
    """Draw sentence pairs; the same language and split always give the same pairs.

    The first pairs of a longer call are those of a shorter one. Source sentences are drawn
    independently and kept if they belong to the split (`split_of`), so none is in two splits; a
    sentence may occur twice in a split, or in two test sets, with independent targets.

    Args:
        language: the pair of languages.
        split: `train`, `valid`, `test`, or a further test set `test_NAME`.
        pairs: number of pairs.

    Raises:
        ValueError: if there is no such split.
        UserError: if the grammar has no sentences for it.
    """
    kind = "test" if split.startswith(FURTHER_TEST) else split
    if kind not in SPLITS:
        raise ValueError(f"unknown split '{split}'; known: {', '.join(SPLITS)}, {FURTHER_TEST}NAME")
    return itertools.islice(_draw(language, split, kind), pairs)


def _draw(language: Language, split: str, kind: str) -> Iterator[tuple[str, str]]:
    own = split.removeprefix(kind).encode()  # of a further test set, so that it is another one
    generator = np.random.default_rng([language.seed, SPLITS.index(kind), *own])
    registers = np.cumsum(language.register_probabilities)[:-1]
    misses = 0
    while True:
        sources = _draw_sources(language, generator)
        register = np.searchsorted(registers, generator.random(_BLOCK), side="right").tolist()
        front = (generator.random(_BLOCK) < language.front_probability).tolist()
        dropped = (generator.random(_BLOCK) < language.drop_probability).tolist()
        slips = (
            generator.random((_BLOCK, _MOST_CONTENT_WORDS)) < language.slip_probability
        ).tolist()
        misses += 1
        for number, source in enumerate(sources):
            if split_of(language, source) != kind:
                continue
            misses = 0
            words = language.clause(source).layout(front[number], dropped[number])
            slip = iter(slips[number])
            yield (
                source,
                " ".join(
                    word.slip
                    if word.slip is not None and next(slip)
                    else word.forms[register[number]]
                    for word in words
                ),
            )
        if misses >= 30:
            raise UserError(
                f"the invented language has no source sentence for the split '{split}'; "
                "give it more concepts or a richer grammar"
            )


def _draw_sources(language: Language, generator: np.random.Generator) -> list[str]:
    """One block of source sentences, from all splits."""
    nouns = _draw_distinct(language, "N", 5, generator)
    adjectives = _draw_distinct(language, "A", 5, generator)
    prepositions = _draw_distinct(language, "P", 3, generator)
    verbs = _draw_distinct(language, "V", 1, generator)
    adverbs = _draw_distinct(language, "T", 1, generator)
    with_adjective = (generator.random((_BLOCK, 5)) < language.adjective_probability).tolist()
    with_attribute = (generator.random((_BLOCK, 2)) < language.attribute_probability).tolist()
    with_object = (generator.random(_BLOCK) < language.object_probability).tolist()
    with_phrase = (generator.random(_BLOCK) < language.phrase_probability).tolist()
    sources = []
    for row in range(_BLOCK):

        def noun(place: int, row: int = row) -> list[str]:
            if with_adjective[row][place]:
                return [nouns[row][place], adjectives[row][place]]
            return [nouns[row][place]]

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
    words = language.lexicon.source[letter]
    weights = np.arange(1, len(words) + 1) ** -language.zipf_exponent
    arrivals = generator.standard_exponential((_BLOCK, len(words))) / weights
    order = np.argsort(arrivals, axis=1)[:, :count]
    return [[words[place] for place in row] for row in order.tolist()]


def corpus_entropies(language: Language, sources: Iterable[str]) -> dict[str, Any]:
    """Exact means of the entropies over source sentences.

    Returns:
        `sentences`, `words_per_sentence` (expected length of a target), and `per_sentence` and
        `per_word` (sum over the corpus divided by the sum of expected lengths), each in `nats`
        and `bits`: `joint_entropy` H(Y|X), `marginal_entropies` sum_i H(y_i|X), and
        `total_correlation` C(X).

    """
    found = [language.entropies(source) for source in sources]
    words = math.fsum(each.words for each in found)
    sums = {
        "joint_entropy": math.fsum(each.joint for each in found),
        "marginal_entropies": math.fsum(math.fsum(each.marginals) for each in found),
        "total_correlation": math.fsum(each.total_correlation for each in found),
    }

    def means(divisor: float) -> dict[str, dict[str, float]]:
        return {
            unit: {name: value / divisor / size for name, value in sums.items()}
            for unit, size in (("nats", 1.0), ("bits", math.log(2)))
        }

    return {
        "sentences": len(found),
        "words_per_sentence": words / len(found),
        "per_sentence": means(len(found)),
        "per_word": means(words),
    }


def read_options(
    options: Generator, splits: tuple[str, ...] = SPLITS
) -> tuple[Language, dict[str, int]]:
    """Read the language and the pairs of each split, as `read_parameters`."""
    return read_parameters(options, Language, splits)


def write_corpus(
    options: Generator,
    source_language: str,
    target_language: str,
    directory: Path,
    references: Path,
) -> dict[str, Any]:
    """Write the text, the facts and the references of a generated corpus.

    Writes `{split}.{language}` and, last, `text.json` into `directory`, and for `valid` and
    `test` `{split}.{target_language}.jsonl` into `references` (see `nat.data.references`): all
    modes of each sentence, the most probable first, and their exact probabilities.

    Args:
        options: the section `generator` of the corpus (`read_options`); `pairs` may leave out
            splits, which are not written.
        source_language: code of the source language, used in file names.
        target_language: code of the target language, used in file names.
        directory: folder of the text.
        references: folder of the references.

    Returns:
        The content of `text.json`: pairs and checksums, all parameters of the language, and the
        exact entropies of each split (`corpus_entropies`).
    """
    language, pairs = read_options(options, tuple(options.pairs))
    checksums: dict[str, str] = {}
    entropies: dict[str, dict[str, Any]] = {}
    for split, count in pairs.items():
        sources, targets = zip(*generate(language, split, count), strict=True)
        for code, sentences in ((source_language, sources), (target_language, targets)):
            text = "\n".join(sentences) + "\n"
            atomic_write_text(directory / f"{split}.{code}", text)
            checksums[f"{split}.{code}"] = hashlib.sha256(text.encode()).hexdigest()
        entropies[split] = corpus_entropies(language, sources)
        if split != "train":
            modes = (language.modes(source) for source in sources)
            several = {
                number: References(list(law), list(law.values()))
                for number, law in enumerate(modes)
            }
            write_references(references_path(references, split, target_language), several)
    facts = {
        "origin": "generator",
        "source": source_language,
        "target": target_language,
        "pairs": pairs,
        "sha256": checksums,
        "parameters": asdict(language),
        "entropies": entropies,
    }
    write_json(directory / "text.json", facts)
    return facts
