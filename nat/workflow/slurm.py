"""Questions to Slurm's own programs, and the jobs of this folder in its queue.

Not every cluster refuses a job that requests more than its partition or account grants: some let it
wait forever, and Snakemake cannot tell it from jobs whose turn is still to come.
"""

import getpass
import logging
import os
import re
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nat.errors import UserError

CLIENTS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
LOGS = Path(".snakemake/slurm_logs")  # of the executor: without it, no job was ever submitted
PREFIX = "nat"  # `slurm-jobname-prefix` of the profile
SECONDS_TO_ANSWER = 60
SECONDS_BETWEEN_LOOKS = 60.0  # at the queue, for jobs that would wait forever

RESUMES = "; a training resumes from its last checkpoint when it runs again"
ENDS = {
    "TIMEOUT": f"out of time{RESUMES}",
    "OUT_OF_MEMORY": "out of memory; raise 'memory_mb' of its stage in the scale",
    "NODE_FAIL": f"its node failed{RESUMES}",
    "CANCELLED": f"cancelled{RESUMES}",
    "PREEMPTED": f"preempted{RESUMES}",
}
REFUSED = (
    "look at what its stage asks for in config/scales, and at partition, account and GPU in "
    "config/cluster.yaml"
)
# reasons for waiting that do not disappear when other jobs end
NEVER = re.compile(r"Partition(Time|Node)Limit|BadConstraints|Invalid(Account|QOS)|\w+PerJob\w*")


class SlurmJob(NamedTuple):
    """A job in the queue: its number, why it waits (or where it runs), and what it is."""

    number: str
    reason: str
    comment: str


def ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a client of Slurm; it may fail, and is an error if it does not end in time."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER)
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"{command[0]} does not answer within {SECONDS_TO_ANSWER:g} seconds; wait for Slurm, "
            "then run again"
        ) from error


def require_clients() -> None:
    """Refuse to start where one of Slurm's programs is not installed."""
    missing = [name for name in CLIENTS if shutil.which(name) is None]
    if missing:
        raise UserError(
            f"{', '.join(missing)} not found, so Slurm jobs cannot be submitted from here; run "
            "this on a login node of the cluster, or without '--profile slurm' on this machine"
        )


def require_account(account: str | None) -> None:
    """Refuse an account that Slurm does not know.

    The executor (2.8.0) looks accounts up before it submits a job. Where steps share a job and
    their account is unknown, it submits nothing, says nothing and waits forever.
    """
    if account is None:
        return
    user = getpass.getuser()
    ended = ask("sacctmgr", "-n", "-s", "list", "user", user, "format=account%256")
    if not ended.stdout.strip():
        ended = ask("sshare", "-U", "--format", "Account%256", "--noheader")
    known = ended.stdout.lower().split()
    if account.lower() not in known and (known or ended.returncode != 0):
        raise UserError(
            f"config/cluster.yaml: key 'account': Slurm knows no account '{account}' of {user}, "
            f"expected {' or '.join(dict.fromkeys(known)) or 'null, since it keeps none'}"
        )


def how_it_ended(message: str | None, number: str | None) -> list[str]:
    """Say how a Slurm job has ended, by the executor's message or else its number.

    First what to add to the name of the job, empty if it was not one of Slurm; then what it means.
    """
    text, state = message or "", ""
    if told := re.search(r"SLURM-job '(\S+)' failed.*?status is: '(\w+)'", text, re.DOTALL):
        number, state = told.groups()
    elif number:
        state = state_of(number)
    elif refused := re.search(r"error message was '(.*?)'\.?\s*sbatch call", text, re.DOTALL):
        reason = " ".join(refused[1].replace("sbatch: error: ", "").split())
        return ["", f"Slurm refused the job: {reason}", REFUSED]
    else:
        return [""]
    words = [ENDS[state]] if state in ENDS else []
    return [f" (Slurm job {number}{f': {state}' if state else ''})", *words]


def state_of(job: str) -> str:
    """State of a job in Slurm's words, such as `TIMEOUT`; nothing if it does not say so."""
    asked = (
        ["squeue", "--noheader", "--states", "all", "--jobs", job, "--format", "%T"],
        ["sacct", "--allocations", "--noheader", "--parsable2", "--jobs", job, "--format", "State"],
    )
    for command in asked:
        with suppress(UserError, FileNotFoundError):
            ended = ask(*command)
            words = ended.stdout.split()
            if ended.returncode == 0 and words:
                return words[0]  # such as CANCELLED in `CANCELLED by 1000`
    return ""


def jobs_of_this_folder() -> list[SlurmJob]:
    """Jobs of this user in the queue that a run of this folder has submitted."""
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
    jobs = []
    for line in ended.stdout.splitlines():
        number, name, reason, comment, folder = line.split("\t", 4)
        with suppress(OSError):  # the folder of another job is gone
            if name.startswith(f"{PREFIX}_") and Path.cwd().samefile(folder):
                jobs.append(SlurmJob(number, reason, comment))
    return jobs


def watch_the_queue() -> None:
    """Cancel jobs that would wait forever, as long as the program runs, and say why."""

    def watch() -> None:
        while True:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            with suppress(UserError):  # the executor tells when Slurm is gone
                cancel_what_never_starts()

    threading.Thread(target=watch, daemon=True).start()


def cancel_what_never_starts() -> None:
    """Cancel the jobs in the queue that would wait forever."""
    for job in jobs_of_this_folder():
        if NEVER.fullmatch(job.reason):
            ask("scancel", job.number)
            logging.getLogger("snakemake.logging").error(
                f"error: Slurm will never start job {job.number} ({job.comment}): "
                f"{job.reason}; lower what it asks for in config/scales, or 'most_minutes' and "
                "'most_memory_mb' in config/cluster.yaml; cancelled"
            )
