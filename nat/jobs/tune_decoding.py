"""Choosing options of a decoding on the validation set.

Gu and Kong (2021), section 4.2: alpha, the weight of the language model, and beta, the word bonus,
are searched over a grid on the validation set. Any option of any decoding can be tuned like this.
The values with the highest sacreBLEU are chosen; of equals, those that come first in the grid. The
paper does not say which BLEU.
"""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.artifacts import TunedOptions
from nat.data.lines import read_lines
from nat.data.splits import VALID
from nat.files import write_json
from nat.job import Job
from nat.jobs.translate import Shared, Translator
from nat.measures import bleu
from nat.measures.score import reference_files
from nat.training.model_file import WEIGHTS, checksum_of


def tune_decoding(job: Job[TunedOptions]) -> None:
    """Translate the validation set with every combination of values, and write which is best.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    tuned, inputs, configuration = job.artifact, job.inputs, job.configuration
    translator = Translator(job, VALID)
    files = reference_files(tuned.corpus, job.corpus, VALID, several=False)
    references = list(read_lines(files.reference))
    first = range(translator.sentences)[: configuration.settings.tuning.sentences]
    grid = points(configuration.decodings[tuned.decoding].tried)
    shared, points_tried, signature = Shared(), [], ""
    for number, point in enumerate(grid, start=1):
        what = f"tune {tuned.decoding} of {tuned.system} on {tuned.corpus}, {number}/{len(grid)}"
        method = translator.method(tuned.decoding, inputs, shared, point)
        counts = bleu.sacrebleu(
            [row["text"] for row in translator.translate(method, first, what)],
            [[references[number]] for number in first],
            files.lowercase,
        )
        sums, signature = counts.sentences.sum(0), counts.signature
        described = bleu.parts(sums, smooth=True)
        points_tried.append(
            {
                **point,
                "sacrebleu": round(float(bleu.smoothed(sums[None])[0]), bleu.DIGITS),
                "brevity_penalty": described["brevity_penalty"],
                "length_ratio": described["length_ratio"],
            }
        )
    best = max(range(len(grid)), key=lambda number: points_tried[number]["sacrebleu"])
    names = {key: value for key, value in vars(tuned).items() if key != "run"}
    write_json(
        job.path,
        {
            **names,
            WEIGHTS: checksum_of(Path(inputs.model.path)),
            "split": VALID,
            "sentences": len(first),
            "signature": signature,
            "chosen": grid[best],
            "points": points_tried,
        },
    )


def points(tried: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """All combinations of the values that a decoding is tuned over, by option."""
    return [dict(zip(tried, values, strict=True)) for values in itertools.product(*tried.values())]
