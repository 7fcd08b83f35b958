"""The progress display: a line for each job that starts, is done or fails.

Snakemake finds it by its name, `logger: nat` in `profiles/default`; its own log with all details is
in `.snakemake/log`.
"""

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from nat.workflow.failures import damaged_records, reasons
from nat.workflow.together import rule_kind

ALSO_SHOWN = re.compile("Nothing to be|Lints for|Creating|Downloading|Pulling|Unlocked|Trying to")
LOCKED = "another run is at work in this folder; if it was killed, run 'snakemake --unlock'"


class LogHandler(LogHandlerBase):
    """Writes Snakemake's events; `explain` says what is wrong with a name that nothing makes."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin before the first event; called by the interface's constructor."""
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.explain: Callable[[str], str] = "no rule makes {}".format
        self.jobs: dict[int, tuple[str, float]] = {}
        self.done = self.total = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write what there is to say about an event, if anything."""
        try:
            if text := self._told(record, vars(record)):
                self.stream.write(f"{text}\n")
        except Exception:  # noqa: BLE001 (errors of the display must not stop a training)
            self.handleError(record)

    def _told(self, record: logging.LogRecord, said: dict[str, Any]) -> str:
        event, dry_run = said.get("event"), self.common_settings.dryrun
        if event == "run_info" and (self.jobs or not dry_run):  # a dry run says it twice
            stats = said["stats"].items()
            kinds = Counter(rule_kind(rule) for rule, count in stats for _ in range(count))
            self.total = kinds.pop("total")
            return f"{self.total} to do: {', '.join(f'{kinds[rule]} {rule}' for rule in kinds)}"
        if event == "job_info" and (name := said["rule_msg"]):
            self.jobs[said["jobid"]] = name, record.created
            why = said["reason"].split("; ")[-1].split(":")[0].lower()
            made = said.get("output", ())
            if made and not any(Path(path).exists() for path in made):
                why = "not made yet"  # Snakemake says that another job updates its inputs
            return f"{name}: {why}" if dry_run else self._line("start", name)
        if event == "job_finished":
            self.done += 1
            if said["job_id"] not in self.jobs:  # a target
                return f"finished {self.done} of {self.total}"
            name, began = self.jobs[said["job_id"]]
            return self._line("done", f"{name} in {timedelta(seconds=int(record.created - began))}")
        if event in ("job_error", "group_error"):
            return "\n        ".join(self._failed(said))
        loud = event == "error" or (event is None and record.levelno >= logging.ERROR)
        return self._message(record.getMessage().strip(), loud) if loud or event is None else ""

    def _line(self, what: str, name: str) -> str:
        return f"[{self.done:{len(str(self.total))}}/{self.total}] {what:<6} {name}"

    def _failed(self, said: dict[str, Any]) -> list[str]:
        """A job, or a group whose steps follow, and why it failed."""
        name, _ = self.jobs.get(said.get("jobid", -1), (said.get("rule_name", ""), 0.0))
        if "groupid" in said:
            name = f"{len(said['job_error_info'])} steps of the group {said['groupid']}"
        number, *why = reasons(said)
        return [self._line("FAILED", name + number), *why]

    def _message(self, text: str, loud: bool) -> str:
        if "Directory cannot be locked" in text:
            return f"{'error' if loud else 'note'}: {LOCKED}"  # a dry run goes on all the same
        if not loud or text.startswith("Exiting") or "CalledProcessError" in text:
            return text if ALSO_SHOWN.match(text) else ""  # the error of the job itself is said
        if unknown := re.search(r"^No rule to produce (\S+)", text, re.MULTILINE):
            return f"error: {self.explain(unknown[1])}"
        if text.startswith("Traceback") and (damaged := damaged_records()):
            names, results = " ".join(map(str, damaged)), " ".join(damaged.values())
            return (
                f"error: the record of {results} that Snakemake keeps is damaged; remove {names}, "
                f"and run with '--force {results}' if its configuration has changed since"
            )
        # of `nat.errors`, in an input function or in the Snakefile itself
        refused = re.search(r"^(?:  UserError: |UserError in .*:\n)(.*)$", text, re.MULTILINE)
        return f"error: {refused[1]}" if refused else text.replace("WorkflowError:\n", "error: ")
