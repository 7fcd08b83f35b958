"""Make `.venv-latest` with the newest versions that pyproject.toml allows; see `make test-latest`.

    python3.12 envs/latest.py

Names come from pyproject.toml, run.lock and dev.lock, without the versions of the locks.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv-latest"
PYTHON = VENV / "bin" / "python"
FAIRSEQ = "fairseq-fixed"


def requirements() -> list[str]:
    """What is installed, one requirement each, without fairseq."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = {
        re.split(r"[<>=~!]", each)[0].lower(): each
        for each in [*project["dependencies"], *(each for extra in extras for each in extra)]
    }
    locks = "".join((HERE / name).read_text() for name in ("run.lock", "dev.lock"))
    for name in re.findall(r"^([\w.-]+)==", locks, re.MULTILINE):
        wanted.setdefault(name, name)
    wanted.pop(FAIRSEQ)
    return sorted(wanted.values())


def main() -> None:
    """Make the environment anew."""
    if VENV.is_symlink() or (VENV.exists() and not (VENV / "pyvenv.cfg").exists()):
        why = "was not made here, and it or what it links to would be cleared"
        sys.exit(f"error: {VENV} {why}; move it away")
    call([sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    call([*pip, "--upgrade", "pip", "setuptools"])
    call([*pip, "--no-build-isolation", *requirements()])
    # envs/fairseq.txt says what these arguments are for
    call([*pip, "--no-build-isolation", "--no-deps", "--no-cache-dir", FAIRSEQ])
    call([*pip, "--no-build-isolation", "--no-deps", "--editable", str(HERE.parent)])


def call(command: list[str]) -> None:
    """Run a command, or end with its failure."""
    if subprocess.call(command, env={**os.environ, "READTHEDOCS": "True"}):
        sys.exit(f"error: '{' '.join(command[:5])} ...' failed, see above")


if __name__ == "__main__":
    main()
