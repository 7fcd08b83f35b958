"""How programs end, and what they do where standard output takes nothing."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
SHOW_SYSTEM = "workflow_scripts/show_system.py --scale micro cmlm-kd"
WRITE_SCHEMAS = "workflow_scripts/write_schemas.py --folder '{folder}'"
VERIFY = "workflow_scripts/verify_results.py --folder '{folder}'"
PLAN = "workflow_scripts/plan.py --help"
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
REFUSED = """-c "
from nat.errors import UserError
from nat.program import run

def main():
    print('something')
    raise UserError('a mistake')

run(main)
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


@pytest.mark.parametrize("program", [SHOW_SYSTEM, WRITE_SCHEMAS, VERIFY, TABLE])
@pytest.mark.parametrize(
    ("redirection", "told"),
    [
        ("> /dev/full", "cannot write to standard output: the disk is full"),
        (">&-", "standard output is closed; leave it open"),
    ],
)
def test_an_output_that_takes_nothing_is_one_sentence(
    program: str, redirection: str, told: str, tmp_path: Path
) -> None:
    done = shell(program, redirection, tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {told}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("program", [SHOW_SYSTEM, WRITE_SCHEMAS, VERIFY, PLAN, TABLE])
def test_a_reader_that_ends_early_ends_a_program_quietly(program: str, tmp_path: Path) -> None:
    done = shell(program, "| true", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-", "| true"])
def test_a_job_goes_on_where_nobody_sees_its_progress(redirection: str, tmp_path: Path) -> None:
    done = shell(JOB, redirection, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "model").exists()


@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-", "| true"])
def test_a_mistake_is_told_where_nothing_else_can_be(redirection: str, tmp_path: Path) -> None:
    done = shell(REFUSED, redirection, tmp_path)
    assert (done.returncode, done.stderr) == (1, "error: a mistake\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("train --corpus c --system s --seed -1", "--seed: found -1, expected at least 0"),
        (
            f"train --corpus c --system s --seed {2**32}",
            f"--seed: found {2**32}, expected less than {2**32}",
        ),
        (
            "convert --corpus c --system s --seed 1 --engine tf",
            "--engine: found the text 'tf', expected one of ctranslate2, onnx",
        ),
        (
            "translate --corpus c --system s --seed 1 --decoding d --split test --shard 1 "
            "--shards 0",
            "--shards: found 0, expected at least 1",
        ),
        (
            "clean --corpus c --text t --output o --threads 0",
            "--threads: found 0, expected at least 1",
        ),
    ],
)
def test_a_value_that_no_configuration_allows_is_refused_before_work(
    words: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *arguments = words.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit):
        importlib.import_module(f"workflow_scripts.{name}").main()
    assert capsys.readouterr().err == f"error: {told}\n"
    assert list(tmp_path.iterdir()) == []
