"""What each Python of the environment does first, see `envs/start.py`."""

import gc
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from nat.workflow.wiring import CHANGING_RESULTS, settle
from tests.messages import must_name
from tests.repository import ROOT

PROGRAM = f"import runpy; runpy.run_path({str(ROOT / 'envs/start.py')!r}, run_name='nat_start')"
PROGRAM += "; import os; print(os.environ.get('XDG_CACHE_HOME', 'as it was'))"


def start(folder: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Start as an environment does, by a command line with these words; its status and output."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("XDG", "PYTH"))}
    command = [sys.executable, "-c", PROGRAM, *words]
    ran = subprocess.run(
        command, cwd=folder, env={**clean, **variables}, text=True, capture_output=True, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout.strip() or ran.stderr.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what one of this project has."""
    folder = tmp_path / "project"
    (folder / "nat").mkdir(parents=True)
    (folder / "Snakefile").touch()
    return folder


@pytest.mark.parametrize("name", ["yaml/__init__.py", "nat/__init__.py", "random.py", "numpy.so"])
def test_packages_of_others_are_one_sentence(tmp_path: Path, project: Path, name: str) -> None:
    theirs = tmp_path / "module"
    (theirs / name).parent.mkdir(parents=True)
    (theirs / name).write_text("")
    status, said = start(project, PYTHONPATH=f"/opt:{theirs}")
    assert status == 1 and said.count("\n") == 0
    must_name(said, "PYTHONPATH", theirs, name.partition(".")[0].partition("/")[0], "unset")


def test_other_folders_and_those_of_this_project_are_none(tmp_path: Path, project: Path) -> None:
    (tmp_path / "mine/my_method").mkdir(parents=True)
    (tmp_path / "mine/bin").mkdir()
    for path in (str(project), str(tmp_path / "mine"), f"{tmp_path}/absent", ""):
        assert start(project, PYTHONPATH=path) == (0, "as it was")


def test_a_home_that_takes_no_cache_is_replaced(tmp_path: Path, project: Path) -> None:
    place = str(project / ".snakemake/cache")
    for variables in ({"HOME": "/proc/nohome"}, {"HOME": "/", "XDG_CACHE_HOME": "/proc/none"}):
        assert start(project, "/bin/snakemake", **variables) == (0, place)
    assert start(project, "/bin/snakemake", HOME=str(tmp_path)) == (0, "as it was")
    assert start(project, "pytest", HOME="/proc/nohome") == (0, "as it was")
    assert start(tmp_path, "snakemake", HOME="/proc/nohome") == (0, "as it was")


def test_a_folder_that_takes_no_file_is_one_sentence(project: Path) -> None:
    (project / ".snakemake").symlink_to("/proc/none")
    status, said = start(project, "snakemake", "-n")
    assert status == 1 and said.count("\n") == 0
    must_name(said, "cannot write", ".snakemake")


def test_jobs_inherit_nothing_that_decides_about_numbers() -> None:
    variables = dict.fromkeys(CHANGING_RESULTS, "1") | {
        "HOME": "/here",
        "CUDA_VISIBLE_DEVICES": "3",
    }
    with patch.dict(os.environ, variables):
        settle(Mock(basedir=str(ROOT)))
        gc.enable()
        left = dict(os.environ)
    assert not {*CHANGING_RESULTS} & {*left} and left["PYTHONHASHSEED"] == "0"
    assert (left["HOME"], left["CUDA_VISIBLE_DEVICES"]) == ("/here", "3")


def test_a_target_after_the_values_of_config_is_one_sentence(project: Path) -> None:
    for words in (["--config", "scale=micro", "dims"], ["-n", "-C", "a=1", "b=2", "dims", "-q"]):
        status, said = start(project, "/bin/snakemake", *words)
        assert status == 1 and said.count("\n") == 0
        must_name(said, "'dims'", "snakemake dims --config")
    for words in (["dims", "--config", "scale=micro"], ["--config", "a=1", "--cores", "2", "dims"]):
        assert start(project, "/bin/snakemake", *words)[0] == 0
