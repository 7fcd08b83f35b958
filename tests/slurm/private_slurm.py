"""A real Slurm on this machine alone: munged, slurmctld and two virtual nodes, on loopback.

No file outside its folder is written, no other daemon is touched. The nodes n1 and n2 have two
stand-in GPUs each: as root, null devices of their own. CPUs and memory are counted, not confined.
"""

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sinfo", "squeue", "srun", "setpriv")
OF_ACCOUNTING = ("slurmdbd", "mariadbd", "mariadb", "mariadb-install-db")
CLIENTS = ("srun", "sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
SNAKEMAKE = [sys.executable, str(Path(__file__).with_name("snakemake_polled.py"))]
SNAKEMAKE += ["--profile", "slurm", "--config", "scale=micro", "--latency-wait", "10"]
# not 40 s before the first look
SNAKEMAKE += ["--slurm-init-seconds-before-status-checks", "1"]
CPUS, MEMORY_MB, GPUS = 4, 6000, 2
SECONDS_TO_START = 120
NULL_DEVICE = (1, 3)
NODES = ("n1", "n2")
# Since then a slurmd starts without cgroups only if told to; before, it did not know the word.
FIRST_THAT_WANTS_CGROUPS = (23, 11)


class PrivateSlurm:
    """Start with `start`, stop with `stop`; `environment` is for those who use it.

    Attributes:
        accounting: whether a slurmdbd keeps accounts, in a MariaDB of its own, and enforces them.
    """

    def __init__(self, folder: Path, accounting: bool) -> None:
        self.folder, self.accounting = folder.resolve(), accounting
        self.daemons: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
        self.socket, self.user = self.folder / "munge/socket", getpass.getuser()
        self.host, self.ports = socket.gethostname().split(".")[0], _free_ports(5)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SLURM_")},
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder / 'bin'}:{self.path}",
        }

    def start(self) -> None:
        """Start all daemons and wait until both nodes are idle."""
        # munged refuses folders that a group may write, and umasks of ordinary users are so
        for name in ("", "bin", "dev", "log", "munge", "state", "spool", "spool/n1", "spool/n2"):
            (self.folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        self._configure()
        files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "log", "seed")]
        self._run("munged", "--foreground", f"--socket={self.socket}", *files)
        self._wait(self.socket.exists)
        if self.accounting:
            self._start_accounting()
        self._run("slurmctld", "-D")
        for node in NODES:
            self._run("slurmd", "-D", "-N", node)
        self._wait(lambda: self.states() == dict.fromkeys(NODES, "idle"))

    def _start_accounting(self) -> None:
        """MariaDB and slurmdbd, with an account `lab` and a QOS `long` of this user."""
        base = self.folder / "db"
        of_server = ["--no-defaults", f"--user={self.user}", f"--datadir={base / 'data'}"]
        (base / "data").mkdir(parents=True)
        without = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        self.call("mariadb-install-db", *of_server, *without)
        self._run(
            "mariadbd",
            *(*of_server, f"--socket={base / 's'}", f"--pid-file={base / 'pid'}"),
            *("--bind-address=127.0.0.1", f"--port={self.ports + 4}", "--skip-log-bin"),
            *("--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900"),
        )
        sql = ["mariadb", "--no-defaults", f"--socket={base / 's'}", "--user=root"]
        self._wait(lambda: self._answers(*sql, "--execute=select 1"))
        password = secrets.token_hex()
        commands = ["create database slurm_acct"]
        for name in ("slurm@localhost", "slurm@127.0.0.1"):
            commands += [f"create user {name} identified by '{password}'"]
            commands += [f"grant all on slurm_acct.* to {name}"]
        self.call(*sql, f"--execute={'; '.join(commands)}")
        secret = self.folder / "slurmdbd.conf"
        secret.touch(mode=0o600)
        secret.write_text(ACCOUNTING.format(**self._names, password=password))
        self._run("slurmdbd", "-D")
        self._wait(lambda: self._answers("sacctmgr", "--noheader", "show", "cluster"))
        for words in (
            "add cluster private",
            "add account lab cluster=private",
            f"add user {self.user} account=lab cluster=private",
            f"modify user {self.user} set defaultaccount=lab",
            "add qos long",
            "modify qos long set maxwall=02:00:00",
            f"modify user {self.user} set qos=long defaultqos=long",
        ):
            self.call("sacctmgr", "--immediate", *words.split())

    def stop(self) -> list[str]:
        """End all jobs, then the daemons in reverse order; returns what had to be killed."""
        killed = []
        if any(name == "slurmctld" and daemon.poll() is None for name, daemon in self.daemons):
            if jobs := self.squeue("%A", "PD,CF,R,S,CG"):
                self.call("scancel", *sorted(set(jobs)))
            until = time.monotonic() + 30
            while self.squeue("%A", "CF,R,S,CG") and time.monotonic() < until:
                time.sleep(0.2)
        for name, daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
                killed.append(name)
        return killed

    def call(self, *command: str) -> str:
        """Run one of the clients."""
        return subprocess.run(
            command,
            env=self.environment,
            text=True,
            capture_output=True,
            check=True,
            timeout=SECONDS_TO_START,
        ).stdout

    def _answers(self, *command: str) -> bool:
        try:
            self.call(*command)
        except subprocess.SubprocessError:
            return False
        return True

    def squeue(self, columns: str, states: str = "all") -> list[str]:
        """Lines about jobs."""
        words = ["--noheader", "--states", states, "--format", columns]
        return self.call("squeue", *words).splitlines()

    def states(self) -> dict[str, str]:
        """What each node does."""
        try:
            lines = self.call("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").splitlines()
        except subprocess.SubprocessError:
            return {}
        return dict(line.split() for line in lines)  # type: ignore[misc]

    def _run(self, name: str, *arguments: str) -> None:
        """Start a daemon in the foreground that ends with this process."""
        program = shutil.which(name, path=self.path)
        assert program, name
        with (self.folder / f"log/{name}.out").open("ab") as log:
            daemon = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.daemons.append((name, daemon))

    def _wait(self, ready: Callable[[], bool]) -> None:
        until = time.monotonic() + SECONDS_TO_START
        while not ready():
            ended = [name for name, daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > until:
                logs = sorted((self.folder / "log").iterdir())
                ends = (f"{log.name}: {log.read_text(errors='replace')[-600:]}" for log in logs)
                raise RuntimeError("\n".join([f"no start ({ended or 'too slow'})", *ends]))
            time.sleep(0.1)

    def _version(self) -> tuple[int, int]:
        """Year and month of this Slurm, which says `slurm-wlm 22.05.8` or the like."""
        year, month = self.call("slurmctld", "-V").split()[1].split(".")[:2]
        return int(year), int(month)

    @property
    def _names(self) -> dict[str, Any]:
        """What the files of its configuration name."""
        ports = {name: self.ports + number for number, name in enumerate(PORTS)}
        own = {"host": self.host, "user": self.user, "socket": self.socket}
        return {"folder": self.folder, **ports, **own}

    def _configure(self) -> None:
        lines, nodes = ["AutoDetect=off"], []
        for number, node in enumerate(NODES):
            for gpu in range(GPUS):
                device = self.folder / f"dev/{node}-gpu{gpu}"
                if os.geteuid() == 0:  # of their own; the number at the end becomes visible
                    os.mknod(device, 0o20666, os.makedev(*NULL_DEVICE))
                else:
                    device = Path(("/dev/null", "/dev/zero")[gpu])
                lines.append(f"NodeName={node} Name=gpu File={device}")
            nodes.append(
                f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 "
                f"Port={self.ports + 1 + number} CPUs={CPUS} RealMemory={MEMORY_MB} "
                f"Gres=gpu:{GPUS} State=UNKNOWN\n"
            )
        (self.folder / "gres.conf").write_text("\n".join([*lines, ""]))
        if self._version() >= FIRST_THAT_WANTS_CGROUPS:
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        nodes.append("PartitionName=main Nodes=ALL Default=YES MaxTime=240 DefaultTime=10\n")
        parts = CONFIGURATION + (ACCOUNTED if self.accounting else "")
        (self.folder / "slurm.conf").write_text(parts.format(**self._names) + "".join(nodes))
        # The executor hides SLURM_* from its jobs, SLURM_CONF too, so clients must find it.
        for name in CLIENTS:
            if real := shutil.which(name, path=self.path):
                client = self.folder / "bin" / name
                text = f'SLURM_CONF={self.folder}/slurm.conf exec {real} "$@"'
                client.write_text(f"#!/bin/sh\n{text}\n")
                client.chmod(0o755)


@contextmanager
def started(accounting: bool = False) -> Iterator[PrivateSlurm]:
    """A Slurm that runs meanwhile; a test fails where one cannot."""
    private = PrivateSlurm(Path(tempfile.mkdtemp(prefix="slurm-")), accounting)
    wanted = (*PROGRAMS, *(OF_ACCOUNTING if accounting else ()))
    if missing := [name for name in wanted if shutil.which(name, path=private.path) is None]:
        pytest.fail(f"missing {', '.join(missing)}; SLURM_PACKAGES of the Makefile has them")
    # munged wants a folder that everybody may enter, which temporary ones are not
    private.folder.chmod(0o755)
    killed = []
    try:
        private.start()
        yield private
    finally:
        killed = private.stop()
        shutil.rmtree(private.folder)
    assert not killed, f"did not stop by themselves: {killed}"


def _free_ports(count: int) -> int:
    """The first of so many free ports in a row, below those that the system hands out itself."""
    for base in range(27100, 31000, 10):
        try:
            for port in range(base, base + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no free ports")


PORTS = ("base", "n1", "n2", "dbd", "sql")
"""Names of its ports, in order."""

# No cgroups and no systemd; finished jobs stay in the memory of slurmctld, where squeue sees them.
CONFIGURATION = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={base}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={socket}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/state/slurmctld.pid
SlurmdPidFile={folder}/spool/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2,bf_interval=5
PriorityType=priority/basic
DefMemPerCPU=100
MinJobAge=86400
KillWait=3
CompleteWait=0
ReturnToService=1
SlurmctldTimeout=300
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
GresTypes=gpu
"""


ACCOUNTED = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={socket}
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
"""

ACCOUNTING = """\
AuthType=auth/munge
AuthInfo=socket={socket}
CommunicationParameters=NoInAddrAny
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser={user}
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/state/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct
"""
