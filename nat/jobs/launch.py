"""Threads and processes of a job; a training may have several, on one node or on several.

The program of a training starts as one process. If the configuration asks for more, it is
replaced by torchrun, or by srun for several nodes, which starts the same program once for each
device. The processes learn their places from RANK, LOCAL_RANK and WORLD_SIZE, as set by torchrun.
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import distributed

from nat.configuration.files import file_of
from nat.errors import UserError
from nat.job import JobConfiguration

PATIENCE = timedelta(hours=2)
"""Time that a process waits for others: the first validation of a large corpus is slow."""

_LAUNCHER = "NAT_LAUNCHER"
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def threads(configuration: JobConfiguration) -> int:
    """Threads of PyTorch: what OpenMP is told for its outermost level, else those of a job."""
    given = os.environ.get("OMP_NUM_THREADS") or str(configuration.settings.threads)
    return int(given.partition(",")[0])


def launch(configuration: JobConfiguration, system: str, program: list[str]) -> None:
    """Replace this process by a launcher, if the training is one of several processes.

    `program` is the training, without the Python that runs it. An error as of `launcher`.
    """
    adopt_slurm(os.environ)
    if "WORLD_SIZE" in os.environ:  # one of the processes
        _end_with_the_launcher()
        return
    processes = configuration.scale.processes.get(system, 1)
    command = launcher(configuration, processes, program, os.environ)
    if command:
        # those of the job are for all processes
        os.environ["OMP_NUM_THREADS"] = str(max(1, threads(configuration) // processes))
        if configuration.scale.nodes == 1:
            os.environ[_LAUNCHER] = str(os.getpid())  # torchrun replaces this process
        sys.stdout.flush()
        os.execvp(command[0], command)


def _end_with_the_launcher() -> None:
    """Have Linux kill this process when torchrun ends for any reason.

    torchrun starts its processes in new sessions, which signals to the process group do not reach.
    """
    started_by = os.environ.get(_LAUNCHER)
    if sys.platform == "linux" and started_by is not None:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != int(started_by):  # it has ended already
            sys.exit("interrupted")


def launcher(
    configuration: JobConfiguration,
    processes: int,
    program: list[str],
    environment: Mapping[str, str],
) -> list[str]:
    """The command that starts the processes of a training; empty for a single one.

    There are so many `processes` if neither the scale nor the machine says how many GPUs there are.
    Raises a `UserError` if it needs several nodes but is not in a Slurm job.
    """
    scale, need = configuration.scale, configuration.scale.stages.train
    here, nodes = scale.devices, scale.nodes
    if nodes == 1:
        here = (torch.cuda.device_count() or processes) if here is None else here
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return [*torchrun, f"--nproc-per-node={here}", *program] if here > 1 else []
    here = here or 1
    job = environment.get("SLURM_JOB_ID")
    if job is None or shutil.which("srun", path=environment.get("PATH")) is None:
        raise UserError(
            f"{file_of('scales', configuration.settings.scale)}: 'nodes' is {nodes}, but this is "
            "not a Slurm job; use 'snakemake --profile slurm', or set 'nodes' to 1"
        )
    # the executor removes the resources from the environment, so pass them to srun again
    command = ["srun", f"--nodes={nodes}", f"--ntasks={here * nodes}"]
    command += [f"--ntasks-per-node={here}", f"--cpus-per-task={need.cores}"]
    command += ["--kill-on-bad-exit=1"]
    if need.gpu:
        gpus = configuration.gpus
        gres = ":".join(filter(None, ["gpu", gpus.type, str(here)]))
        command += [f"--gres={gres}" if gpus.request == "gres" else f"--gpus-per-node={here}"]
    meeting_point = f"MASTER_ADDR={_first_node(job)},MASTER_PORT={20_000 + int(job) % 10_000}"
    exports = f"--export=ALL,{meeting_point},NAT_TASKS={here * nodes}"
    return [*command, exports, sys.executable, *program]


def adopt_slurm(environment: MutableMapping[str, str]) -> None:
    """Set the variables of torchrun for a process that `srun` started."""
    if "NAT_TASKS" in environment and "WORLD_SIZE" not in environment:
        environment["WORLD_SIZE"] = environment["NAT_TASKS"]
        environment["RANK"] = environment["SLURM_PROCID"]
        environment["LOCAL_RANK"] = environment["SLURM_LOCALID"]


def _first_node(job: str) -> str:
    """Address of the first node of a Slurm job."""

    def output(*command: str) -> str:
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, timeout=120
        ).stdout.strip()

    nodes = output("squeue", "--noheader", "--jobs", job, "--format", "%N")
    first = output("scontrol", "show", "hostnames", nodes).split()[0]
    address = re.search(r"NodeAddr=(\S+)", output("scontrol", "show", "node", first))
    return address[1] if address else first


def world_size() -> int:
    """Processes of this training."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def leads() -> bool:
    """Return True for the process that writes."""
    return int(os.environ.get("RANK", "0")) == 0


@contextmanager
def process_group() -> Iterator[None]:
    """The processes of a training as a group, if there are several."""
    if world_size() == 1:
        yield
        return
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
    yield  # not in a `try`: a process that fails must end immediately, not wait for the others
    distributed.destroy_process_group()


def wait_for_all() -> None:
    """Wait until every process of the training has reached this point."""
    if world_size() > 1:
        distributed.barrier()
