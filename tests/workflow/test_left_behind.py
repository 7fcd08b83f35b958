"""What a Snakemake that was killed leaves behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nat.workflow.left_behind import require_no_survivors
from tests.graph.test_graph import finished_run, snakemake, start
from tests.messages import must_name, told


def until(what: Callable[[], object]) -> None:
    for _ in range(600):
        if what():
            return
        time.sleep(0.1)
    pytest.fail("it does not come")


def test_jobs_of_a_killed_run_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    elsewhere, programs = tmp_path / "elsewhere", tmp_path / "workflow_scripts"
    elsewhere.mkdir()
    programs.mkdir()
    for name in ("train", "plan"):
        (programs / f"{name}.py").write_text("import time\ntime.sleep(100)\n")
    (elsewhere / "workflow_scripts").symlink_to(programs)
    train = ("workflow_scripts/train.py", "results/jobs/train/0123456789abcdef.json")
    (tmp_path / "snakemake").write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, *{train}])\n"
    )

    def begin(where: Path, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *words], cwd=where, start_new_session=True)

    others = [
        begin(tmp_path, "workflow_scripts/plan.py"),
        begin(elsewhere, *train),
        begin(tmp_path, "snakemake"),  # goes on, and so does its job
    ]
    job = begin(tmp_path, *train)
    try:
        until(lambda: "train.py" in Path(f"/proc/{job.pid}/cmdline").read_text())
        with told("folder", f"process {job.pid}", " ".join(train)):
            require_no_survivors()
        job.kill()
        job.wait()
        require_no_survivors()
    finally:
        job.kill()
        for each in others:
            os.killpg(each.pid, signal.SIGKILL)
            each.wait()


TRAINING = "results/micro/models/toy-micro/nat-raw/seed1"


@pytest.mark.graph
@pytest.mark.timeout(1000)
def test_a_training_that_ends_after_snakemake_was_killed_is_used(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    repository, _ = finished_run(tmp_path_factory)
    folder = repository / TRAINING
    before = (folder / "model.pt").read_bytes()
    shutil.rmtree(folder)
    with start(repository, f"{TRAINING}/model.pt") as first:
        until((folder / "checkpoints/run.json").exists)
        first.kill()
    status, screen = snakemake(repository, f"{TRAINING}/model.pt")
    assert status == 1
    must_name(screen, "another run is at work", "snakemake --unlock")
    until((folder / "training.json").exists)
    assert snakemake(repository, "--unlock")[0] == 0
    _, screen = snakemake(repository, f"{TRAINING}/model.pt", "-n")
    must_name(screen, "train nat-raw on toy-micro (seed 1)")  # it has not seen the end
    status, screen = snakemake(repository, f"{TRAINING}/model.pt")
    assert status == 0, screen
    must_name(screen, "is finished already")
    assert (folder / "model.pt").read_bytes() == before
    assert {path.name for path in folder.glob("[!.]*")} == {
        *("model.pt", "training.csv", "training.json", "kept")
    }
    assert not (folder / ".ended").exists()
