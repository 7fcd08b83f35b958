"""Training speed against stock fairseq: the same model, the same batches, one thread.

Both sides run complete updates through fairseq's own `Trainer.train_step`: forward, backward,
gradient norm, Adam, metrics. Stock fairseq uses its own model, task and criterion; ours is the
plugin's. Stock fairseq stays in fp32, since its `--bf16` means a TPU.

Two processes are measured, one with the allocator settings that the workflow exports and one
without. The sides take turns, update by update, on identical batches; numbers are medians over
rounds, and ratios are medians of the ratios within a round. Seconds are processor time: of one
busy thread on an idle machine that is the time on the clock, and on a shared one it leaves out
what other programs take (though not what they take of the caches).
"""

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import FAST_MEMORY

ROOT = Path(__file__).resolve().parents[1]

MEMORY = {"plain": {}, "fast": FAST_MEMORY}
"""Allocator settings of the two processes."""

SIDES = ("stock", "fp32", "bf16")
BASELINE = ("stock", "plain")
"""What a user of fairseq has; all ratios are to it, but for those of equal settings."""

GOALS = {"fp32": 1.3, "bf16": 2.2}
"""Least speed relative to stock fairseq, both with fast memory; bf16 on processors that have it."""


@dataclass(frozen=True)
class Case:
    """A model to train.

    Attributes:
        system: `at` (causal, cross-entropy on all tokens), `cmlm` (random masks) or, which stock
            fairseq does not have, `ctc` (an upsampled canvas).
        model_dim: width; the feed-forward part is four times as wide.
        layers: of the encoder and of the decoder.
        vocabulary_size: symbols.
        heads: of each attention.
    """

    system: str
    model_dim: int
    layers: int
    vocabulary_size: int
    heads: int = 4

    @property
    def name(self) -> str:
        """The case in a word."""
        return f"{self.system}-d{self.model_dim}-v{self.vocabulary_size // 1000}k"


CASES = (
    Case("at", 64, 2, 1000),
    Case("cmlm", 64, 2, 1000),
    Case("at", 64, 2, 10_000),
    Case("cmlm", 64, 2, 10_000),
    Case("at", 256, 3, 10_000),
    Case("cmlm", 256, 3, 10_000),
)
INPUTS = {"at": "previous_tokens", "cmlm": "random_mask", "ctc": "full_mask"}
UPSAMPLE = 2
"""Frames of CTC for each source token."""

DROPOUT = 0.1
LABEL_SMOOTHING = 0.1
BATCH_TOKENS = 4096
"""Tokens of an update with its padding."""

BATCHES = 5


@dataclass(frozen=True)
class Lengths:
    """Lengths of sentences, in subwords.

    Attributes:
        pairs: sentence pairs that the batches are cut from.
        mean: of the logarithms of the source's lengths.
        deviation: of the same.
        longest: sentence.
    """

    pairs: int
    mean: float
    deviation: float
    longest: int


MULTI30K = Lengths(29_000, 2.604, 0.315, 80)
"""Those of Multi30k En-De with 8,000 merges."""


def main() -> None:
    """Measure in two processes, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Training speed against stock fairseq.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each case (default 5)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/training_speed.json")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name holds TEXT")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return
    cases = [case for case in CASES if arguments.only in case.name]
    if not cases:
        known = ", ".join(case.name for case in CASES)
        parser.error(f"no case of {known} holds '{arguments.only}'")

    from rich.console import Console

    from nat.files import write_json

    console = Console(width=None if sys.stdout.isatty() else 120)
    workers = {memory: Worker(settings) for memory, settings in MEMORY.items()}
    measured = {}
    for number, case in enumerate(cases, start=1):
        console.print(f"{number} of {len(cases)}: {case.name}")
        measured[case.name] = measure(case, workers, arguments.rounds)
    for worker in workers.values():
        worker.stop()
    result = {
        "machine": machine(),
        "threads": 1,
        "rounds": arguments.rounds,
        "batch_tokens": BATCH_TOKENS,
        "dropout": DROPOUT,
        "label_smoothing": LABEL_SMOOTHING,
        "allocator": MEMORY,
        "goals": GOALS,
        "cases": {case.name: {**asdict(case), **measured[case.name]} for case in cases},
    }
    write_json(arguments.output, result)
    console.print(table(result))
    console.print(
        "Target tokens per second of stock fairseq, and ratios to it. Plain: without, fast: with "
        "the allocator settings of the workflow; all fast: ratio to stock fairseq with them, which "
        "the goals are about. "
        f"{result['machine']['processor']}, load "
        f"{result['machine']['load_average'][0]}, {arguments.rounds} rounds. Written to "
        f"{arguments.output}"
    )


class Worker:
    """A process that makes one update at a time, since an allocator is set up at the start."""

    def __init__(self, allocator: dict[str, str]) -> None:
        rest = {key: value for key, value in os.environ.items() if key not in FAST_MEMORY}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--worker"],
            env={**rest, **allocator, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def update(self, case: Case, side: str, batch: int) -> float:
        """Make an update; target tokens per second."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([CASES.index(case), side, batch]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("error: the measuring process ended; its message stands above")
        return float(json.loads(answer))

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def work() -> None:
    """Answer requests for updates until there are no more."""
    import torch

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever libraries print
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    current: int | None = None
    steps: dict[str, Callable[[int], None]] = {}
    tokens: list[int] = []
    for request in sys.stdin:
        number, side, batch = json.loads(request)
        case = CASES[number]
        if number != current:
            current = number
            steps.clear()
            sentences = batches(case, MULTI30K, BATCH_TOKENS, BATCHES)
            tokens = [sum(len(target) for _, target in each) for each in sentences]
            steps["stock"] = stock(case, sentences)
            steps["fp32"] = ours(case, sentences, bfloat16=False)
            steps["bf16"] = ours(case, sentences, bfloat16=True)
        started = time.process_time()
        steps[side](batch)
        answers.write(f"{tokens[batch] / (time.process_time() - started)}\n")
        answers.flush()


def measure(case: Case, workers: dict[str, Worker], rounds: int) -> dict[str, Any]:
    """Time all sides of a case.

    Returns:
        Per side and memory: tokens per second (median, slowest, fastest) and their ratio to the
        baseline and to stock fairseq with the same memory.
    """
    keys = [(side, memory) for side in SIDES for memory in workers]
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in keys}
    for side, memory in keys:
        # bfloat16 products are slow the first time that they see a shape
        for batch in range(BATCHES if side == "bf16" else 1):
            workers[memory].update(case, side, batch)
    for each in range(rounds):
        for side, memory in keys:
            speed = workers[memory].update(case, side, each % BATCHES)
            speeds[side, memory].append(speed)

    def ratio(mine: list[float], its: list[float]) -> float:
        pairs = zip(mine, its, strict=True)
        return round(statistics.median(one / other for one, other in pairs), 3)

    result: dict[str, Any] = {side: {} for side in SIDES}
    for (side, memory), values in speeds.items():
        result[side][memory] = {
            "tokens_per_second": round(statistics.median(values), 1),
            "slowest": round(min(values), 1),
            "fastest": round(max(values), 1),
            "ratio_to_baseline": ratio(values, speeds[BASELINE]),
            "ratio_to_stock_with_same_memory": ratio(values, speeds["stock", memory]),
        }
    return result


def batches(case: Case, lengths: Lengths, size: int, number: int) -> list[list[tuple[Any, Any]]]:
    """Random sentence pairs with the lengths of a corpus, cut into batches as in training.

    Args:
        case: the model, which has the vocabulary.
        lengths: of the sentences.
        size: tokens of a batch with its padding.
        number: of batches.
    """
    import numpy as np

    from nat.data.batch import batch_ends
    from nat.data.vocabulary import SPECIALS

    random = np.random.default_rng(1)
    drawn = random.lognormal(lengths.mean, lengths.deviation, lengths.pairs)
    source = np.clip(np.rint(drawn), 3, lengths.longest).astype(np.int64)
    ratios = random.lognormal(0.021, 0.181, lengths.pairs)  # of Multi30k
    target = np.clip(np.rint(drawn * ratios), 1, lengths.longest)
    target = target.astype(np.int64)
    order = np.lexsort((target, source)).astype(np.int64)
    taken = (np.maximum(source, target) + 1)[order]
    cut = np.split(order, batch_ends(taken, size)[:-1])
    chosen = random.choice(len(cut), number, replace=False)

    def sentence(length: int) -> Any:
        return random.integers(len(SPECIALS), case.vocabulary_size, length)

    return [
        [(sentence(int(source[row])), sentence(int(target[row]))) for row in cut[place]]
        for place in chosen
    ]


def settings(case: Case, data: Path, device: Sequence[str] = ("--cpu",)) -> Any:
    """Fairseq's configuration of the stock model; our side takes the training part of it.

    Args:
        case: the model.
        data: folder of the dictionaries.
        device: fairseq's options that choose the device and the precision.
    """
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    sizes = {
        "embed-dim": case.model_dim,
        "ffn-embed-dim": 4 * case.model_dim,
        "layers": case.layers,
        "attention-heads": case.heads,
    }
    architecture = [
        word
        for side in ("encoder", "decoder")
        for key, value in sizes.items()
        for word in (f"--{side}-{key}", str(value))
    ]
    method = {
        "at": "--task translation --arch transformer --criterion label_smoothed_cross_entropy",
        "cmlm": "--task translation_lev --arch cmlm_transformer --criterion nat_loss "
        "--noise random_mask --pred-length-offset --length-loss-factor 0.1",
    }["at" if case.system == "at" else "cmlm"]
    parsed = options.parse_args_and_arch(
        options.get_training_parser(),
        input_args=[
            *(str(data), "--source-lang", "xx", "--target-lang", "yy", *device),
            *method.split(),
            *architecture,
            *("--encoder-normalize-before", "--decoder-normalize-before"),
            *("--share-all-embeddings", "--label-smoothing", str(LABEL_SMOOTHING)),
            *("--dropout", str(DROPOUT), "--attention-dropout", "0", "--activation-dropout", "0"),
            *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "0"),
            *("--lr", "0.0005", "--lr-scheduler", "inverse_sqrt", "--warmup-updates", "1000"),
            *("--weight-decay", "0.01", "--max-tokens", str(BATCH_TOKENS), "--seed", "1"),
        ],
    )
    return convert_namespace_to_omegaconf(parsed)


def stock(
    case: Case, sentences: list[list[tuple[Any, Any]]], device: Sequence[str] = ("--cpu",)
) -> Callable[[int], Any]:
    """An update of stock fairseq on a batch, by its number."""
    import torch
    from fairseq import tasks
    from fairseq.trainer import Trainer

    from nat.data.batch import pad
    from nat.data.vocabulary import BOS, EOS

    with tempfile.TemporaryDirectory() as folder:
        for language in ("xx", "yy"):
            Path(folder, f"dict.{language}.txt").write_text(
                "".join(f"w{number} 1\n" for number in range(case.vocabulary_size - 4)),
                encoding="utf-8",
            )
        cfg = settings(case, Path(folder), device)
        task = tasks.setup_task(cfg.task)
    # fairseq's own numbers of the special symbols
    specials = task.target_dictionary
    model = task.build_model(cfg.model)
    trainer = Trainer(cfg, task, model, task.build_criterion(cfg.criterion))
    trainer.lr_step_begin_epoch(1)
    number_of = {BOS: specials.bos(), EOS: specials.eos(), 0: specials.pad()}

    def renumbered(sequences: list[list[int]]) -> Any:
        padded = pad(sequences)
        translated = padded.clone()
        for mine, its in number_of.items():
            translated[padded == mine] = its
        return translated

    samples = []
    for batch in sentences:
        sources = [[*source.tolist(), EOS] for source, _ in batch]
        targets = [target.tolist() for _, target in batch]
        if case.system == "at":
            outputs = [[*target, EOS] for target in targets]
            inputs = [[EOS, *target] for target in targets]
        else:
            outputs = inputs = [[BOS, *target, EOS] for target in targets]
        samples.append(
            {
                "id": torch.arange(len(batch)),
                "nsentences": len(batch),
                "ntokens": sum(map(len, outputs)),
                "net_input": {
                    "src_tokens": renumbered(sources),
                    "src_lengths": torch.tensor([len(source) for source in sources]),
                    "prev_output_tokens": renumbered(inputs),
                },
                "target": renumbered(outputs),
            }
        )

    def step(number: int) -> Any:
        return trainer.train_step([samples[number]], raise_oom=True)

    return step


def ours(
    case: Case,
    sentences: list[list[tuple[Any, Any]]],
    bfloat16: bool,
    device: Sequence[str] = ("--cpu",),
) -> Callable[[int], Any]:
    """An update of our training on a batch, by its number, through fairseq's trainer."""
    import torch
    from fairseq.tasks import FairseqTask
    from fairseq.trainer import Trainer

    from nat.configuration.models import Training
    from nat.configuration.recipes import Recipe
    from nat.data.batch import Batch
    from nat.data.candidates import RAW, Text
    from nat.data.vocabulary import VocabularySizes
    from nat.fairseq_plugin.components import ON_GPU, Criterion, SystemModel
    from nat.objective.objective import Objective
    from nat.registry import Method
    from nat.training.model_file import build_model
    from nat.transformer.architecture import Architecture, DecoderOptions
    from nat.transformer.attention import choose_kernels

    training = Training.model_construct(
        architecture=Architecture(
            model_dim=case.model_dim,
            ffn_dim=4 * case.model_dim,
            encoder_layers=case.layers,
            decoder_layers=case.layers,
            heads=case.heads,
            pre_norm=True,
        ),
        input=Method(method=INPUTS[case.system]),
        target=Method(
            method="ctc" if case.system == "ctc" else "cross_entropy",
            label_smoothing=LABEL_SMOOTHING,
        ),
        length="offset" if case.system == "cmlm" else None,
        decoder=DecoderOptions(
            **({"copy": "soft_upsampled", "upsample": UPSAMPLE} if case.system == "ctc" else {})
        ),
        parts={},
        text=Text.of(RAW),
        recipe=Recipe.model_construct(dropout=DROPOUT, length_loss_weight=0.1),
    )
    cfg = settings(case, Path(), device)
    if not cfg.common.cpu:
        choose_kernels()
        cfg.optimizer._name = ON_GPU
    torch.manual_seed(1)
    transformer = build_model(training, VocabularySizes(case.vocabulary_size))
    task = FairseqTask(cfg.task)
    criterion = Criterion(task, Objective(training, transformer, 1, bfloat16, updates=1000))
    trainer = Trainer(cfg, task, SystemModel(transformer), criterion)
    trainer.lr_step_begin_epoch(1)
    samples = []
    for batch in sentences:
        sources, targets = [source for source, _ in batch], [target for _, target in batch]
        samples.append({"batch": Batch.collate(range(len(batch)), sources, targets)})

    def step(number: int) -> Any:
        criterion.update += 1
        return trainer.train_step([samples[number]], raise_oom=True)

    return step


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    from nat.machine import processor_name

    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in ("torch", "fairseq-fixed")},
    }


def table(result: dict[str, Any]) -> Any:
    """Speeds and ratios of all cases."""
    from rich.table import Table

    shown = Table(title="Training against stock fairseq, one thread")
    shown.add_column("case", no_wrap=True)
    for heading in (
        "tokens/s\nfairseq\nplain",
        "\nfairseq\nfast",
        "\nfp32\nplain",
        "\nfp32\nfast",
        "\nbf16\nplain",
        "\nbf16\nfast",
        "all\nfast\nfp32",
        "all\nfast\nbf16",
        "goals of\nfp32,\nbf16",
    ):
        shown.add_column(heading, justify="right", no_wrap=True)
    for name, case in result["cases"].items():
        cells = []
        for side in SIDES:
            for memory, found in case[side].items():
                if (side, memory) == BASELINE:
                    cells.append(f"{found['tokens_per_second']:,.0f}")
                else:
                    cells.append(f"{found['ratio_to_baseline']:.2f}x")
        goals = []
        for side, goal in GOALS.items():
            ratio = case[side]["fast"]["ratio_to_stock_with_same_memory"]
            cells.append(f"{ratio:.2f}x")
            goals.append(f"{goal} {'met' if ratio >= goal else 'missed'}")
        shown.add_row(name, *cells, ", ".join(goals))
    return shown


if __name__ == "__main__":
    main()
