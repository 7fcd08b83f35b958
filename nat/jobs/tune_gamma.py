"""Tuning the weights of dynamic distillation on a split with several references.

As in MPLE (Huang et al. 2022, appendix F), nothing is trained for it: the candidates of the split
are the teachers' translations of it and its own reference, see `nat.measures.distortion`. The split
is the validation set if that has several references. Otherwise it is a test set, as in the paper.
"""

from collections import Counter
from pathlib import Path

from nat.artifacts import TunedGamma
from nat.data.candidates import RAW
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.translations import read_in_order
from nat.files import write_json
from nat.job import Job
from nat.measures.distortion import chosen, pairwise_bleu, tune
from nat.measures.results import DIGITS


def tune_gamma(job: Job[TunedGamma]) -> None:
    """Write the weights whose choice is closest to the references, and what was measured."""
    inputs, split = job.inputs, job.inputs.translations[0].split
    target = job.corpus.target
    raw = list(read_lines(Path(inputs.text.path) / f"{split}.{target}"))
    names, translated = job.artifact.candidates.split("+"), iter(inputs.translations)
    texts = []
    for name in names:
        if name == RAW:
            texts.append(raw)
        else:
            rows = read_in_order(Path(next(translated).path), sentences=len(raw))
            texts.append([row["text"] for row in rows])
    several = read_references(
        references_path(Path(inputs.references.path), split, target), len(raw)
    )
    covered = sorted(several)
    references, weights = zip(*(several[number] for number in covered), strict=True)
    versions = [[text[number] for number in covered] for text in texts]
    scores = pairwise_bleu(versions, references, weights, job.corpus.counted_as)
    gamma, best = tune(scores)
    choices = Counter(chosen(scores, gamma).tolist())
    columns = zip(names, scores.references.T, strict=True)
    means = {"chosen": best} | {name: float(column.mean()) for name, column in columns}
    report = {
        "corpus": job.artifact.corpus,
        "split": split,
        "sentences": len(covered),
        "candidates": names,
        "gamma": list(gamma),
        "chosen": {name: choices[number] for number, name in enumerate(names)},
        "mean_bleu": {name: round(value, DIGITS) for name, value in means.items()},
    }
    write_json(job.path, report)
