"""The project as a package: what its wheel needs, and what it says where an extra is missing."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nat import __version__
from nat.export import command
from nat.export.package import packed
from nat.export.translator import load
from nat.extras import DISTRIBUTION, EXTRAS
from tests.made_up_models import CORPUS, sentences, write_run
from tests.messages import must_name
from tests.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: list[str]) -> set[str]:
    """Names of packages that these need here, themselves among them."""
    names: set[str] = set()
    for each in map(Requirement, requirements):
        name = normalised(each.name)
        if name in names or (each.marker and not each.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        try:
            names |= closure(distribution(name).requires or [])
        except PackageNotFoundError:  # as what only the sound models of fairseq need
            continue
    return names


def imported() -> Iterator[str]:
    """Modules of other packages that the library imports."""
    programs = {*(ROOT / "nat/export/templates").iterdir()}  # which run without this project
    for path in {*(ROOT / "nat").rglob("*.py")} - programs:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.split(".")[0]


def test_every_import_is_of_a_dependency_or_has_an_extra() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    base, provided = closure(PROJECT["dependencies"]), packages_distributions()
    of = {module: extra for extra, modules in EXTRAS.items() for module in modules}
    others = {*imported()} - sys.stdlib_module_names - {"nat", "snakemake_logger_plugin_jobs"}
    for module in sorted(others):
        packages = {normalised(name) for name in provided.get(module, [module])}
        extras = closure(OPTIONAL[of[module]]) if module in of else base
        assert packages & extras, f"{module}: give it an extra in nat/extras.py"


def test_a_shell_completes_commands_and_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("shtab")
    monkeypatch.setattr(sys, "argv", ["nat", "completion", "bash"])
    command.main()
    must_name(capsys.readouterr().out, "--batch-tokens", "huggingface", "doctor")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it requires, linked from the one that runs this."""
    folder = tmp_path_factory.mktemp("installed")
    for package in ("nat", "snakemake_logger_plugin_jobs", "snakemake_logger_plugin_nat"):
        shutil.copytree(ROOT / package, folder / "source" / package)
    for file in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / file, folder / "source")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    without = ["--no-deps", "--no-index"]
    build = [*pip, "wheel", *without, "--no-build-isolation", "--wheel-dir", "wheels", "./source"]
    subprocess.run(build, cwd=folder, check=True)
    (wheel,) = (folder / "wheels").iterdir()
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    # the option is pip's, not that of its command
    subprocess.run([*pip, f"--python={python}", "install", *without, wheel], check=True)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    for name in closure(PROJECT["dependencies"]):
        for file in distribution(name).files or []:
            place = site / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not place.is_symlink():
                place.symlink_to(distribution(name).locate_file(file.parts[0]))
    return folder / "venv"


@pytest.mark.long
def test_a_wheel_with_what_it_requires_translates_and_names_missing_extras(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = sentences(5, 3)
    decodings = ["beam5", "ctranslate2-float32-beam2"]
    write_run(tmp_path, text, ["at-base"], {"ctranslate2": ["at-base"]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    models = Path("results/micro/models") / CORPUS
    packed(models / "at-base/seed1", Path("package"), decodings)
    shutil.rmtree("results")
    shutil.move("config", "elsewhere")

    def nat(*words: str) -> tuple[int, str, str]:
        given = "".join(f"{line}\n" for line in text)
        command = [installed / "bin/nat", *words]
        ended = subprocess.run(command, input=given, capture_output=True, text=True)
        return ended.returncode, ended.stdout, ended.stderr

    assert nat("--version") == (0, f"nat {__version__}\n", "")
    status, printed, errors = nat("translate", "package")
    assert status == 0, errors
    assert printed.splitlines() == load("package").translate(text)
    for words, extra in (
        (["translate", "package", "--decoding", decodings[1]], "ctranslate2"),
        (["export", "package", "made", "--to", "onnx"], "onnx"),
    ):
        status, _, errors = nat(*words)
        assert status == 1 and not Path("made").exists() and "Traceback" not in errors
        must_name(errors, "error", f"pip install '{DISTRIBUTION}[{extra}]'")
    status, _, errors = nat("export", "package", "made", "--to", "fairseq")
    assert status == 0, errors
    assert Path("made/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
