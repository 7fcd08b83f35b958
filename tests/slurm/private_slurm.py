"""A real Slurm on this machine alone: munged, slurmctld and two virtual nodes, on loopback.

python tests/slurm/private_slurm.py FOLDER    start it, say how to use it, stop it at Ctrl-C

No file outside the folder is written, no other daemon is touched. The nodes n1 and n2 have two
stand-in GPUs each: as root, null devices of their own. CPUs and memory are counted, not confined.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sinfo", "squeue", "srun", "setpriv")
PACKAGES = "munge slurmctld slurmd slurm-client"
OF_ACCOUNTING = ("slurmdbd", "mariadbd", "mariadb", "mariadb-install-db")
PACKAGES_OF_ACCOUNTING = "slurmdbd slurm-wlm-mysql-plugin mariadb-server"
CLIENTS = ("srun", "sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
CPUS, MEMORY_MB, GPUS = 4, 6000, 2
SECONDS_TO_START = 120
SOCKET_PATH_LENGTH = 100
NULL_DEVICE = (1, 3)
NODES = ("n1", "n2")
# Since then a slurmd starts without cgroups only if told to; before, it did not know the word.
FIRST_THAT_WANTS_CGROUPS = (23, 11)


class PrivateSlurm:
    """Start with `start`, stop with `stop`; `environment` is for those who use it.

    Attributes:
        accounting: whether a slurmdbd keeps accounts, in a MariaDB of its own, and enforces them.
    """

    def __init__(self, folder: Path, accounting: bool = False) -> None:
        self.folder, self.accounting = folder.resolve(), accounting
        self.daemons: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SLURM_")},
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder / 'bin'}:{self.path}",
        }

    def missing(self) -> list[str]:
        """Programs that this machine lacks."""
        wanted = (*PROGRAMS, *(OF_ACCOUNTING if self.accounting else ()))
        return [name for name in wanted if shutil.which(name, path=self.path) is None]

    def start(self) -> None:
        """Start all daemons and wait until both nodes are idle."""
        # munged refuses folders that a group may write, and umasks of ordinary users are so
        for name in ("", "bin", "dev", "log", "munge", "state", "spool", "spool/n1", "spool/n2"):
            (self.folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        if len(str(self._socket)) > SOCKET_PATH_LENGTH:
            raise RuntimeError(f"the path of a socket may not be so long: {self._socket}")
        key = self.folder / "munge/munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._configure()
        munge = self.folder / "munge"
        self._run(
            "munged",
            ["--foreground", f"--socket={self._socket}", f"--key-file={key}"]
            + [f"--pid-file={munge / 'pid'}", f"--log-file={self.folder / 'log/munged.log'}"]
            + [f"--seed-file={munge / 'seed'}"],
        )
        self._wait(lambda: self._socket.exists())
        if self.accounting:
            self._start_accounting()
        self._run("slurmctld", ["-D"])
        for node in NODES:
            self._run("slurmd", ["-D", "-N", node])
        self._wait(lambda: self.states() == dict.fromkeys(NODES, "idle"))

    def _start_accounting(self) -> None:
        """MariaDB and slurmdbd, with an account `lab` and a QOS `long` of this user."""
        base, data = self.folder / "db", self.folder / "db/data"
        (base / "data").mkdir(parents=True)
        user = self._user()
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--user={user}", f"--datadir={data}"]
            + ["--auth-root-authentication-method=normal", "--skip-test-db"],
            env=self.environment,
            check=True,
            capture_output=True,
            timeout=SECONDS_TO_START,
        )
        self._run(
            "mariadbd",
            ["--no-defaults", f"--user={user}", f"--datadir={data}", f"--socket={base / 's'}"]
            + [f"--pid-file={base / 'pid'}", "--bind-address=127.0.0.1", "--skip-log-bin"]
            + [f"--port={self._ports + 4}", "--innodb-buffer-pool-size=64M"]
            + ["--innodb-lock-wait-timeout=900"],
        )
        self._wait(lambda: self._answers(["mariadb", "--no-defaults", *self._sql("select 1")]))
        password = secrets.token_hex()
        self.call(
            "mariadb",
            "--no-defaults",
            *self._sql(
                "create database slurm_acct; "
                f"create user slurm@localhost identified by '{password}'; "
                f"create user slurm@127.0.0.1 identified by '{password}'; "
                "grant all on slurm_acct.* to slurm@localhost; "
                "grant all on slurm_acct.* to slurm@127.0.0.1"
            ),
        )
        secret = self.folder / "slurmdbd.conf"
        secret.touch(mode=0o600)
        secret.write_text(
            ACCOUNTING.format(
                host=self._host(),
                dbd=self._ports + 3,
                sql=self._ports + 4,
                folder=self.folder,
                user=user,
                socket=self._socket,
                password=password,
            )
        )
        self._run("slurmdbd", ["-D"])
        self._wait(lambda: self._answers(["sacctmgr", "--noheader", "show", "cluster"]))
        for words in (
            "add cluster private",
            "add account lab cluster=private",
            f"add user {user} account=lab cluster=private",
            f"modify user {user} set defaultaccount=lab",
            "add qos long",
            "modify qos long set maxwall=02:00:00",
            f"modify user {user} set qos=long defaultqos=long",
        ):
            self.call("sacctmgr", "--immediate", *words.split())

    def _sql(self, command: str) -> list[str]:
        return [f"--socket={self.folder / 'db/s'}", "--user=root", f"--execute={command}"]

    def _answers(self, command: list[str]) -> bool:
        ended = subprocess.run(command, env=self.environment, capture_output=True, timeout=60)
        return ended.returncode == 0

    def stop(self) -> list[str]:
        """End all jobs, then the daemons in reverse order; returns what had to be killed."""
        killed = []
        if any(name == "slurmctld" and daemon.poll() is None for name, daemon in self.daemons):
            jobs = self.squeue("%A", "PD,CF,R,S,CG")
            if jobs:
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
        self.daemons.clear()
        return killed

    def call(self, *command: str) -> str:
        """Run one of the clients."""
        return subprocess.run(
            command, env=self.environment, text=True, capture_output=True, check=True, timeout=60
        ).stdout

    def squeue(self, columns: str, states: str = "all") -> list[str]:
        """Lines about jobs."""
        return self.call(
            "squeue", "--noheader", "--states", states, "--format", columns
        ).splitlines()

    def states(self) -> dict[str, str]:
        """What each node does."""
        try:
            lines = self.call("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").splitlines()
        except subprocess.SubprocessError:
            return {}
        return dict(line.split() for line in lines)  # type: ignore[misc]

    @property
    def _socket(self) -> Path:
        return self.folder / "munge/socket"

    def _run(self, name: str, arguments: list[str]) -> None:
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

    def _wait(self, ready: "object") -> None:
        until = time.monotonic() + SECONDS_TO_START
        while not ready():  # type: ignore[operator]
            ended = [name for name, daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > until:
                logs = sorted((self.folder / "log").iterdir())
                ends = "\n".join(
                    f"{log.name}: {log.read_text(errors='replace')[-600:]}" for log in logs
                )
                raise RuntimeError(f"Slurm does not start ({ended or 'too slow'})\n{ends}")
            time.sleep(0.1)

    def _host(self) -> str:
        return socket.gethostname().split(".")[0]

    def _user(self) -> str:
        ended = subprocess.run(["id", "-un"], text=True, capture_output=True, check=True)
        return ended.stdout.strip()

    def _version(self) -> tuple[int, int]:
        """Year and month of this Slurm, which says `slurm-wlm 22.05.8` or the like."""
        program = shutil.which("slurmctld", path=self.path) or "slurmctld"
        said = subprocess.run([program, "-V"], text=True, capture_output=True, check=True).stdout
        year, month = said.split()[1].split(".")[:2]
        return int(year), int(month)

    def _configure(self) -> None:
        host, user = self._host(), self._user()
        base = self._ports = _free_ports(5)
        gpus = ["AutoDetect=off"]
        for node in NODES:
            for number in range(GPUS):
                device = self.folder / f"dev/{node}-gpu{number}"
                if os.geteuid() == 0:  # of their own; the number at the end becomes visible
                    if not device.exists():
                        os.mknod(device, 0o20666, os.makedev(*NULL_DEVICE))
                else:
                    device = Path(("/dev/null", "/dev/zero")[number])
                gpus.append(f"NodeName={node} Name=gpu File={device}")
        nodes = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={base + 1 + number} "
            f"CPUs={CPUS} RealMemory={MEMORY_MB} Gres=gpu:{GPUS} State=UNKNOWN"
            for number, node in enumerate(NODES)
        ]
        (self.folder / "gres.conf").write_text("\n".join(gpus) + "\n")
        if self._version() >= FIRST_THAT_WANTS_CGROUPS:
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host,
                base=base,
                folder=self.folder,
                user=user,
                socket=self._socket,
            )
            + (ACCOUNTED.format(dbd=base + 3, socket=self._socket) if self.accounting else "")
            + "\n".join(nodes)
            + "\nPartitionName=main Nodes=ALL Default=YES MaxTime=240 DefaultTime=10 State=UP\n"
        )
        # The executor hides SLURM_* from its jobs, SLURM_CONF too, so clients must find it.
        for name in CLIENTS:
            real = shutil.which(name, path=self.path)
            if real is None:
                continue
            client = self.folder / "bin" / name
            client.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {real} "$@"\n')
            client.chmod(0o755)


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


# No cgroups and no systemd; finished jobs stay in the memory of slurmctld, where squeue sees them.
CONFIGURATION = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={base}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
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
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2,bf_interval=5
PriorityType=priority/basic
DefMemPerCPU=100
MinJobAge=86400
KillWait=3
CompleteWait=0
ReturnToService=1
SlurmctldTimeout=300
SlurmdTimeout=300
InactiveLimit=0
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
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct
"""


def main() -> None:
    slurm = PrivateSlurm(Path(sys.argv[1]))
    missing = slurm.missing()
    if missing:
        sys.exit(f"error: {', '.join(missing)} missing: apt-get install {PACKAGES}")
    try:
        slurm.start()
        sys.stdout.write(
            f"Slurm runs. In another shell:\n"
            f"export SLURM_CONF={slurm.folder}/slurm.conf PATH={slurm.folder}/bin:$PATH\n"
        )
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        slurm.stop()


if __name__ == "__main__":
    main()
