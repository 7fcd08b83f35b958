"""What is shown of Snakemake's events."""

import io
import logging
from pathlib import Path
from typing import Any

import pytest
from snakemake.settings.types import OutputSettings

from snakemake_logger_plugin_nat import LogHandler
from tests.messages import must_name
from tests.repository import python


def shown(*events: dict[str, Any], text: str | None = None, **settings: bool) -> list[str]:
    """The lines that are shown of events, the last of which has a text."""
    screen = LogHandler(OutputSettings(**settings), None)
    screen.stream = io.StringIO()
    for number, event in enumerate(events, 1):
        said = text if number == len(events) else None
        level = logging.ERROR if "error" in event.get("event", "") else logging.INFO
        record = logging.LogRecord("snakemake", level, "", 0, said, None, None)
        vars(record).update(event, created=100.0 + number)
        screen.emit(record)
    return screen.stream.getvalue().splitlines()


def started(number: int, name: str | None, reason: str = "") -> dict[str, Any]:
    return {"event": "job_info", "jobid": number, "rule_msg": name, "reason": reason}


def failed(*logs: Path, **more: Any) -> dict[str, Any]:
    event = {"event": "job_error", "jobid": 1, "rule_name": "train", "log": [*map(str, logs)]}
    return event | more


def test_one_line_per_start_and_end() -> None:
    stats = {"train": 2, "translate_and_score_a": 1, "translate_and_score_b": 1, "total": 4}
    ends = ({"event": "job_finished", "job_id": number} for number in (2, 1, 3))
    events = started(1, "train a"), started(2, "train b"), started(3, None), *ends
    assert shown({"event": "run_info", "stats": stats}, *events) == [
        "4 to do: 2 train, 2 translate_and_score",
        "[0/4] start  train a",
        "[0/4] start  train b",
        "[1/4] done   train b in 0:00:02",
        "[2/4] done   train a in 0:00:04",
        "finished 3 of 4",
    ]


def test_a_dry_run_lists_jobs_with_reasons() -> None:
    stats = {"event": "run_info", "stats": {"train": 1, "total": 1}}
    job = started(1, "train a", "Missing output files: x, y; Params have changed since: a")
    lines = ["train a: params have changed since", "1 to do: 1 train"]
    assert shown(stats, job, stats, dryrun=True) == lines
    job |= {"reason": "Input files updated by another job: x", "output": ["x", "y"]}
    assert shown(stats, job, stats, dryrun=True)[0] == "train a: not made yet"
    job["output"] = ["x", __file__]
    assert shown(stats, job, stats, dryrun=True)[0] == "train a: input files updated by another job"


@pytest.mark.parametrize(
    ("log", "end"),
    [
        ("line 1\n" * 50 + "error: no text\nChildFailedError\n", ["error: no text"]),
        ("Traceback\n  line 1\nValueError: no\n", ["Traceback", "  line 1", "ValueError: no"]),
    ],
)
def test_a_failure_shows_the_end_of_its_log(tmp_path: Path, log: str, end: list[str]) -> None:
    (tmp_path / "a.log").write_text(log)
    lines = shown(started(1, "train a"), failed(tmp_path / "a.log"))[1:]
    assert lines[0] == "[0/0] FAILED train a"
    assert [line[8:] for line in lines[1:]] == [*end, f"log: {tmp_path / 'a.log'}"]
    (tmp_path / "a.log").write_text("update 1\n")
    must_name(" ".join(shown(failed(tmp_path / "a.log"))), "update 1", "killed")


@pytest.mark.parametrize(("own", "end"), [("update 8\n", "update 8"), ("\n", "no python")])
def test_a_failed_slurm_job_shows_its_number_its_state_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, end: str
) -> None:
    of_slurm, log = tmp_path / "slurm_logs/7.log", tmp_path / "a.log"
    of_slurm.parent.mkdir()
    of_slurm.write_text("no python\n")
    log.write_text(own)
    message = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason"
    lines = [line.strip() for line in shown(failed(log, of_slurm, rule_msg=message))]
    assert lines[0] == "[0/0] FAILED train (Slurm job 7: TIMEOUT)"
    must_name(lines[1], "out of time")
    assert lines[2:] == [end, f"log: {log if own.strip() else of_slurm}"]
    monkeypatch.setattr("nat.workflow.slurm.state_of", {"7": "OUT_OF_MEMORY"}.__getitem__)
    group = {"event": "group_error", "groupid": "score", "job_error_info": [{}, {}]}
    lines = shown({**group, "external_jobid": "7", "aux_logs": [str(of_slurm)]})
    assert lines[0] == "[0/0] FAILED 2 steps of the group score (Slurm job 7: OUT_OF_MEMORY)"
    must_name(lines[1], "'memory_mb'")
    assert lines[2].strip() == "no python"
    must_name(shown(group)[1], "not submitted", "nat doctor")


LOCK = "Error: Directory cannot be locked. Please make sure"


@pytest.mark.parametrize(
    ("event", "text", "words"),
    [
        ("error", f"LockException:\n{LOCK}", ["error: another run", "snakemake --unlock"]),
        (None, LOCK, ["note: another run"]),
        ("error", "Missing...:\nNo rule to produce a/b (if", ["error: no rule makes a/b"]),
        ("error", "In rule a:\nError:\n  UserError: not done\nWildcards:\n", ["error: not done"]),
        ("error", 'UserError in file "/a", line 59:\nnot done\n  File', ["error: not done"]),
        ("error", "WorkflowError:\nAt least one job failed", ["error: At least one job failed"]),
        ("error", "RuleException:\nCalledProcessError in file x", []),
        (None, "Nothing to be done (all requested files)", ["Nothing to be done"]),
        (None, "Building DAG of jobs...", []),
    ],
)
def test_what_is_said_of_no_job(event: str | None, text: str | None, words: list[str]) -> None:
    lines = shown({"event": event} if event else {}, text=text)
    assert len(lines) == bool(words)
    must_name(" ".join(lines), *words)


RULE = """
rule a:
    output: "results/a.json"
    params: of=1
    message: "make a"
    shell: "touch {output}"
"""


def test_a_damaged_record_of_snakemake_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(RULE)
    command = ["-m", "snakemake", "--cores", "1", "--logger", "nat"]

    def run(*arguments: str) -> tuple[int, str]:
        status, shown, errors = python(*command, *arguments, folder=tmp_path)
        return status, shown + errors

    assert run()[0] == 0
    (record,) = (tmp_path / ".snakemake/metadata").glob("*")
    whole = record.read_bytes()
    for content in (whole[:9] + b"\xff" + whole[10:], b"[1]"):
        record.write_bytes(content)
        status, said = run("--dry-run")
        assert (status, said.count("\n")) == (1, 1)
        must_name(said, "error", record.relative_to(tmp_path), "--force results/a.json")
    record.write_bytes(b"")  # it counts as none
    status, said = run("--dry-run")
    assert (status, said.count("\n")) == (0, 1)
