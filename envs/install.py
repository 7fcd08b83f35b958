"""Make the environment `.venv` from the lock files beside this one, unless it is already there.

Run by make, with any Python 3 that is at hand, so nothing here may need a new one.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "made-from"
LOG = VENV / "install.log"
LOCKS = [HERE / "build.txt", HERE / "cpu.lock"]
# On Linux, PyPI's torch brings the CUDA libraries with it; where it does, these are they.
CUDA = HERE / "cuda.lock"
OLDEST = (3, 11)


def key():
    """What the environment is made of: the lock files, and the place, which it cannot leave."""
    content = hashlib.sha256(str(VENV).encode())
    for lock in [*LOCKS, CUDA]:
        content.update(lock.read_bytes())
    return content.hexdigest()


def is_made():
    """Whether `.venv` is there, whole, and made from these lock files."""
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text().strip() == key()


def missing():
    """Say in one sentence each what this machine lacks."""
    if sys.version_info[:2] < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        yield f"Python 3.11 or newer is needed, but {sys.executable} is {found}; set PYTHON="
        return
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        yield "Python's venv module is missing; install it (Debian: apt install python3-venv)"
    if not any(map(shutil.which, [os.environ.get("CXX") or "g++", "c++"])):
        yield "a C++ compiler is missing; install one (Debian: apt install g++)"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        yield "the headers of Python are missing; install them (Debian: apt install python3-dev)"


def say(text):
    """Print one line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def install(*arguments):
    """Run pip in the new environment; what it says goes to a log, and to the screen if it fails."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install"]
    command += ["--constraint", str(CUDA), *arguments]
    with LOG.open("w") as log:
        failed = subprocess.call(command, stdout=log, stderr=subprocess.STDOUT)
    if failed:
        say("".join(LOG.read_text(errors="replace").splitlines(keepends=True)[-20:]))
        sys.exit(f"error: pip could not make the environment, see above; all of it is in {LOG}")


def main():
    """Make the environment if there is none, or one from other lock files."""
    if is_made():
        return
    if VENV.is_symlink():
        sys.exit(
            f"error: {VENV} is a link, and the environment behind it belongs to another folder; "
            "remove the link, and one is made here"
        )
    lacking = list(missing())
    if lacking:
        sys.exit("\n".join("error: " + sentence for sentence in lacking))
    say(f"making {VENV}, once; this takes some minutes")
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]):
        sys.exit(f"error: {VENV} could not be made, see above")
    say("  1 of 2: PyTorch, and what building the rest needs")
    install("--requirement", str(LOCKS[0]))
    say("  2 of 2: everything else; fairseq is compiled")
    install("--no-build-isolation", "--requirement", str(LOCKS[1]))
    LOG.unlink()
    STAMP.write_text(key() + "\n")


if __name__ == "__main__":
    main()
