"""What is shown of Snakemake's events."""

import io
import logging
from pathlib import Path
from typing import Any

import pytest
from snakemake.logging import LoggerManager
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from nat.workflow.log import Screen


def show(screen: Screen, text: str | None = None, **event: Any) -> None:
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, text, None, None)
    record.__dict__.update(event)
    screen.emit(record)


def started(screen: Screen, number: int, name: str | None, reason: str = "") -> None:
    show(screen, event="job_info", jobid=number, rule_msg=name, rule_name="train", reason=reason)


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def make_screen(stream: io.StringIO, **settings: bool) -> Screen:
    screen = Screen(OutputSettings(**settings), None)
    screen.stream, screen.targets = stream, ["all", "dims"]
    return screen


@pytest.fixture
def screen(stream: io.StringIO) -> Screen:
    return make_screen(stream)


@pytest.mark.parametrize("verbose", [False, True])
def test_snakemake_writes_through_the_plugin_alone(stream: io.StringIO, verbose: bool) -> None:
    logger = logging.getLogger("test of the plugin")
    settings = OutputSettings(
        log_handler_settings={"nat": LogHandlerSettingsBase()}, verbose=verbose
    )
    manager = LoggerManager(logger, settings)
    (screen,) = manager.get_log_handlers()
    assert isinstance(screen, Screen)
    assert not any(isinstance(each, logging.StreamHandler) for each in logger.handlers)
    screen.stream = stream
    logger.info("Building DAG of jobs...")
    stats = {"train": 1, "total": 1}
    logger.info("Job stats: 1", extra={"event": LogEvent.RUN_INFO, "stats": stats})
    logger.info(None, extra={"event": LogEvent.RESOURCES_INFO})
    logger.info(None)
    manager.stop()  # waits for the last record
    shown = ["Building DAG of jobs...", "Job stats: 1"] if verbose else ["1 job to do: 1 train"]
    assert stream.getvalue().splitlines() == shown


def test_one_line_per_start_and_end(screen: Screen, stream: io.StringIO) -> None:
    show(screen, event="run_info", stats={"train": 2, "all": 1, "total": 3})
    started(screen, 1, "train a")
    started(screen, 2, "train b")
    started(screen, 3, None)
    show(screen, event="job_finished", job_id=2)
    show(screen, event="progress", done=1, total=3)
    show(screen, event="job_finished", job_id=1)
    show(screen, event="progress", done=2, total=3)
    show(screen, event="job_finished", job_id=3)
    show(screen, event="progress", done=3, total=3)
    assert stream.getvalue().splitlines() == [
        "3 jobs to do: 2 train, 1 all",
        "[0/3] start  train a",
        "[0/3] start  train b",
        "[1/3] done   train b in 0:00:00",
        "[2/3] done   train a in 0:00:00",
        "finished 3 jobs in 0:00:00",
    ]


def test_a_failure_shows_the_end_of_its_log(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "error: no text\n")
    started(screen, 1, "train a")
    show(screen, "CalledProcessError in file x", event="error", exception="RuleException")
    show(
        screen,
        event="job_error",
        jobid=1,
        rule_name="train",
        log=[f"{log} (check log file(s) for error details)"],
    )
    lines = stream.getvalue().splitlines()
    assert lines[1] == "[0/0] FAILED train a"
    assert lines[2:] == ["        error: no text", f"        log: {log}"]


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("Traceback\n  line 1\nValueError: no\n", "  line 1 | ValueError: no"),
        ("update 1\nupdate 2\n", "update 2 | it was killed"),
        ("", "it was killed"),
        ("update 1\ninterrupted\n", "| interrupted |"),
    ],
)
def test_what_a_log_without_an_error_means(
    screen: Screen, stream: io.StringIO, tmp_path: Path, log: str, shown: str
) -> None:
    (tmp_path / "a.log").write_text(log)
    show(screen, event="job_error", jobid=1, rule_name="train", log=[str(tmp_path / "a.log")])
    assert shown in stream.getvalue().replace("\n        ", " | ")


def test_a_lock_that_was_left_behind_names_the_remedy(screen: Screen, stream: io.StringIO) -> None:
    text = "LockException:\nError: Directory cannot be locked. Please make sure that no other\n"
    show(screen, text, event="error", exception="LockException")
    assert stream.getvalue().startswith("error: another run is at work in this folder")
    assert "snakemake --unlock" in stream.getvalue()


def test_a_dry_run_beside_a_run_says_so(screen: Screen, stream: io.StringIO) -> None:
    show(screen, "Error: Directory cannot be locked. Another Snakemake instance is running.")
    assert stream.getvalue() == "note: another run is at work in this folder\n"


def test_a_dry_run_lists_jobs_with_reasons(stream: io.StringIO) -> None:
    screen = make_screen(stream, dryrun=True)
    stats = {"train": 1, "total": 1}
    show(screen, event="run_info", stats=stats)
    started(screen, 1, "train a", "Missing output files: x, y; Params have changed since: a")
    show(screen, event="run_info", stats=stats)
    assert stream.getvalue().splitlines() == [
        "train a: params have changed since",
        "1 job to do: 1 train",
    ]


def test_unknown_targets_get_a_hint(screen: Screen, stream: io.StringIO) -> None:
    text = "MissingRuleException:\nNo rule to produce dimz (if you use input functions ...)."
    show(screen, text, event="error", exception="MissingRuleException")
    assert stream.getvalue() == "error: there is no target 'dimz'; did you mean 'dims'?\n"


@pytest.mark.parametrize(
    ("exception", "text"),
    [
        (
            "InputFunctionException",
            "InputFunctionException in rule merge_shards:\nError:\n  UserError: cannot be done\n"
            "Wildcards:\n  corpus=a\nTraceback:\n  File b",
        ),
        (
            "UserError",
            'UserError in file "/a/Snakefile", line 59:\ncannot be done\n  File "/a/Snakefile"',
        ),
    ],
)
def test_a_path_that_asks_for_nonsense_gets_one_sentence(
    screen: Screen, stream: io.StringIO, exception: str, text: str
) -> None:
    show(screen, text, event="error", exception=exception)
    assert stream.getvalue() == "error: cannot be done\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Building DAG of jobs...", False),
        ("Select jobs to execute...", False),
        ("Nothing to be done (all requested files are present and up to date).", True),
        ("Unlocked working directory.", True),
        (None, False),
    ],
)
def test_what_is_left_unsaid(
    screen: Screen, stream: io.StringIO, text: str | None, shown: bool
) -> None:
    show(screen, text)
    assert bool(stream.getvalue()) == shown


def failed_in_slurm(folder: Path, state: str) -> dict[str, Any]:
    """The event of a job whose own log is a.log, and whose Slurm log is slurm_logs/7.log."""
    message = f"SLURM-job '7' failed, SLURM status is: '{state}'. Detailed failure reason"
    logs = [str(folder / "a.log"), str(folder / "slurm_logs/7.log")]
    return {
        "event": "job_error",
        "jobid": 1,
        "rule_name": "train",
        "rule_msg": message,
        "log": logs,
    }


def slurm_log(folder: Path) -> Path:
    found = folder / "slurm_logs/7.log"
    found.parent.mkdir()
    found.write_text(
        "Building DAG of jobs...\n\nbash: python: not found\nShutting down, this might\n"
    )
    return found


def test_a_failed_slurm_job_shows_its_number_its_state_and_its_last_lines(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text("".join(f"update {number}\n" for number in range(9)))
    slurm_log(tmp_path)
    show(screen, **failed_in_slurm(tmp_path, "TIMEOUT"))
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[0] == "[0/0] FAILED train (Slurm job 7: TIMEOUT)"
    assert lines[1].startswith("out of time; a training resumes")
    assert lines[2:] == [*(f"update {n}" for n in range(4, 9)), f"log: {tmp_path / 'a.log'}"]


@pytest.mark.parametrize("own", [None, "", "\n"])
def test_a_slurm_job_that_never_began_to_work_shows_what_slurm_logged(
    screen: Screen, stream: io.StringIO, tmp_path: Path, own: str | None
) -> None:
    if own is not None:
        (tmp_path / "a.log").write_text(own)
    log = slurm_log(tmp_path)
    show(screen, **failed_in_slurm(tmp_path, "FAILED"))
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[0] == "[0/0] FAILED train (Slurm job 7: FAILED)"
    assert lines[1:] == ["bash: python: not found", f"log: {log}"]


def test_a_failed_slurm_job_shows_its_own_error_alone(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text("update 1\nerror: no text\n")
    slurm_log(tmp_path)
    show(screen, **failed_in_slurm(tmp_path, "FAILED"))
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[1:] == ["error: no text", f"log: {tmp_path / 'a.log'}"]


def test_a_failed_group_shows_the_slurm_job_that_its_steps_shared(
    screen: Screen, stream: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nat.workflow.log.state_of", {"7": "OUT_OF_MEMORY"}.__getitem__)
    log = slurm_log(tmp_path)
    show(
        screen,
        "Error in group score",
        event="group_error",
        groupid="score",
        aux_logs=[str(log)],
        job_error_info=[{}, {}],
        external_jobid="7",
    )
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[0] == "[0/0] FAILED 2 steps of the group score (Slurm job 7: OUT_OF_MEMORY)"
    assert lines[1].startswith("out of memory; raise 'memory_mb'")
    assert lines[2:] == ["bash: python: not found", f"log: {log}"]


def test_a_step_of_a_group_that_never_began_is_only_named(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    logs = [str(tmp_path / "none.log")]
    show(screen, event="job_error", jobid=1, rule_name="clean", indent=True, log=logs)
    assert len(stream.getvalue().splitlines()) == 1


def test_the_error_of_a_process_is_found_before_what_its_launcher_says(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text("error: no such file\n" + "ChildFailedError\n" * 40)
    logs = [str(tmp_path / "a.log")]
    show(screen, event="job_error", jobid=1, rule_name="train", log=logs)
    assert "error: no such file" in stream.getvalue()
    assert "ChildFailedError" not in stream.getvalue()
