"""How long CTC beam search takes beside the greedy decoding of the same model.

A sentence at a time on one thread, with a model of d = 512 and 6 + 6 layers, with and without
4-grams. The two decodings take turns; numbers are medians and quartiles over rounds. Weights are
random, so that the frames are `flat`: no symbol has a probability worth mentioning, and nearly
every extension of a prefix has to be ranked. Of a trained model they are `peaked`: three in five
frames are a blank, the others one of two tokens.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import quartiles, shown

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE: dict[str, Any] = {
    "model_dim": 512,
    "ffn_dim": 2048,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "heads": 8,
}
VOCABULARY_SIZES = (10_000, 32_000)
UPSAMPLE = 3.0
SOURCE_TOKENS = 25
BEAM = 20
BLANKS = 0.6
"""Share of frames that are blank where frames are peaked."""
LOGITS = 12.0
"""How far the logit of a frame's symbol is above the others there."""
GOAL = 1.5
"""Largest ratio to greedy decoding that is aimed at."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="CTC beam search beside greedy decoding.")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each case (default 11)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/ctc_beam.json")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("symbols", "frames", "4-grams", "greedy, ms", "beam search, ms", "ratio")
    results = []
    for symbols in VOCABULARY_SIZES:
        for peaked in (False, True):
            for ngrams in (False, True):
                found = measure(symbols, peaked, ngrams, arguments.rounds)
                results.append(found)
                table.add_row(
                    f"{symbols:,}",
                    found["frames"],
                    "yes" if ngrams else "no",
                    *(shown(found[key]) for key in ("greedy", "beam", "ratio")),
                )
    console.print(table)
    console.print(
        f"d=512, 6+6 layers, a sentence of {SOURCE_TOKENS} tokens, {SOURCE_TOKENS * UPSAMPLE:.0f} "
        f"frames, beam {BEAM}, one thread, medians (quartiles) of {arguments.rounds} rounds, goal "
        f"{GOAL}, load {os.getloadavg()[0]:.1f}. Written to {arguments.output}"
    )
    write_json(arguments.output, {"goal": GOAL, "cases": results})


def measure(symbols: int, peaked: bool, ngrams: bool, rounds: int) -> dict[str, Any]:
    """Quartiles of milliseconds of both decodings, and of their ratio."""
    import numpy as np
    import torch

    from nat.data.batch import source_tensor
    from nat.data.vocabulary import SPECIALS
    from nat.decoding.ctc import CtcDecoding
    from nat.decoding.ctc_beam import CtcBeam
    from nat.decoding.options import LanguageModelOptions
    from nat.language_model.ngram import estimate
    from nat.transformer.architecture import Architecture, DecoderOptions
    from nat.transformer.model import Transformer

    torch.manual_seed(1)
    numbers = np.random.default_rng(1)
    model = Transformer(
        Architecture(**ARCHITECTURE),
        symbols,
        decoder=DecoderOptions(copy="soft", upsample=UPSAMPLE),
    ).eval()
    if peaked:
        model.decode = with_peaks(model)  # type: ignore[method-assign]
    source = source_tensor([numbers.integers(len(SPECIALS), symbols, SOURCE_TOKENS)])
    options, model_of_language = None, None
    if ngrams:
        words = len(SPECIALS) + (3 * numbers.pareto(0.7, 400_000)).astype(np.int64)
        words = np.minimum(words, symbols - 1)
        model_of_language = estimate(words, np.full(16_000, 25), symbols, 4)
        options = LanguageModelOptions(system="at-base", decoding="beam5")
    greedy, beam = (
        CtcDecoding(),
        CtcBeam(beam=BEAM, symbols=BEAM, language_model=options, word_bonus=2.2 if ngrams else 0.0),
    )
    calls: list[Callable[[], Any]] = [
        lambda: greedy(model, source),
        lambda: beam(model, source, model_of_language),
    ]
    times: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for call, found in zip(calls, times, strict=True):
            started = time.perf_counter()
            call()
            if number:  # the first is a warm-up
                found.append(1000 * (time.perf_counter() - started))
    ratios = [long / short for short, long in zip(*times, strict=True)]
    return {
        "symbols": symbols,
        "frames": "peaked" if peaked else "flat",
        "ngrams": ngrams,
        "greedy": quartiles(times[0]),
        "beam": quartiles(times[1]),
        "ratio": quartiles(ratios),
    }


def with_peaks(model: Any) -> Callable[..., Any]:
    """The decoder of a model, whose states are drawn towards the embeddings of a few symbols."""
    import torch

    from nat.data.vocabulary import BLANK, SPECIALS

    decode, weight = model.decode, model.embedding.weight.detach()
    generator = torch.Generator().manual_seed(1)
    towards = LOGITS * weight / weight.square().sum(1, keepdim=True).clamp(min=1e-9)

    def changed(*arguments: Any, **options: Any) -> Any:
        states = decode(*arguments, **options)
        shape = states.shape[:2]
        first, second = (
            torch.randint(len(SPECIALS), len(weight), shape, generator=generator) for _ in range(2)
        )
        silent = torch.rand(shape, generator=generator) < BLANKS
        share = torch.rand((*shape, 1), generator=generator)
        return states + towards[torch.where(silent, BLANK, first)] + share * towards[second]

    return changed


if __name__ == "__main__":
    main()
