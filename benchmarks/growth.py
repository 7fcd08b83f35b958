"""How time and memory grow with the size of the corpus and with the length of sentences.

Size: the steps of the preparation of an invented language pair, one process each, of 1,000, 10,000
and 100,000 pairs; then a training opens the text and divides it into batches, and the upsampled CTC
model translates it. Words are always the same, so memory for word types does not grow here. Larger
corpora are translated in shards, so translation is measured up to the size of one. Length: an
update and a decoding of a batch of 2,000 tokens, of sentences of 10 to 500 tokens, by the AT model
(beam 5, as many tokens as the source has) and the upsampled CTC model of scale `demo` with random
weights. Each measurement has a process of its own, whose largest resident memory is shown. Seconds
are processor time of one thread, without imports; of updates and decodings they are the median
after a warm-up.

Writes a table, a plot and the numbers.
"""

import argparse
import json
import logging
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import FAST_MEMORY

ROOT = Path(__file__).resolve().parents[1]

SIZES = (1_000, 10_000, 100_000)
CORPUS, LANGUAGES = "toy-ka-lu", ("ka", "lu")
VALID = 100
PREPARATION = ("clean", "tokens", "bpe", "binarised")
BATCHES, TRANSLATION = "batches", "translation"
STEPS = (*PREPARATION, BATCHES, TRANSLATION)
"""What follows the invention of the text."""
LARGEST_SHARD = 100_000
"""Sentences that are translated at most."""

LENGTHS = (10, 50, 100, 200, 500)
SYSTEMS = {"AT": "at-base", "CTC": "ctc-kd"}
WORK = ("update", "decoding")
BATCH_TOKENS = 2000
SYMBOLS = 1000
POSITIONS = 2048
"""Of both models: three frames for each of 500 tokens exceed the usual 1,024."""

ROUNDS = 3


def main() -> None:
    """Measure in a process for each number, print tables, write plot and result."""
    parser = argparse.ArgumentParser(description="Growth of time and memory.")
    parser.add_argument("--pairs", type=int, nargs="*", default=SIZES, help="sizes of the corpus")
    parser.add_argument("--tokens", type=int, nargs="*", default=LENGTHS, help="sentence lengths")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/growth.json")
    parser.add_argument("--figure", type=Path, help="of the plot; default: beside the output")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(measured(**json.loads(arguments.worker))))  # noqa: T201
        return

    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    console = Console(width=None if sys.stdout.isatty() else 120)
    result = {
        "sizes": of_sizes(sorted(arguments.pairs)),
        "models": of_models(sorted(arguments.tokens)),
    }
    table = Table("step", "pairs", "seconds", "MB", "seconds grow as pairs to the power of")
    for row in result["sizes"]:
        power = "" if row["power"] is None else f"{row['power']:.2f}"
        seconds, memory = f"{row['seconds']:.2f}", f"{row['megabytes']:.0f}"
        table.add_row(row["step"], f"{row['pairs']:,}", seconds, memory, power)
    console.print(table)
    table = Table("system", "tokens", "update, ms", "MB", "decoding, ms", "MB")
    for system in SYSTEMS:
        for tokens in sorted(arguments.tokens):
            cells = [
                cell
                for row in result["models"]
                if (row["system"], row["tokens"]) == (system, tokens)
                for cell in (f"{1000 * row['seconds']:.0f}", f"{row['megabytes']:.0f}")
            ]
            table.add_row(system, f"{tokens}", *cells)
    console.print(table)
    figure = arguments.figure or arguments.output.with_suffix(".png")
    write_json(arguments.output, result)
    if result["sizes"] and result["models"]:
        draw(result, figure)
    console.print(
        f"One thread, processor time; models of d=64, 2+2 layers, {BATCH_TOKENS:,} tokens in a "
        f"batch, load {os.getloadavg()[0]:.1f}. Written to {arguments.output} and {figure}"
    )


def of_sizes(sizes: list[int]) -> list[dict[str, Any]]:
    """Seconds and memory of each step at each size, and how they grow from the size before."""
    rows: list[dict[str, Any]] = []
    before: dict[str, tuple[int, float]] = {}
    for pairs in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for step in ("text", *STEPS):
                if step == TRANSLATION and pairs > LARGEST_SHARD:
                    continue
                found = in_process(kind="step", step=step, pairs=pairs, folder=folder)
                if step == "text":
                    continue
                power = None
                if step in before:
                    fewer, seconds = before[step]
                    power = math.log(found["seconds"] / seconds) / math.log(pairs / fewer)
                before[step] = pairs, found["seconds"]
                rows.append({"step": step, "pairs": pairs, **found, "power": power})
    return rows


def of_models(lengths: list[int]) -> list[dict[str, Any]]:
    """Seconds and memory of an update and of a decoding of each system at each length."""
    return [
        {"system": name, "tokens": tokens, "work": work}
        | in_process(kind="model", system=system, tokens=tokens, work=work)
        for name, system in SYSTEMS.items()
        for tokens in lengths
        for work in WORK
    ]


def in_process(**work: Any) -> dict[str, float]:
    """What `measured` finds in a new process."""
    # as in the workflow
    memory = {} if work.get("step") in ("text", *PREPARATION) else FAST_MEMORY
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--worker", json.dumps(work)],
        env={**os.environ, **memory, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(kind: str, **work: Any) -> dict[str, float]:
    """Seconds of a piece of work, and the largest resident memory of this process."""
    from nat.measures import memory

    of_step = {BATCHES: batches, TRANSLATION: translation}.get(work.get("step", ""), preparation)
    seconds = of_step(**work) if kind == "step" else model(**work)
    return {"seconds": seconds, "megabytes": memory.largest() / 1e6}


def batches(step: str, pairs: int, folder: str) -> float:
    """Open a binarised text and divide it into batches, as a training does; seconds."""
    logging.disable(logging.INFO)  # fairseq asks for tensorboardX
    from nat.fairseq_plugin.dataset import TrainingPairs

    started = time.process_time()
    files = [Path(folder, "binarised", f"train.{language}") for language in LANGUAGES]
    longest = (POSITIONS, POSITIONS)
    text = TrainingPairs(files, longest, BATCH_TOKENS, step)
    assert len(text) <= pairs
    text.batches(BATCH_TOKENS, seed=1)
    return time.process_time() - started


def translation(step: str, pairs: int, folder: str) -> float:
    """Translate the training text with a CTC model; seconds."""
    from nat.data.binarised import BinarisedText
    from nat.decoding.corpus import translate
    from nat.decoding.ctc import CtcDecoding

    transformer, _ = transformer_of(SYSTEMS["CTC"])
    source = BinarisedText(Path(folder, "binarised", f"train.{LANGUAGES[0]}"))
    started = time.process_time()
    found = translate(
        transformer.eval(), CtcDecoding(), source, range(len(source)), 2 * BATCH_TOKENS
    )
    assert len(found) == len(source) <= pairs, step
    return time.process_time() - started


def preparation(step: str, pairs: int, folder: str) -> float:
    """Make a step of the preparation of an invented corpus; seconds."""
    import yaml

    from nat.data.binarised import binarise_folder
    from nat.data.clean import filter_folder
    from nat.data.corpus import Corpus
    from nat.data.invented.language import language_of
    from nat.data.invented.text import generate
    from nat.data.lines import write_lines
    from nat.data.subwords import bpe_folder

    file = ROOT / f"config/corpora/{CORPUS}.yaml"
    corpus = Corpus.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    assert corpus.generator is not None
    sizes = {"train": pairs, "valid": VALID}
    generator = corpus.generator.model_copy(update={"pairs": sizes})
    corpus = corpus.model_copy(update={"generator": generator})
    place = {each: Path(folder, each) for each in ("text", *STEPS)}

    def invent() -> None:
        language = language_of(generator)
        place["text"].mkdir()
        for split, number in sizes.items():
            for side, lines in zip(
                corpus.sides, zip(*generate(language, split, number), strict=True), strict=True
            ):
                write_lines(place["text"] / f"{split}.{side}", lines)

    steps: dict[str, Callable[[], None]] = {
        "text": invent,
        "clean": lambda: filter_folder("clean", corpus, place["text"], place["clean"]),
        "tokens": lambda: filter_folder("tokens", corpus, place["clean"], place["tokens"]),
        "bpe": lambda: bpe_folder(corpus, place["tokens"], place["bpe"]),
        "binarised": lambda: binarise_folder(corpus, place["bpe"], place["binarised"]),
    }
    started = time.process_time()
    steps[step]()
    return time.process_time() - started


def model(system: str, tokens: int, work: str) -> float:
    """Seconds of an update or a decoding of a batch of sentences with as many tokens."""
    import numpy as np
    import torch

    from nat.data.batch import Batch
    from nat.data.vocabulary import SPECIALS
    from nat.decoding.beam_search import BeamSearch
    from nat.decoding.ctc import CtcDecoding
    from nat.objective.objective import Objective

    transformer, training = transformer_of(system)
    numbers = np.random.default_rng(1)
    shape = (2, max(1, BATCH_TOKENS // tokens), tokens)
    sources, targets = numbers.integers(len(SPECIALS), SYMBOLS, shape)
    batch = Batch.collate(range(len(sources)), list(sources), list(targets))
    objective = Objective(training, transformer, 1, bfloat16=False)
    optimiser = torch.optim.Adam(transformer.parameters(), lr=1e-5)
    search = BeamSearch(beam=5, longest_ratio=1.0, longest_margin=0)
    decoding = search if transformer.decoder.upsample is None else CtcDecoding()

    def update() -> None:
        optimiser.zero_grad()
        loss = objective(transformer, batch, 0)
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()

    def decode() -> None:
        decoding(transformer, batch.source)

    transformer.train(work == "update")
    call = update if work == "update" else decode
    seconds = []
    for _ in range(ROUNDS + 1):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds[1:])


def transformer_of(system: str) -> tuple[Any, Any]:
    """A model with random weights, and its training."""
    from dataclasses import replace

    import torch

    from nat.configuration import load
    from nat.data.candidates import RAW, Text
    from nat.data.vocabulary import VocabularySizes
    from nat.training.model_file import build_model

    torch.set_num_threads(1)
    torch.manual_seed(1)
    training = load("demo", ROOT).training(CORPUS, system)
    architecture = replace(training.architecture, max_positions=POSITIONS)
    changes = {"text": Text.of(RAW), "architecture": architecture}
    training = training.model_copy(update=changes)
    return build_model(training, VocabularySizes(SYMBOLS)), training


def draw(result: dict[str, Any], path: Path) -> None:
    """Plot time and memory against the size of the corpus and the length of sentences."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
    measures = (("seconds", "processor time, s"), ("megabytes", "largest memory, MB"))
    for (measure, label), (left, right) in zip(measures, panels, strict=True):
        for number, step in enumerate(STEPS):
            rows = [row for row in result["sizes"] if row["step"] == step]
            points = [row["pairs"] for row in rows], [row[measure] for row in rows]
            left.plot(*points, marker="os^Dvx"[number], label=step)
        for number, (system, work) in enumerate((s, w) for s in SYSTEMS for w in WORK):
            rows = [
                row for row in result["models"] if (row["system"], row["work"]) == (system, work)
            ]
            points = [row["tokens"] for row in rows], [row[measure] for row in rows]
            right.plot(*points, marker="os^D"[number], label=f"{system}, {work}")
        left.set(xlabel="pairs of the corpus", ylabel=label, xscale="log")
        right.set(xlabel=f"tokens a sentence, {BATCH_TOKENS:,} in a batch", xscale="log")
        if measure == "seconds":
            left.set(yscale="log")
            right.set(yscale="log")
            right.legend(frameon=False)
        else:
            left.set(ylim=(0, None))
            right.set(ylim=(0, None))
            left.legend(frameon=False)  # where the lines leave space
        lengths = sorted({row["tokens"] for row in result["models"]})
        right.set_xticks(lengths, [str(length) for length in lengths])
        right.minorticks_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
