"""Training speed on a GPU against stock fairseq: base size, large batches, fused attention.

Both sides run complete updates through fairseq's own `Trainer.train_step`, as in
`benchmarks/training_speed.py`: the same model sizes, the same batches. Stock fairseq runs in fp32
and with its option `--fp16`. One side after the other has the GPU to itself. Numbers are medians
over batches that are new, as nearly every batch of a training has a shape of its own; of wall time,
with the device synchronised before and after an update. The same batches follow once more, which
tells what a new shape costs: that time is `ms again`. Memory is what PyTorch has reserved after the
last of them.

The utilisation is the floating-point operations of the model's matrix products, three times those
of the forward pass, over what the GPU could do in that time by its data sheet. Operations that are
computed again or on padding do not count.
"""

import argparse
import gc
import itertools
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.training_speed import UPSAMPLE, Case, Lengths, batches, machine, ours, stock

ROOT = Path(__file__).resolve().parents[1]

CASES = tuple(Case(system, 512, 6, 32_000, heads=8) for system in ("at", "cmlm", "ctc"))
"""The base size of Vaswani et al. (2017)."""

WMT = Lengths(400_000, 3.2, 0.55, 150)
"""Some 28 subwords a sentence, about those of WMT'14 En-De."""

BATCH_TOKENS = (16_384, 65_536)
"""Tokens of an update with its padding."""

WARM_UP = 6
"""Updates that are not counted."""

STOCK = {"stock fp32": (), "stock fp16": ("--fp16",)}
OURS = {"fp32": False, "bf16": True}
BASELINE = "stock fp16"
"""What most users of fairseq train with on a GPU; to this fairseq, `--bf16` means a TPU."""

GOAL = 0.4
"""Utilisation that is aimed at, with bf16 and batches of 65,536 tokens."""

TERA = 1e12
H100 = 989.4
"""TFLOP/s of dense bf16 products of an H100 (SXM) by its data sheet."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Training speed on a GPU against stock fairseq.")
    parser.add_argument("--rounds", type=int, default=10, help="batches of each case (default 10)")
    parser.add_argument(
        "--peak", type=float, default=H100, help=f"TFLOP/s by the data sheet (default {H100})"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/gpu_training.json")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name holds TEXT")
    arguments = parser.parse_args()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    if not torch.cuda.is_available():
        sys.exit("error: no CUDA device")
    logging.disable(logging.WARNING)
    console = Console(width=None if sys.stdout.isatty() else 140)
    table = Table("case", "tokens of an update", "side")
    for heading in ("ms an update", "ms again", "target tokens/s"):
        table.add_column(heading, justify="right")
    for heading in (f"over {BASELINE}", "GB", "TFLOP/s", "utilisation"):
        table.add_column(heading, justify="right")
    result: dict[str, Any] = {
        "machine": machine(),
        "device": torch.cuda.get_device_name(),
        "peak_teraflops": arguments.peak,
        "measured_teraflops": fastest_product(),
        "rounds": arguments.rounds,
        "goal": GOAL,
        "cases": [],
    }
    for case, size in itertools.product(CASES, BATCH_TOKENS):
        if arguments.only not in f"{case.name}-{size}":
            continue
        sides: dict[str, dict[str, Any]] = {}
        result["cases"].append({"case": case.name, "batch_tokens": size, "sides": sides})
        for side, measured in measure(case, size, arguments.rounds):
            sides[side] = measured
            cells = (case.name, f"{size:,}", side)
            if "state" in measured:
                table.add_row(*cells, measured["state"])
            else:
                measured["utilisation"] = round(measured["teraflops"] / arguments.peak, 3)
                its = sides.get(BASELINE, {}).get("tokens_per_second")
                table.add_row(
                    *(*cells, f"{measured['milliseconds']:.1f}"),
                    f"{measured['milliseconds_again']:.1f}",
                    f"{measured['tokens_per_second']:,.0f}",
                    "" if its is None else f"{measured['tokens_per_second'] / its:.2f}x",
                    *(f"{measured['gigabytes']:.1f}", f"{measured['teraflops']:.0f}"),
                    f"{measured['utilisation']:.1%}",
                )
            console.print(f"{case.name}, {size:,} tokens, {side}: {measured}")
            write_json(arguments.output, result)  # what there is, should it be stopped
    console.print(table)
    console.print(
        f"{result['device']}; a product of 8192 x 8192 matrices in bf16 takes it to "
        f"{result['measured_teraflops']:.0f} TFLOP/s; data sheet: {arguments.peak}. Medians of "
        f"{arguments.rounds} batches. Goal of bf16 with {max(BATCH_TOKENS):,} tokens: {GOAL:.0%}. "
        f"Written to {arguments.output}"
    )


def measure(case: Case, size: int, rounds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Time one side of a case after the other; one that cannot be timed has a `state`."""
    import torch

    sentences = batches(case, WMT, size, WARM_UP + rounds)
    sides: dict[str, Callable[[], Callable[[int], Any]]] = {}
    if case.system != "ctc":
        sides |= {name: partial(stock, case, sentences, each) for name, each in STOCK.items()}
    sides |= {name: partial(ours, case, sentences, each, ()) for name, each in OURS.items()}
    for name, build in sides.items():
        gc.collect()  # a trainer refers to itself
        torch.cuda.empty_cache()
        yield name, time_updates(build(), case, sentences)


def time_updates(
    step: Callable[[int], Any], case: Case, sentences: list[list[tuple[Any, Any]]]
) -> dict[str, Any]:
    """Time updates of a side on batches, after some that are not counted, and on these again."""
    import torch

    counted: list[tuple[float, Any]] = []
    again: list[tuple[float, Any]] = []
    for taken, (number, pairs) in itertools.product((counted, again), enumerate(sentences)):
        torch.cuda.synchronize()
        started = time.perf_counter()
        try:
            done = step(number)
        except torch.OutOfMemoryError:
            return {"state": "out of memory"}
        torch.cuda.synchronize()
        # with --fp16 fairseq leaves out an update whose gradient overflows
        if number >= WARM_UP and done is not None:
            taken.append((time.perf_counter() - started, pairs))
    if not (counted and again):
        return {"state": "gradients overflow"}
    per_second = [sum(len(target) for _, target in pairs) / each for each, pairs in counted]
    rates = [model_flop(case, pairs) / each / TERA for each, pairs in counted]
    return {
        "milliseconds": round(1000 * statistics.median(each for each, _ in counted), 2),
        "milliseconds_again": round(1000 * statistics.median(each for each, _ in again), 2),
        "tokens_per_second": round(statistics.median(per_second)),
        "teraflops": round(statistics.median(rates), 1),
        "gigabytes": round(torch.cuda.memory_reserved() / 1e9, 2),
    }


def model_flop(case: Case, pairs: list[tuple[Any, Any]]) -> float:
    """Floating-point operations of an update on a batch, see above.

    A CMLM projects a random part of a target: one half of it and one token more on average.
    """
    dim, inner, total = case.model_dim, 4 * case.model_dim, 0.0
    for source, target in pairs:
        seen = len(source) + 1
        written: float
        labelled: float
        if case.system == "ctc":
            written = labelled = UPSAMPLE * len(source)
        else:
            written = len(target) + (1 if case.system == "at" else 2)
            labelled = written if case.system == "at" else (len(target) + 1) / 2
        looked_at = written * (0.5 if case.system == "at" else 1)
        encoder = seen * (4 * dim**2 + 2 * dim * inner) + 2 * seen**2 * dim
        decoder: float = written * (6 * dim**2 + 2 * dim * inner) + seen * 2 * dim**2
        decoder += 2 * written * (looked_at + seen) * dim
        total += case.layers * (encoder + decoder) + labelled * case.vocabulary_size * dim
    return 2 * 3 * total  # a multiplication and an addition, forward once and backward twice


def fastest_product() -> float:
    """TFLOP/s of a large product of random matrices in bf16."""
    import torch

    size, times = 8192, 10
    one, other = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        one @ other
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(times):
        one @ other
    torch.cuda.synchronize()
    return round(times * 2 * size**3 / (time.perf_counter() - started) / TERA, 1)


if __name__ == "__main__":
    main()
