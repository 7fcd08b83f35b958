"""Measuring a latency: from the files of a run to a JSON file."""

from pathlib import Path

import numpy as np

from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.vocabulary import Vocabulary
from nat.decoding.job import matching_model, method_of
from nat.errors import UserError
from nat.files import write_json
from nat.measures.latency import LARGEST, Setting, measure

SPLIT = "test"


def measure_latency(
    configuration: Configuration,
    corpus: str,
    system: str,
    seed: int,
    decoding: str,
    setting: str,
    output: Path,
) -> None:
    """Measure a setting, a device and a batch such as `cpu-1` or `cuda-largest`.

    The sentences are drawn evenly from the test set, always the same ones; those that are empty or
    do not fit the model's positions are left out and counted.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    options = configuration.latency
    device, _, batch = setting.partition("-")
    if device not in ("cpu", "cuda") or not (batch == LARGEST or batch.isdigit()):
        raise UserError(f"setting: found '{setting}', expected cpu-N, cuda-N or cuda-largest")
    chosen = Setting(
        device,
        batch if batch == LARGEST else int(batch),
        configuration.threads,
        options["repeats"],
    )
    source, _ = sides(configuration.corpus(corpus))
    folder = Path("results/corpora") / corpus / "binarised"
    vocabulary = Vocabulary.load(folder / "vocabulary.txt")
    path = Path("results/models") / corpus / system / f"seed{seed}" / "model.pt"
    model = matching_model(path, configuration, corpus, system, len(vocabulary)).to(device)
    method = method_of(configuration, corpus, decoding, len(vocabulary), device)
    sentences = BinarisedText(folder / f"{SPLIT}.{source}")
    ids = [
        number
        for number in range(len(sentences))
        if 0 < len(sentences[number]) <= model.longest_source
    ]
    left_out = len(sentences) - len(ids)
    if options["sentences"] is not None and len(ids) > options["sentences"]:
        drawn = np.random.default_rng(1).choice(ids, options["sentences"], replace=False)
        ids = sorted(drawn.tolist())
    measured = measure(model, method, sentences, ids, chosen)
    write_json(output, {"split": SPLIT, "left_out": left_out, **measured})
