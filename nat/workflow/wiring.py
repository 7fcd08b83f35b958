"""What the rules are made of: the inputs and the parameters of the job that makes a result."""

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nat
from nat.artifact import Artifact
from nat.artifacts import Latency, is_generated, is_sharded
from nat.configuration import Choice, Configuration, choice, load, snapshot
from nat.configuration.named_runs import hold_to_overrides
from nat.configuration.notes import notes
from nat.errors import UserError
from nat.program import end_without_garbage_collection
from nat.workflow.cluster import DEFAULT_NEEDS, read_cluster, resources
from nat.workflow.dependence import taken_over
from nat.workflow.graph import Graph, inputs_of, with_inputs
from nat.workflow.specification import Specification, jobs
from nat.workflow.together import Together, rule_kind

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

RESOLVED = "NAT_CONFIGURATION"
"""The variable that tells the jobs of a cluster the file with the configuration of their run."""


class Wiring:
    """Functions for the rules of a graph.

    Attributes:
        configuration: of the run.
        graph: of the configuration.
        cluster: names and limits of the cluster.
        resources: what the rules of each stage request.
        taken_over: paths of results of the scale by those of the run that are links to them.

    Args:
        configuration: of the run.
        dry: whether nothing is run.
        cores: of Snakemake; None where each job has cores of its own.

    Raises:
        UserError: for anything wrong in the configuration.
    """

    def __init__(self, configuration: Configuration, dry: bool, cores: int | None) -> None:
        self.configuration, self.dry, self.cores = configuration, dry, cores
        self.cluster = read_cluster(configuration)
        self.resources = {
            stage: resources(configuration, self.cluster, stage) for stage in DEFAULT_NEEDS
        }
        self.graph = Graph(configuration)
        self.taken_over: dict[str, str] = {}

    @classmethod
    def of(cls, workflow: "Workflow", config: Mapping[str, Any]) -> "Wiring":
        """The wiring of a Snakemake that has just started.

        The main process reads `config/`. Snakemake runs again in each job of a cluster, and there
        it takes the configuration that the main process has written, whatever `config/` says by
        then.
        """
        settle(workflow)
        dry = workflow.output_settings.dryrun
        if workflow.is_main_process:
            configuration = load(choice(config))
            hold_to_overrides(configuration, keep=not dry)
        else:
            configuration = snapshot.restore(Path(os.environ[RESOLVED]))
        shared = workflow.is_main_process and workflow.local_exec
        cores = workflow.cores if shared else None
        wiring = cls(configuration, dry, cores)
        if workflow.is_main_process:
            wiring.graph.check()
            wiring.take_over()
            shown = notes(configuration, wiring.graph.systems_shown())
            for note in (*shown, *wiring.graph.nothing_to_run(sys.argv[1:])):
                sys.stderr.write(f"note: {note}\n")
        return wiring

    def take_over(self) -> None:
        """Look for what a run with a name can take over from its scale."""
        configuration = self.configuration
        if configuration.overrides.name is not None:
            base = load(Choice(configuration.scale))
            made = with_inputs(configuration, self.graph.reports.values())
            self.taken_over = taken_over(configuration, base, made)

    def files_taken_over(self, folders: bool) -> list[str]:
        """Paths of what is taken over, below the folder of the run: files or folders."""
        run = f"results/{self.configuration.run}/"
        own = self.taken_over.items()
        return [path.removeprefix(run) for path, its in own if Path(its).is_dir() == folders]

    def tell_jobs(self) -> None:
        """Write the configuration for the jobs of a cluster, which inherit the name of the file."""
        os.environ[RESOLVED] = str(snapshot.write(self.configuration))

    @property
    def generated(self) -> list[str]:
        """Corpora that are invented by this project."""
        names = self.configuration.corpora
        return [name for name in names if is_generated(self.configuration, name)]

    @property
    def fetched(self) -> list[str]:
        """All other corpora."""
        return [name for name in self.configuration.corpora if name not in self.generated]

    @property
    def sharded(self) -> list[str]:
        """Splits that several jobs translate, and one that scores them."""
        splits = self.configuration.shards
        return [split for split in splits if is_sharded(self.configuration, split)]

    @property
    def whole(self) -> list[str]:
        """Splits that one job translates and scores."""
        return [split for split in self.configuration.shards if split not in self.sharded]

    def threads_of_text(self, wildcards: Any) -> int:
        """Processes that share the preparation of a text."""
        return self.graph.threads_of_text(wildcards.corpus, self.cores)

    def made(self, kind: type[Artifact], wildcards: Any, names: dict[str, Any]) -> Artifact:
        """The result that a job makes, by the wildcards of its rule and further names."""
        if kind is Latency:
            return self.graph.timed(wildcards)
        return kind.of({"run": self.configuration.run, **dict(wildcards.items()), **names})

    def reads(self, kind: type[Artifact], **names: Any) -> Callable[[Any], Any]:
        """The inputs of a rule that makes results of a kind.

        Args:
            kind: of the results.
            names: those that are no wildcard.
        """
        return or_end(
            lambda wildcards: inputs_of(self.configuration, self.made(kind, wildcards, names))
        )

    def handed(
        self, program: str, kind: type[Artifact], shared: bool = False, **names: Any
    ) -> dict[str, Any]:
        """The parameters of a rule that makes results of a kind.

        `program` is the name of the program. `depends_on` is a fingerprint; when it changes,
        Snakemake runs the job again. `job` is what the program is called with. Snakemake does not
        record it, since it is a function of outputs.

        Args:
            program: of workflow_scripts, without its end.
            kind: of the results.
            shared: whether the threads of the rule share the preparation of a text.
            names: those that are no wildcard.
        """

        def depends_on(wildcards: Any) -> str:
            return self.graph.depends_on(self.made(kind, wildcards, names))

        def alone(wildcards: Any, output: Any) -> Specification:
            return self._job(program, [self.made(kind, wildcards, names)])

        def together(wildcards: Any, output: Any, threads: int) -> Specification:
            return self._job(program, [self.made(kind, wildcards, names)], threads)

        job = together if shared else alone
        return {"program": program, "depends_on": or_end(depends_on), "job": job}

    def _job(self, program: str, made: Sequence[Artifact], processes: int = 1) -> Specification:
        find = partial(jobs, self.configuration, made, processes)
        return Specification(program, find, not self.dry)

    def reads_together(self, several: Together) -> Callable[[Any], Any]:
        """The inputs of a rule that translates by several decodings."""
        return or_end(lambda wildcards: self.graph.inputs_together(several, int(wildcards.seed)))

    def handed_together(self, program: str, several: Together) -> dict[str, Any]:
        """The parameters of such a rule, see `handed`."""
        scores = several.scores(self.configuration.run, several.seeds[0])

        def job(wildcards: Any, output: Any) -> Specification:
            return self._job(program, several.scores(self.configuration.run, int(wildcards.seed)))

        found = [self.graph.depends_on(each) for each in scores]
        return {"program": program, "depends_on": found, "job": job}


def settle(workflow: "Workflow") -> None:
    """Prepare this process and the variables that every job inherits.

    Raises:
        UserError: if the environment belongs to another folder.
    """
    # The graph is hundreds of thousands of objects, and all of them stay. Looking for garbage among
    # them took a fifth of the time of a start; `onstart` in start.smk looks again.
    gc.disable()
    end_without_garbage_collection()
    here, ours = Path(workflow.basedir).resolve(), Path(nat.__file__).resolve().parents[1]
    if here != ours:
        raise UserError(
            f"this is {here}, but {sys.executable} belongs to {ours}; run 'make environment' here, "
            "and .venv/bin/snakemake"
        )
    # By PATH, `python` is the one that runs Snakemake, whether its environment is activated or not.
    # PYTHONPATH tells a conda environment or a container where this folder lies; `.venv` knows it
    # without.
    os.environ.update(
        PATH=os.pathsep.join(
            [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        ),
        PYTHONHASHSEED="0",
        PYTHONPATH=os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")])),
        PYTHONWARNINGS="ignore",
    )


def outputs(workflow: "Workflow", run: str, there: str) -> list[str]:
    """The outputs of all rules, with wildcards in braces.

    What is made by several decodings is also an output of the rule for one.

    Args:
        workflow: with the rules.
        run: folder of the run.
        there: what stands for it.
    """
    return [
        output.replace(run, there)
        for rule in workflow.rules
        if rule_kind(rule.name) == rule.name
        for output in rule.output
    ]


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

    def found(wildcards: Any) -> Any:
        try:
            return find(wildcards)
        except UserError as error:
            sys.exit(f"error: {error}")

    return found
