"""The command `nat`: trained models on raw text, and a look at a cluster."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from nat.configuration import Choice, load
from nat.data.lines import decoded
from nat.errors import UserError
from nat.fields import Count
from nat.options import validated
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
    arguments = _parser().parse_args()
    arguments.do(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nat", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    folder = "a folder that 'nat pack' made, or results/RUN/models/CORPUS/SYSTEM/seedN"

    translate = commands.add_parser(
        "translate",
        help="translate raw text from standard input to standard output",
        description="Translate raw text, one line of standard output for each of standard input.",
    )
    translate.add_argument("folder", type=Path, help=folder)
    translate.add_argument(
        "--decoding",
        metavar="NAME",
        help="default: the usual one of the system, or the first one of a package",
    )
    translate.add_argument(
        "--lines",
        metavar="N",
        type=int,
        help="read, sort by length and translate so many lines at a time, then write them; "
        f"default: {BLOCK}, or 1 at a terminal",
    )
    translate.add_argument(
        "--batch-tokens",
        metavar="N",
        type=int,
        help="most source tokens of a batch, with padding; fewer take less memory (default: those "
        "of the run)",
    )
    translate.set_defaults(do=_translate)

    pack = commands.add_parser(
        "pack",
        help="copy a model with all that it needs to one folder",
        description="Copy a model, its vocabulary, its subwords and its decodings to one folder.",
    )
    pack.add_argument("folder", type=Path, help=folder)
    made = "folder to make; one that this command has made before is replaced"
    pack.add_argument("output", type=Path, help=made)
    _add_decodings(pack)
    pack.set_defaults(do=_pack)

    export = commands.add_parser(
        "export",
        help="write a model in the format of another program",
        description="Write a model in the format of another program, with its subwords.",
    )
    export.add_argument("folder", type=Path, help=folder)
    export.add_argument("output", type=Path, help=made)
    export.add_argument(
        "--to",
        required=True,
        choices=FORMATS,
        help="ctranslate2: autoregressive systems, and CTC systems without a decoder; onnx: "
        "systems that translate in parallel; fairseq: all but fairseq's own models, for "
        "fairseq-generate --user-dir nat/fairseq_plugin; huggingface: the same, for AutoModel of "
        "transformers",
    )
    _add_decodings(export, " (fairseq and huggingface)")
    export.set_defaults(do=_export)

    doctor = commands.add_parser(
        "doctor",
        help="look at this cluster's Slurm, and say what to write into config/cluster.yaml",
        description="Look at the Slurm of this login node, and at a node from a small job. Run it "
        "in the repository.",
    )
    doctor.add_argument("--scale", help="that is to run here (default: that of config/config.yaml)")
    doctor.set_defaults(do=_doctor)
    return parser


def _add_decodings(parser: argparse.ArgumentParser, of: str = "") -> None:
    parser.add_argument(
        "--decodings",
        metavar="NAME",
        nargs="+",
        default=[],
        help=f"default{of}: the usual one of the system, and those that the run has scored; of a "
        "package, all",
    )


def _translate(arguments: argparse.Namespace) -> None:
    if sys.stdin is None:
        raise UserError("standard input is closed; give the text there, as in '< FILE'")
    at_once = arguments.lines
    if at_once is None:
        at_once = 1 if sys.stdin.buffer.isatty() else BLOCK
    for name, value in (("--lines", at_once), ("--batch-tokens", arguments.batch_tokens)):
        if value is not None:
            validated(Count, value, name)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.deploy import translator

    opened = translator.load(arguments.folder, arguments.decoding, arguments.batch_tokens)
    for number, block in enumerate(_blocks(_read(), at_once)):
        _write(opened.translate(block, number * at_once + 1))


def _read() -> Iterator[str]:
    name, remedy = "standard input", "put each sentence on its own line"
    try:
        yield from decoded(sys.stdin.buffer, name, remedy=remedy)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"{name} cannot be read ({reason}); give the text there, as in '< FILE'"
        ) from error


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def _pack(arguments: argparse.Namespace) -> None:
    from nat.deploy.package import packed

    packed(arguments.folder, arguments.output, arguments.decodings)


def _export(arguments: argparse.Namespace) -> None:
    from nat.deploy.export import export

    export(arguments.folder, arguments.output, arguments.to, arguments.decodings)


def _doctor(arguments: argparse.Namespace) -> None:
    from nat.workflow.doctor import doctor  # needs what is optional, Snakemake

    found = load(Choice(arguments.scale), Path().resolve(), checked=False)
    doctor(found, lambda line: sys.stdout.write(f"{line}\n"))


def _blocks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    left = iter(lines)
    while block := list(islice(left, size)):
        yield block


if __name__ == "__main__":
    main()
