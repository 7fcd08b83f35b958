"""Steps that share a Slurm job: what the job asks for, and what is said of failures."""

import shutil
from pathlib import Path

import grouped_steps
import pytest
from stand_in_slurm import StandInSlurm

from tests.messages import must_name

pytestmark = pytest.mark.graph


def test_a_job_asks_for_the_time_of_its_steps(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
    assert status == 0, screen
    (job,) = slurm.requests()
    asked = {"minutes": job["-t"], "cpus": job["--cpus-per-task"], "memory_mb": job["--mem"]}
    assert {name: int(value) for name, value in asked.items()} == grouped_steps.REQUEST
    assert len(job.steps) == 1, "one Snakemake in the job runs all of it"
    assert grouped_steps.ran_in_turn(tmp_path / "run")


@pytest.mark.parametrize("known", ["lab", ""])
def test_an_account_that_slurm_does_not_know_is_refused(tmp_path: Path, known: str) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    says = f"echo {known}" if known else "exit 1"
    for client in ("sacctmgr", "sshare"):
        (slurm.folder / "bin" / client).write_text(f"#!/bin/sh\n{says}\n")
        (slurm.folder / "bin" / client).chmod(0o755)
    account = ["--config", "account=nobody"]
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment, *account)
    assert status == 1, screen
    must_name(screen, "config/cluster.yaml", "'nobody'", f"expected {known or 'null'}")
    assert not list(slurm.requests())


def test_a_group_that_slurm_refuses_ends_the_run(tmp_path: Path) -> None:
    slurm = StandInSlurm(tmp_path / "slurm")
    refuses = "#!/bin/sh\necho 'no such partition' >&2\nexit 1\n"
    (slurm.folder / "bin" / "sbatch").write_text(refuses)
    status, screen = grouped_steps.run(tmp_path / "run", slurm.environment)
    assert status == 1, screen
    must_name(screen, "FAILED", "group score", "nat doctor")


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
