"""Assignment of latents between two references of one source: is the target's order in them?

Fully-NAT (Gu and Kong 2021), appendix B and figure 6: for each of two references of a source the
posterior has a latent at each source position. The positions of the one are assigned to those of
the other so that the sum of Euclidean distances is minimal. If the references differ in their word
order, the assignment should reflect it.
"""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.artifacts import references
from nat.data.batch import pad
from nat.data.references import read_references, references_path
from nat.data.subwords import splitter_at, subwords_file
from nat.parts.latent import LatentVariables

EXAMPLES = 3
"""Number of sentences shown as in the figure: those whose references are reordered most."""


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found | None:
    """Assign the latents of two references, where sentences have several.

    The two of a source are its first reference and that which has most pairs of its words in the
    other order (of equals, the first). `latent_moved` is the share of source positions, EOS
    included, that are not assigned to themselves.
    """
    job, vocabularies = subject.job, subject.vocabularies
    folder = references(job.corpus, job.artifact.corpus, pairs.name)
    if folder is None:
        return None
    path = references_path(Path(folder.path), pairs.name, job.corpus.target)
    several = read_references(path, len(pairs.sources))
    chosen = {number: both for number, (texts, _) in several.items() if (both := most_apart(texts))}
    how = job.corpus.preparation(job.corpus.target)
    split = splitter_at(subwords_file(Path(job.inputs.subwords.path), "target"))
    encoded = {
        number: [vocabularies.target.encode(split(how.prepared(text))) for text in both]
        for number, both in chosen.items()
    }
    assigned = assignments(pairs, encoded)
    reordered = {number: inversions(*chosen[number]) for number in assigned}
    return {
        **pairs.counts(len(assigned)),
        "measures": analysis.measures(moved(assigned)),
        "examples": [
            {
                "sentence": number,
                "source": vocabularies.source.decode(pairs.sources[number].tolist()).split(),
                "references": list(chosen[number]),
                "assignment": assigned[number],
            }
            for number in sorted(assigned, key=lambda each: (-reordered[each], each))[:EXAMPLES]
        ],
    }


def inversions(first: str, second: str) -> int:
    """Number of pairs of words, of those that occur once in both texts, whose order is reversed."""
    one, other = first.split(), second.split()
    places = {word: place for place, word in enumerate(other) if other.count(word) == 1}
    row = [places[word] for word in one if word in places and one.count(word) == 1]
    return sum(before > after for before, after in itertools.combinations(row, 2))


def most_apart(references: Sequence[str]) -> tuple[str, str] | None:
    """The first reference and that with most words reordered; None if there is no other."""
    first, *others = dict.fromkeys(references)
    if not others:
        return None
    return first, max(others, key=lambda other: inversions(first, other))


@torch.no_grad()
def assignments(
    pairs: Pairs, references: Mapping[int, Sequence[Sequence[int]]]
) -> dict[int, list[int]]:
    """Assign the posterior's means of the first of two references to those of the second.

    `references` has both in subwords, by the number of the sentence. The result is the position
    that each source position is assigned to, EOS included, where all three sides fit the model.
    """
    model, latents = pairs.model, pairs.model.part(LatentVariables)
    assert latents is not None
    lengths = {
        number: max(length, *map(len, references[number]))
        for number, length in pairs.usable_sources().items()
        if number in references
        and all(0 < len(each) <= model.longest_target for each in references[number])
    }
    assigned = {}
    for numbers, source in pairs.source_batches(lengths):
        encoded = model.encode(source)
        targets = (pad([references[number][side] for number in numbers]) for side in (0, 1))
        first, second = (
            latents.posterior(model, encoded, target.to(pairs.device)).mean.double().cpu()
            for target in targets
        )
        for row, number in enumerate(numbers):
            length = int((~encoded.padding[row]).sum())
            distances = cdist(first[row, :length], second[row, :length])
            assigned[number] = linear_sum_assignment(distances)[1].tolist()
    return assigned


def moved(assigned: Mapping[int, Sequence[int]]) -> dict[str, float]:
    """Percent of positions that are assigned to others; nothing without sentences."""
    away = [position != place for row in assigned.values() for place, position in enumerate(row)]
    return {"latent_moved": 100 * sum(away) / len(away)} if away else {}
