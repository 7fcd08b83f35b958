"""Choosing options of a decoding on the validation set.

Gu and Kong (2021), section 4.2: alpha, the weight of the language model, and beta, the word bonus,
are searched over a grid on the validation set. Any option of any decoding can be tuned like this.
The values with the highest sacreBLEU are chosen; of equals, those that come first in the grid. The
paper does not say which BLEU.
"""

import itertools
from pathlib import Path

from nat.artifacts import TunedOptions
from nat.data.lines import read_lines
from nat.data.splits import VALID, folder_of
from nat.files import write_json
from nat.job import Job
from nat.jobs.translate import Translator
from nat.measures import bleu
from nat.measures.results import DIGITS
from nat.measures.score import reference_files
from nat.training.model_file import WEIGHTS, checksum_of


def tune_decoding(job: Job[TunedOptions]) -> None:
    """Translate the validation set with every combination of values, and write which is best."""
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
