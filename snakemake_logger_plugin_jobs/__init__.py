"""The jobs of a run as lines of JSON on standard output, `snakemake -n --logger nat jobs`, read
back before the run starts."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from nat.errors import UserError
from nat.workflow.together import rule_kind

KEYS = ("rule_name", "wildcards", "input", "output", "benchmark")


class LogHandler(LogHandlerBase):
    """Writes what Snakemake says of each job before it starts, or would start."""

    # the display of the plugin `nat` goes on beside it
    writes_to_stream = writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line for a job."""
        said = vars(record)
        if said.get("event") == LogEvent.JOB_INFO:
            sys.stdout.write(f"{json.dumps({key: said[key] for key in KEYS}, default=dict)}\n")


@dataclass(frozen=True)
class PendingJob:
    """A job that is still to run, of a rule as `rule_kind` names it.

    Wildcards are also the corpus, system and split of a rule for several decodings. The file for
    the seconds that it takes is the `benchmark`.
    """

    rule: str
    wildcards: Mapping[str, str]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    benchmark: str = ""


def pending(targets: Iterable[str], arguments: Iterable[str]) -> list[PendingJob]:
    """The jobs of a dry run for targets, with further arguments of snakemake."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", *targets, *arguments]
    ended = subprocess.run([*command, "--logger", "nat", "jobs"], capture_output=True, text=True)
    if ended.returncode:
        output = ended.stdout + ended.stderr  # of a dry run Snakemake tells errors in the first
        error = re.search(r"^error: (.*)", output, re.MULTILINE)
        raise UserError(error[1] if error else output.strip())
    jobs = []
    for line in ended.stdout.splitlines():
        if line.startswith("{"):  # else of the display
            told: dict[str, Any] = json.loads(line)
            rule, wildcards, outputs = told["rule_name"], told["wildcards"], told["output"]
            if rule_kind(rule) != rule:
                *_, corpus, system, _, _, file = Path(outputs[0]).parts
                wildcards |= {"corpus": corpus, "system": system, "split": Path(file).stem}
            made = told["input"], outputs, told["benchmark"] or ""
            jobs.append(PendingJob(rule_kind(rule), wildcards, *made))
    return jobs
