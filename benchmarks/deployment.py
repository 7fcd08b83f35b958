"""How long a one-pass student takes in ONNX Runtime beside a teacher's heir in CTranslate2.

A sentence at a time on one thread, d = 512: DiMS with 6 + 6 layers in one step, CTC with 6 + 6
layers, a single pass over an upsampled canvas, or with an encoder of 12 layers alone, which
CTranslate2 runs, too, against an autoregressive model with 12 + 1 layers and beam search.
All take turns; numbers are medians and quartiles over rounds, of processor time, so that other
programs on the machine matter less, and of wall time. Weights are random, which does not change the
work of a pass; DiMS predicts the length of the source and the beam search writes as many tokens, as
trained models would.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.timing import quartiles, shown

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE = {"model_dim": 512, "ffn_dim": 2048, "heads": 8, "pre_norm": True}
VOCABULARY_SIZES = (10_000, 32_000)
SOURCE_TOKENS = 25
BEAM = 5
UPSAMPLE = (2.0, 3.0)
GOAL = 0.5
"""Largest time of the int8 student over that of the int8 beam search that is aimed at."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="A student in ONNX Runtime beside CTranslate2.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each case (default 15)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/deployment.json")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("symbols", "system", "processor, ms", "wall, ms", "over 12-1 int8")
    results = []
    for symbols in VOCABULARY_SIZES:
        found = measure(symbols, arguments.rounds)
        results.append({"symbols": symbols, "systems": found})
        for name, each in found.items():
            table.add_row(
                f"{symbols:,}",
                name,
                *(shown(each[key], 1) for key in ("processor", "wall")),
                shown(each["ratio"]),
            )
    console.print(table)
    console.print(
        f"d=512, a sentence of {SOURCE_TOKENS} tokens, one thread, medians (quartiles) of "
        f"{arguments.rounds} rounds, goal {GOAL}, load {os.getloadavg()[0]:.1f}. Written to "
        f"{arguments.output}"
    )
    write_json(arguments.output, {"goal": GOAL, "cases": results})


REFERENCE = f"AT 12-1, CTranslate2, int8, beam {BEAM}"


def measure(
    symbols: int,
    rounds: int,
    tokens: int = SOURCE_TOKENS,
    architecture: dict[str, Any] | None = None,
) -> dict[str, dict[str, list[float]]]:
    """Quartiles of milliseconds a sentence, and of ratios to the reference in the same round.

    Args:
        symbols: of the vocabulary.
        rounds: in each, every system translates the sentence once.
        tokens: of the sentence.
        architecture: what differs from `ARCHITECTURE`.
    """
    with tempfile.TemporaryDirectory() as folder:
        systems = systems_in(
            Path(folder), symbols, tokens, {**ARCHITECTURE, **(architecture or {})}
        )
        for translate in systems.values():
            translate()
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in systems}
        for number in range(rounds):
            names = list(systems)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                started, before = time.perf_counter(), time.process_time()
                systems[name]()
                now = time.process_time() - before, time.perf_counter() - started
                seconds[name].append(now)
    reference = [processor for processor, _ in seconds[REFERENCE]]
    return {
        name: {
            "processor": quartiles([1000 * processor for processor, _ in times]),
            "wall": quartiles([1000 * wall for _, wall in times]),
            "ratio": quartiles([own / its for (own, _), its in zip(times, reference, strict=True)]),
        }
        for name, times in seconds.items()
    }


def systems_in(
    folder: Path, symbols: int, tokens: int, architecture: dict[str, Any]
) -> dict[str, Callable[[], Any]]:
    """What translates the sentence, by the name of the system; models are written to a folder."""
    import numpy as np
    import torch
    from ctranslate2 import Translator

    from nat.data.batch import source_tensor
    from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
    from nat.decoding.ctc import CtcDecoding
    from nat.decoding.ctranslate2_ctc import CTranslate2Ctc
    from nat.decoding.engines.ctranslate2 import CTranslate2Engine
    from nat.decoding.engines.onnx import OnnxEngine
    from nat.decoding.mask_predict import MaskPredict
    from nat.decoding.onnx_parallel import OnnxParallel
    from nat.export.formats import convert
    from nat.transformer.architecture import Architecture, DecoderOptions
    from nat.transformer.length import LENGTH_CLASSES
    from nat.transformer.model import Transformer

    torch.manual_seed(0)
    vocabulary = Vocabulary(f"w{number}" for number in range(symbols - len(SPECIALS)))
    vocabularies = Vocabularies(vocabulary, vocabulary)
    sentence = np.random.default_rng(0).integers(len(SPECIALS), symbols, tokens)
    text, source = [vocabulary.symbols[token] for token in sentence], source_tensor([sentence])

    def build(
        encoder: int, decoder: int, options: DecoderOptions, length: str | None = None
    ) -> Transformer:
        sizes = Architecture(encoder_layers=encoder, decoder_layers=decoder, **architecture)
        return Transformer(sizes, symbols, length=length, decoder=options).eval()

    systems: dict[str, Callable[[], Any]] = {}

    def add(label: str, model: Transformer, in_pytorch: Any) -> None:
        convert("onnx", model, vocabularies, folder / label)
        systems[f"{label}, PyTorch"] = lambda: in_pytorch(model, source)
        for precision in ("float32", "int8"):
            method, engine = (
                OnnxParallel(precision=precision),
                OnnxEngine(folder / label, precision),
            )
            systems[f"{label}, ONNX Runtime, {precision}"] = partial(method, model, source, engine)

    dims: Any = build(6, 6, DecoderOptions(), length="offset")
    with torch.no_grad():
        dims.length_predictor.classifier.bias[LENGTH_CLASSES // 2] = 100.0  # none differs
    add("DiMS, 1 step", dims, MaskPredict(steps=1, length_beam=1))
    for upsample, single in itertools.product(UPSAMPLE, (False, True)):
        copy: Any = "repeated" if single else "soft_upsampled"
        layers = (12, 0) if single else (6, 6)
        model = build(*layers, DecoderOptions(copy=copy, upsample=upsample))
        label = f"CTC {'encoder ' if single else ''}x{upsample:g}"
        add(label, model, CtcDecoding())
        if single:
            convert("ctranslate2", model, vocabularies, folder / f"{label}, CTranslate2")
        for precision in ("float32", "int8") if single else ():
            its = CTranslate2Ctc(precision=precision)
            made = folder / f"{label}, CTranslate2"
            opened = CTranslate2Engine(made, precision, torch.device("cpu"))
            systems[f"{label}, CTranslate2, {precision}"] = partial(its, model, source, opened)
    for encoder, decoder in ((12, 1), (6, 6)):
        made = folder / f"at-{encoder}-{decoder}"
        convert("ctranslate2", build(encoder, decoder, DecoderOptions()), vocabularies, made)
        translator = Translator(str(made / "int8"), compute_type="int8", intra_threads=1)
        for beam in (1, BEAM):
            systems[f"AT {encoder}-{decoder}, CTranslate2, int8, beam {beam}"] = partial(
                translator.translate_batch,
                [text],
                beam_size=beam,
                min_decoding_length=tokens,
                max_decoding_length=tokens,
            )
    return systems


if __name__ == "__main__":
    main()
