"""Looks at a Slurm cluster from its login node and fills in `config/cluster.yaml`.

What Slurm says of itself (partitions, nodes, GPUs, limits, accounting) is read from its clients. A
request of each kind is put to Slurm, which says whether it would take it, and a small job on a node
says what is to be seen from there: the folder, its locks, the environment, GPUs, the network.
"""

import fcntl
import getpass
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from snakemake_executor_plugin_slurm.utils import parse_time_to_minutes

from nat.configuration.models import Cluster, Nodes, read_model
from nat.configuration.yaml_file import read_yaml
from nat.errors import UserError
from nat.files import atomic_write_text
from nat.locks import lock_of
from nat.spelling import hint
from nat.workflow import node
from nat.workflow.cluster import CLUSTER
from nat.workflow.slurm import (
    FIRST_LOOK,
    ask,
    keeps_accounts,
    settings_of,
    state_of,
    too_soon_forgotten,
)

SECONDS_FOR_A_NODE = 300
"""How long a small job may wait for a node, and how long it may run."""

_NO_LIMIT = {"", "UNLIMITED", "NONE", "INFINITE", "(null)", "Partition_Limit"}
_NOT_IN_USE = {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "FUTURE", "UNKNOWN"}
_NOT_BEGUN = {"", "PENDING", "CONFIGURING"}
_NOT_ENDED = {*_NOT_BEGUN, "RUNNING", "COMPLETING", "SUSPENDED"}
_GPU = re.compile(r"gpu(?::(?P<type>[^:,()]+))?:(?P<count>\d+)(?=[,(]|$)")
_FIELD = re.compile(r"(?:^|\s)([A-Z][\w:/]*)=(.*?)(?=\s+[A-Z][\w:/]*=|\s*$)")


@dataclass(frozen=True)
class Partition:
    """A partition and the nodes of it that are in use.

    Attributes:
        minutes: most minutes of a job; None without a limit.
        memory_mb: memory of its largest node; None if it is not known.
        gpus: number of GPUs by type; those without a type under the empty name.
        accounts: those that may use it; None for all.
        qos: those that may be used in it; None for all.
        own_qos: QOS of the partition itself, whose limits hold for its jobs as well.
    """

    name: str
    is_default: bool
    is_up: bool
    nodes: int
    minutes: int | None
    memory_mb: int | None
    gpus: Mapping[str, int]
    accounts: frozenset[str] | None
    qos: frozenset[str] | None
    own_qos: str

    def __str__(self) -> str:
        gpus = sum(self.gpus.values())
        types = ", ".join(f"{count} {name}" for name, count in self.gpus.items() if name)
        said = [
            f"{self.nodes} nodes in use" if self.nodes != 1 else "1 node in use",
            "any time" if self.minutes is None else f"at most {self.minutes} minutes",
            "memory unknown" if self.memory_mb is None else f"{self.memory_mb} MB on a node",
            f"{gpus} GPUs" + (f" ({types})" if types else ""),
        ]
        return f"partition {self.name}{' (default)' if self.is_default else ''}: {', '.join(said)}"


@dataclass(frozen=True)
class Rights:
    """What the accounting grants this user.

    Attributes:
        default_account: account that is charged for jobs that name none.
        qos: QOS that may be used, by account.
        default_qos: QOS of jobs that name none, by account.
        minutes: most minutes of a job, by QOS, and by account under the key `account:NAME`.
    """

    default_account: str
    qos: Mapping[str, Sequence[str]]
    default_qos: Mapping[str, str]
    minutes: Mapping[str, int]


@dataclass(frozen=True)
class Slurm:
    """A cluster as its clients describe it; `rights` is None where no accounts are kept."""

    settings: Mapping[str, str]
    partitions: Sequence[Partition]
    rights: Rights | None

    @property
    def keeps_accounts(self) -> bool:
        """Whether finished jobs are recorded, so that sacct knows them."""
        return keeps_accounts(self.settings)


def records(text: str) -> Iterator[dict[str, str]]:
    """Lines of `scontrol --oneliner show ...` as mappings."""
    for line in text.splitlines():
        found = dict(_FIELD.findall(line))
        if found:
            yield found


def minutes(text: str) -> int | None:
    """A time limit of Slurm; None if there is none."""
    return None if text in _NO_LIMIT else parse_time_to_minutes(text)


def partitions(text: str, nodes: str) -> list[Partition]:
    """What `scontrol --oneliner show partition` and `... show node` say."""
    by_partition: dict[str, list[dict[str, str]]] = {}
    for found in records(nodes):
        state = set(re.split(r"[+]", re.sub(r"[*~#!%$@^-]", "", found.get("State", ""))))
        if not state & _NOT_IN_USE:
            for name in found.get("Partitions", "").split(","):
                by_partition.setdefault(name, []).append(found)
    return [_partition(found, by_partition) for found in records(text)]


def _partition(
    found: Mapping[str, str], by_partition: Mapping[str, list[dict[str, str]]]
) -> Partition:
    nodes = by_partition.get(found["PartitionName"], [])
    memory = [int(each["RealMemory"]) - int(each.get("MemSpecLimit", 0)) for each in nodes]
    memory = [each for each in memory if each > 1]  # 1 if the administrators have not said it
    most = found.get("MaxMemPerNode", "")
    if most.isdigit():
        memory = [min(each, int(most)) for each in memory]
    gpus: dict[str, int] = {}
    for each in nodes:
        for match in _GPU.finditer(each.get("Gres", "")):
            name = match["type"] or ""
            gpus[name] = gpus.get(name, 0) + int(match["count"])
    return Partition(
        name=found["PartitionName"],
        is_default=found.get("Default") == "YES",
        is_up=found.get("State") == "UP",
        nodes=len(nodes),
        minutes=minutes(found.get("MaxTime", "")),
        memory_mb=max(memory, default=None),
        gpus=gpus,
        accounts=_names(found.get("AllowAccounts", "ALL")),
        qos=_names(found.get("AllowQos", "ALL")),
        own_qos=found.get("QoS", ""),
    )


def _names(text: str) -> frozenset[str] | None:
    return None if text in {"ALL", "N/A", "(null)", ""} else frozenset(text.split(","))


def rights(associations: str, user: str, qos: str) -> Rights:
    """What sacctmgr says, with --parsable2, of the user's associations, the user and all QOS.

    Args:
        associations: Account|QOS|DefaultQOS|MaxWall.
        user: DefaultAccount.
        qos: Name|MaxWall.
    """
    granted: dict[str, list[str]] = {}
    usual: dict[str, str] = {}
    limits: dict[str, int] = {}
    for line in associations.splitlines():
        account, names, default, most = line.split("|")
        granted.setdefault(account, []).extend(filter(None, names.split(",")))
        usual.setdefault(account, default)
        _limit(limits, f"account:{account}", most)
    for line in qos.splitlines():
        name, most = line.split("|")
        _limit(limits, name, most)
    return Rights((user.split() or [""])[0], granted, usual, limits)


def _limit(limits: dict[str, int], name: str, most: str) -> None:
    found = minutes(most)
    if found is not None:
        limits[name] = min(found, limits.get(name, found))


def look(user: str) -> Slurm:
    """Ask Slurm's clients.

    Raises:
        UserError: if there is no Slurm, or it does not answer.
    """
    settings = settings_of(_ask("scontrol", "show", "config"))
    found = partitions(
        _ask("scontrol", "--oneliner", "show", "partition"),
        _ask("scontrol", "--oneliner", "show", "node"),
    )
    granted = None
    if keeps_accounts(settings):
        shown = ["sacctmgr", "--noheader", "--parsable2", "show"]
        columns = "format=Account,QOS,DefaultQOS,MaxWall"
        granted = rights(
            _ask(*shown, "associations", f"user={user}", columns),
            _ask(*shown, "user", user, "format=DefaultAccount"),
            _ask(*shown, "qos", "format=Name,MaxWall"),
        )
    return Slurm(settings, found, granted)


def _ask(*command: str) -> str:
    """What a client of Slurm prints."""
    ended = ask(*command)
    if ended.returncode != 0:
        said = " ".join(ended.stderr.split())
        raise UserError(f"Slurm does not answer: {' '.join(command)} says '{said}'")
    return ended.stdout


def choose(slurm: Slurm, given: Cluster) -> Cluster:
    """Fill in what `config/cluster.yaml` leaves open; what it says is kept.

    Jobs without a GPU go to the default partition, those with one to the partition with the most
    GPUs. Without any GPU in use, nothing is filled in for them.

    Raises:
        UserError: if a partition that the file names does not exist, or there is none.
    """
    usable = [each for each in slurm.partitions if each.is_up and each.nodes]
    if not usable:
        raise UserError("no partition of this Slurm is up and has a node in use; see 'sinfo'")
    names = {each.name: each for each in slurm.partitions}
    for key, name in (("cpu", given.cpu.partition), ("gpu", given.gpu.partition)):
        if name is not None and name not in names:
            raise UserError(
                f"{CLUSTER}: key '{key}.partition': there is no partition '{name}'; "
                f"{hint(name, names)}"
            )
    by_gpus = sorted(usable, key=lambda each: (-sum(each.gpus.values()), each.name))
    without = [each for each in usable if each.is_default] or by_gpus[::-1]
    cpu = names[given.cpu.partition] if given.cpu.partition else without[0]
    gpu = names[given.gpu.partition] if given.gpu.partition else by_gpus[0]
    kinds = [cpu, gpu] if gpu.gpus else [cpu]
    account, qos = _charged(slurm.rights, kinds, given)
    found = given.model_dump() | {"account": account, "qos": qos}
    for key, kind in zip(("cpu", "gpu"), kinds, strict=False):
        limits = [kind.minutes, *_limits(slurm.rights, kind, account, qos)]
        most = min((each for each in limits if each is not None), default=None)
        found[key] = _filled(getattr(given, key), kind, most)
    return Cluster(**found)


def _charged(
    granted: Rights | None, kinds: Sequence[Partition], given: Cluster
) -> tuple[str | None, str | None]:
    """Account and QOS that jobs name; None where all partitions allow the user's default."""
    if granted is None:
        return given.account, given.qos
    account, qos = given.account, given.qos
    if account is None:
        account = _allowed([each.accounts for each in kinds], granted.qos, granted.default_account)
    charged = account or granted.default_account
    if qos is None:
        usual = granted.default_qos.get(charged, "")
        qos = _allowed([each.qos for each in kinds], granted.qos.get(charged, []), usual)
    return account, qos


def _allowed(
    limits: Sequence[frozenset[str] | None], names: Iterable[str], usual: str
) -> str | None:
    """The first of the user's names that all partitions allow; None if they allow the usual one."""
    strict = [each for each in limits if each is not None]
    if all(usual in each for each in strict):
        return None
    return next((name for name in names if all(name in each for each in strict)), None)


def _limits(
    granted: Rights | None, partition: Partition, account: str | None, qos: str | None
) -> list[int | None]:
    """The most minutes of a job by account, QOS and the QOS of the partition; None for any."""
    if granted is None:
        return []
    charged = account or granted.default_account
    used = qos or granted.default_qos.get(charged, "")
    names = (f"account:{charged}", used, partition.own_qos)
    return [granted.minutes.get(name) for name in names]


def _filled(given: Nodes, partition: Partition, most: int | None) -> dict[str, Any]:
    found = {
        "partition": partition.name,
        "most_minutes": most,
        "most_memory_mb": partition.memory_mb,
    }
    return given.model_dump() | {
        key: value for key, value in found.items() if getattr(given, key) is None
    }


def request(cluster: Cluster, gpu: bool, minutes: int | None, memory_mb: int | None) -> list[str]:
    """Options of sbatch and srun that request a job of one core."""
    kind = cluster.gpu if gpu else cluster.cpu
    words = ["--ntasks=1", "--cpus-per-task=1"]
    named = {
        "--account": cluster.account,
        "--qos": cluster.qos,
        "--partition": kind.partition,
        "--time": minutes,
        "--mem": memory_mb,
    }
    words += [f"{key}={value}" for key, value in named.items() if value is not None]
    if gpu:
        gpus = ":".join(filter(None, [cluster.gpu.type, "1"]))
        words.append(f"--gres=gpu:{gpus}" if cluster.gpu.request == "gres" else f"--gpus={gpus}")
    return words


def refusal(words: Sequence[str]) -> str:
    """Why Slurm would refuse a job; empty if it would accept it."""
    ended = ask("sbatch", "--test-only", "--job-name=nat_doctor", *words, "--wrap=true")
    if ended.returncode == 0:
        return ""
    return _said(ended.stderr)


def doctor(root: Path, say: Callable[[str], object]) -> None:
    """Look at this cluster and fill in `config/cluster.yaml`.

    Args:
        root: the repository.
        say: shows a line.

    Raises:
        UserError: without a repository or a Slurm; if the file is wrong; or, after all has been
            said, if something would keep jobs from running.
    """
    root = root.resolve()
    if not (root / CLUSTER).parent.is_dir():
        raise UserError(f"there is no folder config in {root}; run this in the repository")
    given = Cluster()
    if (root / CLUSTER).exists():
        given = read_model(Cluster, read_yaml(root, CLUSTER), CLUSTER)
    slurm = look(getpass.getuser())
    version = slurm.settings.get("SLURM_VERSION", "of an unknown version")
    say(f"Slurm {version}, cluster {slurm.settings.get('ClusterName', 'without a name')}")
    for partition in slurm.partitions:
        say(f"  {partition}" + ("" if partition.is_up else ", not up"))
    problems = list(_of_accounting(slurm, _first_look(root), say))
    cluster = choose(slurm, given)
    gpus = {each.name: each for each in slurm.partitions if each.gpus}
    kinds = [False, True] if cluster.gpu.partition in gpus else [False]
    if True not in kinds:
        say("  no GPU is in use, so only scales without GPUs can run: demo, small and micro")
    elif len(types := [name for name in gpus[str(cluster.gpu.partition)].gpus if name]) > 1:
        say(f"  GPUs of several types; 'gpu.type' may be one of them: {', '.join(types)}")
    if True in kinds:
        cluster = _with_gpu_request(cluster)
    for gpu in kinds:
        kind = cluster.gpu if gpu else cluster.cpu
        said = refusal(request(cluster, gpu, kind.most_minutes, kind.most_memory_mb))
        if said:
            name = "with a GPU" if gpu else "without a GPU"
            problems.append(f"Slurm refuses the largest job {name}: {said}")
    addresses = node.addresses(root)
    say(f"  here: {_reached(node.reached(addresses), addresses)}")
    problems += _from_nodes(root, cluster, kinds, addresses, say)
    text = written(cluster)
    if cluster == given and (root / CLUSTER).exists():
        say(f"{CLUSTER} says all this already")
    else:
        atomic_write_text(root / CLUSTER, text)
        say(f"wrote {CLUSTER}")
    for problem in problems:
        say(f"problem: {problem}")
    if problems:
        raise UserError("jobs will not run here as it stands; the lines above say what to change")


def _first_look(root: Path) -> int:
    """Seconds before the executor's first look at a job, as the profile says."""
    name = "slurm/config.yaml"
    profile = read_yaml(root, name) if (root / name).exists() else {}
    return int(profile.get(f"slurm-{FIRST_LOOK[0]}", FIRST_LOOK[1]))


def _of_accounting(slurm: Slurm, first_look: int, say: Callable[[str], object]) -> Iterator[str]:
    """Say how the cluster accounts for jobs; yield what keeps runs from working."""
    if not slurm.keeps_accounts:
        say("  no accounting (slurmdbd): squeue is asked how jobs ended")
        if forgotten := too_soon_forgotten(slurm.settings, first_look):
            yield forgotten
    elif slurm.rights is not None and slurm.rights.qos:
        granted = slurm.rights
        accounts = ", ".join(
            f"{name} (QOS {', '.join(qos) or 'of the cluster'})"
            for name, qos in granted.qos.items()
        )
        say(f"  accounts: {accounts}; {granted.default_account or 'none'} by default")
    elif "associations" in slurm.settings.get("AccountingStorageEnforce", ""):
        yield "Slurm knows no account of yours; ask its administrators for one"


def _with_gpu_request(cluster: Cluster) -> Cluster:
    """The cluster with a way to request GPUs that Slurm accepts, if possible the given one.

    Not every Slurm knows --gpus: it needs the plugin select/cons_tres.
    """
    for way in sorted(("gpus", "gres"), key=lambda way: way != cluster.gpu.request):
        found = cluster.model_copy(update={"gpu": cluster.gpu.model_copy(update={"request": way})})
        if not refusal(request(found, True, 1, None)):
            return found
    return cluster


def _from_nodes(
    root: Path,
    cluster: Cluster,
    kinds: Sequence[bool],
    addresses: Sequence[str],
    say: Callable[[str], object],
) -> Iterator[str]:
    """Say what a small job of each kind sees on its node; yield what keeps runs from working."""
    with tempfile.TemporaryDirectory(prefix=".nat-doctor-", dir=root) as name:
        folder = Path(name)
        handle = os.open(lock_of(folder), os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                say("  the file system of this folder has no locks")
            for gpu in kinds:
                kind = cluster.gpu if gpu else cluster.cpu
                say(f"  waits for a node of the partition {kind.partition} ...")
                yield from _from_node(root, folder, request(cluster, gpu, 5, 1000), addresses, say)
        finally:
            lock_of(folder).unlink()
            os.close(handle)


def _from_node(
    root: Path,
    folder: Path,
    words: Sequence[str],
    addresses: Sequence[str],
    say: Callable[[str], object],
) -> Iterator[str]:
    answer, log = folder / "answer.json", folder / "log"
    program = [sys.executable, "-m", "nat.workflow.node", str(answer), *addresses]
    command = ["sbatch", "--parsable", "--job-name=nat_doctor", f"--output={log}", *words]
    command += [f"--chdir={root}", f"--wrap={shlex.join(program)}"]
    asked = ask(*command)
    if asked.returncode != 0:
        yield f"Slurm refuses a small job ({' '.join(words)}): {_said(asked.stderr)}"
        return
    state = _end_of(asked.stdout.split(";")[0].strip())
    if state == "PENDING":
        say("  no node was free soon enough; run this again to look from one")
    elif not log.exists():
        yield f"a node does not see {root} ({state}); use a file system that all nodes share"
    elif state != "COMPLETED":
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:]
        yield f"a small job fails ({' '.join(words)}; {state}): {' '.join(end)}"
    else:
        found = json.loads(answer.read_text(encoding="utf-8"))
        answer.unlink()
        log.unlink()
        locks = "its locks hold" if found["locked"] else "its locks do not hold"
        gpus = f"{found['gpus']} GPUs for PyTorch {found['torch']}"
        say(
            f"  {found['node']}: sees this folder, {locks}; {gpus}; "
            f"{_reached(found['reached'], addresses)}"
        )
        if not found["locked"]:
            say("  without locks, stop jobs of a killed run before the next one (docs/cluster.md)")


def _end_of(job: str) -> str:
    """The state of a job when it ends.

    A job is cancelled if it does not begin in time, which is `PENDING`, or does not end in time,
    which is `TIMEOUT`.
    """
    began = time.monotonic()
    while (state := state_of(job)) in _NOT_ENDED:
        waited = time.monotonic() - began
        if waited > (SECONDS_FOR_A_NODE if state in _NOT_BEGUN else 2 * SECONDS_FOR_A_NODE):
            ask("scancel", job)
            return "PENDING" if state in _NOT_BEGUN else "TIMEOUT"
        time.sleep(1)
    return state


def _said(text: str) -> str:
    """The error message of a client, on one line."""
    return " ".join(re.sub(r"sbatch: (error: )?", "", text).split())


def _reached(found: Sequence[str], addresses: Sequence[str]) -> str:
    """How many of the hosts that corpora come from were reached, in words."""
    missed = [address for address in addresses if address not in found]
    if not missed:
        return "the hosts of all corpora are reached"
    return f"{len(found)} of {len(addresses)} hosts of corpora are reached, not {', '.join(missed)}"


def written(cluster: Cluster) -> str:
    """The text of `config/cluster.yaml`."""
    kinds = {"": cluster, "cpu_": cluster.cpu, "gpu_": cluster.gpu}
    values = {
        f"{kind}{key}": yaml.safe_dump(value).splitlines()[0]
        for kind, model in kinds.items()
        for key, value in model.model_dump(exclude={"cpu", "gpu"}).items()
    }
    return _TEXT.format(**values)


_TEXT = """\
# The one file to edit before `snakemake --profile slurm`: what this cluster calls things, and the
# most that it grants a job. null leaves a thing to the cluster. What jobs need stands in the scale.
# `nat doctor` fills in what is null.
account: {account}
qos: {qos}
cpu:
  partition: {cpu_partition:<12} # for jobs without a GPU
  most_minutes: {cpu_most_minutes:<9} # of a job; a longer training goes on in the next attempt
  most_memory_mb: {cpu_most_memory_mb:<7} # of a node
gpu:
  partition: {gpu_partition}
  most_minutes: {gpu_most_minutes}
  most_memory_mb: {gpu_most_memory_mb}
  request: {gpu_request:<14} # gpus: --gpus=1   gres: --gres=gpu:1
  type: {gpu_type:<17} # such as a100
"""
