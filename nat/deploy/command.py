"""The command `nat`: trained models on raw text, and a look at a cluster."""

import argparse
import importlib
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from nat.configuration import Choice, load
from nat.data.lines import decoded
from nat.program import run
from nat.traits import ENGINES

FORMATS = (*ENGINES, "fairseq", "huggingface")
"""What a model can be exported to."""

BLOCK = 10_000
"""Lines that are read, sorted by length and translated at a time, unless it is said otherwise."""


def main() -> None:
    """Run the command."""
    run(_main)


def _main() -> None:
    arguments = vars(_parser().parse_args())
    module, function = arguments.pop("do")
    # torch takes a second to import, and a mistake in the arguments is told before
    getattr(importlib.import_module(module), function)(**arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nat", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    translate = commands.add_parser(
        "translate",
        help="translate raw text from standard input to standard output",
        description="Translate raw text, one line of standard output for each of standard input.",
    )
    translate.set_defaults(do=(__name__, "translate"))
    pack = commands.add_parser(
        "pack",
        help="copy a model with all that it needs to one folder",
        description="Copy a model, its vocabulary, its subwords and its decodings to one folder.",
    )
    pack.set_defaults(do=("nat.deploy.package", "packed"))
    export = commands.add_parser(
        "export",
        help="write a model in the format of another program",
        description="Write a model in the format of another program, with its subwords.",
    )
    export.set_defaults(do=("nat.deploy.export", "export"))
    doctor = commands.add_parser(
        "doctor",
        help="look at this cluster's Slurm, and say what to write into config/cluster.yaml",
        description="Look at the Slurm of this login node, and at a node from a small job. Run it "
        "in the repository.",
    )
    doctor.set_defaults(do=(__name__, "doctor"))

    for each in (translate, pack, export):
        help = "a folder that 'nat pack' made, or results/RUN/models/CORPUS/SYSTEM/seedN"
        each.add_argument("folder", type=Path, help=help)
    for each, of in ((pack, ""), (export, " (fairseq and huggingface)")):
        help = "folder to make; one that this command has made before is replaced"
        each.add_argument("output", type=Path, help=help)
        help = f"default{of}: the usual one of the system, and those that the run has scored; of a "
        help += "package, all"
        each.add_argument("--decodings", metavar="NAME", nargs="+", default=[], help=help)
    translate.add_argument(
        "--decoding",
        metavar="NAME",
        help="default: the usual one of the system, or the first one of a package",
    )
    translate.add_argument(
        "--lines",
        metavar="N",
        type=_count,
        help="read, sort by length and translate so many lines at a time, then write them; "
        f"default: {BLOCK}, or 1 at a terminal",
    )
    translate.add_argument(
        "--batch-tokens",
        metavar="N",
        type=_count,
        help="most source tokens of a batch, with padding; fewer take less memory (default: those "
        "of the run)",
    )
    export.add_argument(
        "--to",
        required=True,
        choices=FORMATS,
        help="ctranslate2: autoregressive systems, and CTC systems without a decoder; onnx: "
        "systems that translate in parallel; fairseq: all but fairseq's own models, for "
        "fairseq-generate --user-dir nat/fairseq_plugin; huggingface: the same, for AutoModel of "
        "transformers",
    )
    doctor.add_argument("--scale", help="that is to run here (default: that of config/config.yaml)")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}', expected a number above 0")
    return int(text)


def translate(
    folder: Path, decoding: str | None, lines: int | None, batch_tokens: int | None
) -> None:
    """Translate standard input; arguments as in `nat.deploy.translator.load`."""
    from nat.deploy import translator

    at_once = lines or (1 if sys.stdin.buffer.isatty() else BLOCK)
    opened = translator.load(folder, decoding, batch_tokens)
    read = decoded(sys.stdin.buffer, "standard input", remedy="put each sentence on its own line")
    for number, block in enumerate(_blocks(read, at_once)):
        _write(opened.translate(block, number * at_once + 1))


def _blocks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(islice(lines, size)):
        yield block


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def doctor(scale: str | None) -> None:
    """Look at the cluster for a scale."""
    from nat.workflow.doctor import doctor as look  # needs what is optional, Snakemake

    found = load(Choice(scale), Path().resolve())
    look(found, lambda line: sys.stdout.write(f"{line}\n"))


if __name__ == "__main__":
    main()
