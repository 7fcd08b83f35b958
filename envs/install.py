"""Install what the files beside this one pin.

    python3 envs/install.py           make `.venv`, unless it is already there; what make runs
    python envs/install.py --here     install into the Python that runs this: conda, containers

The first is run with any Python 3 that is at hand, so nothing here may need a new one.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "made-from"
LOG = VENV / "install.log"
OLDEST = (3, 11)

# One call of pip each: what it is, the file, further arguments.
STEPS = [
    ("what builds the rest", HERE / "build.txt", []),
    ("PyTorch and all others, the longest of the three", HERE / "cpu.lock", []),
    # The reasons for the arguments and for READTHEDOCS stand in the file.
    ("fairseq", HERE / "fairseq.txt", ["--no-deps", "--no-cache-dir"]),
]
# On Linux, PyPI's torch brings the CUDA libraries with it; where it does, these are they.
CUDA = HERE / "cuda.lock"


def key():
    """What the environment is made of: the lock files, and the place, which it cannot leave."""
    content = hashlib.sha256(str(VENV).encode())
    for lock in [*(lock for _, lock, _ in STEPS), CUDA]:
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


def say(text):
    """Print one line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def install(python, log=None):
    """Install everything into the environment of `python`.

    What pip says goes to `log`, and to the screen if it fails; to the screen if there is no log.
    """
    for number, (what, lock, arguments) in enumerate(STEPS, start=1):
        say(f"  {number} of {len(STEPS)}: {what}")
        command = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
        command += ["--no-build-isolation", "--constraint", str(CUDA), *arguments]
        command += ["--requirement", str(lock)]
        environment = {**os.environ, "READTHEDOCS": "True"}
        if log is None:
            failed, place = subprocess.call(command, env=environment), ""
        else:
            with log.open("w") as file:
                failed = subprocess.call(
                    command, env=environment, stdout=file, stderr=subprocess.STDOUT
                )
            place = f"; all of it is in {log}"
        if failed:
            if log is not None:
                say("".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]))
            sys.exit(f"error: pip could not make the environment, see above{place}")


def main():
    """Make the environment if there is none, or one from other lock files."""
    if sys.argv[1:] == ["--here"]:
        install(sys.executable)
        return
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
    install(PYTHON, LOG)
    LOG.unlink()
    STAMP.write_text(key() + "\n")


if __name__ == "__main__":
    main()
