"""Jobs that outlive a Snakemake that was killed.

A job writes what it was started for, so it would replace what a later job of another configuration
has made, and nobody would know. Those of Slurm are stopped before a run starts its first job;
those on this machine are named.
"""

import shlex
import time
from contextlib import suppress
from pathlib import Path

import psutil
from filelock import FileLock

from nat.errors import UserError
from nat.job import FOLDER
from nat.locks import acquired
from nat.workflow.slurm import ask, jobs_of_this_folder

LOCK = Path(".snakemake/slurm.lock")  # held by the run that submits Slurm jobs from this folder
SECONDS_TO_END = 5
SECONDS_TO_STOP = 120

_held: list[FileLock] = []  # of this run: a lock that nobody refers to is released


def require_no_survivors() -> None:
    """Fail if jobs of a run that was killed are still at work on this machine.

    Those of a run that goes on have a Snakemake above them. Processes that are about to end have a
    few seconds for it.
    """
    until = time.monotonic() + SECONDS_TO_END
    while (left := _survivors()) and time.monotonic() < until:
        time.sleep(0.5)
    if left:
        raise UserError(
            f"jobs of an earlier run are still at work in this folder: {', '.join(left)}; wait for "
            "their end or stop them, then run again"
        )


def _survivors() -> list[str]:
    left = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or belongs to somebody else
            words = process.cmdline()
            is_job = any(word.startswith(f"{FOLDER}/") for word in words)
            if is_job and Path(process.cwd()) == Path.cwd():
                above = (word for each in process.parents() for word in each.cmdline())
                if not any("snakemake" in Path(word).name for word in above):
                    left.append(f"process {process.pid} ({shlex.join(words[1:])})")
    return left


def stop_slurm_jobs(of_slurm: bool) -> str:
    """Cancel the Slurm jobs of an earlier run in this folder; return what was done, if anything.

    A run that submits Slurm jobs, `of_slurm`, holds a lock until it ends, so that no other run
    takes its jobs for those of an earlier one. Raises a `UserError` if two runs are to submit jobs
    from here, or if a job does not end.
    """
    lock = FileLock(LOCK, fallback_to_soft=False)
    if not acquired(lock, 0):
        if not of_slurm:
            return ""
        raise UserError(
            "another run submits Slurm jobs from this folder; wait for its end or stop it, then "
            "run again"
        )
    _held.append(lock)
    stopped = [job.number for job in jobs_of_this_folder()]
    if stopped:
        ask("scancel", *stopped)
    until = time.monotonic() + SECONDS_TO_STOP
    while left := " ".join(job.number for job in jobs_of_this_folder()):
        if time.monotonic() > until:
            raise UserError(
                f"the Slurm jobs {left} of an earlier run still write into this folder and do not "
                f"end; stop them ('scancel {left}') and run again"
            )
        time.sleep(1)
    if not of_slurm:
        _held.pop().release()
    jobs = f"{len(stopped)} Slurm job{'s' * (len(stopped) > 1)}"
    left_behind = f"stopped {jobs} that an earlier run left behind: {' '.join(stopped)}"
    return left_behind if stopped else ""
