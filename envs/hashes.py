"""Write the SHA-256 of every file that PyPI has of the versions pinned in this folder.

    python envs/hashes.py        after a version was changed, with `.venv` active

Comments stay; torch.txt has no hashes, for the reason it gives.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCKS = [HERE / name for name in ("build.txt", "run.lock", "dev.lock", "gpu.lock", "fairseq.txt")]
COMMAND = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--generate-hashes"]
COMMAND += ["--no-deps", "--universal", "--python-version", "3.11", "--no-header", "--no-annotate"]


def with_hashes(lock: str) -> str:
    """Text of a lock file, with the hashes of its versions."""
    comments = [line for line in lock.splitlines() if line.startswith("#")]
    pins = re.findall(r"^[\w.-]+==[\w.]+", lock, flags=re.MULTILINE)
    command = [*COMMAND, "-"]
    ended = subprocess.run(command, input="\n".join(pins), capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"error: {ended.stderr.strip()}")
    return "\n".join([*comments, ended.stdout])


def main() -> None:
    """Rewrite the lock files."""
    texts = {path: with_hashes(path.read_text()) for path in LOCKS}
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
