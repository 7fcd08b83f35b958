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
from tests.messages import must_name


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
        ("update 1\nupdate 2\n", "killed"),
        ("update 1\ninterrupted\n", "interrupted"),
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
    must_name(stream.getvalue(), "error: another run", "snakemake --unlock")


def test_a_dry_run_beside_a_run_says_so(screen: Screen, stream: io.StringIO) -> None:
    show(screen, "Error: Directory cannot be locked. Another Snakemake instance is running.")
    must_name(stream.getvalue(), "note: another run")


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
    must_name(stream.getvalue(), "'dimz'", "'dims'")


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


def test_what_is_left_unsaid(screen: Screen, stream: io.StringIO) -> None:
    for text in ("Building DAG of jobs...", "Select jobs to execute...", None):
        show(screen, text)
    assert not stream.getvalue()
    show(screen, "Nothing to be done (all requested files are present and up to date).")
    assert stream.getvalue()


def slurm_log(folder: Path) -> Path:
    found = folder / "slurm_logs/7.log"
    found.parent.mkdir()
    found.write_text(
        "Building DAG of jobs...\n\nbash: python: not found\nShutting down, this might\n"
    )
    return found


@pytest.mark.parametrize(
    ("own", "state", "shown"),
    [
        ("".join(f"update {number}\n" for number in range(9)), "TIMEOUT", "update 8"),
        (None, "FAILED", "bash: python: not found"),
        ("\n", "FAILED", "bash: python: not found"),
        ("update 1\nerror: no text\n", "FAILED", "error: no text"),
    ],
)
def test_a_failed_slurm_job_shows_its_number_its_state_and_what_its_log_says(
    screen: Screen, stream: io.StringIO, tmp_path: Path, own: str | None, state: str, shown: str
) -> None:
    log, of_slurm = tmp_path / "a.log", slurm_log(tmp_path)
    if own is not None:
        log.write_text(own)
    message = f"SLURM-job '7' failed, SLURM status is: '{state}'. Detailed failure reason"
    failed = {"jobid": 1, "rule_name": "train", "rule_msg": message}
    show(screen, event="job_error", log=[str(log), str(of_slurm)], **failed)
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[0] == f"[0/0] FAILED train (Slurm job 7: {state})"
    assert lines[-2:] == [shown, f"log: {log if own and own.strip() else of_slurm}"]
    if state == "TIMEOUT":
        assert lines[2:-2] == [f"update {number}" for number in range(4, 8)]


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
    must_name(lines[1], "'memory_mb'")
    assert lines[2:] == ["bash: python: not found", f"log: {log}"]


def test_the_error_of_a_process_is_found_before_what_its_launcher_says(
    screen: Screen, stream: io.StringIO, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text("error: no such file\n" + "ChildFailedError\n" * 40)
    logs = [str(tmp_path / "a.log")]
    show(screen, event="job_error", jobid=1, rule_name="train", log=logs)
    assert "error: no such file" in stream.getvalue()
    assert "ChildFailedError" not in stream.getvalue()
