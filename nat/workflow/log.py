"""The progress display: one line for each job that starts, finishes or fails.

This is a logger plugin of Snakemake, found as the package `snakemake_logger_plugin_nat` and
used instead of its own output because `profiles/default` says `logger: nat`. Snakemake's own
log, with every detail of every job, is still written to `.snakemake/log`; `snakemake --verbose`
shows it on the screen.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from nat.spelling import hint
from nat.workflow.slurm import state_of, what_slurm_refused
from nat.workflow.together import rule_kind

# Messages about Snakemake's internal work, less useful than the lines of jobs. They have no event
# in the plugin interface, so they are recognised by their text.
UNSAID = re.compile(
    r"Building DAG|Select jobs|Execute \d+ jobs|Shutting down|Removing temporary|Using shell"
    r"|Conda environments: ignored|Singularity containers: ignored|Assuming unrestricted shared"
    r"|Activating (conda environment|singularity image)"
    r"|Provided |Rules claiming more"
    r"|Group jobs: inactive|Storing output|Touching output|Using profile|host: |Exiting because"
    r"|Would remove|Some jobs were triggered by provenance|Rules with provenance|Reasons:"
    r"|This was a dry-run|Trusting all|Elapsed time|Group job|No SLURM account|No account was given"
    r"|Unable to guess SLURM|Cleaning up SLURM|MinJobAge|Could not retrieve node information"
)
NO_TEXT = "None"  # the interface's string for a message that is None
LOG_LINES = 12
LINES_OF_A_SLURM_JOB = 5
SLURM_LOGS = "slurm_logs"
ENDS = {
    "TIMEOUT": "out of time; a training resumes from its last checkpoint when it runs again",
    "OUT_OF_MEMORY": "out of memory; raise 'memory_mb' of its stage in the scale",
    "NODE_FAIL": "its node failed; a training resumes from its last checkpoint when it runs again",
    "CANCELLED": "cancelled; a training resumes from its last checkpoint when it runs again",
    "PREEMPTED": "preempted; a training resumes from its last checkpoint",
}
LOCKED = (
    "error: another run is at work in this folder and holds .snakemake/locks; wait for its end, "
    "or, if it was killed, run 'snakemake --unlock' and then this again"
)
ANOTHER_RUN = "note: another run is at work in this folder"
KILLED = (
    "it was killed, by a signal or for want of memory; run again, and a training resumes from its "
    "last checkpoint"
)


class Screen(LogHandlerBase):
    """Writes Snakemake's events as short lines.

    Attributes:
        targets: names of targets, for hints about misspelt ones.
        explain: says why no rule makes a path.
    """

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin before the first event; called by the interface's constructor."""
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.dry_run = self.common_settings.dryrun
        self.targets: Sequence[str] = ()
        self.explain: Callable[[str], str] = "no rule makes {}".format
        self.jobs: dict[int, tuple[str, float]] = {}
        self.finished: list[int] = []
        self.done = self.total = 0
        self.started = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Write what there is to say about an event, if anything."""
        try:
            text = self.format(record) if self.common_settings.verbose else self._tell(record)
            if text and text != NO_TEXT:
                self.stream.write(f"{text}\n")
                self.stream.flush()
        except Exception:  # noqa: BLE001 (errors of the display must not stop a training)
            self.handleError(record)

    def _tell(self, record: logging.LogRecord) -> str:
        event = str(getattr(record, "event", None) or "")
        tell = getattr(self, f"_tell_{event}", None)
        if tell is not None:
            return str(tell(record.__dict__))
        text = record.getMessage().strip() if record.msg else ""
        if text.startswith("Error: Directory cannot be locked."):  # a dry run goes on all the same
            return ANOTHER_RUN
        return "" if UNSAID.match(text) else text

    def _tell_run_info(self, event: dict[str, Any]) -> str:
        if self.dry_run and not self.jobs:  # it is repeated below the list
            return ""
        self.total = event["stats"]["total"]
        counts: dict[str, int] = {}
        for rule, count in event["stats"].items():
            if rule != "total":
                counts[rule_kind(rule)] = counts.get(rule_kind(rule), 0) + count
        jobs = ", ".join(f"{count} {rule}" for rule, count in counts.items())
        return f"{_counted(self.total, 'job')} to do: {jobs}"

    def _tell_job_info(self, event: dict[str, Any]) -> str:
        name = event["rule_msg"]
        if not name:
            return ""
        self.jobs[event["jobid"]] = (name, time.monotonic())
        if self.dry_run:
            reasons = [reason.split(":")[0].lower() for reason in event["reason"].split("; ")]
            return f"{name}: {reasons[-1]}"
        return self._line("start", name)

    def _tell_job_finished(self, event: dict[str, Any]) -> str:
        self.finished.append(event["job_id"])
        return ""

    def _tell_progress(self, event: dict[str, Any]) -> str:
        now = time.monotonic()
        self.done, self.total = event["done"], event["total"]
        lines = []
        for job in self.finished:
            if job in self.jobs:
                name, started = self.jobs[job]
                lines.append(self._line("done", f"{name} in {_clock(now - started)}"))
        self.finished.clear()
        if self.done == self.total:
            lines.append(f"finished {_counted(self.total, 'job')} in {_clock(now - self.started)}")
        return "\n".join(lines)

    def _tell_job_error(self, event: dict[str, Any]) -> str:
        name, _ = self.jobs.get(event["jobid"], (event["rule_name"], 0.0))
        message = event.get("rule_msg") or ""
        refused = what_slurm_refused(message)
        job = _slurm_job(message)
        # a step of a group, whose job may have ended before this step began
        of_a_group = event.get("indent")
        lines = [self._line("FAILED", f"{name}{_slurm(job)}"), *_indented(refused)]
        if job:
            lines += _indented([ENDS.get(job[1], "")])
        paths = [Path(log.split(" ")[0]) for log in event["log"]]
        own = [path for path in paths if SLURM_LOGS not in path.parts]
        if job and not any(_text(path).strip() for path in own):
            return "\n".join([*lines, *_end_of_slurm_log(paths)])
        for path in own:
            if (refused or job or of_a_group) and not path.exists():
                continue
            end = _what_went_wrong(_text(path), bool(refused or of_a_group), bool(job))
            lines += [*_indented(end), f"        log: {path}"]
        return "\n".join(lines)

    def _tell_group_error(self, event: dict[str, Any]) -> str:
        # Snakemake leaves out the executor's message here; the steps follow, a line each
        number = str(event.get("external_jobid") or "")
        job = (number, state_of(number)) if number else None
        steps = _counted(len(event["job_error_info"]), "step")
        lines = [self._line("FAILED", f"{steps} of the group {event['groupid']}{_slurm(job)}")]
        if job:
            lines += _indented([ENDS.get(job[1], "")])
        return "\n".join([*lines, *_end_of_slurm_log(map(Path, event["aux_logs"]))])

    def _line(self, what: str, name: str) -> str:
        width = len(str(self.total))
        return f"[{self.done:{width}}/{self.total}] {what:<6} {name}"

    def _tell_workflow_started(self, event: dict[str, Any]) -> str:
        return ""

    def _tell_resources_info(self, event: dict[str, Any]) -> str:
        return ""

    def _tell_error(self, event: dict[str, Any]) -> str:
        text = str(event["msg"]).strip()
        unknown = re.search(r"No rule to produce (\S+)", text)
        if event.get("exception") == "MissingRuleException" and unknown:
            name = unknown[1]
            if "/" in name:
                return f"error: {self.explain(name)}"
            return f"error: there is no target '{name}'; {hint(name, self.targets)}"
        if "CalledProcessError" in text:  # the job's own error follows
            return ""
        if event.get("exception") == "LockException":
            return LOCKED
        # of `nat.errors`, in a function of inputs, for example of a decoding that a path asks for
        # and its system cannot do, or in the Snakefile itself
        refused = re.search(r"^(?:  UserError: |UserError in .*:\n)(.*)$", text, re.MULTILINE)
        if refused:
            return f"error: {refused[1]}"
        return text.replace("WorkflowError:\n", "error: ")


def _what_went_wrong(log: str, told: bool = False, by_slurm: bool = False) -> list[str]:
    """The lines of a log that say why its job failed: its errors, or else its end.

    Args:
        log: its text.
        told: whether the reason is shown already, so that one line suffices.
        by_slurm: whether Slurm has said how the job ended.
    """
    lines = log.splitlines()
    # launchers of several processes print much after the error of one
    errors = [line for line in lines if line.startswith("error: ") or line == "interrupted"]
    if errors:
        return list(dict.fromkeys(errors))[-LOG_LINES:]
    if "Traceback" in log:
        return lines[-LOG_LINES:]
    if by_slurm:
        return lines[-LINES_OF_A_SLURM_JOB:]
    return lines[-1:] if told else [*lines[-1:], KILLED]


def _slurm_job(message: str) -> tuple[str, str] | None:
    """Number and state of the Slurm job that has ended, from the executor's message."""
    ended = re.search(r"SLURM-job '(\S+)' failed.*?SLURM status is: '(\w+)'", message, re.DOTALL)
    return (ended[1], ended[2]) if ended else None


def _slurm(job: tuple[str, str] | None) -> str:
    if job is None:
        return ""
    number, state = job
    return f" (Slurm job {number}: {state})" if state else f" (Slurm job {number})"


def _end_of_slurm_log(paths: Iterable[Path]) -> list[str]:
    """The end of Slurm's log of a job, for errors before its own log begins, such as a missing
    environment."""
    for path in paths:
        if SLURM_LOGS in path.parts and path.exists():
            said = [line for line in _text(path).splitlines() if line.strip()]
            said = [line for line in said if not UNSAID.match(line.strip())]
            return [*_indented(said[-LINES_OF_A_SLURM_JOB:]), f"        log: {path}"]
    return []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"        {line}" for line in lines if line]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
