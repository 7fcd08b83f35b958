"""How programs end, and what they do where standard output takes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages import must_name
from tests.repository import ROOT

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
    assert done.stderr == ""
    assert done.returncode == (program == TABLE), "rich ends programs itself"
    assert (tmp_path / "model").exists() == (program == JOB)


def test_a_file_that_is_no_specification_is_refused(tmp_path: Path) -> None:
    for content in (None, "{}", '{"jobs": [{"makes": {"kind": "Nothing"}, "reads": {}}]}'):
        path = tmp_path / "job.json"
        if content is not None:
            path.write_text(content)
        done = shell(f"workflow_scripts/score.py {path}", "", tmp_path)
        told_command, message = done.stderr.splitlines()
        assert done.returncode == 1
        assert told_command == f"python workflow_scripts/score.py {path}"
        must_name(message, "error", path, "snakemake")
