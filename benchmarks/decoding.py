"""What decoding costs beside the network: CTC's collapse and the bookkeeping of mask-predict.

A method's time is that of all its calls less that of the encoder, the decoder, the length predictor
and the output projection, which choose the likeliest symbols; the goal is that it takes at most 5%.
Models are random, of d = 256 and 6 + 6 layers, and translate a batch of 32 sentences. Seconds are
processor time of one thread, or time on the clock of a GPU; numbers are medians over rounds.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE: dict[str, Any] = {
    "model_dim": 256,
    "ffn_dim": 1024,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "heads": 4,
}
VOCABULARY_SIZE = 10_000
SENTENCES = 32
SOURCE_TOKENS = 24
GOAL = 0.05
"""Largest share of the time that bookkeeping may take."""

CASES = {"one-pass": GOAL, "mask-predict-4-lb5": GOAL, "ctc": GOAL, "ctc-beam20": None}
"""Decodings, with the share that is aimed at; a beam search over frames has none."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Share of bookkeeping in decoding.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each case (default 5)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/decoding.json")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.configuration import load
    from nat.files import write_json

    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    configuration = load(root=ROOT)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("decoding", "ms per batch", "ms beside the network", "share", "goal")
    results = {}
    for name, goal in CASES.items():
        found = measure(configuration.decoding(name), arguments.rounds, device)
        results[name] = {**found, "goal": goal}
        table.add_row(
            name,
            f"{found['milliseconds']:.1f}",
            f"{found['bookkeeping_milliseconds']:.2f}",
            f"{found['share']:.2%}",
            "" if goal is None else f"{goal:.0%}",
        )
    console.print(table)
    console.print(
        f"d=256, 6+6 layers, {SENTENCES} sentences of {SOURCE_TOKENS} tokens, {VOCABULARY_SIZE:,} "
        f"symbols, {device}, medians of {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}. "
        f"Written to {arguments.output}"
    )
    write_json(arguments.output, {"device": device, "decodings": results})


def measure(decoding: Any, rounds: int, device: str) -> dict[str, float]:
    """Time a decoding and what the network takes of it."""
    import numpy as np
    import torch

    from nat import registry
    from nat.data.batch import source_tensor
    from nat.data.vocabulary import SPECIALS
    from nat.transformer.architecture import Architecture, DecoderOptions
    from nat.transformer.model import Transformer

    torch.manual_seed(1)
    upsampled = registry.describe("decoding", decoding).upsampled
    model = Transformer(
        Architecture(**ARCHITECTURE),
        VOCABULARY_SIZE,
        length=None if upsampled else "offset",
        decoder=DecoderOptions(copy="soft", upsample=3.0) if upsampled else DecoderOptions(),
    )
    if model.length_predictor is not None:  # targets as long as their sources, by and large
        with torch.no_grad():
            model.length_predictor.classifier.bias[126:131] += 50  # type: ignore[index,operator,union-attr]
    model = model.to(device).eval()
    method = registry.build("decoding", decoding)
    numbers = np.random.default_rng(1)
    source = source_tensor(
        [numbers.integers(len(SPECIALS), VOCABULARY_SIZE, SOURCE_TOKENS) for _ in range(SENTENCES)]
    ).to(device)
    clock = Clock(device)
    method(model, source)
    totals, rests = [], []
    for _ in range(rounds):
        clock.network = 0.0
        with clock.watch(model):
            started = clock.now()
            method(model, source)
            total = clock.now() - started
        totals.append(total)
        rests.append(total - clock.network)
    shares = [rest / total for rest, total in zip(rests, totals, strict=True)]
    return {
        "milliseconds": round(1000 * statistics.median(totals), 3),
        "bookkeeping_milliseconds": round(1000 * statistics.median(rests), 3),
        "share": round(statistics.median(shares), 4),
    }


class Clock:
    """Adds up what the parts of a network take.

    Attributes:
        network: seconds since it was set to zero.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.network = 0.0

    def now(self) -> float:
        """Seconds; of a GPU, once it has done what it was asked to."""
        if self.device == "cpu":
            return time.process_time()
        import torch

        torch.cuda.synchronize()
        return time.perf_counter()

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose time is added to `network`."""

        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            started = self.now()
            result = function(*arguments, **keywords)
            self.network += self.now() - started
            return result

        return wrapper

    @contextmanager
    def watch(self, model: Any) -> Iterator[None]:
        """Count what a model and its projection take."""
        from nat.decoding import ctc_beam
        from nat.transformer.output import Output

        with mock.patch.multiple(
            model, encode=self.timed(model.encode), decode=self.timed(model.decode)
        ):
            patches = [mock.patch.object(Output, "best", self.timed(Output.best))]
            frames = self.timed(ctc_beam.best_continuations)
            patches.append(mock.patch.object(ctc_beam, "best_continuations", frames))
            if model.length_predictor is not None:
                predictor = model.length_predictor
                timed = self.timed(predictor.forward)
                patches.append(mock.patch.object(predictor, "forward", timed))
            for patch in patches:
                patch.start()
            try:
                yield
            finally:
                for patch in patches:
                    patch.stop()


if __name__ == "__main__":
    main()
