"""The lock files, what is installed of them, and when the environment is made again."""

import hashlib
import importlib.util
import re
import shutil
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
import yaml

from nat.training.loggers import LOGGERS
from tests.messages import must_name
from tests.repository import ROOT, python

NAMES = ["build.txt", "torch-cpu.txt", "torch.txt", "run.lock", "gpu.lock", "fairseq.txt"]
RUNNING = [ROOT / "envs" / name for name in NAMES]
LOCKS = [*RUNNING, ROOT / "envs/dev.lock"]


def pins(lock: Path) -> dict[str, list[str]]:
    """Hashes of each version that a file pins."""
    pinned = {}
    for entry in re.sub(r"#.*\n", "", lock.read_text()).replace("\\\n", "").splitlines():
        pin, *hashes = entry.split()
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.]+(\+cpu)?", pin), entry
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), entry
        pinned[pin.partition("==")[0]] = hashes
    return pinned


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`envs/install.py` for an environment in a temporary folder."""
    specification = importlib.util.spec_from_file_location("installer", ROOT / "envs/install.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for lock in LOCKS:
        (tmp_path / lock.name).write_text(lock.read_text())
    monkeypatch.setattr(module, "RUNNING", [tmp_path / lock.name for lock in RUNNING])
    monkeypatch.setattr(module, "DEV", tmp_path / "dev.lock")
    monkeypatch.setattr(module, "STAMP", tmp_path / "made-from")
    monkeypatch.setattr(module, "LOG", tmp_path / "install.log")
    monkeypatch.setattr(module, "PYTHON", Path(sys.executable))
    return module


def test_what_the_project_depends_on_is_pinned_once_with_the_hashes_of_its_files() -> None:
    pinned = [pins(lock) for lock in LOCKS]
    assert all(hashes for each in pinned for hashes in each.values())
    names = [name.lower() for each in (pinned[0], *pinned[2:]) for name in each]
    assert len(names) == len(set(names)) and {*pinned[1]} == {"torch"}
    versions = (re.search(r"^torch==([\d.]+)", text.read_text(), re.M) for text in RUNNING[1:3])
    assert len({version[1] for version in versions if version}) == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chosen_by_hand, extras = set(LOGGERS), project["optional-dependencies"]
    wanted = [name for extra in {*extras} - chosen_by_hand for name in extras[extra]]
    wanted += project["dependencies"]
    assert {re.split(r"[<>=]", name)[0].lower() for name in wanted} <= {*names}


def test_images_get_every_file_that_is_installed_from_and_start_from_one_by_its_digest() -> None:
    digests = []
    for recipe in ("Dockerfile", "apptainer.def"):
        text = (ROOT / "envs" / recipe).read_text()
        assert all(f"envs/{lock.name}" in text for lock in RUNNING), recipe
        assert "python /envs/install.py --here" in text
        digests += re.findall(r"^F(?:ROM|rom:) (python@sha256:[0-9a-f]{64})$", text, re.MULTILINE)
    assert len(digests) == 2 and len({*digests}) == 1


@pytest.fixture(params=["uv", "pip"])
def wheels(
    request: pytest.FixtureRequest,
    installer: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder of wheels where pip's settings say, which uv reads as well."""
    pytest.importorskip(request.param)
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(installer, "WITH_UV", request.param == "uv")
    return folder


@pytest.mark.parametrize("for_cpus", [True, False])
@pytest.mark.parametrize("installs", ["uv", "pip"])
def test_all_is_installed_by_hashes_and_fairseq_without_compiled_parts(
    installer: ModuleType, monkeypatch: pytest.MonkeyPatch, installs: str, for_cpus: bool
) -> None:
    calls = []

    def call(command: list[str], env: dict[str, str] | None = None, **_: object) -> int:
        calls.append((command, env))
        if command[1] == "-c":  # whether it is a PyTorch for GPUs
            return int(for_cpus)
        return int(command[-1].endswith("torch-cpu.txt") and not for_cpus)

    monkeypatch.setattr(installer.subprocess, "call", call)
    monkeypatch.setattr(installer, "WITH_UV", installs == "uv")
    installer.install_all(sys.executable, installer.LAST)
    calls = [(command, environment) for command, environment in calls if "install" in command]
    names = [Path(command[command.index("--requirement") + 1]).name for command, _ in calls]
    left_out = {"torch.txt", "gpu.lock"} if for_cpus else set()
    assert names == [name for name in NAMES if name not in left_out]
    assert [command[2] for command, _ in calls] == ["pip", *[installs] * (len(names) - 1)]
    assert all("--require-hashes" in command for command, _ in calls)
    fairseq, environment = calls[-1]
    assert {"--no-deps", "--no-cache-dir", "--no-build-isolation"} <= set(fairseq)
    assert environment["READTHEDOCS"]


def wheel(folder: Path, version: str = "1.0") -> str:
    """Write a wheel of a package `tiny`; the line of a lock with its hash."""
    path = folder / f"tiny-{version}-py3-none-any.whl"
    with ZipFile(path, "w") as file:
        file.writestr("tiny.py", "")
        for name, text in {
            "METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": "tiny.py,,\n",
        }.items():
            file.writestr(f"tiny-{version}.dist-info/{name}", text)
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def test_a_file_with_another_hash_is_refused(
    installer: ModuleType, wheels: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    right, target = wheel(wheels), ["--target", tmp_path / "installed"]
    lock = tmp_path / "tiny.lock"
    steps = [("tiny", ["--require-hashes", "--requirement", lock, *target])]
    lock.write_text(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SystemExit, match="could not be made"):
        installer.install(sys.executable, steps)
    printed = "".join(capfd.readouterr()).lower()
    assert "hash" in printed and right.strip()[-64:] in printed
    assert not (tmp_path / "installed/tiny.py").exists()
    lock.write_text(right)
    installer.install(sys.executable, steps)
    assert (tmp_path / "installed/tiny.py").exists()


def test_a_build_for_cpus_is_taken_where_it_is_found(
    installer: ModuleType, wheels: Path, tmp_path: Path
) -> None:
    steps, target = [], ["--target", tmp_path / "installed"]
    for (what, arguments), version in zip(installer.PYTORCH, ("1.0+cpu", "1.0"), strict=True):
        lock = tmp_path / f"{version}.lock"
        lock.write_text(wheel(wheels, version))
        steps.append((what, [*arguments[:-1], lock, *target]))
    assert installer.is_installed(sys.executable, steps[0])
    assert (tmp_path / "installed/tiny-1.0+cpu.dist-info").is_dir()
    next(wheels.glob("*cpu-*.whl")).unlink()
    shutil.rmtree(tmp_path / "installed")
    assert not installer.is_installed(sys.executable, steps[0])
    installer.install(sys.executable, steps[1:])
    assert (tmp_path / "installed/tiny-1.0.dist-info").is_dir()


def test_a_forge_and_git_run_the_checks_of_this_project() -> None:
    ci = (ROOT / ".github/workflows/ci.yml").read_text()
    assert re.search(r"run: bash \.ci/run$", ci, re.MULTILINE)
    assert all(re.fullmatch("[0-9a-f]{40}", version) for version in re.findall(r"@(\S+)", ci))
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for hook in local["hooks"]:
        make, target = hook["entry"].split()
        assert make == "make" and target in targets


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
    for locks in (installer.RUNNING, [installer.DEV]):
        assert not installer.is_made(locks)
        installer.LOG.touch()
        installer.finish(locks)
        for lock in locks:
            assert installer.is_made(locks)
            before = lock.read_text()
            lock.write_text(before + "another==1.0\n")
            assert not installer.is_made(locks), lock
            lock.write_text(before)


def test_what_lints_and_tests_is_added_to_an_environment_that_runs(
    installer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(installer, "wait_for_others", lambda: None)
    monkeypatch.setattr(installer, "compile_all", lambda python: None)

    def install(python: Path, steps: list[tuple[str, list[object]]], log: Path) -> None:
        installed.extend(Path(str(arguments[-1])).name for _, arguments in steps)
        log.touch()

    monkeypatch.setattr(installer, "install", install)
    installer.LOG.touch()
    installer.finish(installer.RUNNING)
    for words, expected in {"": [], "--dev": ["dev.lock"]}.items():
        monkeypatch.setattr(sys, "argv", ["install.py", *words.split()])
        installer.main()
        installer.main()
        assert installed == expected
