"""Corpora restricted to some of their splits, as the steps of their text read them."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from nat.data.corpus import Corpus
from nat.data.splits import TRAIN, VALID

Value = TypeVar("Value")


def part_of(corpus: Corpus, splits: Iterable[str]) -> Corpus:
    """A corpus, restricted to some of its splits."""
    kept, generator, derived = set(splits), corpus.generator, corpus.derived
    changed: dict[str, Any] = {"splits": _only(corpus.splits, kept)}
    if generator is not None:
        pairs = {"pairs": _only(generator.pairs, kept)}
        changed = {"generator": generator.model_copy(update=pairs)}
    elif derived is not None:
        names = {"splits": [name for name in derived.splits if name in kept]}
        changed = {"derived": derived.model_copy(update=names)}
    return corpus.model_copy(update=changed)


def _only(values: Mapping[str, Value], names: set[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name in names}


def training_part(corpus: Corpus) -> Corpus:
    """The part of a corpus that trainings read."""
    return part_of(corpus, (TRAIN, VALID))


def text_part(corpus: Corpus, split: str = TRAIN) -> Corpus:
    """The part of a corpus whose raw text is made in one step.

    It is a test set, or the training text, `valid`, and what is cut out of it.
    """
    if split in (TRAIN, VALID):
        cut = [test for test in corpus.test_names if corpus.is_cut_out(test)]
        return part_of(corpus, [TRAIN, VALID, *cut])
    of_training: dict[str, Any] = {"subwords": None, "distilled": {}}
    return part_of(corpus, [split]).model_copy(update=_only(of_training, corpus.model_fields_set))


def prepared_as(corpus: Corpus, split: str) -> dict[str, Any]:
    """The keys by which the text of a split is made and prepared, JSON-able, as written."""
    written = text_part(corpus, split).as_written()
    for description in written.get("splits", {}).values():
        description.pop("pairs", None)
    left_out = {"description", "licensed_by", "licence", "dataset"}
    left_out |= {"expected", "bleu_tokeniser", "least_perfect_score"}
    return {key: value for key, value in written.items() if key not in left_out}
