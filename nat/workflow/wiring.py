"""Parts of the rules: the inputs and the parameters of the job that makes a result."""

import atexit
import gc
import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from snakemake.settings.types import DeploymentMethod

import nat
from nat.artifact import Artifact
from nat.artifacts import Latency, OfTraining, is_sharded
from nat.configuration import Configuration, choice, load
from nat.configuration.checks import notes
from nat.configuration.command_line import hold_to_overrides
from nat.configuration.entries import all_splits
from nat.configuration.reading import read_snapshot, write_snapshot
from nat.configuration.scales import Stages
from nat.data.splits import MONOLINGUAL, TRAIN, VALID
from nat.errors import UserError
from nat.papers import settings
from nat.papers.relation import latency
from nat.workflow.cluster import read_cluster, resources
from nat.workflow.dependence import depends_on, taken_over
from nat.workflow.graph import Graph, inputs_of, with_inputs
from nat.workflow.specification import Specification, jobs
from nat.workflow.together import Together

# the variable that tells the jobs of a cluster the file with the configuration of their run
RESOLVED = "NAT_CONFIGURATION"
PROCESSES_OF_A_TEXT = 8  # which share its preparation
# variables by which a user's shell would decide about numbers or figures
CHANGING_RESULTS = (
    *("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "PYTHONOPTIMIZE"),
    *("MATPLOTLIBRC", "MPLBACKEND"),
)
IMAGE = "envs/nat.sif"  # of `--sdm apptainer`
NUMBER = r"0|[1-9]\d*"  # a wildcard without leading zeros, so that no result has two paths


class Wiring:
    """Functions for the rules of a graph.

    Args:
        dry: whether nothing is run.
        cores: of Snakemake; None where each job has cores of its own.

    Attributes:
        resources: what the rules of each stage request.
        taken_over: paths of results of the scale by those of the run that are links to them.
        generated, fetched: corpora that are invented by this project, and all others.
        tests: names of test sets, which no training reads.
        sharded, whole: splits that several jobs translate, and that one translates and scores.
    """

    def __init__(self, configuration: Configuration, dry: bool, cores: int | None) -> None:
        self.configuration, self.dry, self.cores = configuration, dry, cores
        self.cluster = read_cluster(configuration)
        self.resources = {
            stage: resources(configuration, self.cluster, stage) for stage in Stages.model_fields
        }
        self.graph = Graph(configuration)
        self.taken_over: dict[str, str] = {}
        corpora, splits = configuration.files["corpora"], all_splits(configuration)
        self.generated = [name for name in corpora if configuration.corpus(name).generator]
        self.fetched = [name for name in corpora if name not in self.generated]
        self.tests = [split for split in splits if split not in (TRAIN, VALID, MONOLINGUAL)]
        self.sharded = [split for split in splits if is_sharded(configuration, split)]
        self.whole = [split for split in splits if split not in self.sharded]

    @classmethod
    def of(cls, workflow: Any, config: Mapping[str, Any]) -> "Wiring":
        """The wiring of a Snakemake that has just started; it refuses a wrong configuration.

        The main process reads `config/`. Snakemake runs again in each job of a cluster, and takes
        what the main process has written, whatever `config/` says by then.
        """
        settle(workflow)
        dry = workflow.output_settings.dryrun
        if not workflow.is_main_process:
            return cls(read_snapshot(Path(os.environ[RESOLVED])), dry, None)
        require_deployment(workflow.deployment_settings.deployment_method)
        configuration = load(choice(config))
        hold_to_overrides(configuration, keep=not dry)
        wiring = cls(configuration, dry, workflow.cores if workflow.local_exec else None)
        graph = wiring.graph
        settings.check(configuration)
        made = with_inputs(configuration, graph.reports.values())
        if configuration.choice.name is not None:
            wiring.taken_over = taken_over(configuration, made)
        trained = {(each.corpus, each.system) for each in made if isinstance(each, OfTraining)}
        for note in notes(configuration, trained):
            sys.stderr.write(f"note: {note}\n")
        return wiring

    def files_taken_over(self, folders: bool) -> list[str]:
        """Paths of what is taken over, below the folder of the run: files or folders."""
        run = f"results/{self.configuration.run}/"
        own = self.taken_over.items()
        return [path.removeprefix(run) for path, its in own if Path(its).is_dir() == folders]

    def tell_jobs(self) -> None:
        """Write the configuration for the jobs of a cluster, which inherit the name of the file."""
        os.environ[RESOLVED] = str(write_snapshot(self.configuration))

    def threads_of_training(self, wildcards: Any) -> int:
        """Threads of all processes that share a training."""
        shared = self.configuration.scale_settings.processes.get(wildcards.system, 1)
        return shared * self.configuration.settings.threads

    def threads_of_text(self, wildcards: Any) -> int:
        """Processes that share the preparation of a text; one is enough for a generated corpus.

        At most half of the cores that all jobs share: a job that needs all cores waits until no
        training runs, and cores are idle meanwhile.
        """
        most = 1 if wildcards.corpus in self.generated else PROCESSES_OF_A_TEXT
        return most if self.cores is None else min(most, self.cores // 2) or 1

    def reads(self, kind: type[Artifact] | Together, **names: Any) -> Callable[[Any], Any]:
        """The inputs of a rule that makes results of a kind, with names that are no wildcards."""

        def read(wildcards: Any) -> dict[str, list[str]]:
            paths: dict[str, dict[str, None]] = {}
            for artifact in self._made(kind, names, wildcards):
                for name, own in inputs_of(self.configuration, artifact).items():
                    paths.setdefault(name, {}).update(dict.fromkeys(own))
            return {name: list(own) for name, own in paths.items()}

        return or_end(read)

    def handed(self, program: str, kind: type[Artifact] | Together, **names: Any) -> dict[str, Any]:
        """The parameters of a rule that makes results of a kind by a program.

        When the fingerprint `depends_on` changes, Snakemake runs the job again. `job` is what the
        program is called with, which Snakemake does not record, since it is a function of outputs.
        The threads of the rule share the preparation of a text; `names` are those that are no
        wildcard.
        """

        def depends(wildcards: Any) -> str | list[str]:
            made = self._made(kind, names, wildcards)
            each = [depends_on(self.configuration, artifact) for artifact in made]
            return each if isinstance(kind, Together) else each[0]

        def job(wildcards: Any, output: Any, threads: int) -> Specification:
            made = self._made(kind, names, wildcards)
            find = partial(jobs, self.configuration, made, threads)
            return Specification(program, None if self.dry else find)

        return {"program": program, "depends_on": or_end(depends), "job": job}

    def _made(
        self, kind: type[Artifact] | Together, names: Mapping[str, Any], wildcards: Any
    ) -> Sequence[Artifact]:
        """The results that a job makes, by further names and the wildcards of its rule."""
        if isinstance(kind, Together):
            return kind.scores(self.configuration.run, int(wildcards.seed))
        if kind is Latency:
            return [latency(self.configuration, dict(wildcards.items()))]
        return [kind.of({"run": self.configuration.run, **dict(wildcards.items()), **names})]


def settle(workflow: Any) -> None:
    """Prepare this process and the variables that every job inherits."""
    # The graph is hundreds of thousands of objects, and all of them stay. Looking for garbage among
    # them took a fifth of the time of a start; `onstart` in start.smk looks again.
    gc.disable()
    atexit.register(gc.freeze)
    here, ours = Path(workflow.basedir).resolve(), Path(nat.__file__).resolve().parents[1]
    if here != ours:
        raise UserError(
            f"this is {here}, but {sys.executable} belongs to {ours}; run 'make environment' here, "
            "and .venv/bin/snakemake"
        )
    # By PATH, `python` is the one that runs Snakemake, whether its environment is activated or not.
    # PYTHONPATH tells a conda environment or a container where this folder lies; `.venv` knows it
    # without.
    own = {"PATH": Path(sys.executable).parent, "PYTHONPATH": here}
    for name, first in own.items():
        given = os.environ.get(name, os.defpath if name == "PATH" else "")
        os.environ[name] = os.pathsep.join(filter(None, [str(first), given]))
    for name in CHANGING_RESULTS:
        os.environ.pop(name, None)
    os.environ.update(PYTHONHASHSEED="0", PYTHONWARNINGS="ignore")


def require_deployment(methods: Collection[DeploymentMethod]) -> None:
    """Refuse `--sdm` where the image is not there, or the program that it needs."""
    if DeploymentMethod.APPTAINER in methods and not Path(IMAGE).exists():
        raise UserError(
            f"'--sdm apptainer' needs the image {IMAGE}, which is not there; make it with "
            f"'apptainer build {IMAGE} envs/apptainer.def'"
        )
    if DeploymentMethod.CONDA in methods and shutil.which("conda") is None:
        raise UserError("'--sdm conda' needs the program conda; install or load it")


def named(message: str) -> str:
    """A message of a rule with the wildcards that it names in braces, as in `train {system}`."""
    return message.replace("{", "{wildcards.")


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint: one of these names."""
    return "|".join(re.escape(name) for name in sorted(names))


def or_end(find: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An input function that ends Snakemake where the configuration is wrong.

    At an error that it catches, Snakemake takes an existing result for a file that no job makes.
    """

    def find_or_end(wildcards: Any) -> Any:
        try:
            return find(wildcards)
        except UserError as error:
            sys.exit(f"error: {error}")

    return find_or_end
