"""Cost of each training objective, as a ratio to cross-entropy on as many decoder positions.

Each case is a system of `config/systems`, with its proxy input, proxy target, latents and decoder,
in a model of one size, on raw text. Its baseline is the same model with a full mask and
cross-entropy, on targets as long as the case's canvas. The two take turns, update by update;
numbers are medians of the ratios of a round. Seconds are processor time of one thread.
"""

import argparse
import copy
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.training_speed import FAST_MEMORY

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE = {
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
SYSTEMS = (
    *("cmlm-kd", "axe-kd", "oaxe-kd", "ctc-kd"),
    *("glat-kd", "ctc-glat-kd", "ctc-vae-kd", "hints-kd"),
    *("cmlmc-kd", "imputer-kd", "dims-cmlm-kd", "dims-cmlmc-kd"),
)
"""One system of each objective, and some that combine them."""

GOALS = {"ctc-kd": 1.15, "axe-kd": 1.15, "oaxe-kd": 1.15, "dims-cmlm-kd": 2.2}
"""Largest ratio that is aimed at; that of DiMS is to its iterative teacher's objective."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Step time of each objective.")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each case (default 3)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/objectives.json")
    parser.add_argument("--only", metavar="TEXT", default="", help="systems whose name holds TEXT")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 inputs of products")
    arguments = parser.parse_args()
    if any(os.environ.get(key) != value for key, value in FAST_MEMORY.items()):
        os.environ.update(FAST_MEMORY, OMP_NUM_THREADS="1")
        os.execv(sys.executable, [sys.executable, "-W", "ignore", __file__, *sys.argv[1:]])

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.configuration import load
    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("system", "input", "target", "positions", "ratio", "goal")
    results = {}
    for name, training in cases(load(root=ROOT)).items():
        if arguments.only not in name:
            continue
        console.print(f"measures {name}")
        found = measure(training, arguments.rounds, arguments.bf16)
        results[name] = found
        method = training["target"]["method"]
        goal = f"{GOALS[name]:g}" if name in GOALS else ""
        table.add_row(
            name,
            training["input"]["method"],
            method,
            f"{found['positions']:,}",
            f"{found['ratio']:.2f}",
            goal,
        )
    console.print(table)
    console.print(
        "Processor time of an update relative to cross-entropy with a full mask (DiMS: to its "
        f"teacher's objective) on as many decoder positions; d=256, 3+3 layers, {BATCH_TOKENS:,} "
        f"target tokens, {VOCABULARY_SIZE:,} symbols, {'bf16' if arguments.bf16 else 'fp32'}, one "
        f"thread, medians of {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}."
    )
    write_json(arguments.output, {"bf16": arguments.bf16, "systems": results})


def cases(configuration: Any) -> dict[str, dict[str, Any]]:
    """The effective configurations of `SYSTEMS`, in one size."""
    corpus = configuration.corpora[0]
    found: dict[str, dict[str, Any]] = {}
    for name in SYSTEMS:
        training = configuration.training(corpus, name)
        training["text"] = "raw"
        training["architecture"] = {**training["architecture"], **ARCHITECTURE}
        training["recipe"]["dropout"] = 0.1
        if training["target"]["method"].startswith("dims"):
            start = configuration.training(corpus, training["init_from"])
            training["baseline"] = {part: start[part] for part in ("input", "target")}
        if training["teacher"] is not None:
            teacher = configuration.training(corpus, training["teacher"]["system"])
            teacher["architecture"] = training["architecture"]
            training["consulted"] = teacher
        found[name] = training
    return found


def measure(training: dict[str, Any], rounds: int, bfloat16: bool) -> dict[str, Any]:
    """Time a case and its baseline in turns."""
    ratio = training["decoder"]["upsample"] or 1.0
    canvas = int(-(-SENTENCE_TOKENS * ratio // 1))
    baseline = copy.deepcopy(training)
    if "baseline" in training:
        baseline.update(training["baseline"])
        target_tokens = SENTENCE_TOKENS
    else:
        target_tokens = canvas
        baseline["input"] = {"method": "full_mask"}
        baseline["target"] = {"method": "cross_entropy", "label_smoothing": 0.0}
        baseline["length"] = training["length"] if ratio == 1 else None
        baseline["decoder"] = {**training["decoder"], "upsample": None}
        baseline["latent"] = None
    sides = [update(training, SENTENCE_TOKENS, bfloat16), update(baseline, target_tokens, bfloat16)]
    for step in sides:
        step()
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
        "positions": BATCH_TOKENS // SENTENCE_TOKENS * canvas,
    }


def update(training: dict[str, Any], target_tokens: int, bfloat16: bool) -> Callable[[], None]:
    """An update of a system on random sentences."""
    import numpy as np
    import torch

    from nat.data.batch import Batch
    from nat.data.vocabulary import SPECIALS
    from nat.objective.objective import Objective
    from nat.transformer.model_file import build_model

    torch.manual_seed(1)
    model = build_model(training, VOCABULARY_SIZE).train()
    consulted = training.get("consulted")
    teacher = None if consulted is None else build_model(consulted, VOCABULARY_SIZE).eval()
    objective = Objective(training, model, 1, bfloat16, teacher).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-5)
    numbers = np.random.default_rng(1)
    sentences = BATCH_TOKENS // SENTENCE_TOKENS

    def sentence(tokens: int) -> Any:
        return numbers.integers(len(SPECIALS), VOCABULARY_SIZE, tokens)

    batch = Batch.collate(
        range(sentences),
        [sentence(SENTENCE_TOKENS) for _ in range(sentences)],
        [sentence(target_tokens) for _ in range(sentences)],
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
