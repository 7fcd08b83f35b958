"""Training speed on a GPU against stock fairseq: base size, large batches, fused attention.

Both sides run complete updates through fairseq's own `Trainer.train_step`, as in
`benchmarks/training_speed.py`: the same model sizes, the same batches. Stock fairseq runs in fp32
and with its option `--fp16`. The sides take turns, update by update; numbers are
medians over rounds of wall time with the device synchronised before and after an update.

The utilisation is the floating-point operations of the model's matrix products, three times those
of the forward pass, over what the GPU could do in that time by its data sheet. Operations that are
computed again or on padding do not count.
"""

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Callable
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
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each case (default 7)")
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
    table = Table("case", "tokens of an update", "side", "ms an update", "target tokens/s")
    for heading in (f"over {BASELINE}", "GB", "TFLOP/s", "utilisation"):
        table.add_column(heading, justify="right")
    found = []
    for case in CASES:
        for size in BATCH_TOKENS:
            if arguments.only not in f"{case.name}-{size}":
                continue
            sides = measure(case, size, arguments.rounds)
            found.append({"case": case.name, "batch_tokens": size, "sides": sides})
            for side, each in sides.items():
                if "milliseconds" not in each:
                    table.add_row(case.name, f"{size:,}", side, each["state"])
                    continue
                rate = each["model_flop"] / each["milliseconds"] * 1000 / TERA
                each["utilisation"] = round(rate / arguments.peak, 3)
                its = sides.get(BASELINE, {}).get("tokens_per_second")
                ratio = "" if its is None else f"{each['tokens_per_second'] / its:.2f}x"
                table.add_row(
                    *(case.name, f"{size:,}", side, f"{each['milliseconds']:.1f}"),
                    *(f"{each['tokens_per_second']:,.0f}", ratio, f"{each['gigabytes']:.1f}"),
                    *(f"{rate:.0f}", f"{each['utilisation']:.1%}"),
                )
    console.print(table)
    product = fastest_product()
    console.print(
        f"{torch.cuda.get_device_name()}; a product of 8192 x 8192 matrices in bf16 takes it to "
        f"{product:.0f} TFLOP/s; data sheet: {arguments.peak}. Medians of {arguments.rounds} "
        f"rounds. Goal of bf16 with {max(BATCH_TOKENS):,} tokens: {GOAL:.0%}. Written to "
        f"{arguments.output}"
    )
    write_json(
        arguments.output,
        {
            "machine": machine(),
            "device": torch.cuda.get_device_name(),
            "peak_teraflops": arguments.peak,
            "measured_teraflops": product,
            "rounds": arguments.rounds,
            "goal": GOAL,
            "cases": found,
        },
    )


def measure(case: Case, size: int, rounds: int) -> dict[str, Any]:
    """Time all sides of a case; a side that does not fit the memory has a `state` instead."""
    import torch

    sentences = batches(case, WMT, size)
    sides: dict[str, Callable[[int], Any]] = {}
    if case.system != "ctc":
        for name, options in STOCK.items():
            sides[name] = stock(case, sentences, options)
    for name, bfloat16 in OURS.items():
        sides[name] = ours(case, sentences, bfloat16, ())
    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sides}
    memory: dict[str, float] = {}
    failed = set()
    for each in range(-1, rounds):
        number = max(each, 0) % len(sentences)
        tokens = sum(len(target) for _, target in sentences[number])
        for name, step in sides.items():
            if name in failed:
                continue
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.synchronize()
            started = time.perf_counter()
            try:
                done = step(number)
                torch.cuda.synchronize()
            except torch.OutOfMemoryError:
                done = None
            seconds = time.perf_counter() - started
            if done is None:  # fairseq leaves out a batch that does not fit
                failed.add(name)
            elif each >= 0:
                times[name].append((seconds, tokens, model_flop(case, sentences[number])))
                memory[name] = torch.cuda.max_memory_allocated() / 1e9
            if failed or each < 0:
                torch.cuda.empty_cache()
    result: dict[str, Any] = {}
    for name, own in times.items():
        if name in failed or not own:
            result[name] = {"state": "out of memory"}
            continue
        result[name] = {
            "milliseconds": round(statistics.median(1000 * seconds for seconds, _, _ in own), 2),
            "tokens_per_second": round(
                statistics.median(tokens / seconds for seconds, tokens, _ in own)
            ),
            "model_flop": statistics.median(flop for _, _, flop in own),
            "gigabytes": round(memory[name], 2),
        }
    return result


def model_flop(case: Case, pairs: list[tuple[Any, Any]]) -> float:
    """Floating-point operations of an update on a batch, see above.

    A CMLM projects a random part of a target: one half of it and one token more on average.
    """
    dim, inner, total = case.model_dim, 4 * case.model_dim, 0.0
    for source, target in pairs:
        seen = len(source) + 1
        if case.system == "ctc":
            written = labelled = UPSAMPLE * len(source)
        else:
            written = len(target) + (1 if case.system == "at" else 2)
            labelled = written if case.system == "at" else (len(target) + 1) / 2
        looked_at = written * (0.5 if case.system == "at" else 1)
        encoder = seen * (4 * dim**2 + 2 * dim * inner) + 2 * seen**2 * dim
        decoder = written * (6 * dim**2 + 2 * dim * inner) + seen * 2 * dim**2
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
