"""The specification of a job: its result, the results that it reads, its configuration.

The main process of a run resolves the configuration once. A program of `workflow_scripts/` gets
what it needs of it as a JSON file, see `nat.workflow.specification`, and does not read `config/`.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import nat.artifacts  # noqa: F401  (whose kinds `artifact_of` then knows)
from nat.artifact import Artifact, Inputs, artifact_of
from nat.checksums import JOBS, RESULTS, verified
from nat.configuration.models import Settings, Training
from nat.configuration.scales import GpuNodes, Scale
from nat.data.corpus import Corpus
from nat.errors import UserError
from nat.files import atomic_write_text
from nat.options import Count, StrictModel, validated
from nat.program import run
from nat.registry import Method

FOLDER = Path(RESULTS, JOBS)  # of what jobs are handed, by program

A = TypeVar("A", bound=Artifact, covariant=True)


class JobSystem(StrictModel):
    """A system on the corpus of a job, and whether it is trained to refine translations.

    It `refines` if it, or what it starts from, was trained on partly revealed targets. A batch of a
    device has at most `tokens_per_device`.
    """

    training: Training
    tokens_per_device: Count | None
    refines: bool


class JobDecoding(StrictModel):
    """A decoding on the corpus of a job, and the values of each option that is tuned."""

    method: Method
    tried: dict[str, list[Any]] = {}


class JobConfiguration(StrictModel):
    """The part of a configuration that a job depends on: what it needs, by name.

    Attributes:
        settings: with the scale that was chosen, and the path of the mirror.
        gpus: how to ask Slurm for the GPUs of a node.
        published: the teacher whose published translations stand for those of a system.
        report: a table, a figure or claims, resolved, see `nat.papers.cells`.
        whole: file with the whole configuration, for the job that makes pages of everything.
    """

    settings: Settings
    scale: Scale
    gpus: GpuNodes
    corpora: dict[str, Corpus] = {}
    systems: dict[str, JobSystem] = {}
    decodings: dict[str, JobDecoding] = {}
    published: str | None = None
    report: dict[str, Any] = {}
    whole: str | None = None

    def training(self, system: str) -> Training:
        """The effective configuration of a system."""
        return self.systems[system].training


@dataclass(frozen=True)
class Job(Generic[A]):
    """One result to make, and what is read for it.

    Attributes:
        processes: that share the preparation of a text.
        identity: of the result, where another run may take it over; see
            `nat.workflow.dependence.identity`.
    """

    artifact: A
    inputs: Inputs
    configuration: JobConfiguration
    processes: int = 1
    identity: str = ""

    @property
    def path(self) -> Path:
        """The file or folder that is made."""
        return Path(self.artifact.path)

    @property
    def corpus(self) -> Corpus:
        """The description of the corpus that the result is of."""
        return self.configuration.corpora[vars(self.artifact)["corpus"]]


def write_jobs(jobs: list[Job[Any]]) -> str:
    """Jobs of one program, which share a configuration, as the text of a file."""
    made = [{"makes": job.artifact, "reads": job.inputs, "identity": job.identity} for job in jobs]
    shared = {"configuration": jobs[0].configuration.as_written(), "processes": jobs[0].processes}
    # in the order of the files: that of values among which one is chosen counts
    content = {"jobs": made, **shared}
    return json.dumps(content, default=Artifact.as_json, indent=1, ensure_ascii=False) + "\n"


def read_jobs(path: Path) -> list[Job[Any]]:
    """The jobs of a file that `write_jobs` made."""

    def restored(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(restored, value))
        return value and artifact_of(value)

    try:
        content = json.loads(verified(path).read_text(encoding="utf-8"))
        configuration = validated(JobConfiguration, content["configuration"], str(path))
        jobs = []
        for each in content["jobs"]:
            inputs = Inputs({name: restored(read) for name, read in each["reads"].items()})
            own = content["processes"], each["identity"]
            jobs.append(Job(artifact_of(each["makes"]), inputs, configuration, *own))
        return jobs
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} is no specification of a job ({error}); 'snakemake' writes them, see the "
            "first line of a log"
        ) from error


def record_of(path: str) -> Path:
    """The file that says of which identity a result is."""
    return Path(path).with_name(f".{Path(path).name}.identity")


def run_jobs(function: Callable[[list[Job[Any]]], None]) -> None:
    """Run a function on the jobs of the file that the command line names.

    The first line on stderr, which rules write to a log, is the command that runs them again.
    """

    def main() -> None:
        parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
        parser.add_argument("specification", type=Path, help=f"a file of {FOLDER}")
        path = parser.parse_args().specification
        sys.stderr.write(f"{shlex.join(['python', *sys.argv])}\n")
        jobs = read_jobs(path)
        identities = {record_of(job.artifact.path): job.identity for job in jobs if job.identity}
        for record in identities:
            record.unlink(missing_ok=True)
        function(jobs)
        for record, identity in identities.items():
            atomic_write_text(record, f"{identity}\n")

    run(main)


def run_job(function: Callable[[Job[Any]], None]) -> None:
    """Run a function on the only job of that file, see `run_jobs`."""
    run_jobs(lambda jobs: function(jobs[0]))
