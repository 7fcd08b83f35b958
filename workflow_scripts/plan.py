"""Say how many jobs, device hours and disk a run will take; nothing is run."""

import argparse
import sys

from rich.console import Console

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.workflow import plan
from nat.workflow.dry_run import pending


def main() -> None:
    """Ask Snakemake for the jobs that are left, and add up."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("targets", nargs="*", default=["all"], help="of snakemake (default: all)")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    chosen = [f"{key}={value}" for key, value in configuration.choices.items()]
    jobs, noted = pending(arguments.targets, ["--config", *chosen])
    console = Console()
    console.print(plan.table(configuration, plan.estimate(configuration, jobs)))
    for note in noted:  # `snakemake plan` says them itself
        sys.stderr.write(f"{note}\n")
    for sentence in [
        *plan.assumptions(configuration, jobs),
        *plan.too_long(configuration, jobs),
    ]:
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    program.run(main)
