"""Print the settings of a system with all defaults, as a scale, size and recipe make them.

With a second system, only the settings that differ.
"""

import argparse
import sys

from nat import program
from nat.configuration import shown
from nat.configuration.command_line import add_configuration_arguments, configuration_from


def main() -> None:
    """Parse the command line and print the settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("system", help="name of a system of config/systems, such as cmlm-kd")
    parser.add_argument("other", nargs="?", help="a second one that it is compared with")
    parser.add_argument("--corpus", help="default: that of the first task of the scale")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    corpus = arguments.corpus or next(iter(configuration.tasks.values()))
    if arguments.other:
        text = shown.compared(configuration, corpus, arguments.system, arguments.other)
    else:
        text = shown.effective(configuration, corpus, arguments.system)
    sys.stdout.write(text)


if __name__ == "__main__":
    program.run(main)
