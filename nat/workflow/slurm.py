"""What Snakemake does not do for its Slurm jobs.

If Snakemake is killed, its Slurm jobs keep running; a second run would start the same jobs again,
and both would write the same files. Moreover, not every cluster refuses a job that requests more
than its partition or account grants: some let it wait forever. And the executor itself waits
forever for a group of steps that it could not submit.
"""

import logging
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

from nat.errors import UserError

CLIENTS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
"""Programs that are needed to submit and follow jobs."""

LOGS = Path(".snakemake/slurm_logs")
"""The executor's folder for logs of jobs: without it, no job was ever submitted from here."""

PREFIX = "nat"
"""`slurm-jobname-prefix` of the profile."""

NEVER = (
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "BadConstraints",
    "AssocMaxWallDurationPerJobLimit",
    "AssocMaxCpuPerJobLimit",
    "AssocMaxMemPerJob",
    "AssocMaxGRESPerJob",
    "QOSMaxWallDurationPerJobLimit",
    "QOSMaxCpuPerJobLimit",
    "QOSMaxMemoryPerJob",
    "QOSMaxGRESPerJob",
    "InvalidAccount",
    "InvalidQOS",
)
"""Reasons for waiting that do not disappear when other jobs end."""

RESUMES = "; a training resumes from its last checkpoint when it runs again"
ENDS = {
    "TIMEOUT": f"out of time{RESUMES}",
    "OUT_OF_MEMORY": "out of memory; raise 'memory_mb' of its stage in the scale",
    "NODE_FAIL": f"its node failed{RESUMES}",
    "CANCELLED": f"cancelled{RESUMES}",
    "PREEMPTED": f"preempted{RESUMES}",
}
"""The states in which Slurm's jobs end, in words."""

REFUSED = (
    "look at what its stage asks for in config/scales, and at partition, account and GPU in "
    "config/cluster.yaml"
)
"""What to do about a job that Slurm does not take."""

SECONDS_TO_ANSWER = 60
"""How long a client may take."""

FIRST_LOOK = ("init-seconds-before-status-checks", 40)
"""The executor's setting for the seconds before its first look at a job, and its default."""

_SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.MULTILINE)
_NAME = re.compile(rf"{PREFIX}_[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}")
_SECONDS_TO_STOP = 120


@dataclass(frozen=True)
class SlurmJob:
    """A job in the queue: its number, why it waits (or where it runs), and what it is."""

    number: str
    reason: str
    comment: str


def require_clients() -> None:
    """Refuse to start where Slurm's programs are not installed.

    Raises:
        UserError: if one of them is missing.
    """
    missing = [name for name in CLIENTS if shutil.which(name) is None]
    if missing:
        raise UserError(
            f"{', '.join(missing)} not found, so Slurm jobs cannot be submitted from here; run "
            "this on a login node of the cluster, or without '--profile slurm' on this machine"
        )


def ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a client of Slurm; it may fail.

    Raises:
        UserError: if it is not there, or does not end in time, as where the controller is busy.
    """
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER)
    except FileNotFoundError as error:
        raise UserError(
            f"there is no Slurm here: {command[0]} is not on the path; run this on the login node "
            "of a cluster"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"{command[0]} does not answer within {SECONDS_TO_ANSWER:g} seconds; wait for Slurm, "
            "then run again"
        ) from error


def report_failed_submissions(executor: RemoteExecutor) -> None:
    """Let the run fail if a job cannot be submitted, and say why.

    Where the executor (2.8.0) cannot submit a job, it names the rule. A group has none, so that
    this fails in turn. It drops every error of a submission, also those of what is done before,
    such as of a full disk, and Snakemake would wait for the job forever. Where Slurm refuses a
    group, Snakemake (9.27.1) drops the reason.
    """
    submit, report = executor.run_job, executor.report_job_error

    def submit_or_report(job: JobExecutorInterface) -> None:
        try:
            submit(job)
        except Exception as error:  # noqa: BLE001 (nobody else would learn of it)
            cause = error.__context__ if isinstance(error, AttributeError) else None
            executor.report_job_error(SubmittedJobInfo(job), msg=str(cause or error))

    def say_and_report(job: SubmittedJobInfo, msg: str | None = None, **more: Any) -> None:
        if msg and job.job.is_group() and job.external_jobid is None:
            reason = "; ".join(what_slurm_refused(msg)) or msg
            logging.getLogger("snakemake.logging").error(
                f"error: the group {job.job.groupid} could not be submitted: {reason}"
            )
        report(job, msg=msg, **more)

    executor.run_job = submit_or_report
    executor.report_job_error = say_and_report


def what_slurm_refused(message: str) -> list[str]:
    """Why Slurm did not take a job, from the executor's message; nothing if this is not why."""
    refused = re.search(r"The error message was '(.*?)'\.?\s*sbatch call", message, re.DOTALL)
    if not refused:
        return []
    said = " ".join(refused[1].replace("sbatch: error: ", "").split())
    return [f"Slurm refused the job: {said}", REFUSED]


def how_it_ended(message: str | None, number: str | None) -> list[str]:
    """How a Slurm job has ended, by the executor's message or else its number.

    Returns:
        What to add to the name of the job, empty if it was not one of Slurm; and what that means.
    """
    state = re.search(
        r"SLURM-job '(\S+)' failed.*?SLURM status is: '(\w+)'", message or "", re.DOTALL
    )
    if state:
        number, ended = state.groups()
    elif number:
        ended = state_of(number)
    else:
        return ["", *what_slurm_refused(message or "")]
    words = [ENDS[ended]] if ended in ENDS else []
    return [f" (Slurm job {number}{f': {ended}' if ended else ''})", *words]


def left_behind() -> list[SlurmJob]:
    """Jobs of this user in the queue that a run of this folder has submitted.

    Raises:
        UserError: if Slurm does not answer although jobs were submitted from here before.
    """
    if not LOGS.exists() or shutil.which("squeue") is None:
        return []
    command = ["squeue", "--noheader", "--user", str(os.getuid())]
    command += ["--states", "PD,CF,R,S,ST,CG,RQ,RH", "--format", "%A\t%j\t%r\t%k\t%Z"]
    ended = ask(*command)
    if ended.returncode != 0:
        raise UserError(
            f"squeue does not answer ({ended.stderr.strip()}), so jobs of an earlier run may still "
            f"write into this folder; wait for Slurm, or move {LOGS} away if there are none"
        )
    here = Path.cwd()
    found = []
    for line in ended.stdout.splitlines():
        number, name, reason, comment, folder = line.split("\t", 4)
        if _NAME.fullmatch(name) and _same(here, folder):
            found.append(SlurmJob(number, reason, comment))
    return found


def state_of(job: str) -> str:
    """How Slurm calls the state of a job, such as `TIMEOUT`; nothing if it does not say so."""
    asked = (
        ["squeue", "--noheader", "--states", "all", "--jobs", job, "--format", "%T"],
        ["sacct", "--allocations", "--noheader", "--parsable2", "--jobs", job, "--format", "State"],
    )
    for command in asked:
        with suppress(UserError):
            ended = ask(*command)
            words = ended.stdout.split()
            if ended.returncode == 0 and words:
                return words[0]  # such as CANCELLED in `CANCELLED by 1000`
    return ""


def stop_left_behind() -> str:
    """Cancel the jobs of an earlier run in this folder, and wait until they have ended.

    The caller must hold the lock of the folder, so that the jobs cannot belong to another active
    run.

    Returns:
        What was done, for the screen; nothing if there was nothing to do.

    Raises:
        UserError: if Slurm does not answer, or a job does not end.
    """
    jobs = left_behind()
    if not jobs:
        return ""
    numbers = [job.number for job in jobs]
    ask("scancel", *numbers)
    until = time.monotonic() + _SECONDS_TO_STOP
    while left := left_behind():
        if time.monotonic() > until:
            still = " ".join(job.number for job in left)
            raise UserError(
                f"the Slurm jobs {still} of an earlier run still write into this folder and do "
                f"not end; stop them ('scancel {still}') and run again"
            )
        time.sleep(1)
    what = "job" if len(jobs) == 1 else "jobs"
    return f"stopped {len(jobs)} Slurm {what} that an earlier run left behind: {' '.join(numbers)}"


def settings_of(text: str) -> dict[str, str]:
    """`scontrol show config` as a mapping."""
    return dict(_SETTING.findall(text))


def keeps_accounts(settings: Mapping[str, str]) -> bool:
    """Whether finished jobs are recorded, so that sacct knows them."""
    # since Slurm 23.11 the absence of a storage is (null)
    return settings.get("AccountingStorageType") == "accounting_storage/slurmdbd"


def too_soon_forgotten(settings: Mapping[str, str], first_look: int) -> str:
    """Why runs cannot follow their jobs where no accounts are kept; nothing if they can.

    The executor asks sacct, which then is silent, unless Slurm remembers a job that has ended for
    three times the seconds before the first look.
    """
    seconds = int(re.sub(r"\D.*", "", settings.get("MinJobAge", "")) or 0)
    if seconds >= 3 * first_look:
        return ""
    return (
        "this Slurm keeps no accounts, and forgets a job soon after its end (MinJobAge is "
        f"{seconds} seconds, {3 * first_look} are needed); ask its administrators for more, or set "
        f"'slurm-{FIRST_LOOK[0]}: {max(1, seconds // 3)}' in slurm/config.yaml"
    )


def status_command(asked: str, first_look: int) -> str:
    """Which client tells the executor how jobs have ended: `sacct`, or where it is silent `squeue`.

    Without accounts sacct knows no job, and the executor would wait forever for jobs that ended.

    Args:
        asked: by the profile, or the executor's default.
        first_look: seconds before the executor's first look at a job.

    Raises:
        UserError: if neither can tell, or Slurm does not answer.
    """
    ended = ask("scontrol", "show", "config")
    if ended.returncode != 0:
        raise UserError(
            f"scontrol does not answer ({ended.stderr.strip()}), so nothing tells whether this "
            "Slurm keeps accounts; wait for Slurm, then run again"
        )
    settings = settings_of(ended.stdout)
    if keeps_accounts(settings):
        return asked
    if forgotten := too_soon_forgotten(settings, first_look):
        raise UserError(forgotten)
    return "squeue"


class Watch(threading.Thread):
    """Cancels jobs that would wait forever, so that the run fails and says why.

    Snakemake cannot tell them from jobs whose turn is still to come.

    Attributes:
        seconds: between two looks at the queue.
    """

    seconds = 60.0

    def __init__(self) -> None:
        super().__init__(daemon=True)

    def run(self) -> None:
        """Look at the queue again and again, as long as the program runs."""
        while True:
            time.sleep(self.seconds)
            with suppress(UserError):  # the executor tells when Slurm is gone
                self.look()

    def look(self) -> None:
        """Cancel the jobs in the queue that would wait forever.

        Raises:
            UserError: if Slurm does not answer.
        """
        for job in left_behind():
            if job.reason in NEVER:
                ask("scancel", job.number)
                logging.getLogger("snakemake.logging").error(
                    f"error: Slurm will never start job {job.number} ({job.comment}): "
                    f"{job.reason}; lower what it asks for in config/scales, or 'most_minutes' and "
                    "'most_memory_mb' in config/cluster.yaml; cancelled"
                )


def _same(here: Path, folder: str) -> bool:
    try:
        return here.samefile(folder)
    except OSError:
        return False
