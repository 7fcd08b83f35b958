"""The jobs of a run before it starts, as listed by Snakemake."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nat.errors import UserError
from nat.workflow.together import rule_kind


@dataclass(frozen=True)
class PendingJob:
    """A job that is still to run.

    Attributes:
        rule: name of its rule, see `rule_kind`.
        wildcards: values of the wildcards of the rule, by name; also the corpus, system and split
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


def pending(targets: Iterable[str], arguments: Iterable[str]) -> list[PendingJob]:
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
        output = ended.stdout + ended.stderr  # of a dry run Snakemake tells errors in the first
        error = re.search(r"^error: (.*)", output, re.MULTILINE)
        raise UserError(error[1] if error else output.strip())
    lines = ended.stdout.splitlines()  # those of the display, too
    return [_job(json.loads(line)) for line in lines if line.startswith("{")]


def _job(told: dict[str, Any]) -> PendingJob:
    rule, wildcards = rule_kind(told["rule_name"]), told["wildcards"]
    inputs, outputs = tuple(told["input"]), tuple(told["output"])
    if rule != told["rule_name"]:
        *_, corpus, system, _, _, file = Path(outputs[0]).parts
        wildcards |= {"corpus": corpus, "system": system, "split": Path(file).stem}
    command, benchmark = told["shellcmd"] or "", told["benchmark"] or ""
    return PendingJob(rule, wildcards, inputs, outputs, command, benchmark)
