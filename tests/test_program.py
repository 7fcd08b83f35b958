"""How programs end, and what they do where standard output takes nothing."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages import must_name

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
SHOW_SYSTEM = "workflow_scripts/show_system.py --scale micro cmlm-kd"
JOB = """-c "
from pathlib import Path
from nat.program import Progress, run

def main():
    progress = Progress('train it', 2, 'updates')
    for done in range(3):
        progress.update(done)
        progress.say('x' * 10_000)
    Path('{folder}/model').touch()

run(main)
" """
TABLE = """-c "
from rich.console import Console
from nat.program import run

run(lambda: [Console().print('line') for _ in range(10_000)])
" """


def shell(program: str, redirection: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the project; the status is its own, not that of a reader."""
    command = f"'{sys.executable}' {program.replace('{folder}', str(folder))} {redirection}"
    return subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("program", [SHOW_SYSTEM, TABLE, JOB])
def test_a_full_disk_is_one_sentence_and_ends_no_job(program: str, tmp_path: Path) -> None:
    done = shell(program, "> /dev/full", tmp_path)
    if program == JOB:
        assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "model").exists()
    else:
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        must_name(done.stderr, "standard output", "disk is full")


@pytest.mark.parametrize("program", [SHOW_SYSTEM, TABLE, JOB])
def test_a_reader_that_ends_early_ends_no_job_and_no_table_in_an_error(
    program: str, tmp_path: Path
) -> None:
    done = shell(program, "| true", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "model").exists() == (program == JOB)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("train --corpus c --system s --seed -1", ["--seed", "-1"]),
        (f"train --corpus c --system s --seed {2**32}", ["--seed", 2**32]),
        ("convert --corpus c --system s --seed 1 --engine tf", ["--engine", "'tf'"]),
        (
            "translate --corpus c --system s --seed 1 --decoding d --split test --shard 1 "
            "--shards 0",
            ["--shards", "0"],
        ),
        ("clean --corpus c --text t --output o --threads 0", ["--threads", "0"]),
    ],
)
def test_a_value_that_no_configuration_allows_is_refused_before_work(
    words: str,
    parts: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *arguments = words.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit):
        importlib.import_module(f"workflow_scripts.{name}").main()
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1
    must_name(message, *parts)
    assert list(tmp_path.iterdir()) == []
