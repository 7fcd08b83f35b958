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
from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.data.corpus import GeneratorOptions
from nat.options import validated

SPLITS = ("train", "valid", "test")

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Concepts = Annotated[int, Field(le=1000)]


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

    def layouts(self) -> Iterator[tuple[bool, bool, float]]:
        """All layouts: adverbial at the front, particle missing, and their probability."""
        for front, p in binary(self.front_probability):
            for dropped, q in binary(self.drop_probability):
                if p * q > 0:
                    yield front, dropped, p * q


def binary(probability: float) -> tuple[tuple[bool, float], tuple[bool, float]]:
    """Probabilities of no and yes."""
    return (False, 1 - probability), (True, probability)


def language_of(options: GeneratorOptions) -> Language:
    """The language of the section `generator` of a corpus; a `UserError` for a wrong key."""
    return validated(Language, options.model_extra, "the generator")
