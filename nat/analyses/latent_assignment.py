"""Whether latents follow the word order of the target, for two references of one source.

Fully-NAT (Gu and Kong 2021), appendix B and figure 6: for each of two references of a source the
posterior has a latent at each source position. The positions of the one are assigned to those of
the other so that the sum of Euclidean distances is minimal. If the references differ in their word
order, the assignment should reflect it.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from nat.analyses import analysis
from nat.artifacts import Analysis, references
from nat.data.batch import pad, source_tensor
from nat.data.corpus import Corpus
from nat.data.references import references_path
from nat.data.splits import sides
from nat.data.subwords import segments_of
from nat.data.tokenise import target_tokens
from nat.decoding.corpus import batches
from nat.job import Job
from nat.measures.score import read_references
from nat.parts.latent import LatentVariables
from nat.transformer.model import Transformer

EXAMPLES = 3
"""Number of sentences shown as in the figure: those whose references are reordered most."""

UNITS = {
    "latent_moved": "percent of positions",
    "latent_moved_with_order": "correlation",
}


def reordered(first: Sequence[str], second: Sequence[str]) -> float:
    """Share of the pairs of words occurring once in both texts whose order is reversed."""
    inverted, pairs = _inversions(first, second)
    return inverted / pairs if pairs else 0.0


def _inversions(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Number of pairs of common words whose order is reversed, and number of all such pairs."""
    places = {word: place for place, word in enumerate(second) if second.count(word) == 1}
    row = [places[word] for word in first if word in places and first.count(word) == 1]
    pairs = [before > after for before, after in itertools.combinations(row, 2)]
    return sum(pairs), len(pairs)


def assign(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Position of the second latents that each of the first is assigned to, both [S, d], [S]."""
    _, places = linear_sum_assignment(cdist(first, second))
    return np.asarray(places)


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Assign the latents of two references, on every held-out split with several references.

    The two of a source are its first reference and that which has most pairs of its words in the
    other order (of equals, the first). `latent_moved` is the share of source positions, EOS
    included, that are not assigned to themselves.

    Raises:
        UserError: if the model does not fit.
    """
    found = analysis.subject(job)
    _, target = sides(job.corpus)
    segment = segmenter(Path(job.inputs.subwords.path), job.corpus)
    splits = {}
    for split in found.splits:
        folder = references(job.corpus, job.artifact.corpus, split.name)
        if folder is None:
            continue
        file = references_path(Path(folder.path), split.name, target)
        several = read_references(file, len(split.sources))
        pairs = {number: pair for number, texts in several.items() if (pair := most_apart(texts))}
        encoded = {
            number: [found.vocabularies.target.encode(segment(text)) for text in pair]
            for number, pair in pairs.items()
        }
        assigned = assignments(found.model, split.sources, encoded, found.batch_tokens)
        splits[split.name] = {
            "sentences": len(assigned),
            "left_out": len(split.sources) - len(assigned),
            "measures": analysis.measures(moved(assigned, pairs), UNITS),
            "examples": [
                {
                    "sentence": number,
                    "source": found.vocabularies.source.decode(
                        split.sources[number].tolist()
                    ).split(),
                    "references": list(pairs[number]),
                    "assignment": assigned[number],
                }
                for number in sorted(
                    assigned, key=lambda number: (-_inversions(*_words(pairs[number]))[0], number)
                )[:EXAMPLES]
            ],
        }
    return {"splits": splits}


def most_apart(references: Sequence[str]) -> tuple[str, str] | None:
    """The first reference and that with most of its words reordered; None if there is no other."""
    first, *others = dict.fromkeys(references)
    if not others:
        return None
    words = first.split()
    return first, max(others, key=lambda other: _inversions(words, other.split())[0])


def segmenter(folder: Path, description: Corpus) -> Callable[[str], str]:
    """A function from a raw line of the target language to its subwords in the corpus.

    Args:
        folder: of the subwords of the corpus.
        description: its configuration.
    """
    model = segments_of(folder, "target")

    def split(line: str) -> str:
        [tokens] = target_tokens([line], description)
        return model.split(tokens)

    return split


@torch.no_grad()
def assignments(
    model: Transformer,
    sources: analysis.Sentences,
    references: Mapping[int, Sequence[Sequence[int]]],
    batch_tokens: int,
) -> dict[int, list[int]]:
    """Assign the posterior's means of the first of two references to those of the second.

    Args:
        model: with latents.
        sources: of a text.
        references: two of each sentence, in subwords, by its number.
        batch_tokens: most tokens of a batch of either.

    Returns:
        The position that each source position is assigned to, EOS included, of each sentence whose
        three sides fit the model.
    """
    latents, device = model.part(LatentVariables), next(model.parameters()).device
    assert latents is not None
    lengths = {
        number: max(len(sources[number]), *map(len, both))
        for number, both in references.items()
        if 0 < len(sources[number]) <= model.longest_source
        and all(0 < len(each) <= model.longest_target for each in both)
    }
    found = {}
    for numbers in batches(lengths, batch_tokens):
        encoded = model.encode(source_tensor([sources[number] for number in numbers]).to(device))
        first, second = (
            latents.posterior(
                model, encoded, pad([references[number][side] for number in numbers]).to(device)
            ).mean.double()
            for side in (0, 1)
        )
        for row, number in enumerate(numbers):
            length = int((~encoded.padding[row]).sum())
            both = (each[row, :length].cpu().numpy() for each in (first, second))
            found[number] = assign(*both).tolist()
    return found


def moved(
    assigned: Mapping[int, Sequence[int]], pairs: Mapping[int, tuple[str, str]]
) -> dict[str, float]:
    """Share of positions assigned to others, and its correlation over sentences with `reordered`.

    The correlation is left out where one of the two is the same for all sentences.
    """
    if not assigned:
        return {}
    away = {number: np.array(row) != np.arange(len(row)) for number, row in assigned.items()}
    values = {"latent_moved": 100 * float(np.concatenate(list(away.values())).mean())}
    shares = [float(row.mean()) for row in away.values()]
    orders = [reordered(*_words(pairs[number])) for number in away]
    if np.ptp(shares) > 0 and np.ptp(orders) > 0:
        values["latent_moved_with_order"] = float(np.corrcoef(shares, orders)[0, 1])
    return values


def _words(pair: tuple[str, str]) -> tuple[list[str], list[str]]:
    return pair[0].split(), pair[1].split()
