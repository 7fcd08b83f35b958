"""Turns functions into the programs of `workflow_scripts/`; parameters become arguments."""

import argparse
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from nat.artifacts import Artifact
from nat.configuration import Configuration
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.configuration.corpora import check_corpus
from nat.data.splits import split_names, test_names
from nat.errors import UserError
from nat.fields import Count, Seed
from nat.options import validated
from nat.program import run
from nat.registry import Engine
from nat.spelling import hint

HELP = {
    "analysis": "what is measured, a module of nat/analyses",
    "bpe": "folder of the subwords",
    "candidates": "names of the texts, with + between them",
    "clean": "folder of the cleaned text",
    "corpus": "name of a file of config/corpora",
    "decoding": "name of a decoding of config/decodings, such as mask-predict-4-lb5",
    "decodings": "names of decodings of config/decodings",
    "engine": "ctranslate2 or onnx",
    "folder": "of the test set, which holds `text`",
    "group": "the table or figure, as in dims_table_1",
    "learned": "folder of the subwords of the training text",
    "number": "of the table or figure in that file",
    "order": "words of the longest n-grams",
    "other": "the autoregressive system",
    "output": "file or folder to make",
    "paper": "name of a file of config/papers",
    "seed": "of the training",
    "setting": "cpu-N, thread-N, cores-N, cuda-N or cuda-largest",
    "shard": "which part, from 1",
    "shards": "number of parts",
    "split": "train, valid, test or another test set",
    "splits": "names of splits with several references",
    "system": "name of a system of config/systems, such as cmlm-kd",
    "test": "name of a test set (default: train and valid)",
    "text": "folder of the raw text",
    "threads": "processes to use (default: 1)",
    "tokens": "folder of the tokens",
}
"""The help texts of the arguments of all programs."""

VALUES: Mapping[str, Any] = {
    "engine": Engine,
    "order": Count,
    "seed": Seed,
    "shard": Count,
    "shards": Count,
    "threads": Count,
}
"""What arguments may be, where that does not depend on the configuration."""

A = TypeVar("A", bound=Artifact)


def program(function: Callable[..., None]) -> Callable[[], None]:
    """Turn a function into a program.

    Its first parameter is the configuration that the command line chooses; each other one is an
    argument, `--corpus C`, that may be left out where it has a default. The description of the
    program is the docstring of its module.
    """
    described = list(inspect.signature(function).parameters.values())[1:]

    def main() -> None:
        parser = _parser(function)
        for each in described:
            optional = each.default is not inspect.Parameter.empty
            _add(parser, each.name, each.annotation, each.default if optional else ...)
        arguments = parser.parse_args()
        given = {each.name: getattr(arguments, each.name) for each in described}
        _check_values(given)
        configuration = configuration_from(arguments)
        _check_corpus(configuration, given)
        function(configuration, **given)

    return lambda: run(main)


def makes(kind: type[A]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Turn a function into the program that makes one artefact.

    The program is asked for the names of the artefact, as in `--corpus C --system S`, and for
    further parameters of the function, which have a default. The function is called with the
    configuration as it holds on the corpus, the artefact and these parameters.

    Args:
        kind: of the artefact.
    """

    def decorate(function: Callable[..., None]) -> Callable[[], None]:
        names = [field for field in fields(kind) if field.name != "run"]
        options = list(inspect.signature(function).parameters.values())[2:]

        def main() -> None:
            parser = _parser(function)
            for name in names:
                _add(parser, name.name, name.type, ...)
            for option in options:
                _add(parser, option.name, option.annotation, option.default)
            arguments = parser.parse_args()
            given: dict[str, Any] = vars(arguments)
            _check_values(given)
            configuration = configuration_from(arguments)
            _check_corpus(configuration, given)
            if "corpus" in given:
                configuration = configuration.on(given["corpus"])
            function(
                configuration,
                kind.of({**given, "run": configuration.run}),
                **{option.name: given[option.name] for option in options},
            )

        return lambda: run(main)

    return decorate


def _check_values(given: Mapping[str, Any]) -> None:
    """Check what nothing else does before a program works: `VALUES`.

    Raises:
        UserError: for the first argument that is something else.
    """
    for name in sorted(given.keys() & VALUES.keys()):
        validated(VALUES[name], given[name], f"--{name}")


def _check_corpus(configuration: Configuration, given: Mapping[str, Any]) -> None:
    """Check the corpus that a program is for, since without Snakemake nothing else has.

    Raises:
        UserError: for a fault of its file, or an argument that names a split it does not have.
    """
    if "corpus" not in given:
        return
    name = given["corpus"]
    corpus = configuration.corpus(name)
    check_corpus(name, corpus)
    splits, tests = split_names(corpus), test_names(corpus)
    for argument, what, known in (
        ("split", "split", splits),
        ("splits", "split", splits),
        ("test", "test set", tests),
    ):
        names = given.get(argument) or []
        for split in [names] if isinstance(names, str) else names:
            if split not in known:
                raise UserError(
                    f"--{argument}: {configuration.file_of('corpora', name)} has no {what} "
                    f"'{split}'; {hint(split, known)}"
                )


def _parser(function: Callable[..., None]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=function.__globals__["__doc__"])
    add_configuration_arguments(parser)
    return parser


def _add(parser: argparse.ArgumentParser, name: str, annotation: Any, default: Any) -> None:
    """Add an argument; `...` stands for no default."""
    several = get_origin(annotation) is list
    parsed = get_args(annotation)[0] if several else annotation
    parser.add_argument(
        f"--{name}",
        required=default is ...,
        default=None if default is ... else default,
        nargs="+" if several else None,
        type=parsed if parsed in (int, Path) else str,
        help=HELP[name],
    )
