"""The arguments that every program of `workflow_scripts/` shares."""

from argparse import ArgumentParser, Namespace

from nat.configuration import Configuration, load


def add_configuration_arguments(parser: ArgumentParser) -> None:
    """Add `--scale`."""
    parser.add_argument(
        "--scale",
        metavar="NAME",
        help="a file of config/scales; without it the scale that config/config.yaml names",
    )


def configuration_from(arguments: Namespace) -> Configuration:
    """Load the configuration of the current folder at the scale that the arguments ask for.

    Raises:
        UserError: for anything wrong in any file.
    """
    return load(arguments.scale)
