"""Say how many jobs, hours and disk space a run still takes; nothing is run."""

import argparse
import sys

from rich.console import Console

from nat import program
from nat.configuration.command_line import add_configuration_arguments, configuration_from
from nat.workflow import plan
from snakemake_logger_plugin_jobs import pending


def main() -> None:
    """Ask Snakemake for the jobs that are left, and add up."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("targets", nargs="*", default=["all"], help="of snakemake (default: all)")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    keys = configuration.choice.keys
    words = ["--config", *(f"{key}={value}" for key, value in keys.items())]
    targets = list(dict.fromkeys(arguments.targets))
    if "all" in targets:
        targets += [name for name in configuration.files["papers"] if name not in targets]
    jobs = pending(targets, words)
    run = configuration.root / "results" / configuration.run
    measured = any((run / "benchmarks").rglob("*.tsv"))
    made = pending(targets, ["--forceall", "--nolock", *words]) if measured else []
    estimates = plan.Estimates(configuration, made)
    shown = plan.table(estimates, jobs, [name for name in targets if name != "all"])
    Console().print(shown)
    for sentence in plan.notes(estimates, jobs):
        sys.stdout.write(f"{sentence}\n")


if __name__ == "__main__":
    program.run(main)
