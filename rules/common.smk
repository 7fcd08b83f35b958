# The configuration and the environment of jobs; what jobs read and depend on is in nat/workflow.
import atexit
import gc
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.settings.types import DeploymentMethod

import nat

# The graph is hundreds of thousands of objects, and all of them stay. Looking for garbage among
# them took a fifth of the time of a start; `onstart` in start.smk looks again.
gc.disable()

if Path(nat.__file__).resolve().parents[1] != Path(workflow.basedir).resolve():
    sys.exit(
        f"error: this is {workflow.basedir}, but {sys.executable} belongs to "
        f"{Path(nat.__file__).parents[1]}; run 'make environment' here, and .venv/bin/snakemake"
    )

from nat import artifacts
from nat.configuration import choice, load
from nat.registry import ENGINES, remember
from nat.workflow.cluster import (
    AT_ONCE,
    DEFAULT_NEEDS,
    in_shards,
    needs,
    read_cluster,
    resources,
)
from nat.configuration.named_runs import hold_to_overrides
from nat.configuration.notes import notes
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.papers import reports
from nat.program import end_without_garbage_collection
from nat.workflow.graph import BEFORE_TRAININGS, FAST_MEMORY, TARGETS, Graph, inputs_of
from nat.workflow.requests import NUMBER, why_no_rule
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
from nat.workflow.together import rule_kind
from nat.workflow.slurm import (
    Watch,
    report_failed_submissions,
    require_clients,
    status_command,
    stop_left_behind,
)
from snakemake_logger_plugin_nat import LogHandler

end_without_garbage_collection()

try:
    configuration = load(choice(config), checked=workflow.is_main_process)
    if workflow.is_main_process:
        hold_to_overrides(configuration, keep=not workflow.output_settings.dryrun)
    cluster = read_cluster(configuration)
    # When Snakemake sums up what the steps of a grouped job request, it lets no more of them run in
    # parallel than there are cores where it runs itself.
    at_once = min(AT_ONCE, workflow.cores)
    RESOURCES = {
        stage: resources(configuration, cluster, stage, at_once=at_once)
        for stage in DEFAULT_NEEDS
    }
    graph = Graph(configuration)
except UserError as error:
    sys.exit(f"error: {error}")

if workflow.is_main_process:
    for note in (
        *notes(configuration, graph.systems_shown()),
        *graph.nothing_to_run(sys.argv[1:]),
    ):
        sys.stderr.write(f"note: {note}\n")

GENERATED = [
    name
    for name in configuration.corpora
    if artifacts.is_generated(configuration, name)
]
FETCHED = [name for name in configuration.corpora if name not in GENERATED]

# The arguments by which each program learns the configuration of the run. Their braces are doubled,
# since Snakemake formats commands once more.
CONFIGURATION_ARGUMENTS = (
    shlex.join(configuration.arguments).replace("{", "{{").replace("}", "}}")
)

# Splits that are translated in shards, and those that one job translates and scores.
SHARDED = {
    split
    for split in configuration.shards
    if artifacts.is_sharded(configuration, split)
}
WHOLE = set(configuration.shards) - SHARDED

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

# Every job inherits these variables. By PATH, `python` is the one that runs Snakemake, whether its
# environment is activated or not. PYTHONPATH tells a conda environment or a container where this
# folder lies; `.venv` knows it without.
os.environ.update(
    PATH=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    ),
    PYTHONHASHSEED="0",
    PYTHONPATH=os.pathsep.join(
        filter(None, [workflow.basedir, os.environ.get("PYTHONPATH")])
    ),
    PYTHONWARNINGS="ignore",
)

for handler in workflow.logger_manager.get_log_handlers():
    if isinstance(handler, LogHandler):
        handler.targets = [*TARGETS, *configuration.papers, *graph.reports]
        handler.explain = lambda path: why_no_rule(
            configuration, path, outputs("results/{run}/")
        )


def outputs(run=f"results/{configuration.run}/"):
    """The outputs of all rules, with wildcards in braces; `run` is the folder of the run. What is
    made by several decodings is also an output of the rule for one."""
    return [
        output.replace(f"results/{configuration.run}/", run)
        for rule in workflow.rules
        if rule_kind(rule.name) == rule.name
        for output in rule.output
    ]


def threads_of_text(wildcards):
    """The threads of a step that prepares a text: a share of the cores where all jobs share a
    machine, but not on a cluster, where a job has its cores for itself."""
    shared = workflow.is_main_process and workflow.local_exec
    return graph.threads_of_text(wildcards.corpus, workflow.cores if shared else None)


def of_test_set(wildcards, output):
    """The argument for the text of a test set, of the rule that makes one; else nothing.

    Snakemake does not record a parameter that is a function of outputs. The path of the text says
    the same.
    """
    return f" --test {wildcards.split}" if "split" in wildcards.keys() else ""


def one_of(names):
    """A wildcard constraint: one of these names."""
    return "|".join(re.escape(name) for name in sorted(names))


def made(kind, wildcards, **names):
    """The artefact of a kind that a job makes, by the job's wildcards and further names."""
    return kind.of({"run": configuration.run, **dict(wildcards.items()), **names})


def reads(kind, **names):
    """The inputs of a rule that makes artefacts of a kind; `names` are those without a wildcard."""
    return or_end(
        lambda wildcards: inputs_of(configuration, made(kind, wildcards, **names))
    )


def reads_together(job):
    """The inputs of a rule that translates by several decodings."""
    return or_end(lambda wildcards: graph.inputs_together(job, int(wildcards.seed)))


def or_end(find):
    """An input function that ends Snakemake where the configuration is wrong.

    At an error that it catches, Snakemake takes an existing result for a file that no job makes.
    """

    def found(wildcards):
        try:
            return find(wildcards)
        except UserError as error:
            sys.exit(f"error: {error}")

    return found
