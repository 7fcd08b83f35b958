"""Clusters of several kinds: `nat doctor`, and jobs that several steps share."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from private_slurm import MEMORY_MB, SNAKEMAKE, PrivateSlurm, started

from tests.repository import ROOT

FILE = "config/cluster.yaml"
STEPS, MINUTES = 3, 10

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(3000)]


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


SNAKEFILE = f"""
import gc
import sys
from nat.configuration.scales import Cluster
from nat.errors import UserError
from nat.training.run import forget_ended
from nat.workflow.left_behind import require_no_survivors, stop_slurm_jobs
from nat.workflow.slurm import require_account, require_clients, watch_the_queue

cluster = Cluster(account=config.get("account"))


class configuration:
    run = "micro"


class wiring:
    tell_jobs = staticmethod(lambda: None)


rule all:
    input: "made/{STEPS}"
    localrule: True


rule score:
    input: lambda wildcards: [f"made/{{int(wildcards.n) - 1}}"] if wildcards.n != "1" else []
    output: "made/{{n}}"
    group: "score"
    resources: mem_mb=150, runtime={MINUTES}, cpus_per_task=1
    shell:
        "date +%s.%N > {{output}}.begun; sleep 1; date +%s.%N > {{output}}.ended; touch {{output}}"


include: "{ROOT}/rules/start.smk"
"""
"""Small steps that share a job, with the names that rules/start.smk needs."""


def run_in_one_job(folder: Path, slurm: PrivateSlurm) -> None:
    """Run the steps by the profile: all of them, each after the one before it."""
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    (folder / "Snakefile").write_text(SNAKEFILE)
    ended = subprocess.run(
        [*SNAKEMAKE, "--cores", "8", "--retries", "0", "--logger", "nat"],
        cwd=folder,
        env={**slurm.environment, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=550,
    )
    assert ended.returncode == 0, ended.stdout
    names = [f"made/{n}.{end}" for n in range(1, STEPS + 1) for end in ("begun", "ended")]
    times = [float((folder / name).read_text()) for name in names]
    assert times == sorted(times)


def test_a_cluster_without_accounting(tmp_path: Path) -> None:
    with started() as slurm:
        found, screen = nat_doctor(tmp_path / "doctor", slurm)
        limits = {"partition": "main", "most_minutes": 240, "most_memory_mb": MEMORY_MB}
        gpu = {**limits, "request": "gpus", "type": None}
        assert found == {"account": None, "qos": None, "cpu": limits, "gpu": gpu}
        assert "partition main (the default): 2 nodes, 4 GPUs" in screen
        assert screen.count("GPUs for PyTorch") == 2

        run_in_one_job(tmp_path / "run", slurm)
        jobs = [line.split() for line in slurm.squeue("%k %l %C %m")]
        (job,) = [words[1:] for words in jobs if words[0].startswith("rule_score")]
        assert job == [f"{MINUTES * STEPS}:00", "1", "150M"]


def test_a_cluster_with_accounting(tmp_path: Path) -> None:
    with started(accounting=True) as slurm:
        found, _ = nat_doctor(tmp_path / "doctor", slurm)
        assert found["cpu"]["partition"] == "main"
        run_in_one_job(tmp_path / "run", slurm)
        shown = slurm.call("sacct", "-X", "-n", "-P", "-o", "State,Account,QOS,TimelimitRaw")
        assert f"COMPLETED|lab|long|{MINUTES * STEPS}" in shown.splitlines()
