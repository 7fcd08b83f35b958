"""Programs under the names of Slurm's clients, which start a job at once on this machine.

They do what Snakemake's executor asks of them, and refuse a step that wants more processors than
its job has, as Slurm does. Each job leaves its request and its steps in the folder.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START = f"""#!{sys.executable}
import os, subprocess, sys
from pathlib import Path

folder = Path({{folder!r}})
name, words = Path(sys.argv[0]).name, sys.argv[1:]


def said(option, words):
    for number, word in enumerate(words):
        if word == option:
            return words[number + 1]
        if word.startswith(option + "="):
            return word.partition("=")[2]


"""

CLIENTS = {
    "sbatch": """
number = str(1 + len(list(folder.glob("*.request"))))
(folder / f"{number}.request").write_text("\\n".join(words))
ended = folder / f"{number}.ended"
command = f"({said('--wrap', words)}); echo $? > {ended}.new; mv {ended}.new {ended}"
with open(said("--output", words).replace("%j", number), "w") as log:
    subprocess.Popen(
        ["sh", "-c", command], env={**os.environ, "SLURM_JOB_ID": number}, cwd=said("-D", words),
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
    )
print(number)
""",
    "srun": """
job = os.environ["SLURM_JOB_ID"]
first = next(number for number, word in enumerate(words) if not word.startswith("-"))
with (folder / f"{job}.steps").open("a") as steps:
    steps.write(" ".join(words[:first]) + "\\n")
granted = said("--cpus-per-task", (folder / f"{job}.request").read_text().splitlines())
if int(said("--cpus-per-task", words)) > int(granted):
    sys.exit("srun: error: Unable to create step: More processors requested than permitted")
os.execvp(words[first], words[first:])
""",
    "squeue": """
for request in folder.glob("*.request"):
    ended = request.with_suffix(".ended")
    status = int(ended.read_text()) if ended.exists() else None
    print(f"{request.stem}|" + {None: "RUNNING", 0: "COMPLETED"}.get(status, "FAILED"))
""",
    "scontrol": "print('MinJobAge               = 86400 sec')",
    "sinfo": "print('main*')",
    "sacct": "sys.exit(1)",
    "sacctmgr": "sys.exit(1)",
    "scancel": "",
}


@dataclass(frozen=True)
class Request:
    """What a job asked for, and the steps that it had."""

    words: list[str]
    steps: list[str]

    def __getitem__(self, option: str) -> str:
        for number, word in enumerate(self.words):
            if word == option:
                return self.words[number + 1]
            if word.startswith(f"{option}="):
                return word.partition("=")[2]
        raise KeyError(option)


class StandInSlurm:
    """Clients in `folder`/bin; `environment` is for those who use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        (self.folder / "bin").mkdir(parents=True)
        for name, text in CLIENTS.items():
            client = self.folder / "bin" / name
            client.write_text(START.format(folder=str(self.folder)) + text)
            client.chmod(0o755)
        path = f"{self.folder / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        self.environment = {**os.environ, "PATH": path}

    def requests(self) -> Iterator[Request]:
        """Of all jobs so far, in order."""
        for request in sorted(self.folder.glob("*.request"), key=lambda path: int(path.stem)):
            steps = request.with_suffix(".steps")
            text = steps.read_text().splitlines() if steps.exists() else []
            yield Request(request.read_text().splitlines(), text)
