"""The lock files, what is installed of them, and when the environment is made again."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.messages import must_name
from tests.repository import ROOT, python

NAMES = ["build.txt", "torch.txt", "cpu.lock", "cuda.lock", "fairseq.txt"]
LOCKS = [ROOT / "envs" / name for name in NAMES]
HASHED = [*(lock for lock in LOCKS if lock.name != "torch.txt"), ROOT / "envs/docs.txt"]


def pins(lock: Path) -> dict[str, list[str]]:
    """Hashes of each version that a file pins."""
    pinned = {}
    for entry in re.sub(r"#.*\n", "", lock.read_text()).replace("\\\n", "").splitlines():
        pin, *hashes = entry.split()
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.]+", pin), entry
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), entry
        pinned[pin.partition("==")[0]] = hashes
    return pinned


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`envs/install.py` for an environment in a temporary folder."""
    specification = importlib.util.spec_from_file_location("installer", ROOT / "envs/install.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for lock in LOCKS:
        (tmp_path / lock.name).write_text(lock.read_text())
    monkeypatch.setattr(module, "LOCKS", [tmp_path / lock.name for lock in LOCKS])
    monkeypatch.setattr(module, "STAMP", tmp_path / "made-from")
    monkeypatch.setattr(module, "PYTHON", Path(sys.executable))
    return module


def test_everything_is_pinned_once_without_a_local_suffix() -> None:
    names = [name for lock in LOCKS for name in pins(lock)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("lock", HASHED, ids=lambda lock: lock.name)
def test_every_version_has_the_hashes_of_its_files(lock: Path) -> None:
    assert all(pins(lock).values())


@pytest.mark.parametrize("recipe", ["apptainer.def", "Dockerfile"])
def test_an_image_gets_every_file_that_is_installed_from(recipe: str) -> None:
    text = (ROOT / "envs" / recipe).read_text()
    assert all(f"envs/{lock.name}" in text for lock in LOCKS), recipe
    assert "python /envs/install.py --here" in text


def test_both_images_start_from_one_image_by_its_digest() -> None:
    recipes = [(ROOT / "envs" / name).read_text() for name in ("Dockerfile", "apptainer.def")]
    digest = r"(python@sha256:[0-9a-f]{64})$"
    (docker,), (apptainer,) = (
        re.findall(rf"^F(?:ROM|rom:) {digest}", text, re.MULTILINE) for text in recipes
    )
    assert docker == apptainer


def test_all_but_torch_is_installed_by_hashes_and_fairseq_without_compiled_parts(
    installer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def call(command: list[str], env: dict[str, str] | None = None, **_: object) -> int:
        calls.append((command, env))
        return 0

    monkeypatch.setattr(installer.subprocess, "call", call)
    installer.install_all("python", installer.LAST)
    calls = [(command, environment) for command, environment in calls if "install" in command]
    assert [Path(command[-1]).name for command, _ in calls] == NAMES
    assert [command[-1] for command, _ in calls if "--require-hashes" not in command] == [
        str(ROOT / "envs/torch.txt")
    ]
    fairseq, environment = calls[-1]
    assert {"--no-deps", "--no-cache-dir", "--no-build-isolation"} <= set(fairseq)
    assert environment["READTHEDOCS"]


def test_no_compiled_part_of_fairseq_is_needed() -> None:
    """The training program is imported in a process in which all of them are out of reach."""
    compiled = ["libbleu", "libnat", "libbase", "data.data_utils_fast"]
    compiled.append("data.token_block_utils_fast")
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({[f'fairseq.{n}' for n in compiled]}))\n"
        "import nat.fairseq_plugin.launcher"
    )
    status, _, errors = python("-c", program)
    assert status == 0, errors


def test_what_the_project_depends_on_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    pinned = {name.lower() for lock in LOCKS for name in pins(lock)}
    assert {re.split(r"[<>=]", name)[0].lower() for name in wanted} <= pinned


def test_the_package_is_imported_from_everywhere(tmp_path: Path) -> None:
    code = "import nat; print(nat.__file__)"
    status, printed, _ = python("-c", code, folder=tmp_path, path=None)
    assert status == 0, "make the environment again: make environment"
    assert Path(printed.strip()).name == "__init__.py"


def test_the_environment_of_another_folder_does_not_run_this_one(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text((ROOT / "Snakefile").read_text())
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/common.smk").write_text((ROOT / "rules/common.smk").read_text())
    words = ["--snakefile", tmp_path / "Snakefile", "--directory", tmp_path]
    status, _, errors = python("-m", "snakemake", "-n", "--cores", "1", *words)
    assert status == 1
    must_name(errors, tmp_path, "make environment")


def test_another_lock_file_makes_the_environment_again(installer: ModuleType) -> None:
    assert not installer.is_made()
    installer.STAMP.write_text(installer.key() + "\n")
    assert installer.is_made()
    for lock in installer.LOCKS:
        before = lock.read_text()
        lock.write_text(before + "another==1.0\n")
        assert not installer.is_made(), lock
        lock.write_text(before)
        assert installer.is_made()
