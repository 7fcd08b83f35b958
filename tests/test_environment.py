"""The lock files, and when the environment is made again."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = [ROOT / "envs/build.txt", ROOT / "envs/cpu.lock"]
CUDA = ROOT / "envs/cuda.lock"


def pins(lock: Path) -> dict[str, str]:
    lines = [line for line in lock.read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.]+", line) for line in lines), lines
    return dict(line.split("==") for line in lines)


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`envs/install.py` for an environment in a temporary folder."""
    specification = importlib.util.spec_from_file_location("installer", ROOT / "envs/install.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for lock in [*LOCKS, CUDA]:
        (tmp_path / lock.name).write_text(lock.read_text())
    monkeypatch.setattr(module, "LOCKS", [tmp_path / lock.name for lock in LOCKS])
    monkeypatch.setattr(module, "CUDA", tmp_path / CUDA.name)
    monkeypatch.setattr(module, "STAMP", tmp_path / "made-from")
    monkeypatch.setattr(module, "PYTHON", Path(sys.executable))
    return module


@pytest.mark.parametrize("lock", [*LOCKS, CUDA], ids=lambda lock: lock.name)
def test_everything_is_pinned_without_a_local_suffix(lock: Path) -> None:
    assert pins(lock)


def test_the_lock_files_agree() -> None:
    build, run = map(pins, LOCKS)
    assert {name: build[name] for name in build.keys() & run.keys()} == {
        name: run[name] for name in build.keys() & run.keys()
    }
    assert "torch" in build.keys() & run.keys()


def test_cuda_adds_to_the_lock_files_and_changes_nothing() -> None:
    assert not pins(CUDA).keys() & pins(LOCKS[1]).keys()
    recipes = ("cuda.post-deploy.sh", "apptainer.def", "Dockerfile")
    for recipe in recipes:
        text = (ROOT / "envs" / recipe).read_text()
        assert all(lock.name in text for lock in [*LOCKS, CUDA]), recipe


def test_another_lock_file_makes_the_environment_again(installer: ModuleType) -> None:
    assert not installer.is_made()
    installer.STAMP.write_text(installer.key() + "\n")
    assert installer.is_made()
    for lock in (installer.LOCKS[1], installer.CUDA):
        before = lock.read_text()
        lock.write_text(before + "another==1.0\n")
        assert not installer.is_made(), lock
        lock.write_text(before)
        assert installer.is_made()


def test_what_is_missing_is_named(
    installer: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    without_headers = SimpleNamespace(get_paths=lambda: {"include": str(tmp_path)})
    monkeypatch.setattr(installer, "sysconfig", without_headers)
    compiler, headers = installer.missing()
    assert "C++ compiler" in compiler
    assert "headers of Python" in headers
    monkeypatch.setattr(installer, "OLDEST", (99, 0))
    (python,) = installer.missing()
    assert "Python 3.11 or newer is needed" in python


def test_an_environment_of_another_folder_is_left_alone(
    installer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    monkeypatch.setattr(installer, "VENV", tmp_path / ".venv")
    installer.VENV.symlink_to(other)
    with pytest.raises(SystemExit, match="is a link"):
        installer.main()
    assert (other / "kept").exists()
