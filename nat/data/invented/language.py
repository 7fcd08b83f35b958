"""Language pairs with a known distribution: invented words, a grammar, and targets with modes.

A source sentence is `subject [object] verb adverbial`. Its target is drawn in four independent
steps, each with a probability that is a field of `Parameters`:

- *register* R: one choice for the whole sentence selects among the synonyms of all words that have
  synonyms;
- *order* O: the adverbial is at the end or at the front, where it shifts every other word;
- *slips* N_i (noise): each content word is independently replaced by its careless form;
- *drop* D (noise, unless `optional_particle`): the particle after the verb is omitted.

No concept occurs twice in a sentence and no two forms are equal, so a target shows which choices
were made; only the register stays hidden when every word with synonyms is a slip. With n
content words, m of them with synonyms, and h the binary entropy this gives, exactly,

    H(Y|X) = h(O) + h(D) + n h(N) + (1 - P(N)^m) H(R).

The marginals are mixtures over the layouts (O, D); see `Language.marginals`.

All quantities are at word level. A dropped particle makes the target one word shorter, so every
target is padded with the end symbol `END` to the greatest length that its source allows: the
length is then part of the distribution, and the padded target is equivalent to the target.
Splitting words into subwords does not change H(Y|X), but changes the sum of the marginals, see
`nat.data.invented.subword_law`.
"""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as validated_dataclass

from nat.data.invented.parameters import SPLITS, Parameters

END = ""
"""The symbol that pads a target to the greatest length its source allows; no word is empty."""

# Letters of the categories: Noun, Adjective, Verb, Time adverb, Postposition (in the target a
# preposition). Each group of a source sentence is reversed in the target.
_SENTENCE = re.compile(r"(NA?)((?:NA?P)?)((?:NA?)?)((?:NA?P)?)(V)(T|NA?P)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a target before register and noise are chosen.

    Attributes:
        forms: one form per register; the same one in each for a word without synonyms.
        slip: the careless form of a content word, None for a function word.
    """

    forms: tuple[str, ...]
    slip: str | None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of both languages.

    Attributes:
        source: source words by category letter, from the most to the least frequent.
        category: category letter of each source word.
        target: the one or two target words of each source word.
        particle: the target word after the verb.
    """

    source: dict[str, tuple[str, ...]]
    category: dict[str, str]
    target: dict[str, tuple[Word, ...]]
    particle: Word


@dataclass(frozen=True, slots=True)
class Clause:
    """A target before register, order and noise are chosen.

    Attributes:
        main: subject, verb, particle and object.
        particle: place of the particle in `main`.
        adverbial: the words after or before `main`.
    """

    main: tuple[Word, ...]
    particle: int
    adverbial: tuple[Word, ...]

    def layout(self, front: bool, dropped: bool) -> tuple[Word, ...]:
        """The words in the order of one target."""
        main = self.main
        if dropped:
            main = main[: self.particle] + main[self.particle + 1 :]
        return self.adverbial + main if front else main + self.adverbial


@dataclass(frozen=True, slots=True)
class Entropies:
    """Exact entropies of the target given one source sentence, in nats.

    Attributes:
        joint: H(Y|X).
        marginals: H(y_i|X) of each position of the padded target.
        words: expected length of the target, in words.
    """

    joint: float
    marginals: tuple[float, ...]
    words: float

    @property
    def total_correlation(self) -> float:
        """C(X) = sum_i H(y_i|X) - H(Y|X)."""
        return math.fsum(self.marginals) - self.joint


@validated_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Language(Parameters):
    """A language pair with the words and the exact law that follow from its parameters."""

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words, all different over concepts, registers, slips and the two languages."""
        generator = np.random.default_rng([self.seed, len(SPLITS)])
        taken: set[str] = set()
        sizes = {
            "N": self.nouns,
            "A": self.adjectives,
            "V": self.verbs,
            "T": self.adverbs,
            "P": self.prepositions,
        }
        registers = len(self.register_probabilities)

        def invent(sounds: _Sounds, *syllables: int) -> str:
            return _invent(generator, sounds, syllables, taken)

        def content(varied: bool) -> Word:
            forms = [invent(_TARGET, 2, 3) for _ in range(registers if varied else 1)]
            return Word(tuple(forms if varied else forms * registers), invent(_TARGET, 2, 3))

        def function() -> Word:
            return Word((invent(_TARGET, 1, 1),) * registers, None)

        def choose(share: float) -> set[str]:
            count = round(share * len(content_words))
            return {content_words[k] for k in generator.permutation(len(content_words))[:count]}

        particle = function()
        source: dict[str, tuple[str, ...]] = {}
        category: dict[str, str] = {}
        target: dict[str, tuple[Word, ...]] = {}
        for letter, size in sizes.items():
            syllables = (1, 1) if letter == "P" else (2, 3)
            source[letter] = tuple(invent(_SOURCE, *syllables) for _ in range(size))
            category |= dict.fromkeys(source[letter], letter)
        content_words = [word for letter in "NAVT" for word in source[letter]]
        fertile, varied = choose(self.fertile_share), choose(self.synonym_share)
        for word in content_words:
            target[word] = tuple(content(word in varied) for _ in range(1 + (word in fertile)))
        for word in source["P"]:
            target[word] = (function(),)
        return Lexicon(source, category, target, particle)

    def clause(self, source: str) -> Clause:
        """The frame that all targets of a source sentence share.

        Raises:
            ValueError: if `source` is not a sentence of this language.
        """
        words = source.split()
        lexicon = self.lexicon
        found = _SENTENCE.fullmatch("".join(lexicon.category.get(word, "?") for word in words))
        if found is None or len(set(words)) < len(words):
            raise ValueError(f"'{source}' is not a sentence of the language")
        # each group keeps its place but reads backwards: postpositions become prepositions,
        # adjectives go before their noun
        subject, attribute, object_, object_attribute, verb, adverbial = (
            tuple(
                translated
                for word in reversed(words[slice(*found.span(group))])
                for translated in lexicon.target[word]
            )
            for group in range(1, 7)
        )
        before = subject + attribute + verb
        main = before + (lexicon.particle,) + object_ + object_attribute
        return Clause(main, len(before), adverbial)

    def modes(self, source: str) -> dict[str, float]:
        """All noise-free targets with their probabilities, the most probable first.

        The probabilities sum to one: this is the distribution of the target without noise.

        Raises:
            ValueError: if `source` is not a sentence of this language.
        """
        clause = self.clause(source)
        found: defaultdict[str, float] = defaultdict(float)
        drops = _binary(self.drop_probability) if self.optional_particle else ((False, 1.0),)
        orders = _binary(self.front_probability)
        for (front, order), (dropped, drop) in itertools.product(orders, drops):
            for register, p in enumerate(self.register_probabilities):
                if p * order * drop > 0:
                    words = clause.layout(front, dropped)
                    found[" ".join(word.forms[register] for word in words)] += p * order * drop
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def marginals(self, source: str) -> list[dict[str, float]]:
        """The distribution of each position of the padded target: word (or `END`) to probability.

        P(y_i = w) = sum over layouts (O, D) of P(O) P(D) P(w | word at place i of the layout).

        Raises:
            ValueError: if `source` is not a sentence of this language.
        """
        clause = self.clause(source)
        length = len(clause.main) + len(clause.adverbial)
        positions: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(length)]
        for front, dropped, share in self.layouts():
            words = clause.layout(front, dropped)
            for position, word in zip(positions, words, strict=False):
                for register, p in enumerate(self.register_probabilities):
                    for form, weight in self.forms(word, register):
                        if share * p * weight > 0:
                            position[form] += share * p * weight
            for position in positions[len(words) :]:
                position[END] += share
        return [dict(position) for position in positions]

    def entropies(self, source: str) -> Entropies:
        """Exact H(Y|X), H(y_i|X) and so C(X) of one source sentence, in nats.

        Raises:
            ValueError: if `source` is not a sentence of this language.
        """
        clause = self.clause(source)
        words = clause.main + clause.adverbial
        # sentences of one shape share their entropies, because no word occurs twice in any
        shape = tuple((word.slip is None, len(set(word.forms))) for word in words)
        key = (shape, clause.particle, len(clause.main))
        if key not in self._known:
            content = sum(word.slip is not None for word in words)
            varied = sum(len(set(word.forms)) > 1 for word in words)
            joint = (
                _binary_entropy(self.front_probability)
                + _binary_entropy(self.drop_probability)
                + content * _binary_entropy(self.slip_probability)
                + (1 - self.slip_probability**varied) * entropy(self.register_probabilities)
            )
            self._known[key] = Entropies(
                joint,
                tuple(entropy(position.values()) for position in self.marginals(source)),
                len(words) - self.drop_probability,
            )
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[tuple[tuple[bool, int], ...], int, int], Entropies]:
        return {}

    def layouts(self) -> Iterator[tuple[bool, bool, float]]:
        """All layouts: adverbial at the front, particle missing, and their probability."""
        for front, p in _binary(self.front_probability):
            for dropped, q in _binary(self.drop_probability):
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


@dataclass(frozen=True, slots=True)
class _Sounds:
    onsets: str
    vowels: str
    codas: tuple[str, ...]


# the two languages share letters, so that a joint BPE has shared subwords
_SOURCE = _Sounds("kgtdbmnrsz", "aiu", ("", "", "n", "r"))
_TARGET = _Sounds("lpvfhjmtsn", "aeou", ("", "", "l", "s"))


def _invent(
    generator: np.random.Generator, sounds: _Sounds, syllables: tuple[int, ...], taken: set[str]
) -> str:
    """A new word with a number of syllables (from, to), which is then marked as taken."""
    while True:
        word = "".join(
            str(generator.choice(list(sounds.onsets)))
            + str(generator.choice(list(sounds.vowels)))
            + str(generator.choice(sounds.codas))
            for _ in range(generator.integers(syllables[0], syllables[-1] + 1))
        )
        if word not in taken:
            taken.add(word)
            return word


def _binary(probability: float) -> tuple[tuple[bool, float], tuple[bool, float]]:
    return (False, 1 - probability), (True, probability)


def entropy(weights: Iterable[float], total: float = 1.0) -> float:
    """Entropy in nats of weights with this sum, with 0 log 0 = 0."""
    return -math.fsum(p / total * math.log(p / total) for p in weights if p > 0) + 0.0


def _binary_entropy(probability: float) -> float:
    return entropy((probability, 1 - probability))
