"""The jobs of a run before it starts, as listed by Snakemake."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nat.artifacts import Translations
from nat.errors import UserError
from nat.workflow.requests import names_in
from nat.workflow.together import rule_kind


@dataclass(frozen=True)
class Job:
    """A job that is still to run.

    Attributes:
        rule: name of its rule, see `rule_kind`.
        wildcards: values of the wildcards of the rule, by name; also those that stand in the paths
            of a rule for several decodings.
        inputs: files and folders that it reads.
        outputs: files and folders that it makes.
        command: of the shell.
        benchmark: file for the seconds that it takes; empty without one.
    """

    rule: str
    wildcards: Mapping[str, str]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    command: str = ""
    benchmark: str = ""


def pending(targets: Iterable[str], arguments: Iterable[str]) -> list[Job]:
    """The jobs that are still to run; nothing is run.

    Args:
        targets: of snakemake.
        arguments: further arguments, such as `--config scale=demo`.

    Raises:
        UserError: if the graph cannot be built, with the error of Snakemake.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", *targets, *arguments]
    ended = subprocess.run([*command, "--logger", "nat", "jobs"], capture_output=True, text=True)
    if ended.returncode:
        said = ended.stdout + ended.stderr  # of a dry run Snakemake tells errors in the first
        told = re.search(r"^error: (.*)", said, re.MULTILINE)
        raise UserError(told[1] if told else said.strip())
    lines = ended.stdout.splitlines()  # those of the display, too
    return [_job(**json.loads(line)) for line in lines if line.startswith("{")]


def _job(
    rule_name: str,
    wildcards: dict[str, str],
    input: list[str],
    output: list[str],
    shellcmd: str | None,
    benchmark: str | None,
) -> Job:
    rule = rule_kind(rule_name)
    if rule != rule_name:
        wildcards |= names_in(output[0], Translations.template) or {}
    return Job(rule, wildcards, tuple(input), tuple(output), shellcmd or "", benchmark or "")
