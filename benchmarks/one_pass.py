"""One pass beside autoregressive beam search: both in PyTorch, the setting of most papers.

Random weights and d = 512, in fp32. Autoregressive models write as many tokens as the source has,
and so do the one-pass students, whose length is given. All systems take turns in one process, a
sentence at a time on one thread and on all cores, or with `--gpu` one and 32 sentences at a time on
the GPU; numbers are medians and quartiles over rounds. `benchmarks/deployment.py` has the engines
that people deploy on processors; on the GPU, CTranslate2 is among the systems here.
"""

import argparse
import importlib.util
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.ctc_beam import ARCHITECTURE
from benchmarks.timing import quartiles, shown

ROOT = Path(__file__).resolve().parents[1]

VOCABULARY_SIZES = (10_000, 32_000)
TOKENS = 25
BATCHES = (1, 32)
"""Sentences at a time on a GPU."""

BEAM = 5
REFERENCE = f"AT 6-6, beam {BEAM}"


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="One pass beside autoregressive beam search.")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each case (default 11)")
    parser.add_argument("--gpu", action="store_true", help="on the GPU")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/one_pass.json")
    arguments = parser.parse_args()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    console = Console(width=None if sys.stdout.isatty() else 120)
    headings = ("device", "sentences", "symbols", "system", "wall, ms")
    table = Table(*headings, f"speed-up over {REFERENCE}")
    counts = sorted({1, os.cpu_count() or 1})
    settings = [(f"threads: {threads}", threads, 1) for threads in counts]
    if arguments.gpu:
        if not torch.cuda.is_available():
            sys.exit("error: no CUDA device")
        threads = torch.get_num_threads()
        settings = [(torch.cuda.get_device_name(), threads, batch) for batch in BATCHES]
        if not has_ctranslate2():
            console.print("CTranslate2 is left out: it or cuBLAS 12 is not there")
    results = []
    for place, threads, batch in settings:
        torch.set_num_threads(threads)
        for symbols in VOCABULARY_SIZES:
            device = "cuda" if arguments.gpu else "cpu"
            found = measure(symbols, arguments.rounds, device, batch)
            results.append(
                {"device": place, "sentences": batch, "symbols": symbols, "systems": found}
            )
            for name, each in found.items():
                numbers = shown(each["milliseconds"], 1), shown(each["speed_up"])
                table.add_row(place, str(batch), f"{symbols:,}", name, *numbers)
    console.print(table)
    console.print(
        f"d=512, sentences of {TOKENS} tokens, milliseconds a batch, medians (quartiles) of "
        f"{arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}. Written to {arguments.output}"
    )
    write_json(arguments.output, {"tokens": TOKENS, "cases": results})


def measure(
    symbols: int, rounds: int, device: str, batch: int
) -> dict[str, dict[str, list[float]]]:
    """Quartiles of milliseconds a batch, and of speed-ups in the same round."""
    import torch

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    systems = systems_of(symbols, device, batch)
    for translate in systems.values():
        translate()  # a warm-up
    wait()
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, translate in systems.items():
            started = time.perf_counter()
            translate()
            wait()
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


def systems_of(symbols: int, device: str, batch: int) -> dict[str, Callable[[], Any]]:
    """What translates the sentences, by the name of the system."""
    import numpy as np
    import torch

    from nat.data.batch import source_tensor
    from nat.data.vocabulary import SPECIALS
    from nat.decoding.beam_search import BeamSearch
    from nat.decoding.captured import Captured, captured
    from nat.decoding.ctc import CtcDecoding
    from nat.decoding.mask_predict import MaskPredict
    from nat.decoding.one_pass import OnePass
    from nat.transformer.architecture import Architecture, DecoderOptions
    from nat.transformer.model import Transformer

    torch.manual_seed(0)
    tokens = np.random.default_rng(0).integers(len(SPECIALS), symbols, TOKENS)
    source = source_tensor([tokens] * batch).to(device)

    def build(encoder: int, decoder: int, length: str | None, **options: Any) -> Transformer:
        layers = {"encoder_layers": encoder, "decoder_layers": decoder}
        architecture = Architecture(**{**ARCHITECTURE, **layers})
        model = Transformer(architecture, symbols, length=length, decoder=DecoderOptions(**options))
        return model.to(device).eval()

    def system(decoding: Any, *arguments: Any, **options: Any) -> Callable[[], Any]:
        model = build(*arguments, **options)
        return lambda: decoding(model, source)

    def search(beam: int) -> BeamSearch:
        return BeamSearch(beam=beam, longest_ratio=1.0, longest_margin=0)

    systems = {
        REFERENCE: system(search(BEAM), 6, 6, None),
        "AT 6-6, beam 1": system(search(1), 6, 6, None),
        f"AT 12-1, beam {BEAM}": system(search(BEAM), 12, 1, None),
        "AT 12-1, beam 1": system(search(1), 12, 1, None),
        "NAT, one pass": system(OnePass(), 6, 6, "constant", copy="soft"),
        "CTC, 2 frames a token": system(
            CtcDecoding(), 6, 6, None, copy="soft_upsampled", upsample=2.0
        ),
        "CTC, 3 frames a token": system(
            CtcDecoding(), 6, 6, None, copy="soft_upsampled", upsample=3.0
        ),
        "CMLM, 4 steps, 5 lengths": system(MaskPredict(steps=4, length_beam=5), 6, 6, "constant"),
        "CMLM, 10 steps, 5 lengths": system(MaskPredict(steps=10, length_beam=5), 6, 6, "constant"),
    }
    for precision in ("float32", "float16") if device == "cuda" else ():
        graph, added = Captured(precision=precision), f"captured, {precision}"
        frames = {"copy": "soft_upsampled", "upsample": 2.0}
        systems[f"NAT, one pass, {added}"] = system(graph, 6, 6, "constant", copy="soft")
        systems[f"CTC, 2 frames a token, {added}"] = system(graph, 6, 6, None, **frames)
        for layers, beam in itertools.product(((6, 6), (12, 1)), (1, BEAM)):
            name = f"AT {layers[0]}-{layers[1]}, beam {beam}, {added}"
            systems[name] = system(captured(search(beam), precision), *layers, None)
    for layers in ((12, 1), (6, 6)) if device == "cuda" and has_ctranslate2() else ():
        systems |= in_ctranslate2(build(*layers, None).cpu(), [tokens] * batch)
    return systems


def has_ctranslate2() -> bool:
    """Return True if CTranslate2 is there, with the library that it needs on a GPU."""
    if importlib.util.find_spec("ctranslate2") is None:
        return False
    from nat.decoding.engines.ctranslate2 import runs_on_gpu

    return runs_on_gpu()


def in_ctranslate2(model: Any, sentences: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    """What translates the sentences with an autoregressive model in CTranslate2 on the GPU."""
    from ctranslate2 import Translator

    from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
    from nat.export.formats import convert

    symbols = model.vocabulary_sizes.target
    vocabulary = Vocabulary(f"w{number}" for number in range(symbols - len(SPECIALS)))
    text = [[vocabulary.symbols[token] for token in sentence] for sentence in sentences]
    architecture = model.architecture
    name = f"AT {architecture.encoder_layers}-{architecture.decoder_layers}, CTranslate2"
    found: dict[str, Callable[[], Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        convert("ctranslate2", model, Vocabularies(vocabulary, vocabulary), Path(folder) / "made")
        for precision in ("float16", "int8"):
            stored = precision.replace("float16", "float32")
            path = Path(folder) / "made" / stored
            translator = Translator(str(path), device="cuda", compute_type=precision)
            for beam in (1, BEAM):
                found[f"{name}, {precision}, beam {beam}"] = partial(
                    translator.translate_batch,
                    text,
                    beam_size=beam,
                    min_decoding_length=TOKENS,
                    max_decoding_length=TOKENS,
                )
    return found


if __name__ == "__main__":
    main()
