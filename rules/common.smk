# The configuration and the environment of jobs; what jobs read and depend on is in nat/workflow.
import gc
import os
import subprocess
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.settings.types import DeploymentMethod

from nat import artifacts
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.papers import reports
from nat.traits import ENGINES
from nat.workflow.cluster import AT_ONCE, in_shards, needs, resources
from nat.workflow.graph import BEFORE_TRAININGS, FAST_MEMORY, TARGETS
from nat.workflow.records import (
    hold_folder,
    is_current,
    keep_finished_trainings,
    mark_failed,
    record_from_the_start,
    refuse_unknown_results,
    require_no_survivors,
    require_replaceable,
)
from nat.workflow.requests import NUMBER, why_no_rule
from nat.workflow.slurm import (
    Watch,
    report_failed_submissions,
    require_clients,
    status_command,
    stop_left_behind,
)
from nat.workflow.wiring import Wiring, named, one_of, or_end, outputs
from snakemake_logger_plugin_nat import LogHandler

try:
    wiring = Wiring.of(workflow, config)
except UserError as error:
    sys.exit(f"error: {error}")

graph, configuration, cluster = wiring.graph, wiring.configuration, wiring.cluster
reads, handed = wiring.reads, wiring.handed
reads_together, handed_together = wiring.reads_together, wiring.handed_together
RESOURCES = wiring.resources
# What every rule runs; `FAST` is for programs that run models.
COMMAND = "python workflow_scripts/{params.program}.py {params.job} 2> {log}"
FAST = f"{FAST_MEMORY} {COMMAND}"
RUN = f"results/{configuration.run}/"

# The environment of `--sdm conda`, one for all jobs of a run, and the image of `--sdm apptainer`.
ENVIRONMENT = f"../envs/{'cuda' if needs(configuration, 'train').gpu else 'cpu'}.yaml"
IMAGE = "envs/nat.sif"
if (
    workflow.is_main_process
    and DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
    and not Path(IMAGE).exists()
):
    sys.exit(
        f"error: '--sdm apptainer' needs the image {IMAGE}, which is not there; make it with "
        f"'apptainer build {IMAGE} envs/apptainer.def'"
    )

for handler in workflow.logger_manager.get_log_handlers():
    if isinstance(handler, LogHandler):
        handler.targets = [*TARGETS, *configuration.papers, *graph.reports]
        handler.explain = lambda path: why_no_rule(
            configuration, path, outputs(workflow, RUN, "results/{run}/")
        )
