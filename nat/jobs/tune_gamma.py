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
from nat.data.references import references_path
from nat.data.splits import sides
from nat.data.translations import read_all
from nat.files import read_json, write_json
from nat.job import Job
from nat.measures.bleu import DIGITS
from nat.measures.distortion import chosen, pairwise_bleu, tune
from nat.measures.score import read_weighted
from nat.options import validated


def tune_gamma(job: Job[TunedGamma]) -> None:
    """Write the weights whose choice is closest to the references, and what was measured.

    Raises:
        UserError: if the files do not belong together.
    """
    inputs, split = job.inputs, job.inputs.translations[0].split
    _, target = sides(job.corpus)
    reference = Path(inputs.text.path) / f"{split}.{target}"
    raw = list(read_lines(reference))
    translations = iter(inputs.translations)
    texts, names = [], job.artifact.candidates.split("+")
    for name in names:
        if name == RAW:
            texts.append(raw)
            continue
        path = Path(next(translations).path)
        texts.append([row["text"] for row in read_all(path, len(raw))])
    several = read_weighted(references_path(Path(inputs.references.path), split, target), len(raw))
    covered = sorted(several)
    references, weights = zip(*(several[number] for number in covered), strict=True)
    found = pairwise_bleu(
        [[text[number] for number in covered] for text in texts], references, weights
    )
    tuned = tune(found)
    choices = Counter(chosen(found, tuned.gamma).tolist())
    write_json(
        job.path,
        {
            "corpus": job.artifact.corpus,
            "split": split,
            "sentences": len(covered),
            "candidates": names,
            "gamma": list(tuned.gamma),
            "chosen": {name: choices[number] for number, name in enumerate(names)},
            "mean_bleu": {
                "chosen": round(tuned.bleu, DIGITS),
                **{
                    name: round(float(found.references[:, number].mean()), DIGITS)
                    for number, name in enumerate(names)
                },
            },
        },
    )


def tuned_gamma(path: Path) -> list[float]:
    """What `tune_gamma` has found.

    Raises:
        UserError: if the file is missing or damaged.
    """
    return validated(list[float], read_json(path).get("gamma"), f"{path}: key 'gamma'")
