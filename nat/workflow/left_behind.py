"""Jobs that outlive a Snakemake that was killed.

A job writes what it was started for, so it would replace what a later job of another configuration
has made, and nobody would know. Those of Slurm are stopped before a run starts its first job;
those on this machine are named.
"""

import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from nat.errors import UserError
from nat.locks import taken
from nat.workflow.slurm import SlurmJob, ask, jobs_of_this_folder

LOCK = Path(".snakemake/slurm.lock")
"""Held by the run that submits Slurm jobs from this folder."""

PROGRAMS = "workflow_scripts/"
MAKE_NOTHING = {
    f"{PROGRAMS}{name}.py" for name in ("plan", "show_results", "show_system", "verify_results")
}
"""Programs that may run beside others, since they only read results."""

SECONDS_TO_END = 5
SECONDS_TO_STOP = 120
SHOWN = 3
"""Jobs that a message lists."""


def require_no_survivors() -> None:
    """Fail if jobs of a run that was killed are still at work on this machine.

    Those of a run that goes on have a Snakemake above them. Processes that are about to end have a
    few seconds for it.

    Raises:
        UserError: names the processes.
    """
    until = time.monotonic() + SECONDS_TO_END
    while (left := list(_survivors(Path.cwd()))) and time.monotonic() < until:
        time.sleep(0.5)
    if left:
        more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
        raise UserError(
            f"jobs of an earlier run are still at work in this folder: {', '.join(left[:SHOWN])}"
            f"{more}; wait for their end or stop them, then run again"
        )


def _survivors(folder: Path) -> Iterator[str]:
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or belongs to somebody else
            words = process.cmdline()
            named = [number for number, word in enumerate(words) if word.startswith(PROGRAMS)]
            if named and words[named[0]] not in MAKE_NOTHING and Path(process.cwd()) == folder:
                above = (word for each in process.parents() for word in each.cmdline())
                if not any("snakemake" in Path(word).name for word in above):
                    yield f"process {process.pid} ({shlex.join(words[named[0] :])})"


def stop_slurm_jobs(of_slurm: bool) -> str:
    """Cancel the Slurm jobs of an earlier run in this folder, and wait until they have ended.

    Args:
        of_slurm: whether this run submits Slurm jobs. Then it holds a lock until it ends, so that
            no other run takes its jobs for those of an earlier one.

    Returns:
        What was done, for the screen; nothing if there was nothing to do.

    Raises:
        UserError: if another run submits Slurm jobs from here and this one is to do so, too, if
            Slurm does not answer, or if a job does not end.
    """
    lock = taken(LOCK)
    if lock is None:
        if of_slurm:
            raise UserError(
                "another run submits Slurm jobs from this folder; wait for its end or stop it, "
                "then run again"
            )
        return ""
    if of_slurm:
        _held.append(lock)
    try:
        return _stop(jobs_of_this_folder())
    finally:
        if not of_slurm:
            lock.release()


_held: list[object] = []
"""Locks of this run: a lock that nobody refers to is released."""


def _stop(jobs: list[SlurmJob]) -> str:
    if not jobs:
        return ""
    numbers = [job.number for job in jobs]
    ask("scancel", *numbers)
    until = time.monotonic() + SECONDS_TO_STOP
    while left := jobs_of_this_folder():
        if time.monotonic() > until:
            still = " ".join(job.number for job in left)
            raise UserError(
                f"the Slurm jobs {still} of an earlier run still write into this folder and do "
                f"not end; stop them ('scancel {still}') and run again"
            )
        time.sleep(1)
    what = "job" if len(jobs) == 1 else "jobs"
    return f"stopped {len(jobs)} Slurm {what} that an earlier run left behind: {' '.join(numbers)}"
