"""Language pairs whose law is known: invented words, a grammar, and targets with modes.

A source sentence is `subject [object] verb adverbial`. Its target is drawn in four independent
steps, each with a probability that is a field of `Language`:

- *register* R: one choice for the whole sentence selects among the synonyms of all words that have
  synonyms;
- *order* O: the adverbial is at the end or at the front, where it shifts every other word;
- *slips* N_i (noise): each content word is independently replaced by its careless form;
- *drop* D (noise, unless `optional_particle`): the particle after the verb is omitted.

No concept occurs twice in a sentence and no two forms are equal, so a target shows which choices
were made; only the register stays hidden when every word with synonyms is a slip.
`nat.data.invented.law` has the probabilities that follow.
"""

import math
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.data.corpus import GeneratorOptions
from nat.options import validated

SPLITS = ("train", "valid", "test")

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Concepts = Annotated[int, Field(le=1000)]

# Letters of the categories: Noun, Adjective, Verb, Time adverb, Postposition (in the target a
# preposition). Each group of a source sentence is reversed in the target.
_SENTENCE = re.compile(r"(NA?)((?:NA?P)?)((?:NA?)?)((?:NA?P)?)(V)(T|NA?P)")

# Onsets, vowels and codas of syllables. The two languages share letters, so that a joint BPE has
# shared subwords.
_SOURCE = tuple("kgtdbmnrsz"), tuple("aiu"), ("", "", "n", "r")
_TARGET = tuple("lpvfhjmtsn"), tuple("aeou"), ("", "", "l", "s")


class Word(NamedTuple):
    """One word of a target before register and noise are chosen."""

    forms: tuple[str, ...]
    """One form per register; the same one in each for a word without synonyms."""
    slip: str | None
    """The careless form of a content word, None for a function word."""


class Lexicon(NamedTuple):
    """The words of both languages."""

    source: dict[str, tuple[str, ...]]
    """Source words by category letter, from the most to the least frequent."""
    category: dict[str, str]
    """Category letter of each source word."""
    target: dict[str, tuple[Word, ...]]
    """The one or two target words of each source word."""
    particle: Word
    """The target word after the verb."""


class Clause(NamedTuple):
    """A target before register, order and noise are chosen."""

    main: tuple[Word, ...]
    """Subject, verb, particle and object."""
    particle: int
    """Place of the particle in `main`."""
    adverbial: tuple[Word, ...]
    """The words after or before `main`."""

    def layout(self, front: bool, dropped: bool) -> tuple[Word, ...]:
        """The words in the order of one target."""
        main = self.main
        if dropped:
            main = main[: self.particle] + main[self.particle + 1 :]
        return self.adverbial + main if front else main + self.adverbial


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Language:
    """A language pair: the parameters of its lexicon, grammar and law, and what follows from them.

    Attributes:
        seed: draws the words and the sentences.
        nouns, verbs, adjectives, adverbs, prepositions: concepts of each category (80 in all).
            Prepositions are function words: no synonyms, never a slip.
        zipf_exponent: the k-th concept of a category is drawn with weight k^-zipf_exponent.
        fertile_share: share of the content concepts whose translation is two words.
        synonym_share: share of the content concepts whose words have synonyms, one per register.
        adjective_probability: a noun has an adjective.
        attribute_probability: subject or object has a second noun joined by a preposition.
        object_probability: the sentence has an object.
        phrase_probability: the adverbial is a prepositional phrase, not an adverb.
        register_probabilities: one entry per register, with sum one.
        front_probability: the adverbial is at the front.
        slip_probability: a content word of the raw reference is its careless form.
        drop_probability: the particle is missing from the raw reference.
        optional_particle: a target without the particle is as correct as one with it.
    """

    seed: Annotated[int, Field(ge=0)] = 1
    nouns: Annotated[Concepts, Field(ge=5)] = 36
    verbs: Annotated[Concepts, Field(ge=1)] = 18
    adjectives: Annotated[Concepts, Field(ge=5)] = 14
    adverbs: Annotated[Concepts, Field(ge=1)] = 8
    prepositions: Annotated[Concepts, Field(ge=3, le=12)] = 4
    zipf_exponent: Annotated[float, Field(ge=0, le=10)] = 0.8
    fertile_share: Probability = 0.2
    synonym_share: Probability = 0.9
    adjective_probability: Probability = 0.5
    attribute_probability: Probability = 0.4
    object_probability: Probability = 1.0
    phrase_probability: Probability = 0.7
    register_probabilities: Annotated[
        tuple[Probability, ...], Field(min_length=1, max_length=8)
    ] = (0.5, 0.5)
    front_probability: Probability = 0.35
    slip_probability: Probability = 0.01
    drop_probability: Probability = 0.03
    optional_particle: bool = False

    def __post_init__(self) -> None:
        if abs(math.fsum(self.register_probabilities) - 1) > 1e-9:
            raise ValueError("register_probabilities must have sum one")

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words, all different over concepts, registers, slips and the two languages."""
        generator = np.random.default_rng([self.seed, len(SPLITS)])
        taken: set[str] = set()
        registers = len(self.register_probabilities)

        def invent(sounds: tuple[tuple[str, ...], ...], least: int, most: int) -> str:
            while True:
                syllables = generator.integers(least, most + 1)
                word = "".join(
                    str(generator.choice(part)) for _ in range(syllables) for part in sounds
                )
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
        sizes = self.nouns, self.adjectives, self.verbs, self.adverbs, self.prepositions
        source: dict[str, tuple[str, ...]] = {}
        for letter, size in zip("NAVTP", sizes, strict=True):
            syllables = (1, 1) if letter == "P" else (2, 3)
            source[letter] = tuple(invent(_SOURCE, *syllables) for _ in range(size))
        content_words = [word for letter in "NAVT" for word in source[letter]]
        fertile, varied = choose(self.fertile_share), choose(self.synonym_share)
        target = {
            word: tuple(content(word in varied) for _ in range(1 + (word in fertile)))
            for word in content_words
        }
        target |= {word: (function(),) for word in source["P"]}
        category = {word: letter for letter, words in source.items() for word in words}
        return Lexicon(source, category, target, particle)

    def clause(self, source: str) -> Clause:
        """The frame that all targets of a source sentence share.

        Raises:
            ValueError: if `source` is not a sentence of this language.
        """
        words = source.split()
        lexicon = self.lexicon
        groups = _SENTENCE.fullmatch("".join(lexicon.category.get(word, "?") for word in words))
        if groups is None or len(set(words)) < len(words):
            raise ValueError(f"'{source}' is not a sentence of the language")
        # each group keeps its place but reads backwards: postpositions become prepositions,
        # adjectives go before their noun
        subject, attribute, object_, object_attribute, verb, adverbial = (
            tuple(
                translated
                for word in reversed(words[slice(*groups.span(number))])
                for translated in lexicon.target[word]
            )
            for number in range(1, 7)
        )
        before = subject + attribute + verb
        main = (*before, lexicon.particle, *object_, *object_attribute)
        return Clause(main, len(before), adverbial)

    def layouts(self) -> Iterator[tuple[bool, bool, float]]:
        """All layouts: adverbial at the front, particle missing, and their probability."""
        for front, p in binary(self.front_probability):
            for dropped, q in binary(self.drop_probability):
                if p * q > 0:
                    yield front, dropped, p * q

    def forms(self, word: Word, register: int) -> tuple[tuple[str, float], ...]:
        """The forms of a word in a register, with the probability of each."""
        if word.slip is None:
            return ((word.forms[register], 1.0),)
        return (
            (word.forms[register], 1 - self.slip_probability),
            (word.slip, self.slip_probability),
        )


def binary(probability: float) -> tuple[tuple[bool, float], tuple[bool, float]]:
    """Probabilities of no and yes."""
    return (False, 1 - probability), (True, probability)


def language_of(options: GeneratorOptions) -> Language:
    """The language of the section `generator` of a corpus.

    Raises:
        UserError: for an unknown key, or a value that is out of range.
    """
    return validated(Language, options.model_extra, "the generator")
