"""Write the SHA-256 of every file that the indexes have of the versions pinned in this folder.

    python envs/hashes.py INDEX        after a version was changed, with `.venv` active

INDEX is PyTorch's own, which has its builds for CPUs. Comments stay.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCKS = [HERE / name for name in ("build.txt", "torch.txt", "run.lock", "dev.lock", "gpu.lock")]
LOCKS += [HERE / "fairseq.txt", HERE / "torch-cpu.txt"]
COMMAND = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--generate-hashes"]
COMMAND += ["--no-deps", "--universal", "--python-version", "3.11", "--no-header", "--no-annotate"]


def with_hashes(lock: str, index: str) -> str:
    """Text of a lock file, with the hashes of its versions; `index` has those for CPUs."""
    comments = [line for line in lock.splitlines() if line.startswith("#")]
    pins = re.findall(r"^[\w.-]+==[\w.+]+", lock, flags=re.MULTILINE)
    further = ["--index", index] if any("+cpu" in pin for pin in pins) else []
    command = [*COMMAND, *further, "-"]
    ended = subprocess.run(command, input="\n".join(pins), capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"error: {ended.stderr.strip()}")
    return "\n".join([*comments, ended.stdout])


def main() -> None:
    """Rewrite the lock files."""
    (index,) = sys.argv[1:]
    texts = {path: with_hashes(path.read_text(), index) for path in LOCKS}
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
