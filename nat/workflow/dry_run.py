"""The jobs of a run before it starts, as listed by Snakemake."""

import io
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from snakemake import cli
from snakemake_interface_logger_plugins.common import LogEvent

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
    found: list[Job] = []

    def collect(record: logging.LogRecord) -> bool:
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            job = vars(record)
            name = job["rule_name"]
            # Snakemake says after the path that it leaves a file in its place
            outputs = tuple(path.removesuffix(" (update)") for path in job["output"])
            wildcards = dict(job["wildcards"])
            if rule_kind(name) != name:
                wildcards |= names_in(outputs[0], Translations.template) or {}
            paths = tuple(job["input"]), outputs
            found.append(
                Job(
                    rule_kind(name),
                    wildcards,
                    *paths,
                    job["shellcmd"] or "",
                    job["benchmark"] or "",
                )
            )
        return record.levelno >= logging.ERROR

    # Snakemake replaces the handlers of this logger when it starts, but not its filters
    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(collect)
    logger.propagate = False
    said = io.StringIO()
    own, sys.argv[1:] = sys.argv[1:], ["--dry-run", *targets, *arguments]  # the Snakefile reads it
    try:
        with redirect_stdout(said), redirect_stderr(said):
            cli.main(sys.argv[1:])
    except SystemExit as end:
        if end.code:
            told = end.code if isinstance(end.code, str) else ""  # else the exit status
            raise UserError(_error(f"{said.getvalue()}\n{told}")) from end
    finally:
        sys.argv[1:] = own
        logger.removeFilter(collect)
    return found


def _error(said: str) -> str:
    """The sentence that begins with `error: `, or what follows the name of an exception."""
    told = re.search(r"^error: (.*)", said, re.MULTILINE)
    if told:
        return told[1]
    raised = re.search(r"^\w+(Error|Exception)\b.*", said, re.MULTILINE | re.DOTALL)
    return (raised[0] if raised else said).strip()
