"""A graph of small steps that share a Slurm job, which say when they began and ended."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS, MINUTES, CORES_OF_THE_LOGIN_NODE = 3, 10, 8
REQUEST = {"minutes": MINUTES * STEPS, "cpus": 1, "memory_mb": 150}
"""What the job has to ask for."""

NAMES = """
import gc
import sys
from nat.configuration.scales import Cluster
from nat.errors import UserError
from nat.training.run import forget_ended
from nat.workflow.left_behind import require_no_survivors, stop_slurm_jobs
from nat.workflow.slurm import require_account, require_clients, watch_the_queue

cluster = Cluster(account=config.get("account"))
"""
"""What rules/start.smk takes from rules/common.smk, for a Snakefile that includes it alone."""

SNAKEFILE = f"""{NAMES}

class configuration:
    run = "micro"


class wiring:
    tell_jobs = staticmethod(lambda: None)


rule all:
    input: "made/{STEPS}"
    localrule: True


rule score:
    input: lambda wildcards: [f"made/{{int(wildcards.n) - 1}}"] if wildcards.n != "1" else []
    output: "made/{{n}}"
    group: "score"
    resources: mem_mb=150, runtime={MINUTES}, cpus_per_task=1
    shell:
        "date +%s.%N > {{output}}.begun; sleep 1; date +%s.%N > {{output}}.ended; touch {{output}}"


include: "{ROOT}/rules/start.smk"
"""


def run(folder: Path, environment: Mapping[str, str], *options: str) -> tuple[int, str]:
    """Run the graph in a new folder by the profile; exit status, and what is on the screen."""
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    (folder / "Snakefile").write_text(SNAKEFILE)
    polled = ROOT / "tests/slurm/snakemake_polled.py"
    words = ["--profile", "slurm", "--cores", str(CORES_OF_THE_LOGIN_NODE), "--retries", "0"]
    words += ["--logger", "nat", "--latency-wait", "10"]
    words += ["--slurm-init-seconds-before-status-checks", "1"]
    ended = subprocess.run(
        [sys.executable, str(polled), *words, *options],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=550,
    )
    return ended.returncode, ended.stdout


def ran_in_turn(folder: Path) -> bool:
    """Whether all steps ran, each after the one before it."""
    names = [f"made/{n}.{end}" for n in range(1, STEPS + 1) for end in ("begun", "ended")]
    times = [float((folder / name).read_text()) for name in names]
    return times == sorted(times)
