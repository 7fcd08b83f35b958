"""Language pairs with a known distribution: invented words, a grammar, and targets with modes.

A source sentence is `subject [object] verb adverbial`. Its target is drawn in four independent
steps, each with a probability that is a field of `Language`:

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
`nat.data.subword_law`.
"""

import hashlib
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as validated_dataclass

from nat.data.corpus import Generator
from nat.data.references import References, references_path, write_references
from nat.errors import UserError
from nat.files import atomic_write_text, write_json
from nat.options import validated

END = ""
"""The symbol that pads a target to the greatest length its source allows; no word is empty."""

SPLITS = ("train", "valid", "test")
FURTHER_TEST = "test_"
"""Beginning of the names of further test sets."""
HELD_OUT_SHARE = 0.05
"""Share of the space of source sentences that belongs to `valid`, and likewise to test sets."""

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(le=1000)]

# Letters of the categories: Noun, Adjective, Verb, Time adverb, Postposition (in the target a
# preposition). Each group of a source sentence is reversed in the target.
_SENTENCE = re.compile(r"(NA?)((?:NA?P)?)((?:NA?)?)((?:NA?P)?)(V)(T|NA?P)")
_BLOCK = 1024
_MOST_CONTENT_WORDS = 24


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
class Language:
    """A language pair: its lexicon, its grammar and the distribution of its targets.

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
    nouns: Annotated[Count, Field(ge=5)] = 36
    verbs: Annotated[Count, Field(ge=1)] = 18
    adjectives: Annotated[Count, Field(ge=5)] = 14
    adverbs: Annotated[Count, Field(ge=1)] = 8
    prepositions: Annotated[Count, Field(ge=3, le=12)] = 4
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
            UserError: if `source` is not a sentence of this language.
        """
        words = source.split()
        lexicon = self.lexicon
        unknown = next((word for word in words if word not in lexicon.category), None)
        if unknown is not None:
            raise UserError(f"'{unknown}' in '{source}' is not a word of the synthetic language")
        found = _SENTENCE.fullmatch("".join(lexicon.category[word] for word in words))
        if found is None or len(set(words)) < len(words):
            raise UserError(f"'{source}' is not a sentence of the synthetic language")
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
            UserError: if `source` is not a sentence of this language.
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

    def distribution(self, source: str) -> dict[str, float]:
        """The distribution of the target with noise: every possible target and its probability.

        Its size doubles with each content word (some thousands of targets for a typical sentence);
        `entropies` and `marginals` need no enumeration.

        Raises:
            UserError: if `source` is not a sentence of this language.
        """
        clause = self.clause(source)
        found: defaultdict[str, float] = defaultdict(float)
        for front, dropped, share in self.layouts():
            words = clause.layout(front, dropped)
            for register, p in enumerate(self.register_probabilities):
                choices = [self.forms(word, register) for word in words]
                for choice in itertools.product(*choices):
                    weight = share * p * math.prod(weight for _, weight in choice)
                    if weight > 0:
                        found[" ".join(form for form, _ in choice)] += weight
        return dict(found)

    def marginals(self, source: str) -> list[dict[str, float]]:
        """The distribution of each position of the padded target: word (or `END`) to probability.

        P(y_i = w) = sum over layouts (O, D) of P(O) P(D) P(w | word at place i of the layout).

        Raises:
            UserError: if `source` is not a sentence of this language.
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
            UserError: if `source` is not a sentence of this language.
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
        """Whether the adverbial is at the front, whether the particle is missing, probability."""
        for front, p in _binary(self.front_probability):
            for dropped, q in _binary(self.drop_probability):
                if p * q > 0:
                    yield front, dropped, p * q

    def forms(self, word: Word, register: int) -> tuple[tuple[str, float], ...]:
        """What a word may be written as in a register, with the probability of each."""
        if word.slip is None:
            return ((word.forms[register], 1.0),)
        return (
            (word.forms[register], 1 - self.slip_probability),
            (word.slip, self.slip_probability),
        )


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
        UserError: if the split has no such name, or the grammar has no sentences for it.
    """
    kind = "test" if split.startswith(FURTHER_TEST) else split
    if kind not in SPLITS:
        raise UserError(f"unknown split '{split}'; known: {', '.join(SPLITS)}, {FURTHER_TEST}NAME")
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
                f"the synthetic language has no source sentence for the split '{split}'; "
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

    Raises:
        UserError: if there is no source sentence, or one is not of this language.
    """
    found = [language.entropies(source) for source in sources]
    if not found:
        raise UserError("entropies of an empty synthetic corpus are not defined; set pairs above 0")
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
    options: Generator, splits: Sequence[str] = SPLITS
) -> tuple[Language, dict[str, int]]:
    """Read the section `generator` of a corpus: the language and the pairs of each split.

    Args:
        options: the section.
        splits: those that it must have; besides them it may have further test sets.

    Raises:
        UserError: for an unknown or missing key, or a value that is out of range.
    """
    pairs = options.pairs
    if not set(splits) <= set(pairs):
        raise UserError(f"generator: 'pairs' needs a number for each of {', '.join(splits)}")
    language = validated(Language, options.model_extra, "the generator")
    order = [*SPLITS, *pairs]
    return language, {split: pairs[split] for split in sorted(pairs, key=order.index)}


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

    Raises:
        UserError: for a bad option, equal language codes, or a folder that cannot be written.
    """
    if source_language == target_language:
        raise UserError(f"source and target of a corpus are both '{source_language}'; rename one")
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
