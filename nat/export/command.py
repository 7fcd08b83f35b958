"""The command `nat`: trained models on raw text, and a look at a cluster."""

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import nat
from nat.program import run
from nat.traits import ENGINES

FORMATS = (*ENGINES, "fairseq", "huggingface")
"""Programs that a model can be exported to."""
MEASURES = ("sacrebleu", "tokenised_bleu", "multi_reference_bleu", "chrf", "repeated_tokens")
"""Measures of translations that are compared."""

PRECISIONS = ("float32", "float16", "bfloat16")


def main() -> None:
    """Run the command."""
    run(_main)


def _main() -> None:
    arguments = vars(_parser().parse_args())
    # torch takes a second to import, and a mistake in the arguments is told before
    module, function = arguments.pop("do").split(":")
    if told := getattr(importlib.import_module(module), function)(**arguments):
        sys.stdout.write(f"{told}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nat", description=__doc__)
    parser.add_argument("--version", action="version", version=f"nat {nat.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: str, help: str) -> Callable[..., object]:
        added = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        added.set_defaults(do=do)
        if name in ("translate", "pack", "export"):
            help = "a folder that 'nat pack' made, or results/RUN/models/CORPUS/SYSTEM/seedN"
            added.add_argument("folder", type=Path, help=help)
        if name in ("pack", "export"):
            help = "folder to make; one that this command has made before is replaced"
            added.add_argument("output", type=Path, help=help)
            help = "of a package, or for fairseq and huggingface; default: the usual one of the "
            help += "system, and those that the run has scored; of a package, all"
            added.add_argument("--decodings", metavar="NAME", nargs="+", default=[], help=help)
        return added.add_argument

    translate = command(
        "translate",
        "nat.export.translator:translate_input",
        "translate raw text to standard output, line by line",
    )
    help = "text, or a gzip-compressed one; default: standard input"
    translate("file", metavar="FILE", type=Path, nargs="?", help=help)
    help = "default: the usual one of the system, or the first one of a package"
    translate("--decoding", metavar="NAME", help=help)
    help = "read, sort by length and translate so many lines at a time, then write them; "
    help += "default: 10000, or 1 at a terminal"
    translate("--lines", metavar="N", type=_count, help=help)
    help = "most source tokens of a batch, with padding; fewer take less memory (default: those of "
    help += "the run)"
    translate("--batch-tokens", metavar="N", type=_count, help=help)
    help = "with cuda, in captured graphs where possible (default: a GPU, if there is one, without)"
    translate("--device", choices=("cpu", "cuda"), help=help)
    help = "of such graphs (default: %(default)s)"
    translate("--precision", choices=PRECISIONS, default=PRECISIONS[0], help=help)

    pack = "nat.export.package:packed"
    command("pack", pack, "copy a model with all that it needs to one folder")

    export = command(
        "export",
        "nat.export.formats:export",
        "write a model in the format of another program, with its subwords",
    )
    help = "ctranslate2: autoregressive systems, and CTC systems without a decoder; onnx: systems "
    help += "that translate in parallel; fairseq: all but fairseq's own models, for "
    help += "fairseq-generate --user-dir nat/fairseq_plugin; huggingface: the same, for AutoModel "
    help += "of transformers"
    export("--to", required=True, choices=FORMATS, help=help)

    compare = command(
        "compare",
        "nat.measures.comparison:compare",
        "show how two translations of a test set differ, with intervals and tests",
    )
    help = "two, A and B, of: a system, RUN/scores/CORPUS/SYSTEM, a folder of a model, a run, a "
    help += "score file, or a file with a number for each sentence"
    compare("sides", metavar="SIDE", nargs=2, help=help)
    compare("--run", help="of systems, a folder in results/ (default: the scale of config.yaml)")
    compare("--corpus", help="default: all that both have")
    compare("--split", default="test", help="default: test")
    help = "of both, or of A and of B; default: all"
    compare("--decoding", metavar="NAME", nargs="+", default=[], help=help)
    help = "one of docs/measures.md (default: sacrebleu)"
    compare("--measure", metavar="NAME", default="sacrebleu", choices=MEASURES, help=help)
    help = "a file for each side with a number for each sentence, compared in place of a measure"
    compare("--scores", metavar=("FILE_A", "FILE_B"), type=Path, nargs=2, default=[], help=help)
    help = "shown of those that differ most (default: 5)"
    compare("--sentences", metavar="N", type=int, default=5, help=help)

    fairseq = command(
        "fairseq-command",
        "nat.jobs.train:fairseq_command",
        "prepare a training for fairseq's own program, and print the command that starts it",
    )
    fairseq("specification", type=Path, help="the file that the log of the training names")

    doctor = command(
        "doctor",
        "nat.workflow.doctor:doctor",
        "look at the Slurm of this login node, in the repository, and say what to write into "
        "config/cluster.yaml",
    )
    doctor("--scale", help="that is to run here (default: that of config/config.yaml)")

    completion = command(
        "completion",
        f"{__name__}:completion",
        "print a script that completes this command in a shell; put it where its completions are",
    )
    completion("shell", choices=("bash", "zsh", "tcsh"))
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}', expected a number above 0")
    return int(text)


def completion(shell: str) -> None:
    """Print the script for a shell."""
    import shtab  # an extra

    sys.stdout.write(shtab.complete(_parser(), shell) + "\n")


if __name__ == "__main__":
    main()
