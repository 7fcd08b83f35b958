"""The programs of `workflow_scripts/` that make one artefact each."""

import argparse
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from nat.artifacts import Artifact
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.program import run

HELP = {
    "analysis": "what is measured, a module of nat/measures",
    "candidates": "names of the texts, with + between them",
    "corpus": "name of a file of config/corpora",
    "decoding": "name of a file of config/decodings",
    "number": "of the table or figure in that file",
    "order": "words of the longest n-grams",
    "other": "the autoregressive system",
    "paper": "name of a file of config/papers",
    "seed": "of the training",
    "setting": "cpu-N, cuda-N or cuda-largest",
    "shard": "which part, from 1",
    "shards": "number of parts",
    "split": "train, valid, test or another test set",
    "system": "name of a file of config/systems",
    "threads": "processes to use (default: 1)",
}
"""Of the arguments of all programs."""

A = TypeVar("A", bound=Artifact)


def makes(kind: type[A]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Turn a function into the program that makes one artefact.

    The program is asked for the names of the artefact, as in `--corpus C --system S`, and for
    further parameters of the function, which have a default. The function is called with the
    configuration as it holds on the corpus, the artefact and these parameters. The description of
    the program is the docstring of its module.

    Args:
        kind: of the artefact.
    """

    def decorate(function: Callable[..., None]) -> Callable[[], None]:
        names = [field for field in fields(kind) if field.name != "run"]
        options = list(inspect.signature(function).parameters.values())[2:]

        def main() -> None:
            parser = argparse.ArgumentParser(description=function.__globals__["__doc__"])
            add_configuration_arguments(parser)
            for name in names:
                parser.add_argument(
                    f"--{name.name}",
                    required=True,
                    type=int if name.type is int else str,
                    help=HELP[name.name],
                )
            for option in options:
                parser.add_argument(
                    f"--{option.name}",
                    default=option.default,
                    type=option.annotation,
                    help=HELP[option.name],
                )
            arguments = parser.parse_args()
            configuration = configuration_from(arguments)
            given: dict[str, Any] = vars(arguments)
            if "corpus" in given:
                configuration = configuration.on(given["corpus"])
            function(
                configuration,
                kind.of({**given, "run": configuration.run}),
                **{option.name: given[option.name] for option in options},
            )

        return lambda: run(main)

    return decorate
