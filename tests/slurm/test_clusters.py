"""Clusters of several kinds: `nat doctor`, and jobs that several steps share."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from private_slurm import MEMORY_MB, PACKAGES, PACKAGES_OF_ACCOUNTING, PrivateSlurm

import tests.grouped_steps as grouped_steps

ROOT = Path(__file__).resolve().parents[2]
FILE = "config/cluster.yaml"

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(3000)]


@contextmanager
def started(**options: Any) -> Iterator[PrivateSlurm]:
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    private = PrivateSlurm(folder, **options)
    if private.missing():
        packages = f"{PACKAGES} {PACKAGES_OF_ACCOUNTING}"
        shutil.rmtree(folder)
        pytest.fail(f"missing {', '.join(private.missing())}: apt-get install {packages}")
    try:
        private.start()
        yield private
    finally:
        private.stop()
        shutil.rmtree(folder)


def nat_doctor(folder: Path, slurm: PrivateSlurm) -> tuple[dict[str, Any], str]:
    """What it says should be written, and all that it says."""
    folder.mkdir()
    for name in ("config", "slurm"):
        (folder / name).symlink_to(ROOT / name)
    ended = subprocess.run(
        [sys.executable, "-m", "nat.export.command", "doctor", "--scale", "micro"],
        cwd=folder,
        env={**slurm.environment, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        timeout=1500,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return yaml.safe_load(ended.stdout.split(f"{FILE}:\n")[1]), ended.stdout


def test_a_cluster_without_accounting(tmp_path: Path) -> None:
    with started() as slurm:
        found, screen = nat_doctor(tmp_path / "doctor", slurm)
        limits = {"partition": "main", "most_minutes": 240, "most_memory_mb": MEMORY_MB}
        assert found == {
            "account": None,
            "qos": None,
            "cpu": limits,
            "gpu": {**limits, "request": "gpus", "type": None},
        }
        assert "partition main (the default): 2 nodes, 4 GPUs" in screen
        assert screen.count("GPUs for PyTorch") == 2

        status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
        assert status == 0, screen
        jobs = [line.split() for line in slurm.squeue("%k %l %C %m")]
        (job,) = [words[1:] for words in jobs if words[0].startswith("rule_score")]
        words = [f"{grouped_steps.REQUEST[name]}" for name in ("minutes", "cpus", "memory_mb")]
        assert job == [f"{words[0]}:00", words[1], f"{words[2]}M"]
        assert grouped_steps.ran_in_turn(tmp_path / "run")


def test_a_cluster_with_accounting(tmp_path: Path) -> None:
    with started(accounting=True) as slurm:
        found, screen = nat_doctor(tmp_path / "doctor", slurm)
        assert found["cpu"]["partition"] == "main"

        status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
        assert status == 0, screen
        shown = slurm.call("sacct", "-X", "-n", "-P", "-o", "State,Account,QOS,TimelimitRaw")
        assert f"COMPLETED|lab|long|{grouped_steps.REQUEST['minutes']}" in shown.splitlines()
