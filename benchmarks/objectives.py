"""Cost of each training objective, as a ratio to cross-entropy on as many decoder positions.

Each case is a system of `config/systems`, with its proxy input, proxy target, latents and decoder,
in a model of one size, on one text; only dynamic distillation has several candidates, all of
different lengths, so that no two share a canvas. The baseline is the same model with a full mask
and cross-entropy, on targets as long as the case's canvas. The two take turns, update by update;
numbers are medians of the ratios of a round. Seconds are processor time of one thread. `products`
is the ratio of the multiplications in products of matrices, which take most of the time.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.timing import restart_with_fast_memory

if TYPE_CHECKING:
    from nat.configuration import Configuration

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE: dict[str, Any] = {
    "model_dim": 256,
    "ffn_dim": 1024,
    "encoder_layers": 3,
    "decoder_layers": 3,
    "heads": 4,
    "pre_norm": True,
}
VOCABULARY_SIZE = 10_000
BATCH_TOKENS = 8192
SENTENCE_TOKENS = 16
COUNTED = 2
"""Updates whose products are counted before the timing; each draws other masks."""
SYSTEMS = (
    *("cmlm-kd", "axe-kd", "oaxe-kd", "ctc-kd"),
    *("glat-kd", "ctc-glat-kd", "ctc-vae-kd", "hints-kd"),
    *("cmlmc-kd", "imputer-kd", "dims-cmlm-kd", "dims-cmlmc-kd", "dynamic-kd"),
)
"""One system of each objective, and some that combine them."""

GOALS = {
    **{"ctc-kd": 1.15, "axe-kd": 1.15, "oaxe-kd": 1.15},
    **{"dims-cmlm-kd": 1.5, "dynamic-kd": 2.5},
}
"""Largest ratio that is aimed at; that of DiMS is to its iterative teacher's objective."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Step time of each objective.")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each case (default 3)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/objectives.json")
    parser.add_argument("--only", metavar="TEXT", default="", help="systems whose name holds TEXT")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 inputs of products")
    arguments = parser.parse_args()
    restart_with_fast_memory()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.configuration import load
    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("system", "input", "target", "positions", "products", "ratio", "goal")
    results = {}
    for name, case in cases(load(root=ROOT)).items():
        if arguments.only not in name:
            continue
        console.print(f"measures {name}")
        found = measure(case, arguments.rounds, arguments.bf16)
        results[name] = found
        method = case.training.target.method
        goal = f"{GOALS[name]:g}" if name in GOALS else ""
        table.add_row(
            name,
            case.training.input.method,
            method,
            f"{found['positions']:,}",
            f"{found['products']:.2f}",
            f"{found['ratio']:.2f}",
            goal,
        )
    console.print(table)
    console.print(
        "Processor time of an update, and its products of matrices, relative to cross-entropy with "
        "a full mask (DiMS: to its teacher's objective) on as many decoder positions; d=256, 3+3 "
        f"layers, {BATCH_TOKENS:,} target tokens, {VOCABULARY_SIZE:,} symbols, "
        f"{'bf16' if arguments.bf16 else 'fp32'}, one thread, medians of {arguments.rounds} "
        f"rounds, load {os.getloadavg()[0]:.1f}."
    )
    write_json(arguments.output, {"bf16": arguments.bf16, "systems": results})


@dataclass(frozen=True)
class Case:
    """A training that is measured.

    Attributes:
        training: effective configuration.
        start: that of the system it starts from, whose objective is the baseline of DiMS.
        teacher: that of the system whose model the objective consults.
    """

    training: Any
    start: Any = None
    teacher: Any = None


def cases(configuration: "Configuration") -> dict[str, Case]:
    """The effective configurations of `SYSTEMS`, in one size."""
    from nat.data.candidates import RAW, Text

    corpus = next(iter(configuration.files["corpora"]))

    def of_size(name: str) -> Any:
        training = configuration.training(corpus, name)
        changes = {
            "text": training.text if training.text.choice else Text.of(RAW),
            "architecture": replace(training.architecture, **ARCHITECTURE),
            "recipe": training.recipe.model_copy(update={"dropout": 0.1}),
        }
        return training.model_copy(update=changes)

    found: dict[str, Case] = {}
    for name in SYSTEMS:
        training = of_size(name)
        start = teacher = None
        if training.target.method.startswith("dims"):
            start = of_size(training.init_from.system)
        if training.teacher is not None:
            teacher = of_size(training.teacher.system)
        found[name] = Case(training, start, teacher)
    return found


def measure(case: Case, rounds: int, bfloat16: bool) -> dict[str, Any]:
    """Count the products of a case and of its baseline, and time the two in turns."""
    from nat.data.candidates import RAW, Text
    from nat.registry import Method

    training = case.training
    ratio = training.decoder.upsample or 1.0
    canvas = int(-(-SENTENCE_TOKENS * ratio // 1))
    if case.start is not None:
        changes = {"input": case.start.input, "target": case.start.target}
        target_tokens = SENTENCE_TOKENS
    else:
        target_tokens = canvas
        copy = training.decoder.copy
        if copy == "soft_upsampled":  # what it is called without upsampling
            copy = "soft"
        changes = {
            "input": Method(method="full_mask"),
            "target": Method(method="cross_entropy", label_smoothing=0.0),
            "length": training.length if ratio == 1 else None,
            "decoder": replace(training.decoder, upsample=None, copy=copy),
            "parts": {},
            "text": Text.of(RAW),
        }
    baseline = replace(case, training=training.model_copy(update=changes))
    sides = [update(case, SENTENCE_TOKENS, bfloat16), update(baseline, target_tokens, bfloat16)]
    products = [_products(step) for step in sides]
    ratios = []
    for _ in range(rounds):
        seconds = []
        for step in sides:
            started = time.process_time()
            step()
            seconds.append(time.process_time() - started)
        ratios.append(seconds[0] / seconds[1])
    return {
        "ratio": round(statistics.median(ratios), 3),
        "lowest": round(min(ratios), 3),
        "highest": round(max(ratios), 3),
        "products": round(products[0] / products[1], 3),
        "positions": BATCH_TOKENS // SENTENCE_TOKENS * canvas,
    }


def _products(step: Callable[[], None]) -> int:
    """Multiplications in the products of matrices of an update, mean over `COUNTED` updates.

    Those within the fused kernel of attention are not counted.
    """
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        for _ in range(COUNTED):
            step()
    return int(counter.get_total_flops()) // (2 * COUNTED)


def update(case: Case, target_tokens: int, bfloat16: bool) -> Callable[[], None]:
    """An update of a system on random sentences."""
    import numpy as np
    import torch

    from nat.data.batch import Batch
    from nat.data.vocabulary import SPECIALS, VocabularySizes
    from nat.objective.objective import Objective
    from nat.training.model_file import build_model

    torch.manual_seed(1)
    model = build_model(case.training, VocabularySizes(VOCABULARY_SIZE)).train()
    teacher = None
    if case.teacher is not None:
        teacher = build_model(case.teacher, VocabularySizes(VOCABULARY_SIZE)).eval()
    objective = Objective(case.training, model, 1, bfloat16, teacher).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-5)
    numbers = np.random.default_rng(1)
    sentences = BATCH_TOKENS // SENTENCE_TOKENS

    def sentence(tokens: int) -> Any:
        return numbers.integers(len(SPECIALS), VOCABULARY_SIZE, tokens)

    sources = [sentence(SENTENCE_TOKENS) for _ in range(sentences)]
    if case.training.text.choice is None:
        targets = [sentence(target_tokens) for _ in range(sentences)]
        batch = Batch.collate(range(sentences), sources, targets)
    else:
        texts = len(case.training.text.candidates)
        lengths = [target_tokens + number - texts // 2 for number in range(texts)]
        batch = Batch.collate_candidates(
            range(sentences),
            sources,
            [[sentence(length) for length in lengths] for _ in range(sentences)],
            numbers.standard_normal((sentences, texts), dtype=np.float32),
        )
    done = 0

    def step() -> None:
        nonlocal done
        optimiser.zero_grad()
        loss = objective(model, batch, done)
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()
        objective.after_update(model)
        done += 1

    return step


if __name__ == "__main__":
    main()
