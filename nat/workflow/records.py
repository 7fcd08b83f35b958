"""What `.snakemake` knows of the results: which of them a run is making, and with what.

It records the configuration that each result was made with. Results that were copied from
elsewhere, or whose records were removed, would be mistaken for those of the current one.
"""

import os
import re
import shlex
import time
from base64 import urlsafe_b64decode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nat.artifacts import Model
from nat.configuration import Configuration, differences
from nat.errors import UserError
from nat.files import check_replaceable, read_json
from nat.locks import hold
from nat.training.run import CURVE, KEPT, REPORT

if TYPE_CHECKING:
    from snakemake.jobs import Job
    from snakemake.workflow import Workflow

RECORDS = Path(".snakemake")
LOCK = RECORDS / "run.lock"
"""Of the run that makes files in this folder."""

OF_TRAINING = {"model.pt", CURVE, KEPT, REPORT}
"""Names of the outputs of a training."""

PROGRAMS = "workflow_scripts/"
MAKE_NOTHING = {
    f"{PROGRAMS}{name}.py" for name in ("plan", "show_results", "show_system", "verify_results")
}
"""Programs that may run beside others, since they only read results."""

SECONDS_TO_END = 5
SHOWN = 3
"""Jobs that a message lists."""

_WILDCARD = re.compile(r"\{\w+(?:,([^{}]*))?\}")  # with its constraint, if it has one


def hold_folder(workflow: "Workflow") -> bool:
    """Hold the lock of the folder until this process ends, if its run makes files.

    Snakemake (9.27.1) locks files, so that runs that make different files are not kept apart, and
    a run that ends removes the locks of all runs. Here it removes its own.

    Returns:
        Whether the run makes files. `plan` and `verify` make none, and need no lock.

    Raises:
        UserError: if another run holds the lock.
    """
    own = workflow.persistence._lockfile

    def unlock() -> None:
        for file in own.values():
            Path(file).unlink(missing_ok=True)

    workflow.persistence.unlock = unlock
    if not any(job.output for job in workflow.dag.needrun_jobs()):
        return False
    hold(LOCK, "snakemake", "at work in this folder")
    return True


def require_no_survivors() -> None:
    """Fail if jobs of a run that was killed are still at work on this machine.

    A job writes what it was started for, so it would replace what a later job of another
    configuration has made, and nobody would know. The caller must hold the lock of the folder, so
    that no job can belong to an active run, and have stopped the jobs of Slurm, which may have run
    on this machine; processes that are about to end have a few seconds for it.

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
    import psutil  # only where jobs are about to start

    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or belongs to somebody else
            words = process.cmdline()
            named = [number for number, word in enumerate(words) if word.startswith(PROGRAMS)]
            if named and words[named[0]] not in MAKE_NOTHING and Path(process.cwd()) == folder:
                yield f"process {process.pid} ({shlex.join(words[named[0] :])})"


def require_replaceable(workflow: "Workflow") -> None:
    """Fail if a folder that a job makes again holds files of the user.

    Snakemake removes such a folder with all that is in it before it starts the job.

    Raises:
        UserError: as `check_replaceable`.
    """
    for job in workflow.dag.needrun_jobs():
        for output in job.output:
            if output.is_directory:
                check_replaceable(Path(output))


def record_from_the_start(workflow: "Workflow") -> None:
    """Have Snakemake record with what a result is made when its job starts, too.

    Jobs survive a Snakemake that is killed. Their results would have no record, so that no later
    run could use them. The times of an earlier job are removed: Snakemake takes them for a part of
    what a job makes, and a result for as old as they are.
    """
    persistence, started = workflow.persistence, workflow.persistence.started

    def record(job: "Job", external_jobid: str | None = None) -> None:
        if external_jobid is None:
            if job.benchmark:
                Path(job.benchmark).unlink(missing_ok=True)
            workflow.async_run(persistence.finished(job))
        started(job, external_jobid)

    persistence.started = record
    if workflow.non_local_exec:
        executor = workflow.scheduler._executor
        submit = executor.run_job

        def record_and_submit(job: "Job") -> None:
            # otherwise the job does so when its turn comes; until then they would have this record
            workflow.async_run(job.remove_existing_output())
            job.register()
            submit(job)

        executor.run_job = record_and_submit


def mark_failed(workflow: "Workflow") -> None:
    """Have Snakemake make again what a failed job was to make.

    It records (9.27.1) what the job that failed was to make it with. A file that is there all the
    same, since it was put back after an update or comes from a job that was started earlier, would
    be taken for what that job makes.
    """
    # only where Snakemake runs; to import it takes as long as many programs
    from snakemake.jobs import Job

    persistence, ended = workflow.persistence, Job.postprocess

    async def postprocess(
        job: "Job", *arguments: object, error: bool = False, **options: object
    ) -> None:
        await ended(job, *arguments, error=error, **options)
        for file in job.output if error else ():
            persistence._mark_incomplete(persistence._get_key(file), None)

    Job.postprocess = postprocess


def keep_finished_trainings(is_current: Callable[[Path], bool]) -> None:
    """Let Snakemake keep the models of trainings that ended after it was killed.

    It makes again what it has not seen the end of. A training writes its report last, and that of
    an earlier one is removed before it starts: with the report, all is there.

    Args:
        is_current: whether the training of a report is the one that the configuration asks for.
    """
    recorded = _recorded("metadata")
    for path, marker in _recorded("incomplete").items():
        output = Path(path)
        report = output.with_name(REPORT)
        ended = output.name in OF_TRAINING and report.exists()
        if ended and path in recorded and is_current(report):
            marker.unlink(missing_ok=True)


def is_current(configuration: Configuration, report: Path) -> bool:
    """Whether a report of a training is of this run, and says what the configuration asks for.

    One that is damaged, or of something that the configuration no longer has, is not current: its
    training is made again.
    """
    try:
        found = read_json(report)
        seed, training = found["seed"], found["training"]
        names = training["corpus"], training["system"]
    except (UserError, KeyError, TypeError):
        return False
    model = Model(configuration.run, *names, seed)
    if Path(model.path).with_name(REPORT) != report or names[1] not in configuration.systems:
        return False
    try:
        wanted = configuration.training(*names).as_json()
    except UserError:  # without its corpus or size
        return False
    return not differences(training, wanted)


def refuse_unknown_results(outputs: Iterable[str]) -> None:
    """Fail if a result exists that no job of this folder has made or is making.

    Args:
        outputs: of the rules, with wildcards in braces, as in `{engine,ctranslate2|onnx}`.

    Raises:
        UserError: names the first such result.
    """
    found = set(_made(outputs, known=_all_recorded()))
    # Jobs may have ended since the records were read.
    unknown = sorted(found - _all_recorded()) if found else []
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UserError(
            f"{unknown[0]}{more}: .snakemake has no record of the configuration by which this was "
            "made; copy the .snakemake that belongs to these results, or move them out of results"
        )


def _made(outputs: Iterable[str], known: set[str]) -> Iterator[str]:
    """Outputs that are there, without those that are known.

    Each folder is listed once: a run has thousands of outputs in the same few folders.
    """
    of_folder: dict[str, list[str]] = defaultdict(list)
    for output in outputs:
        of_folder[output.partition("{")[0].rpartition("/")[0]].append(output)
    for top, patterns in of_folder.items():
        depth = max(_WILDCARD.sub("", pattern).count("/") for pattern in patterns)
        for parent, folders, files in os.walk(top, followlinks=True):
            paths = (f"{parent}/{name}" for name in folders + files)
            unknown = [path for path in paths if path not in known]
            if unknown:
                yield from filter(_matching(tuple(patterns)), unknown)
            folders[:] = [
                name
                for name in folders
                if parent.count("/") + 1 < depth and f"{parent}/{name}" not in known
            ]


@cache
def _matching(outputs: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    """What matches the paths of outputs. To compile it takes long: thousands of names."""
    return re.compile("|".join(map(_expression, outputs))).fullmatch


def _expression(output: str) -> str:
    """A regular expression of the paths of an output: a wildcard matches its constraint, or a name.

    Where the constraint excludes a name, the path is no output of the rule: checkpoints, for
    example, lie in a folder beside those of exported models.
    """
    parts = _WILDCARD.split(output)  # text and constraints by turns
    return "".join(
        f"(?:{part or '[^/]+'})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _all_recorded() -> set[str]:
    # In this order: the record of a job that ends between the two readings is found in the second.
    return _recorded("incomplete").keys() | _recorded("metadata").keys()


def _recorded(kind: str) -> dict[str, Path]:
    """Paths with a record, and the record; Snakemake encodes each path in a name, long ones in
    folders `@...`."""
    folder = RECORDS / kind
    records = {
        "".join(part.removeprefix("@") for part in record.relative_to(folder).parts): record
        for record in folder.rglob("*")
        if record.is_file()
    }
    try:
        return {urlsafe_b64decode(name).decode(): record for name, record in records.items()}
    except ValueError as error:
        raise UserError(
            f"{folder} is damaged ({error}); move .snakemake and results away and run again"
        ) from error
