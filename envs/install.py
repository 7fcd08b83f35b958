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

BUILD, CPU, FAIRSEQ = LOCKS = [HERE / name for name in ("build.txt", "cpu.lock", "fairseq.txt")]
# On Linux, PyPI's torch brings the CUDA libraries with it; where it does, these are they.
CUDA = HERE / "cuda.lock"

# One call of pip each: what it is, what it installs.
STEPS = [
    ("what builds the rest", ["--requirement", BUILD]),
    ("PyTorch and all others, which takes longest", ["--requirement", CPU]),
    # The reasons for the arguments and for READTHEDOCS stand in the file.
    ("fairseq", ["--no-deps", "--no-cache-dir", "--requirement", FAIRSEQ]),
]
# Only into `.venv`: a conda environment or a container outlives this folder, so there the
# workflow says where the project lies (rules/common.smk).
PROJECT = ("this project", ["--no-deps", "--editable", HERE.parent])
# Only beside a torch for GPUs, whose own cuBLAS is of another version.
CUBLAS = ("cuBLAS 12, for CTranslate2 on GPUs", ["--no-deps", "nvidia-cublas-cu12"])
# On all cores; pip would do so on one, which takes half of its time.
COMPILE = "import compileall, sysconfig; path = sysconfig.get_path('purelib'); "
COMPILE += "compileall.compile_dir(path, quiet=2, workers=0)"
HAS_CUDA = "import sys, torch; sys.exit(torch.version.cuda is None)"


def key():
    """What the environment is made of: this program, what it reads, and the place."""
    content = hashlib.sha256(str(VENV).encode())
    for path in [Path(__file__), *LOCKS, CUDA]:
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
    for number, (what, arguments) in enumerate(steps, start=1):
        say(f"  {number} of {len(steps)}: {what}")
        command = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
        command += ["--no-compile", "--no-build-isolation", "--constraint", str(CUDA)]
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


def install_for_gpus(python, log=None):
    """Install what the packages besides torch need on GPUs, if this torch is one for GPUs."""
    if subprocess.call([str(python), "-c", HAS_CUDA]) == 0:
        install(python, [CUBLAS], log)


def compile_all(python):
    """Compile what was installed; files of a package that are no Python do not matter."""
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
        install(sys.executable, STEPS)
        install_for_gpus(sys.executable)
        compile_all(sys.executable)
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
    install(PYTHON, [*STEPS, PROJECT], LOG)
    install_for_gpus(PYTHON, LOG)
    compile_all(PYTHON)
    LOG.unlink()
    STAMP.write_text(key() + "\n")


if __name__ == "__main__":
    main()
