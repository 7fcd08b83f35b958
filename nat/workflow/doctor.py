"""Looks at a Slurm cluster from its login node before the first run: its partitions, whether it
accepts what the stages of a scale request, and what a small job on a node sees."""

import getpass
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from snakemake_executor_plugin_slurm.utils import parse_time_to_minutes

from nat.configuration import Configuration, load
from nat.configuration.files import read_yaml
from nat.configuration.scales import Cluster, Stages
from nat.errors import UserError
from nat.workflow import slurm
from nat.workflow.cluster import ATTEMPTS, CLUSTER, read_cluster, resources

SECONDS = 300  # for a small job, with the time that it waits for a node
FIRST_LOOK = "slurm-init-seconds-before-status-checks"  # a key of the profile; 40 by default

_PROGRAM = [
    sys.executable,
    "-c",
    "import socket, torch, nat; "
    "print(f'{socket.gethostname()}, {torch.cuda.device_count()} GPUs for PyTorch')",
]
# options of sbatch, by the resources that Snakemake's executor makes them of
_OPTIONS = {
    "slurm_account": "account",
    "qos": "qos",
    "slurm_partition": "partition",
    "runtime": "time",
    "mem_mb": "mem",
    "cpus_per_task": "cpus-per-task",
    "nodes": "nodes",
    "tasks": "ntasks",
    "gres": "gres",
}


@dataclass
class Partition:
    """A partition, with its limits as `config/cluster.yaml` names them; None where unknown."""

    partition: str
    is_default: bool
    most_minutes: int | None
    most_memory_mb: int | None = None
    nodes: int = 0
    gpus: int = 0

    def __str__(self) -> str:
        name = f"partition {self.partition}{' (the default)' if self.is_default else ''}"
        limits = f"{self.most_minutes or 'any'} minutes, {self.most_memory_mb or 'unknown'} MB"
        return f"{name}: {self.nodes} nodes, {self.gpus} GPUs, at most {limits}"


def partitions(text: str) -> list[Partition]:
    """The partitions that are up, from `sinfo` with the format %P|%a|%l|%m|%D|%G."""
    by_name: dict[str, Partition] = {}
    for line in text.splitlines():
        name, state, most, memory, nodes, gres = line.strip().split("|")
        if state == "up" and nodes != "0":
            minutes = None if most == "infinite" else parse_time_to_minutes(most)
            own = by_name.setdefault(name, Partition(name.rstrip("*"), name[-1] == "*", minutes))
            known = int(memory.rstrip("+"))
            if known > 1:  # 1 where the administrators have not said it
                own.most_memory_mb = max(known, own.most_memory_mb or 0)
            own.nodes += int(nodes)
            of_each = re.findall(r"\bgpu(?::[^:,()]+)?:(\d+)(?=[,(]|$)", gres)
            own.gpus += sum(map(int, of_each)) * int(nodes)
    return list(by_name.values())


def proposed(given: Cluster, known: list[Partition]) -> Cluster:
    """A cluster with what it leaves open: the default partition, and that with the most GPUs."""
    cpu = next((each for each in known if each.is_default), known[0])
    gpu = max(known, key=lambda each: each.gpus)
    content = given.model_dump()
    for key, usual in {"cpu": cpu, "gpu": gpu}.items() if gpu.gpus else [("cpu", cpu)]:
        own = content[key]
        kind = next((each for each in known if each.partition == own["partition"]), usual)
        own |= {name: value for name, value in vars(kind).items() if own.get(name, 0) is None}
    return Cluster(**content)


def request(asked: Mapping[str, Any], attempt: int) -> list[str]:
    """The options of sbatch for a job with these resources."""
    words = asked.get("slurm_extra", "").split()
    for key, value in asked.items():
        own = value(None, attempt=attempt) if callable(value) else value
        words += [f"--{_OPTIONS[key]}={own}"] if key in _OPTIONS else []
    if "gpu" in asked:
        kind = f"{asked['gpu_model']}:" if "gpu_model" in asked else ""
        words.append(f"--gpus={kind}{asked['gpu']}")
    return words


def refusals(configuration: Configuration, cluster: Cluster) -> dict[str, str]:
    """Reasons for which Slurm would refuse jobs in their first or last attempt, by stage."""
    reasons: dict[str, str] = {}
    for stage in Stages.model_fields:
        for attempt in (ATTEMPTS, 1):
            words = request(resources(configuration, cluster, stage), attempt)
            test = ["sbatch", "--test-only", "--job-name=nat_doctor", *words, "--wrap=true"]
            ended = slurm.ask(*test)
            if ended.returncode != 0:
                reasons[stage] = f"in attempt {attempt}, {' '.join(words)}: {_line(ended.stderr)}"
    return reasons


def require_memory(first_look: int) -> None:
    """Refuse a Slurm that forgets how jobs have ended: a run would wait forever.

    Without accounts, the executor asks `squeue` only if Slurm knows a job for three times as long
    after its end as the seconds before its first look.
    """
    ended = slurm.ask("scontrol", "show", "config")
    if ended.returncode != 0:
        raise UserError(f"scontrol does not answer ({ended.stderr.strip()}); wait for Slurm")
    settings = dict(re.findall(r"(?m)^(\w+)\s*=\s*(.*?)\s*$", ended.stdout))
    keeps_accounts = settings.get("AccountingStorageType") == "accounting_storage/slurmdbd"
    seconds = int(re.sub(r"\D.*", "", settings.get("MinJobAge", "")) or 0)
    if seconds < 3 * first_look and not keeps_accounts:
        raise UserError(
            "this Slurm keeps no accounts, and forgets a job soon after its end (MinJobAge is "
            f"{seconds} seconds, {3 * first_look} are needed); ask its administrators for more, or "
            f"set '{FIRST_LOOK}: {max(1, seconds // 3)}' in slurm/config.yaml"
        )


def seen(root: Path, words: list[str]) -> str:
    """Run a small job on a node, and return what it sees there."""
    with tempfile.TemporaryDirectory(prefix=".nat-doctor-", dir=root) as folder:
        log = Path(folder) / "log"
        command = ["sbatch", "--wait", "--job-name=nat_doctor", f"--output={log}", *words]
        command += ["--time=5", f"--chdir={root}", f"--wrap={shlex.join(_PROGRAM)}"]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            slurm.ask("scancel", "--name=nat_doctor", f"--user={getpass.getuser()}")
            raise UserError(f"no node was free within {SECONDS} seconds; run this again") from error
        output = _line(log.read_text("utf-8", "replace") if log.exists() else ended.stderr)
        if ended.returncode == 0:
            return output
        if not log.exists():
            raise UserError(f"a node does not see {root}; use a shared file system; {output}")
        raise UserError(f"a small job fails ({' '.join(words)}): {output[-300:]}")


def doctor(scale: str | None) -> None:
    """Say what to write into `config/cluster.yaml`; fail if jobs of a scale could not run."""
    configuration = load(scale, Path().resolve())
    slurm.require_clients()
    given, problems = read_cluster(configuration), []
    profile = read_yaml(configuration.root, "slurm/config.yaml")
    try:
        slurm.require_account(given.account)
        require_memory(int(profile.get(FIRST_LOOK, 40)))
    except UserError as error:
        problems.append(str(error))
    ended = slurm.ask("sinfo", "--noheader", "--responding", "--format=%P|%a|%l|%m|%D|%G")
    known = partitions(ended.stdout)
    if not known:
        raise UserError(f"no partition is up and has a node; see 'sinfo' {_line(ended.stderr)}")
    _say("\n".join(map(str, known)))
    cluster = proposed(given, known)
    refused = refusals(configuration, cluster)
    way = "gres" if given.gpu.request == "gpus" else "gpus"
    other = cluster.model_copy(update={"gpu": cluster.gpu.model_copy(update={"request": way})})
    if refused and len(again := refusals(configuration, other)) < len(refused):
        cluster, refused = other, again
    accepted = [stage for stage in Stages.model_fields if stage not in refused]
    _say(f"accepted at scale {configuration.scale}: {', '.join(accepted) or 'no stage'}")
    for stage, why in refused.items():
        problems.append(f"stage '{stage}' is refused {why}; {slurm.REFUSED}")
    for stage in (each for each in accepted if each in ("score", "translate")):
        try:
            words = request(resources(configuration, cluster, stage), 1)
            _say(f"a node for '{stage}' can work here: {seen(configuration.root, words)}")
        except UserError as error:
            problems.append(str(error))
    if cluster != given:
        text = yaml.safe_dump(cluster.model_dump(), sort_keys=False, default_flow_style=None)
        _say(f"write into {CLUSTER}:\n{text.rstrip()}")
    for problem in problems:
        _say(f"problem: {problem}")
    if problems:
        raise UserError("jobs will not run on this cluster yet; the lines above say what to change")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _line(text: str) -> str:
    """Put what a program has said on one line."""
    return " ".join(re.sub(r"sbatch: (error: )?", "", text).split())
