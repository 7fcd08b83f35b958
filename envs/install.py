"""Install what the files beside this one pin.

    python3 envs/install.py           make `.venv`, unless it is already there; what make runs
    python envs/install.py --here     install into the Python that runs this: conda, containers

The first is run with any Python 3 that is at hand, so nothing here may need a new one.
"""

import fcntl
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

NAMES = ("build.txt", "torch.txt", "cpu.lock", "cuda.lock", "fairseq.txt")
BUILD, TORCH, CPU, CUDA, FAIRSEQ = LOCKS = [HERE / name for name in NAMES]

# One call of pip each: what it is, what it installs. All but PyTorch by the hashes of their files.
STEPS = [
    ("what builds the rest", ["--require-hashes", "--requirement", BUILD]),
    ("PyTorch", ["--no-deps", "--requirement", TORCH]),
    ("all others, which takes longest", ["--require-hashes", "--requirement", CPU]),
]
FOR_GPUS = ("the CUDA libraries", ["--no-deps", "--require-hashes", "--requirement", CUDA])
# The reasons for the arguments and for READTHEDOCS stand in the file.
LAST = [("fairseq", ["--no-deps", "--no-cache-dir", "--require-hashes", "--requirement", FAIRSEQ])]
# Only into `.venv`: a conda environment or a container outlives this folder, so there the
# workflow says where the project lies (rules/common.smk).
PROJECT = ("this project", ["--no-deps", "--editable", HERE.parent])
# On all cores; pip would do so on one, which takes half of its time.
COMPILE = "import compileall, sysconfig; path = sysconfig.get_path('purelib'); "
COMPILE += "compileall.compile_dir(path, quiet=2, workers=0)"
# Read from its file: without the CUDA libraries, a torch for GPUs cannot be imported.
IS_FOR_GPUS = "import importlib.util, pathlib, runpy, sys; "
IS_FOR_GPUS += "origin = pathlib.Path(importlib.util.find_spec('torch').origin); "
IS_FOR_GPUS += "version = runpy.run_path(str(origin.with_name('version.py'))); "
IS_FOR_GPUS += "sys.exit(version['cuda'] is None)"


def key():
    """What the environment is made of: this program, what it reads, and the place."""
    content = hashlib.sha256(str(VENV).encode())
    for path in [Path(__file__), *LOCKS]:
        content.update(path.read_bytes())
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


def install(python, steps, log=None):
    """Install into the environment of `python`.

    What pip says goes to the screen, or to `log` and only if it fails to the screen.
    """
    for what, arguments in steps:
        say(f"  {what}")
        command = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
        command += ["--no-compile", "--no-build-isolation"]
        command += map(str, arguments)
        environment = {**os.environ, "READTHEDOCS": "True"}
        if log is None:
            if subprocess.call(command, env=environment):
                sys.exit("error: pip could not make the environment, see above")
            continue
        with log.open("w") as file:
            failed = subprocess.call(
                command, env=environment, stdout=file, stderr=subprocess.STDOUT
            )
        if failed:
            say("".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]))
            sys.exit(f"error: pip could not make the environment, see above; all of it is in {log}")


def install_all(python, last, log=None):
    """Install everything, and compile it; files of a package that are no Python do not matter."""
    install(python, STEPS, log)
    if subprocess.call([str(python), "-c", IS_FOR_GPUS]) == 0:
        install(python, [FOR_GPUS], log)
    install(python, last, log)
    subprocess.call([str(python), "-c", COMPILE], stdout=subprocess.DEVNULL)


def wait_for_others():
    """Wait until no other process makes the environment, and let others wait for this one.

    The lock is never released: it goes with this process, however that ends.
    """
    lock = os.open(HERE, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"another process makes {VENV}; waiting for its end")
        fcntl.flock(lock, fcntl.LOCK_EX)


def main():
    """Make the environment if there is none, or one from other lock files."""
    if sys.argv[1:] == ["--here"]:
        install_all(sys.executable, LAST)
        return
    if is_made():
        return
    wait_for_others()
    if is_made():
        return
    if VENV.is_symlink():
        sys.exit(
            f"error: {VENV} is a link, and the environment behind it belongs to another folder; "
            "remove the link, and one is made here"
        )
    if VENV.is_dir() and not (STAMP.exists() or LOG.exists()) and any(VENV.iterdir()):
        sys.exit(
            f"error: {VENV} was not made here and would be cleared; move it away, and one is made "
            "here"
        )
    lacking = list(missing())
    if lacking:
        sys.exit("\n".join("error: " + sentence for sentence in lacking))
    say(f"making {VENV}, once; this takes some minutes")
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]):
        sys.exit(f"error: {VENV} could not be made, see above")
    install_all(PYTHON, [*LAST, PROJECT], LOG)
    LOG.unlink()
    STAMP.write_text(key() + "\n")


if __name__ == "__main__":
    main()
