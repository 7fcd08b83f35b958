# The configuration and the environment of jobs; what jobs read and depend on is in nat/workflow.
import gc
import subprocess
import sys

from snakemake.cli import get_argument_parser

from nat import artifacts
from nat.configuration.entries import all_splits, decoding_pattern
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.papers import reports
from nat.traits import ENGINES
from nat.training.run import forget_ended
from nat.workflow.cluster import in_shards, resources
from nat.workflow.graph import priority_of_text
from nat.workflow.left_behind import require_no_survivors, stop_slurm_jobs
from nat.workflow.slurm import require_account, require_clients, watch_the_queue
from nat.workflow.wiring import IMAGE, NUMBER, Wiring, named, one_of, or_end
from snakemake_logger_plugin_nat import LogHandler

try:
    wiring = Wiring.of(workflow, config)
except UserError as error:
    sys.exit(f"error: {error}")

graph, configuration, cluster = wiring.graph, wiring.configuration, wiring.cluster
reads, handed = wiring.reads, wiring.handed
RESOURCES = wiring.resources
# What every rule runs. `FAST` is for programs that run models: glibc keeps freed memory in the
# process, so that small models train up to 1.6 times as fast.
COMMAND = "python workflow_scripts/{params.program}.py {params.job} 2> {log}"
FAST = (
    "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456 "
    + COMMAND
)
RUN = f"results/{configuration.run}/"

# The environment of `--sdm conda`, one for all jobs of a run.
ENVIRONMENT = (
    f"../envs/{'gpu' if configuration.scale_settings.stages.train.gpu else 'cpu'}.yaml"
)

for handler in workflow.logger_manager.get_log_handlers():
    if isinstance(handler, LogHandler):
        handler.explain = lambda name: graph.why_no_rule(
            name, [rule.name for rule in workflow.rules if not rule.output]
        )
