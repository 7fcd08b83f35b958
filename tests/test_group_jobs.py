"""Steps that share a Slurm job: how many run at once, and whether the job asks for their time."""

import shutil
from pathlib import Path

import grouped_steps
import pytest
from stand_in_slurm import StandInSlurm

from nat.workflow.cluster import AT_ONCE
from tests.messages import must_name


@pytest.mark.long
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


@pytest.mark.graph
def test_the_run_ends_if_a_group_of_steps_cannot_be_submitted(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    # the executor looks the account up, which Slurm does not know
    account = ["--default-resources", "slurm_account=nobody"]
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment, *account)
    assert status == 1, screen
    must_name(screen, "error", "group score", "sshare")
    assert not list(slurm.requests())


@pytest.mark.graph
def test_the_reason_why_slurm_refuses_a_group_is_shown(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    refuses = "#!/bin/sh\necho 'no such partition' >&2\nexit 1\n"
    (slurm.folder / "bin" / "sbatch").write_text(refuses)
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
    assert status == 1, screen
    must_name(screen, "error", "group score", "no such partition")


@pytest.mark.graph
def test_a_run_without_slurm_is_refused_in_a_sentence(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    programs = slurm.folder / "bin"
    for client in ("sacct", "scontrol"):
        (programs / client).unlink()
    for program in ("bash", "which"):  # Snakemake needs them; this machine may have a Slurm
        (programs / program).symlink_to(str(shutil.which(program)))
    status, screen = grouped_steps.run(tmp_path / "run", {"PATH": str(programs)})
    assert status == 1, screen
    must_name(screen, "error", "scontrol, sacct")
    assert "Traceback" not in screen
