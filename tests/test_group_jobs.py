"""Steps that share a Slurm job: how many run at once, and whether the job asks for their time."""

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from stand_in_slurm import StandInSlurm

from nat.workflow.cluster import AT_ONCE

ROOT = Path(__file__).resolve().parents[1]
COUNT, MINUTES, CORES_OF_THE_LOGIN_NODE = 6, 10, 8

SNAKEFILE = f"""
import sys
from nat.errors import UserError
from nat.workflow.cluster import AT_ONCE
from nat.workflow.slurm import Watch, status_command, stop_left_behind

class configuration:
    run = "micro"

CHOSEN, ENVIRONMENT = "", "none.yaml"


rule all:
    input: expand("made/{{number}}", number=range({COUNT}))
    localrule: True


rule score:
    output: "made/{{number}}"
    group: "score"
    resources: mem_mb=100, runtime={MINUTES}, cpus_per_task=1, steps=1
    shell:
        "date +%s.%N > {{output}}.begun; sleep 3; date +%s.%N > {{output}}.ended; touch {{output}}"


include: "{ROOT}/rules/slurm.smk"
"""


@pytest.mark.graph
def test_steps_of_a_job_run_in_parallel_as_its_time_is_computed(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    there = tmp_path / "run"
    shutil.copytree(ROOT / "slurm", there / "slurm")
    (there / "Snakefile").write_text(SNAKEFILE)
    polled = ROOT / "tests/slurm/snakemake_polled.py"
    options = ["--profile", "slurm", "--cores", str(CORES_OF_THE_LOGIN_NODE), "--retries", "0"]
    options += ["--latency-wait", "10"]
    options += ["--slurm-init-seconds-before-status-checks", "1"]
    ended = subprocess.run(
        [sys.executable, str(polled), *options],
        cwd=there,
        env={**slurm.environment, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        timeout=500,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (job,) = slurm.requests()
    assert int(job["-t"]) == MINUTES * math.ceil(COUNT / AT_ONCE)
    assert int(job["--cpus-per-task"]) == AT_ONCE
    assert int(job["--mem"]) == 100 * AT_ONCE
    assert len(job.steps) == 1, "one Snakemake in the job runs all of it"

    spans = [
        tuple(float((there / f"made/{number}.{end}").read_text()) for end in ("begun", "ended"))
        for number in range(COUNT)
    ]
    at_once = max(sum(begun <= start < ended for begun, ended in spans) for start, _ in spans)
    assert 1 < at_once <= AT_ONCE
