"""`snakemake` that looks after its Slurm jobs every second; for tests, with the same arguments.

The executor waits 10 s longer after each look at which no job had ended, up to 180 s, which no
setting changes. Only the submitting process is changed, not the jobs.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import snakemake_executor_plugin_slurm
from snakemake.cli import main

sys.path.insert(0, str(Path.cwd()))

from nat.workflow import slurm


async def sleep(self: Any) -> None:
    await asyncio.sleep(1)


snakemake_executor_plugin_slurm.Executor.sleep = sleep
slurm.SECONDS_BETWEEN_LOOKS = 2.0
sys.argv[0] = "snakemake"
main(sys.argv[1:])
