"""A graph of small steps that share one Slurm job, which say when they began and ended."""

import math
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from nat.workflow.cluster import AT_ONCE

ROOT = Path(__file__).resolve().parents[1]
COUNT, MINUTES, CORES_OF_THE_LOGIN_NODE = 6, 10, 8
REQUEST = {
    "minutes": MINUTES * math.ceil(COUNT / AT_ONCE),
    "cpus": AT_ONCE,
    "memory_mb": 150 * AT_ONCE,
}
"""What the job has to ask for."""

NAMES = """
import gc
import sys
from nat.errors import UserError
from nat.workflow.cluster import AT_ONCE
from nat.workflow.records import (
    hold_folder,
    keep_finished_trainings,
    mark_failed,
    record_from_the_start,
    refuse_unknown_results,
    require_no_survivors,
    require_replaceable,
)
from nat.workflow.slurm import (
    Watch,
    report_failed_submissions,
    require_clients,
    status_command,
    stop_left_behind,
)
"""
"""What rules/start.smk takes from rules/common.smk, for a Snakefile that includes it alone."""

SNAKEFILE = f"""{NAMES}

rule all:
    input: expand("made/{{number}}", number=range({COUNT}))
    localrule: True


rule score:
    output: "made/{{number}}"
    group: "score"
    resources: mem_mb=150, runtime={MINUTES}, cpus_per_task=1, steps=1
    shell:
        "date +%s.%N > {{output}}.begun; sleep 3; date +%s.%N > {{output}}.ended; touch {{output}}"


include: "{ROOT}/rules/start.smk"
"""


def run(folder: Path, environment: Mapping[str, str], *options: str) -> tuple[int, str]:
    """Run the graph in a new folder by the profile; exit status, and what is on the screen."""
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    (folder / "Snakefile").write_text(SNAKEFILE)
    polled = ROOT / "tests/slurm/snakemake_polled.py"
    words = ["--profile", "slurm", "--cores", str(CORES_OF_THE_LOGIN_NODE), "--retries", "0"]
    words += ["--latency-wait", "10", "--slurm-init-seconds-before-status-checks", "1"]
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


def most_at_once(folder: Path) -> int:
    """Steps that ran in parallel."""
    spans = [
        tuple(float((folder / f"made/{number}.{end}").read_text()) for end in ("begun", "ended"))
        for number in range(COUNT)
    ]
    return max(sum(begun <= start < ended for begun, ended in spans) for start, _ in spans)
