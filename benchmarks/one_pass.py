"""One pass beside autoregressive beam search: both in PyTorch, the setting of most papers.

A sentence at a time, with random weights and d = 512. Autoregressive models write as many tokens as
the source has, and so do the one-pass students, whose length is given. All systems take turns in
one process, once on one thread and once on all cores; numbers are medians and quartiles over
rounds. `benchmarks/deployment.py` has the engines that people deploy.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.ctc_beam import ARCHITECTURE
from benchmarks.timing import quartiles, shown

ROOT = Path(__file__).resolve().parents[1]

VOCABULARY_SIZES = (10_000, 32_000)
TOKENS = 25
BEAM = 5
REFERENCE = f"AT 6-6, beam {BEAM}"


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="One pass beside autoregressive beam search.")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each case (default 11)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/one_pass.json")
    arguments = parser.parse_args()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("symbols", "threads", "system", "wall, ms", f"speed-up over {REFERENCE}")
    results = []
    for threads in sorted({1, os.cpu_count() or 1}):
        torch.set_num_threads(threads)
        for symbols in VOCABULARY_SIZES:
            found = measure(symbols, arguments.rounds)
            results.append({"symbols": symbols, "threads": threads, "systems": found})
            for name, each in found.items():
                numbers = shown(each["milliseconds"], 1), shown(each["speed_up"])
                table.add_row(f"{symbols:,}", str(threads), name, *numbers)
    console.print(table)
    console.print(
        f"d=512, a sentence of {TOKENS} tokens, medians (quartiles) of {arguments.rounds} rounds, "
        f"load {os.getloadavg()[0]:.1f}. Written to {arguments.output}"
    )
    write_json(arguments.output, {"tokens": TOKENS, "cases": results})


def measure(symbols: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Quartiles of milliseconds a sentence, and of speed-ups in the same round."""
    systems = systems_of(symbols)
    for translate in systems.values():
        translate()  # a warm-up
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, translate in systems.items():
            started = time.perf_counter()
            translate()
            seconds[name].append(time.perf_counter() - started)
    return {
        name: {
            "milliseconds": quartiles([1000 * one for one in own]),
            "speed_up": quartiles(
                [its / one for its, one in zip(seconds[REFERENCE], own, strict=True)]
            ),
        }
        for name, own in seconds.items()
    }


def systems_of(symbols: int) -> dict[str, Callable[[], Any]]:
    """What translates the sentence, by the name of the system."""
    import numpy as np
    import torch

    from nat.data.batch import source_tensor
    from nat.data.vocabulary import SPECIALS
    from nat.decoding.beam_search import BeamSearch
    from nat.decoding.ctc import Ctc
    from nat.decoding.mask_predict import MaskPredict
    from nat.decoding.one_pass import OnePass
    from nat.transformer.architecture import Architecture
    from nat.transformer.decoder_options import DecoderOptions
    from nat.transformer.model import Transformer

    torch.manual_seed(0)
    tokens = np.random.default_rng(0).integers(len(SPECIALS), symbols, TOKENS)
    source = source_tensor([tokens])

    def build(encoder: int, decoder: int, length: str | None, **options: Any) -> Transformer:
        layers = {"encoder_layers": encoder, "decoder_layers": decoder}
        architecture = Architecture(**{**ARCHITECTURE, **layers})
        return Transformer(
            architecture, symbols, length=length, decoder=DecoderOptions(**options)
        ).eval()

    def system(decoding: Any, *arguments: Any, **options: Any) -> Callable[[], Any]:
        model = build(*arguments, **options)
        return lambda: decoding(model, source)

    def search(beam: int) -> BeamSearch:
        return BeamSearch(beam, longest_ratio=1.0, longest_margin=0)

    return {
        REFERENCE: system(search(BEAM), 6, 6, None),
        "AT 6-6, beam 1": system(search(1), 6, 6, None),
        f"AT 12-1, beam {BEAM}": system(search(BEAM), 12, 1, None),
        "AT 12-1, beam 1": system(search(1), 12, 1, None),
        "NAT, one pass": system(OnePass(), 6, 6, "constant", copy="soft"),
        "CTC, 2 frames a token": system(Ctc(), 6, 6, None, copy="soft_upsampled", upsample=2.0),
        "CTC, 3 frames a token": system(Ctc(), 6, 6, None, copy="soft_upsampled", upsample=3.0),
        "CMLM, 4 steps, 5 lengths": system(MaskPredict(steps=4, length_beam=5), 6, 6, "constant"),
        "CMLM, 10 steps, 5 lengths": system(MaskPredict(steps=10, length_beam=5), 6, 6, "constant"),
    }


if __name__ == "__main__":
    main()
