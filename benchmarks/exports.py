"""Whether exported models write the same text as the models themselves.

Every format that fits a trained model is made and opened with its own program: CTranslate2, ONNX
Runtime, `fairseq-generate` with this project's plugin, and transformers without this project. The
text is the test set of the corpus and, if that is too short, the validation set after it. Shown are
the sentences whose translation differs, BLEU, and for engines the largest distance of two
differing translations' scores: where it is the rounding of float32, rounding decided between them.

Run it where the models are: python -m benchmarks.exports results/demo/models/toy-ka-lu/nat-kd/seed1
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nat.export.translator import TextTranslator

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = 3000
PRECISIONS = ("float32", "int8")
BATCH_TOKENS = 2000

IN_TRANSFORMERS = """
import json, sys
from transformers import AutoModel, AutoTokenizer
folder, decoding, batch = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
model = AutoModel.from_pretrained(folder, trust_remote_code=True)
lines, found = json.load(sys.stdin), []
for start in range(0, len(lines), int(batch)):
    part = lines[start : start + int(batch)]
    sources = tokenizer(part, return_tensors="pt", padding=True).input_ids
    generated = model.generate(sources, decoding=decoding)
    found += tokenizer.batch_decode(generated, skip_special_tokens=True)
assert "nat" not in sys.modules
print(json.dumps(found))
"""
BATCH = 100
"""Sentences that transformers translates at a time."""


@dataclass(frozen=True)
class Case:
    """A model and what it translates.

    Attributes:
        translator: with the model and its decoding.
        languages: codes of source and target, joined by a hyphen.
        sources: raw text.
    """

    translator: "TextTranslator"
    languages: str
    sources: list[str]


@dataclass(frozen=True)
class Written:
    """Translations of all sentences.

    Attributes:
        text: detokenised.
        scores: in nats, as the decoding ranks translations; None where a program gives none.
    """

    text: list[str]
    scores: list[float] | None = None


def main() -> None:
    """Export, translate, compare, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Exports beside the models themselves.")
    parser.add_argument(
        "models", nargs="+", type=Path, help="results/RUN/models/CORPUS/SYSTEM/seedN"
    )
    parser.add_argument("--decoding", metavar="NAME", help="default: the usual one of each system")
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/exports.json")
    arguments = parser.parse_args()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("system", "decoding", "export", "differ", "sacreBLEU", "score apart at most")
    results = []
    for folder in arguments.models:
        found = measure(folder, arguments.decoding, arguments.sentences)
        results.append({"model": str(folder), **found})
        for name, each in found["exports"].items():
            apart = each.get("apart")
            table.add_row(
                folder.parts[-2],
                found["decoding"],
                name,
                "" if each["differ"] is None else f"{each['differ']:,}",
                f"{each['bleu']:.2f}",
                "" if apart is None else f"{apart:.4f}",
            )
    console.print(table)
    console.print(
        f"{results[0]['sentences']:,} sentences; scores in nats. Written to {arguments.output}"
    )
    write_json(arguments.output, {"cases": results})


def measure(folder: Path, decoding: str | None, sentences: int) -> dict[str, Any]:
    """Differences of every export of a model from the model itself.

    Args:
        folder: of a training in the results of a run.
        decoding: its name; None for the usual one.
        sentences: to translate, or as many as test and validation set have.
    """
    from nat.export.formats import export
    from nat.export.translator import load

    translator = load(folder, decoding)
    source, target = translator.package.text.sides
    sources, targets = (text(folder.parts[-3], side, sentences) for side in (source, target))
    case = Case(translator, f"{source}-{target}", sources)
    own = with_method(case, translator.method)
    found = {"model itself": {"differ": None, "apart": None, "bleu": bleu(own, targets)}}
    name = translator.decoding
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary)
        for to, decodings in engines(name, bool(translator.model.decoder_layers)).items():
            export(folder, made / to, to)
            for precision, each in decodings.items():
                there = in_engine(case, made / to, each)
                found[f"{to}, {precision}"] = compared(own, there, targets)
        for to, run in (("fairseq", in_fairseq), ("huggingface", in_transformers)):
            export(folder, made / to, to, [name])
            found[to] = compared(own, Written(run(case, made / to)), targets)
    return {"decoding": name, "sentences": len(sources), "exports": found}


def text(corpus: str, language: str, sentences: int) -> list[str]:
    """Lines of one side of the test set and then of the validation set."""
    from nat.artifacts import step_of
    from nat.data.lines import read_lines

    files = (
        Path(step_of(corpus, split, "text").path) / f"{split}.{language}"
        for split in ("test", "valid")
    )
    return list(islice(chain.from_iterable(map(read_lines, files)), sentences))


def engines(decoding: str, has_decoder: bool) -> dict[str, dict[str, str]]:
    """By engine and precision, the decoding that does the same in it; empty if none does.

    Of a decoding whose options are tuned, the one without; `in_engine` adds the chosen values.
    """
    decoding = decoding.removesuffix("-tuned")
    if beam := re.fullmatch(r"beam\d+", decoding):
        to, name = "ctranslate2", beam[0]
    elif decoding == "ctc" and not has_decoder:
        to, name = "ctranslate2", "ctc"
    elif decoding in ("ctc", "one-pass"):
        to, name = "onnx", "1-lb1"
    elif found := re.fullmatch(r"mask-predict-(\d+-lb\d+)", decoding):
        to, name = "onnx", found[1]
    else:
        return {}
    return {to: {precision: f"{to}-{precision}-{name}" for precision in PRECISIONS}}


def with_method(case: Case, method: Any) -> Written:
    """Translations by the model with a decoding method."""
    import numpy as np

    from nat.decoding.corpus import translate

    prepare, vocabularies = case.translator.raw_text, case.translator.vocabularies
    subwords = map(prepare.subwords, case.sources)
    encoded = [np.array(vocabularies.source.encode(line), dtype=np.int64) for line in subwords]
    translations = translate(
        case.translator.model, method, encoded, range(len(encoded)), BATCH_TOKENS
    )
    found = [each.hypothesis for each in translations]
    return Written(
        [prepare.text(vocabularies.target.decode(each.tokens)) for each in found],
        [each.score for each in found],
    )


def in_engine(case: Case, made: Path, decoding: str) -> Written:
    """Translations by CTranslate2 or ONNX Runtime."""
    from nat import registry
    from nat.configuration import read
    from nat.jobs.translate import Methods

    own = case.translator.method
    configuration = read()
    tuned = configuration.decoding_file(case.translator.decoding).tuning
    chosen = {name: getattr(own, name) for name in tuned}
    method = configuration.decoding(decoding).with_options(chosen)
    built = registry.build("decoding", method)
    sizes = case.translator.vocabularies.sizes
    return with_method(case, Methods(sizes, "cpu").bind(built, converted=made))


def in_fairseq(case: Case, made: Path) -> list[str]:
    """Translations by fairseq-generate."""
    prepare = case.translator.raw_text
    lines = "".join(prepare.subwords(line) + "\n" for line in case.sources)
    for side in case.languages.split("-"):
        (made / f"test.{case.languages}.{side}").write_text(lines, encoding="utf-8")
    generate = [sys.executable, "-m", "fairseq_cli.generate", made, "--path", made / "model.pt"]
    generate += ["--user-dir", ROOT / "nat/fairseq_plugin", "--task", "nat_translation"]
    generate += ["--dataset-impl", "raw", "--scoring", "sacrebleu", "--max-tokens", BATCH_TOKENS]
    output = run_program(list(map(str, generate)), PYTHONPATH=str(ROOT))
    rows = [line.split("\t") for line in output.splitlines() if line.startswith("H-")]
    hypotheses = {int(row[0][2:]): row[2] for row in rows}
    return [prepare.text(hypotheses[number]) for number in range(len(case.sources))]


def in_transformers(case: Case, made: Path) -> list[str]:
    """Translations by transformers, in a process that does not know this project."""
    decoding = case.translator.decoding
    command = [sys.executable, "-c", IN_TRANSFORMERS, str(made), decoding, str(BATCH)]
    home = {"HF_HOME": str(made / "home"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    found: list[str] = json.loads(run_program(command, json.dumps(case.sources), **home))
    return found


def run_program(command: list[str], given: str = "", **environment: str) -> str:
    """What a program prints, or its last words if it fails."""
    found = subprocess.run(
        command, input=given, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if found.returncode:
        raise SystemExit(f"error: {command[1:3]} failed: {found.stderr[-2000:]}")
    return found.stdout


def compared(own: Written, there: Written, targets: Sequence[str]) -> dict[str, Any]:
    """How many translations are another text, how far their scores are apart, and BLEU."""
    differing = [place for place, text in enumerate(own.text) if text != there.text[place]]
    apart = None
    if own.scores is not None and there.scores is not None:
        apart = max((abs(own.scores[at] - there.scores[at]) for at in differing), default=0.0)
    return {"differ": len(differing), "apart": apart, "bleu": bleu(there, targets)}


def bleu(written: Written, targets: Sequence[str]) -> float:
    """SacreBLEU of translations."""
    from nat.measures.bleu import sacrebleu, smoothed

    counts = sacrebleu(written.text, [[target] for target in targets]).sentences
    return round(float(smoothed(counts.sum(0, keepdims=True))[0]), 4)


if __name__ == "__main__":
    main()
