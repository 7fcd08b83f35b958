"""The arguments that every program of `workflow_scripts/` shares."""

from argparse import ArgumentParser, Namespace

from nat.configuration import Configuration, choice, load
from nat.configuration.overrides import EXAMPLE, KEYS


def add_configuration_arguments(parser: ArgumentParser) -> None:
    """Add `--scale`, `--name` and `--override`, as `Configuration.arguments` gives them."""
    parser.add_argument(
        "--scale",
        metavar="NAME",
        help="a file of config/scales; without it the scale that config/config.yaml names",
    )
    parser.add_argument("--name", metavar="NAME", help="of a run of its own, at results/SCALE@NAME")
    parser.add_argument(
        "--override",
        metavar="KEY=VALUE ...",
        help=f"keys of recipes and of config/config.yaml that have other values: {EXAMPLE}",
    )


def configuration_from(arguments: Namespace) -> Configuration:
    """Load the configuration of the current folder that the arguments ask for.

    Raises:
        UserError: for anything wrong in any file, or in the arguments.
    """
    given = {key: getattr(arguments, key) for key in KEYS}
    chosen = {key: value for key, value in given.items() if value is not None}
    return load(choice(chosen))
