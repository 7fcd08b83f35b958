"""Say how many jobs, device hours and disk a run will take; nothing is run."""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.reporting import plan


def main() -> None:
    """Ask Snakemake for the jobs that are left, and add up."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("targets", nargs="*", default=["all"], help="of snakemake (default: all)")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    command = [sys.executable, "-m", "snakemake", *arguments.targets, "--summary"]
    command += ["--config", *(f"{key}={value}" for key, value in configuration.choices.items())]
    ended = subprocess.run(command, text=True, capture_output=True)
    plan.check_summary(ended.returncode, ended.stderr)
    jobs = plan.pending(ended.stdout.splitlines())
    console = Console()
    console.print(plan.table(configuration, plan.estimate(configuration, jobs)))
    noted = [line for line in ended.stderr.splitlines() if line.startswith("note: ")]
    for sentence in [*noted, *plan.assumptions(configuration, jobs)]:
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    program.run(main)
