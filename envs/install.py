"""Install what the files beside this one pin.

    python3 envs/install.py           make `.venv` with what runs, unless it is there
    python3 envs/install.py --dev     the same, and what lints, tests and documents
    python envs/install.py --here     what runs, into the Python of this command: conda, containers

uv installs, which pip installs first, by its hash; with WITHOUT_UV=1 pip installs all, in minutes.
The first two are run with any Python 3 that is at hand, so nothing here may need a new one.
"""

import ast
import fcntl
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "made-from"
LOG = VENV / "install.log"
OLDEST = (3, 11)

NAMES = ("build.txt", "torch-cpu.txt", "torch.txt", "run.lock", "gpu.lock", "fairseq.txt")
RUNNING = [HERE / name for name in NAMES]
BUILD, FOR_CPUS, TORCH, RUN, GPU, FAIRSEQ = RUNNING
DEV = HERE / "dev.lock"
START = HERE / "start.py"
WITH_UV = not os.environ.get("WITHOUT_UV")

# One call of pip or uv each: what it is, what it installs.
FIRST = ("what installs the rest", ["--require-hashes", "--requirement", BUILD])
PYTORCH = [
    (f"PyTorch for {kind}", ["--no-deps", "--require-hashes", "--requirement", lock])
    for kind, lock in (("CPUs, if a build is found", FOR_CPUS), ("GPUs", TORCH))
]
OTHERS = ("all others", ["--require-hashes", "--requirement", RUN])
FOR_GPUS = ("the CUDA libraries", ["--no-deps", "--require-hashes", "--requirement", GPU])
# The reasons for the arguments and for READTHEDOCS stand in the file.
LAST = [("fairseq", ["--no-deps", "--no-cache-dir", "--require-hashes", "--requirement", FAIRSEQ])]
# Only into `.venv`: a conda environment or a container outlives this folder, so there the
# workflow says where the project lies (rules/common.smk).
PROJECT = ("this project", ["--no-deps", "--editable", HERE.parent])
FOR_DEVELOPERS = ("what lints, tests and documents", [*OTHERS[1], "--requirement", DEV])

# uv does not read the settings of pip, which may name a mirror or the folder with a PyTorch for
# CPUs. Its own variables come first.
OF_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "no-cache-dir": "UV_NO_CACHE",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
SECTIONS = ("global", "install", ":env:")  # the later, the stronger

# On all cores, without what nobody imports. Python does so itself when it first imports a module,
# unless it is told not to, or the folder is read only, as that of a container.
COMPILE = "import compileall, re, sysconfig; path = sysconfig.get_path('purelib'); "
COMPILE += "rare = re.compile('/tests?/|/transformers/models/'); "
COMPILE += "compileall.compile_dir(path, quiet=2, workers=0, rx=rare)"
# Read from its file: without the CUDA libraries, a torch for GPUs cannot be imported.
IS_FOR_GPUS = "import importlib.util, pathlib, runpy, sys; "
IS_FOR_GPUS += "origin = pathlib.Path(importlib.util.find_spec('torch').origin); "
IS_FOR_GPUS += "version = runpy.run_path(str(origin.with_name('version.py'))); "
IS_FOR_GPUS += "sys.exit(version['cuda'] is None)"

# What each Python of `.venv` does first.
BEGIN = "import pathlib, shutil, sys, sysconfig; "
BEGIN += "path = pathlib.Path(sysconfig.get_path('purelib')); "
BEGIN += "shutil.copyfile(sys.argv[1], path / 'nat_start.py'); "
BEGIN += "(path / 'nat_start.pth').write_text('import nat_start\\n')"


def key(locks):
    """What the environment is made of: this program, what it reads, and the place."""
    content = hashlib.sha256(str(VENV).encode())
    for path in [Path(__file__), START, *locks]:
        content.update(path.read_bytes())
    return content.hexdigest()


def is_made(locks):
    """Whether `.venv` is there, whole, and made from these lock files."""
    return PYTHON.exists() and STAMP.exists() and key(locks) in STAMP.read_text().split()


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


def settings_of_pip(python):
    """Variables that tell uv what files and variables tell pip."""
    command = [str(python), "-m", "pip", "config", "list"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
    settings = {}
    for section in SECTIONS:
        lines = re.findall(rf"^{section}\.([\w-]+)=(.*)$", printed, flags=re.MULTILINE)
        settings.update((name, " ".join(ast.literal_eval(value).split())) for name, value in lines)
    # the one variable whose values have commas between them
    settings["find-links"] = settings.get("find-links", "").replace(" ", ",")
    return {OF_PIP[name]: value for name, value in settings.items() if name in OF_PIP and value}


def install(python, steps, log=None):
    """Install into the environment of `python`, or end with the error.

    What pip or uv says goes to the screen, or to `log` and only if it fails to the screen.
    """
    for step in steps:
        if not is_installed(python, step, log):
            if log is None:
                sys.exit("error: the environment could not be made, see above")
            say("".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]))
            sys.exit(f"error: the environment could not be made, see above; all of it is in {log}")


def is_installed(python, step, log=None):
    """Try one step; whether it succeeded."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
    environment = {**os.environ, "READTHEDOCS": "True"}
    if WITH_UV and step is not FIRST:
        command = [str(python), "-m", "uv", "pip", "install", "--python", str(python)]
        # as pip does: the best version of all indexes, for one of PyTorch's has old ones of others
        command += ["--index-strategy", "unsafe-best-match"]
        environment = {**settings_of_pip(python), **environment}
    what, arguments = step
    say("  " + what)
    command += ["--no-compile", "--no-build-isolation", *map(str, arguments)]
    if log is None:
        return subprocess.call(command, env=environment) == 0
    with log.open("w") as file:
        return subprocess.call(command, env=environment, stdout=file, stderr=file) == 0


def install_all(python, last, log=None):
    """Install everything; files of a package that are no Python do not matter."""
    install(python, [FIRST], log)
    for_cpus, for_gpus = PYTORCH
    if not is_installed(python, for_cpus, log or Path(os.devnull)):
        install(python, [for_gpus], log)
    install(python, [OTHERS], log)
    if subprocess.call([str(python), "-c", IS_FOR_GPUS]) == 0:
        install(python, [FOR_GPUS], log)
    install(python, last, log)


def compile_all(python):
    """Compile what is installed."""
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
        compile_all(sys.executable)
        return
    wanted = [RUNNING, [DEV]] if sys.argv[1:] == ["--dev"] else [RUNNING]
    if all(map(is_made, wanted)):
        return
    wait_for_others()
    if not is_made(RUNNING):
        make()
    if not all(map(is_made, wanted)):
        install(PYTHON, [FOR_DEVELOPERS], LOG)
        finish([DEV])


def make():
    """Make `.venv` anew, with what runs."""
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
    say(f"making {VENV}, once")
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]):
        sys.exit(f"error: {VENV} could not be made, see above")
    install_all(PYTHON, [*LAST, PROJECT], LOG)
    subprocess.check_call([str(PYTHON), "-c", BEGIN, str(START)])
    finish(RUNNING)


def finish(locks):
    """Note that `.venv` has what these lock files pin."""
    if sys.dont_write_bytecode:
        compile_all(PYTHON)
    LOG.unlink()
    with STAMP.open("a") as file:
        file.write(key(locks) + "\n")


if __name__ == "__main__":
    main()
