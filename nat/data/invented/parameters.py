"""Parameters of an invented language, as under the key `generator` of a corpus file."""

import math
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.data.corpus import Generator
from nat.errors import UserError
from nat.options import validated

SPLITS = ("train", "valid", "test")
FURTHER_TEST = "test_"
"""Beginning of the names of further test sets."""

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(le=1000)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Parameters:
    """The parameters of a language pair: its lexicon, grammar and distribution of targets.

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


Kind = TypeVar("Kind", bound=Parameters)


def read_parameters(
    options: Generator, kind: type[Kind], splits: tuple[str, ...] = SPLITS
) -> tuple[Kind, dict[str, int]]:
    """Read the section `generator` of a corpus: the language and the pairs of each split.

    Args:
        options: the section.
        kind: `Parameters`, or a class with the same fields.
        splits: those that it must have; besides them it may have further test sets.

    Raises:
        UserError: for an unknown or missing key, or a value that is out of range.
    """
    pairs = options.pairs
    if not set(splits) <= set(pairs):
        raise UserError(f"generator: 'pairs' needs a number for each of {', '.join(splits)}")
    language = validated(kind, options.model_extra, "the generator")
    order = [*SPLITS, *pairs]
    return language, {split: pairs[split] for split in sorted(pairs, key=order.index)}
