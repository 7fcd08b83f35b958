"""Choosing options of a decoding, or weights of texts, on sentences that nothing was trained on."""

import itertools
from collections import Counter
from pathlib import Path

from nat.artifacts import TunedGamma, TunedOptions
from nat.data.candidates import RAW
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.splits import VALID, folder_of
from nat.data.translations import read_in_order
from nat.files import write_json
from nat.job import Job
from nat.jobs.translate import Translator
from nat.measures import bleu
from nat.measures.distortion import chosen, pairwise_bleu, tune
from nat.measures.results import DIGITS
from nat.measures.score import reference_files
from nat.training.model_file import WEIGHTS, checksum_of


def tune_decoding(job: Job[TunedOptions]) -> None:
    """Translate the validation set with every combination of values, and write which is best.

    Gu and Kong (2021), section 4.2: alpha, the weight of the language model, and beta, the word
    bonus, are searched over a grid on the validation set. Any option of any decoding can be tuned
    like this. The values with the highest sacreBLEU are chosen; of equals, those that come first in
    the grid. The paper does not say which BLEU.
    """
    tuned, configuration = job.artifact, job.configuration
    translator = Translator(job, VALID, known={})
    files = reference_files(folder_of(tuned.corpus, VALID), job.corpus, VALID, several=False)
    references = list(read_lines(files["reference"]))
    ids = translator.ids[: configuration.scale.tuning.sentences]
    tried = configuration.decodings[tuned.decoding].tried
    grid = [dict(zip(tried, values, strict=True)) for values in itertools.product(*tried.values())]
    points, signature = [], ""
    for number, point in enumerate(grid, start=1):
        rows = translator.translate(job, ids, f", point {number} of {len(grid)},", point)
        counts = bleu.sacrebleu(
            [row["text"] for row in rows],
            [[references[number]] for number in ids],
            job.corpus.preprocessing.lowercase,
            job.corpus.counted_as,
        )
        sums, signature = counts.sentences.sum(0), counts.signature
        parts = bleu.parts(sums, smooth=True)
        value = round(float(bleu.smoothed(sums[None])[0]), DIGITS)
        lengths = {key: parts[key] for key in ("brevity_penalty", "length_ratio")}
        points.append({**point, "sacrebleu": value, **lengths})
    best = max(range(len(grid)), key=lambda number: points[number]["sacrebleu"])
    report = {
        **{key: value for key, value in vars(tuned).items() if key != "run"},
        WEIGHTS: checksum_of(Path(job.inputs.model.path)),
        "split": VALID,
        "sentences": len(ids),
        "signature": signature,
        "chosen": grid[best],
        "points": points,
    }
    write_json(job.path, report)


def tune_gamma(job: Job[TunedGamma]) -> None:
    """Write the weights whose choice is closest to the references, and what was measured.

    As in MPLE (Huang et al. 2022, appendix F), nothing is trained for it: the candidates of the
    split are the teachers' translations of it and its own reference, see `nat.measures.distortion`.
    The split is the validation set if that has several references. Otherwise it is a test set, as
    in the paper.
    """
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
