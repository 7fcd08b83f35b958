"""Pairwise sentence BLEU of candidates for the training text (MPLE, Huang et al. 2022).

The regulariser of dynamic distillation, see `nat.distillation.options`, is made of it. It does not
depend on the model, so it is computed once, before any training.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.helpers import extract_all_word_ngrams

from nat.data.arrays import mapped_array
from nat.data.corpus import Corpus
from nat.data.lines import count_lines, read_lines
from nat.data.splits import TRAIN
from nat.data.subwords import merge
from nat.data.translations import shard_of
from nat.errors import UserError
from nat.files import atomic_path, write_json

ORDERS = 4
"""N-gram orders of BLEU."""
Ngrams = Counter[tuple[str, ...]]


def sentence_bleu(texts: Sequence[str]) -> np.ndarray:
    """S(Gamma_i, Gamma_j) of all pairs of the candidates of a sentence, float32 [C, C].

    Words are between blanks. Row i is the reference, column j the hypothesis; 0 to 100. Where the
    paper is ambiguous: as in sacreBLEU for sentences, orders without a match are smoothed
    exponentially, and orders that exceed the length of the hypothesis are left out. An empty text
    has 0, also with itself.
    """
    counted = [extract_all_word_ngrams(text, 1, ORDERS) for text in texts]
    scores = np.zeros((len(texts), len(texts)), dtype=np.float32)
    for row, reference in enumerate(counted):
        for column, hypothesis in enumerate(counted):
            scores[row, column] = _bleu(*reference, *hypothesis)
    return scores


def _bleu(expected: Ngrams, reference_length: int, ngrams: Ngrams, length: int) -> float:
    correct = [0] * ORDERS
    for words, count in ngrams.items():
        if words in expected:
            correct[len(words) - 1] += min(count, expected[words])
    total = [max(0, length - order) for order in range(ORDERS)]
    score = BLEU.compute_bleu(
        correct, total, length, reference_length, smooth_method="exp", effective_order=True
    )
    return float(score.score)


def compare_texts(
    corpus: Corpus,
    folders: Sequence[Path],
    output: Path,
    shard: int = 1,
    shards: int = 1,
    in_units: Callable[[list[str]], list[str]] = list,
) -> None:
    """Write the pairwise BLEU of versions of a part of the training text, float32 [n, C, C].

    The folders hold the versions of the target side, in subwords; words are compared, `in_units`
    of BLEU where they are none. For the part see `nat.data.translations.shard_of`, for the numbers
    `sentence_bleu`. Raises a `UserError` if the versions differ in their number of lines.
    """
    files = [folder / f"{TRAIN}.{corpus.sides[1]}" for folder in folders]
    counts = {file: count_lines(file) for file in files}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{file} has {count}" for file, count in counts.items())
        raise UserError(f"versions of one text differ in their number of lines: {shown}")
    part = shard_of(counts[files[0]], shard, shards)
    lines = islice(zip(*map(read_lines, files), strict=True), part.start, part.stop)
    scores = np.zeros((len(part), len(files), len(files)), dtype=np.float32)
    for number, versions in enumerate(lines):
        scores[number] = sentence_bleu(in_units([*map(merge, versions)]))
    with atomic_path(output) as temporary, temporary.open("wb") as file:
        np.save(file, scores)


def merge_comparisons(
    parts: Sequence[Path], names: Sequence[str], output: Path, report: Path
) -> dict[str, Any]:
    """Join the parts that `compare_texts` has written of versions with these names.

    Returns what the report says, which is written last: sentences, and the mean S of each pair.
    """
    arrays = [mapped_array(part) for part in parts]
    sentences = sum(map(len, arrays))
    with atomic_path(output) as temporary, temporary.open("wb") as file:
        np.save(file, np.concatenate(arrays))
    means = sum(part.sum(0, dtype=np.float64) for part in arrays) / max(sentences, 1)
    mean_bleu = {
        reference: {name: round(float(mean), 3) for name, mean in zip(names, row, strict=True)}
        for reference, row in zip(names, means, strict=True)
    }
    described = {"sentences": sentences, "mean_bleu": mean_bleu}
    write_json(report, described)
    return described


def distortion(pairwise_bleu: np.ndarray, beta: float, gamma: Sequence[float]) -> np.ndarray:
    """-beta * sum over i of gamma_i S(Gamma_i, T) of each candidate T, float32 [n, C].

    `pairwise_bleu` is S, [n, C, C], and gamma has the weight of each candidate as a reference.
    """
    weights = -beta * np.asarray(gamma, dtype=np.float32)
    return np.einsum("i,nij->nj", weights, pairwise_bleu).astype(np.float32)
