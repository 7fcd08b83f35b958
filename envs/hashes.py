"""Write the SHA-256 of every file that PyPI has of the versions pinned in this folder.

    python envs/hashes.py        after a version was changed; needs uv (pip install uv==0.13.9)

Comments and the names as they are written stay; torch.txt has no hashes, for the reason it gives.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCKS = [HERE / name for name in ("build.txt", "cpu.lock", "cuda.lock", "fairseq.txt", "docs.txt")]
COMMAND = ["uv", "pip", "compile", "--quiet", "--generate-hashes", "--no-deps", "--universal"]
COMMAND += ["--python-version", "3.11", "--no-header", "--no-annotate", "--no-config"]


def normalised(name: str) -> str:
    """Name of a package as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def with_hashes(lock: str) -> str:
    """Text of a lock file, with the hashes of its versions."""
    comments = [line for line in lock.splitlines() if line.startswith("#")]
    pins = re.findall(r"^([\w.-]+)==([\w.]+)", lock, flags=re.MULTILINE)
    with tempfile.NamedTemporaryFile("w", suffix=".in") as file:
        file.writelines(f"{name}=={version}\n" for name, version in pins)
        file.flush()
        ended = subprocess.run([*COMMAND, file.name], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"error: {ended.stderr.strip()}")
    text = ended.stdout
    for name, version in pins:
        text = re.sub(f"^{re.escape(normalised(name))}==", f"{name}==", text, flags=re.MULTILINE)
        if f"{name}=={version} \\\n" not in text:
            sys.exit(f"error: no hashes of {name}=={version}")
    return "\n".join([*comments, text])


def main() -> None:
    """Rewrite the lock files."""
    texts = {path: with_hashes(path.read_text()) for path in LOCKS}
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
