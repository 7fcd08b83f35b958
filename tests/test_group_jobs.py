"""Steps that share a Slurm job: how many run at once, and whether the job asks for their time."""

from pathlib import Path

import grouped_steps
import pytest
from stand_in_slurm import StandInSlurm

from nat.workflow.cluster import AT_ONCE


@pytest.mark.graph
def test_steps_of_a_job_run_in_parallel_as_its_time_is_computed(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
    assert status == 0, screen
    (job,) = slurm.requests()
    asked = {"minutes": job["-t"], "cpus": job["--cpus-per-task"], "memory_mb": job["--mem"]}
    assert {name: int(value) for name, value in asked.items()} == grouped_steps.REQUEST
    assert len(job.steps) == 1, "one Snakemake in the job runs all of it"
    assert 1 < grouped_steps.most_at_once(tmp_path / "run") <= AT_ONCE
