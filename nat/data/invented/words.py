"""Words and sentences of an invented language."""

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from nat.data.invented.language import SPLITS, Language

# Letters of the categories: Noun, Adjective, Verb, Time adverb, Postposition (in the target a
# preposition). Each group of a source sentence is reversed in the target.
_SENTENCE = re.compile(r"(NA?)((?:NA?P)?)((?:NA?)?)((?:NA?P)?)(V)(T|NA?P)")

# Onsets, vowels and codas of syllables. The two languages share letters, so that a joint BPE has
# shared subwords.
_SOURCE = tuple("kgtdbmnrsz"), tuple("aiu"), ("", "", "n", "r")
_TARGET = tuple("lpvfhjmtsn"), tuple("aeou"), ("", "", "l", "s")


class Word(NamedTuple):
    """One word of a target before register and noise are chosen."""

    forms: tuple[str, ...]  # one per register; the same one in each for a word without synonyms
    slip: str | None  # the careless form of a content word, None for a function word


class Lexicon(NamedTuple):
    """The words of both languages."""

    source: dict[str, tuple[str, ...]]  # by category letter, the most frequent first
    category: dict[str, str]  # letter of each source word
    target: dict[str, tuple[Word, ...]]  # the one or two words of each source word
    particle: Word  # the target word after the verb


class Clause(NamedTuple):
    """A target before register, order and noise are chosen."""

    main: tuple[Word, ...]  # subject, verb, particle and object
    particle: int  # its place in `main`
    adverbial: tuple[Word, ...]  # the words after or before `main`

    def layout(self, front: bool, dropped: bool) -> tuple[Word, ...]:
        """The words in the order of one target."""
        main = self.main
        if dropped:
            main = main[: self.particle] + main[self.particle + 1 :]
        return self.adverbial + main if front else main + self.adverbial


@cache
def lexicon(language: Language) -> Lexicon:
    """The words, all different over concepts, registers, slips and the two languages."""
    generator = np.random.default_rng([language.seed, len(SPLITS)])
    taken: set[str] = set()
    registers = len(language.register_probabilities)

    def invent(sounds: tuple[tuple[str, ...], ...], least: int, most: int) -> str:
        while True:
            syllables = generator.integers(least, most + 1)
            word = "".join(str(generator.choice(part)) for _ in range(syllables) for part in sounds)
            if word not in taken:
                taken.add(word)
                return word

    def content(varied: bool) -> Word:
        forms = [invent(_TARGET, 2, 3) for _ in range(registers if varied else 1)]
        return Word(tuple(forms if varied else forms * registers), invent(_TARGET, 2, 3))

    def function() -> Word:
        return Word((invent(_TARGET, 1, 1),) * registers, None)

    def choose(share: float) -> set[str]:
        count = round(share * len(content_words))
        return {content_words[k] for k in generator.permutation(len(content_words))[:count]}

    particle = function()
    sizes = {"N": language.nouns, "A": language.adjectives, "V": language.verbs}
    sizes |= {"T": language.adverbs, "P": language.prepositions}
    source: dict[str, tuple[str, ...]] = {}
    for letter, size in sizes.items():
        syllables = (1, 1) if letter == "P" else (2, 3)
        source[letter] = tuple(invent(_SOURCE, *syllables) for _ in range(size))
    content_words = [word for letter in "NAVT" for word in source[letter]]
    fertile, varied = choose(language.fertile_share), choose(language.synonym_share)
    target = {
        word: tuple(content(word in varied) for _ in range(1 + (word in fertile)))
        for word in content_words
    }
    target |= {word: (function(),) for word in source["P"]}
    category = {word: letter for letter, words in source.items() for word in words}
    return Lexicon(source, category, target, particle)


def clause(language: Language, source: str) -> Clause:
    """The frame that all targets of a source sentence share; a `ValueError` for any other text."""
    words = source.split()
    known = lexicon(language)
    groups = _SENTENCE.fullmatch("".join(known.category.get(word, "?") for word in words))
    if groups is None or len(set(words)) < len(words):
        raise ValueError(f"'{source}' is not a sentence of the language")
    # each group keeps its place but reads backwards: postpositions become prepositions,
    # adjectives go before their noun
    subject, attribute, object_, object_attribute, verb, adverbial = (
        tuple(
            translated
            for word in reversed(words[slice(*groups.span(number))])
            for translated in known.target[word]
        )
        for number in range(1, 7)
    )
    before = subject + attribute + verb
    main = (*before, known.particle, *object_, *object_attribute)
    return Clause(main, len(before), adverbial)
