"""`nat doctor`: what Slurm's clients say, in the formats that they document, and what follows."""

import json
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from made_up_corpus import PREPROCESSING

from nat.configuration.models import Cluster
from nat.deploy import command
from nat.errors import UserError
from nat.locks import alone
from nat.workflow import node
from nat.workflow.cluster import CLUSTER
from nat.workflow.doctor import Slurm, choose, doctor, minutes, partitions, request, rights, written
from nat.workflow.slurm import keeps_accounts, settings_of, status_command
from tests.messages import must_name, told

ROOT = Path(__file__).resolve().parents[1]

CONFIGURATION = """\
Configuration data as of 2026-03-01T12:00:00
AccountingStorageEnforce = {enforced}
AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages
AccountingStorageType   = {storage}
ClusterName             = alps
MinJobAge               = {remembered} sec
SelectType              = select/cons_tres
SLURM_CONF              = /etc/slurm/slurm.conf
SLURM_VERSION           = 22.05.8

Slurmctld(primary) at head is UP
"""
WITHOUT_ACCOUNTS = CONFIGURATION.format(
    enforced="none", storage="accounting_storage/none", remembered=300
)
WITH_ACCOUNTS = CONFIGURATION.format(
    enforced="associations,limits,qos", storage="accounting_storage/slurmdbd", remembered=60
)


def partition(name: str, **fields: str) -> str:
    shown = {
        "PartitionName": name,
        "AllowGroups": "ALL",
        "AllowAccounts": "ALL",
        "AllowQos": "ALL",
        "AllocNodes": "ALL",
        "Default": "NO",
        "QoS": "N/A",
        "DefaultTime": "NONE",
        "MaxNodes": "UNLIMITED",
        "MaxTime": "UNLIMITED",
        "Nodes": f"{name}[1-2]",
        "OverTimeLimit": "NONE",
        "State": "UP",
        "SelectTypeParameters": "NONE",
        "JobDefaults": "(null)",
        "MaxMemPerNode": "UNLIMITED",
        "TRES": "cpu=8,mem=12000M,node=2,billing=8,gres/gpu=4",
    }
    return " ".join(f"{key}={value}" for key, value in (shown | fields).items())


def a_node(name: str, partitions: str, **fields: str) -> str:
    shown = {
        "NodeName": name,
        "Arch": "x86_64",
        "CPUTot": "8",
        "AvailableFeatures": "(null)",
        "Gres": "(null)",
        "NodeHostName": name,
        "Version": "22.05.8",
        "OS": "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) ",
        "RealMemory": "6000",
        "State": "IDLE",
        "MCS_label": "N/A",
        "Partitions": partitions,
        "CfgTRES": "cpu=8,mem=6000M,billing=8",
        "AllocTRES": "",
        "CapWatts": "n/a",
    }
    return "   ".join(f"{key}={value}" for key, value in (shown | fields).items())


SHOWN_PARTITIONS = "\n".join(
    [
        partition("serial", Default="YES", MaxTime="2-00:00:00"),
        partition("small", MaxTime="04:00:00", AllowAccounts="lab,other"),
        partition("big", MaxTime="1-00:00:00", AllowQos="long,short", QoS="of_big"),
        partition("closed", State="DOWN"),
    ]
)
SHOWN_NODES = "\n".join(
    [
        a_node("s1", "serial", RealMemory="190000", MemSpecLimit="2000"),
        a_node("s2", "serial", State="MIXED+PLANNED"),
        a_node(
            "s3", "serial", RealMemory="900000", State="IDLE+DRAIN", Reason="Disk full [root@x]"
        ),
        a_node("g1", "small", Gres="gpu:2(S:0-1)", State="IDLE+CLOUD+POWERED_DOWN"),
        a_node("a1", "big", Gres="gpu:a100:4(S:0-1),shard:a100:8", RealMemory="500000"),
        a_node("a2", "big,closed", Gres="gpu:nvidia_h100.20gb:4", State="ALLOCATED"),
        a_node("a3", "big", Gres="gpu:a100:4", State="DOWN*+NOT_RESPONDING"),
    ]
)
ASSOCIATIONS = "lab|normal,long|normal|\nother|short||3-00:00:00\n"
QOS = "normal|\nlong|12:00:00\nshort|01:00:00\nof_big|20:00:00\n"


def cluster(accounts: bool = False, **changes: Any) -> Slurm:
    found = Slurm(
        settings_of(WITH_ACCOUNTS if accounts else WITHOUT_ACCOUNTS),
        partitions(SHOWN_PARTITIONS, SHOWN_NODES),
        rights(ASSOCIATIONS, "lab\n", QOS) if accounts else None,
    )
    return replace(found, **changes)


def test_settings() -> None:
    found = settings_of(WITHOUT_ACCOUNTS)
    assert found["SLURM_VERSION"] == "22.05.8"
    assert not keeps_accounts(found)
    assert keeps_accounts(settings_of(WITH_ACCOUNTS))
    assert not keeps_accounts({"AccountingStorageType": "(null)"})  # since Slurm 23.11


@pytest.mark.parametrize(
    ("text", "expected"),
    [("UNLIMITED", None), ("", None), ("04:00:00", 240), ("7-12:30:00", 10830)],
)
def test_time_limits(text: str, expected: int | None) -> None:
    assert minutes(text) == expected


def test_partitions_count_the_nodes_that_are_in_use() -> None:
    found = {each.name: each for each in cluster().partitions}
    assert list(found) == ["serial", "small", "big", "closed"]
    serial, small, big, closed = found.values()
    assert (serial.is_default, serial.nodes, serial.minutes) == (True, 2, 2880)
    assert serial.memory_mb == 188_000  # of the largest that is in use, less what Slurm keeps
    assert dict(serial.gpus) == {}
    assert dict(small.gpus) == {"": 2}
    assert small.accounts == {"lab", "other"}
    assert dict(big.gpus) == {"a100": 4, "nvidia_h100.20gb": 4}
    assert big.qos == {"long", "short"}
    assert not closed.is_up
    assert "8 GPUs (4 a100, 4 nvidia_h100.20gb)" in str(big)


@pytest.mark.parametrize(
    ("gres", "expected"),
    [
        ("gpu:4", {"": 4}),
        ("gpu:3090:4", {"3090": 4}),
        ("gpu:2080ti:8(S:0-1)", {"2080ti": 8}),
        ("gpu:1g.10gb:7,gpu:a100:1", {"1g.10gb": 7, "a100": 1}),
        ("gpu:tesla:2(S:0),gpu:rtx-a6000:1(S:1),shard:tesla:8", {"tesla": 2, "rtx-a6000": 1}),
    ],
)
def test_types_of_gpus(gres: str, expected: dict[str, int]) -> None:
    (found,) = partitions(partition("main"), a_node("n1", "main", Gres=gres))
    assert dict(found.gpus) == expected


def test_memory_is_limited_by_the_partition() -> None:
    shown = partition("main", MaxMemPerNode="4000")
    (found,) = partitions(shown, a_node("n1", "main"))
    assert found.memory_mb == 4000
    (unsaid,) = partitions(shown, a_node("n1", "main", RealMemory="1"))
    assert unsaid.memory_mb is None


def test_null_is_filled_in_from_what_slurm_says() -> None:
    found = choose(cluster(), Cluster())
    assert (found.account, found.qos) == (None, None)
    assert found.cpu.model_dump() == {
        "partition": "serial",
        "most_minutes": 2880,
        "most_memory_mb": 188_000,
    }
    assert (found.gpu.partition, found.gpu.most_minutes) == ("big", 1440)
    assert found.gpu.most_memory_mb == 500_000
    assert found.gpu.type is None


def test_what_the_file_says_is_kept() -> None:
    given = Cluster(
        account="mine",
        cpu={"most_minutes": 60},  # type: ignore[arg-type]
        gpu={"partition": "small", "type": "v100"},  # type: ignore[arg-type]
    )
    found = choose(cluster(), given)
    assert found.account == "mine"
    assert (found.cpu.partition, found.cpu.most_minutes) == ("serial", 60)
    assert (found.gpu.partition, found.gpu.most_minutes) == ("small", 240)
    assert found.gpu.type == "v100"
    assert choose(cluster(), found) == found


def test_a_partition_that_does_not_exist_is_refused() -> None:
    given = Cluster(gpu={"partition": "bigg"})  # type: ignore[arg-type]
    with told("config/cluster.yaml", "gpu.partition", "big"):
        choose(cluster(), given)


def test_without_gpus_nothing_is_said_of_them() -> None:
    without = partitions(SHOWN_PARTITIONS, a_node("s1", "serial"))
    found = choose(cluster(partitions=without), Cluster())
    assert found.gpu == Cluster().gpu
    assert found.cpu.partition == "serial"


def test_without_a_default_partition_jobs_go_where_no_gpus_are() -> None:
    shown = SHOWN_PARTITIONS.replace("Default=YES", "Default=NO")
    found = choose(cluster(partitions=partitions(shown, SHOWN_NODES)), Cluster())
    assert found.cpu.partition == "serial"


def test_nothing_in_use_is_refused() -> None:
    with told("sinfo"):
        choose(cluster(partitions=partitions(SHOWN_PARTITIONS, "")), Cluster())


def test_accounting_limits_what_is_filled_in() -> None:
    found = choose(cluster(accounts=True), Cluster())
    # the default account may be charged everywhere; its default QOS may not be used in `big`
    assert (found.account, found.qos) == (None, "long")
    assert found.cpu.most_minutes == 720
    assert found.gpu.most_minutes == 720
    of_other = choose(cluster(accounts=True), Cluster(account="other"))
    assert (of_other.qos, of_other.gpu.most_minutes) == ("short", 60)


def test_the_limit_of_a_partitions_own_qos_counts() -> None:
    granted = rights("lab|long|long|\n", "lab\n", "long|\nof_big|20:00:00\n")
    found = choose(cluster(rights=granted), Cluster())
    assert (found.cpu.most_minutes, found.gpu.most_minutes) == (2880, 1200)


def test_names_are_left_to_slurm_where_no_partition_restricts_them() -> None:
    granted = rights("lab|debug,normal||\n", "lab\n", "debug|00:10:00\nnormal|\n")
    shown = partition("main", Default="YES")
    slurm = cluster(partitions=partitions(shown, a_node("n1", "main")), rights=granted)
    found = choose(slurm, Cluster())
    assert (found.account, found.qos, found.cpu.most_minutes) == (None, None, None)


def test_an_account_is_named_where_the_default_one_may_not_be_used() -> None:
    shown = SHOWN_PARTITIONS.replace("AllowQos=long,short", "AllowAccounts=other", 1)
    granted = rights("lab|normal|normal|\nother|normal|normal|\n", "lab\n", "normal|\n")
    slurm = cluster(partitions=partitions(shown, SHOWN_NODES), rights=granted)
    assert choose(slurm, Cluster()).account == "other"


def test_the_file_that_is_written_is_the_one_that_is_read() -> None:
    found = choose(cluster(accounts=True), Cluster(account="lab"))
    assert Cluster(**yaml.safe_load(written(found))) == found
    of_number = Cluster(gpu={"type": "3090"})  # type: ignore[arg-type]
    assert Cluster(**yaml.safe_load(written(of_number))) == of_number
    given = (ROOT / CLUSTER).read_text(encoding="utf-8")
    assert written(Cluster(**yaml.safe_load(given))) == given


def test_words_of_a_request() -> None:
    found = choose(cluster(), Cluster(account="lab", qos="long"))
    usual = ["--ntasks=1", "--cpus-per-task=1", "--account=lab", "--qos=long"]
    assert request(found, False, 5, 100) == [*usual, "--partition=serial", "--time=5", "--mem=100"]
    of_gpu = [*usual, "--partition=big"]
    assert request(found, True, None, None) == [*of_gpu, "--gpus=1"]
    typed = found.model_copy(
        update={"gpu": found.gpu.model_copy(update={"request": "gres", "type": "a100"})}
    )
    assert request(typed, True, None, None) == [*of_gpu, "--gres=gpu:a100:1"]


@pytest.mark.parametrize(
    ("settings", "expected"), [(WITHOUT_ACCOUNTS, "squeue"), (WITH_ACCOUNTS, "sacct")]
)
def test_runs_ask_the_client_that_knows_how_jobs_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, expected: str
) -> None:
    stand_in(tmp_path, monkeypatch, {"scontrol": settings})
    assert status_command("sacct", 40) == expected


def test_jobs_that_are_forgotten_too_soon_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, {"scontrol": WITHOUT_ACCOUNTS.replace("300 sec", "60 sec")})
    with told("slurm-init-seconds-before-status-checks: 20"):
        status_command("sacct", 40)
    assert status_command("sacct", 20) == "squeue"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, str]) -> None:
    """Clients that print a text, whatever they are asked; a text with #! is the client itself."""
    (folder / "bin").mkdir()
    for name, text in answers.items():
        client = folder / "bin" / name
        client.write_text(
            text if text.startswith("#!") else f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n"
        )
        client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


SCONTROL = """#!/bin/sh
case "$*" in
  *config) cat settings ;;
  *partition) cat partitions ;;
  *node) cat nodes ;;
esac
"""
SBATCH = (
    f"#!{sys.executable}"
    + """
import subprocess, sys
from pathlib import Path

words = dict(word.partition("=")[::2] for word in sys.argv[1:])
if "--gpus" in words and Path("only-gres").exists():
    sys.exit("sbatch: error: Requested GRES option unsupported by configured SelectType plugin")
if "--test-only" not in words:
    with open(words["--output"], "w") as log:
        ended = subprocess.run(["sh", "-c", words["--wrap"]], stdout=log, stderr=log)
    Path("state").write_text("FAILED" if ended.returncode else "COMPLETED")
    print("7;alps")
"""
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the configuration that `nat doctor` reads, on a cluster without accounts."""
    stand_in(
        tmp_path,
        monkeypatch,
        {"scontrol": SCONTROL, "sbatch": SBATCH, "squeue": "#!/bin/sh\ncat state", "scancel": ""},
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "config/corpora").mkdir(parents=True)
    (tmp_path / "settings").write_text(WITHOUT_ACCOUNTS)
    (tmp_path / "partitions").write_text(SHOWN_PARTITIONS)
    (tmp_path / "nodes").write_text(SHOWN_NODES)
    return tmp_path


@pytest.mark.parametrize("way", ["gpus", pytest.param("gres", marks=pytest.mark.long)])
def test_the_way_to_request_gpus_is_kept_if_slurm_takes_it(repository: Path, way: str) -> None:
    given = Cluster(gpu={"request": way})
    (repository / CLUSTER).write_text(written(given))
    doctor(repository, lambda line: None)
    found = Cluster(**yaml.safe_load((repository / CLUSTER).read_text()))
    assert found.gpu.partition == "big" and found.gpu.request == way


def test_the_file_is_written_and_what_a_node_sees_is_told(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "only-gres").touch()
    monkeypatch.setattr(sys, "argv", ["nat", "doctor"])
    command.main()
    screen = capsys.readouterr().out
    must_name(screen, "22.05.8", "alps", "no accounting", CLUSTER)
    assert screen.count("0 GPUs for PyTorch") == 2
    found = Cluster(**yaml.safe_load((repository / CLUSTER).read_text()))
    assert (found.cpu.partition, found.gpu.partition) == ("serial", "big")
    assert found.gpu.request == "gres"
    assert not list(repository.glob(".nat-doctor*"))


def problems(repository: Path) -> list[str]:
    """What is wrong with this cluster; the file is written all the same."""
    said: list[str] = []
    with pytest.raises(UserError):
        doctor(repository, said.append)
    assert (repository / CLUSTER).exists()
    return [line for line in said if line.startswith("problem: ")]


def test_problems_are_told_and_the_file_is_written(repository: Path) -> None:
    (repository / "bin/sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n"
    )
    (repository / "settings").write_text(WITHOUT_ACCOUNTS.replace("300 sec", "30 sec"))
    must_name("\n".join(problems(repository)), "MinJobAge", "30 seconds", "invalid partition")


def test_a_node_without_the_environment_is_a_problem(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    found = problems(repository)
    assert len(found) == 2
    assert all("FAILED" in line and "/nowhere/python" in line for line in found)


@pytest.mark.parametrize(
    ("state", "shown"), [("FAILED", "FAILED"), ("RUNNING", "TIMEOUT"), ("PENDING", None)]
)
def test_a_node_that_does_not_answer_is_a_problem_unless_it_is_busy(
    repository: Path, monkeypatch: pytest.MonkeyPatch, state: str, shown: str | None
) -> None:
    monkeypatch.setattr("nat.workflow.doctor.SECONDS_FOR_A_NODE", 0)
    (repository / "bin/sbatch").write_text(f"#!/bin/sh\necho {state} > state; echo 7\n")
    (repository / "bin/scancel").write_text('#!/bin/sh\necho "$@" >> cancelled\n')
    if shown is None:
        doctor(repository, lambda line: None)
    else:
        found = problems(repository)
        assert len(found) == 2 and all(shown in line for line in found)
    if state != "FAILED":
        assert (repository / "cancelled").read_text() == "7\n7\n"


def test_without_slurm_or_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with told("config", tmp_path):
        doctor(tmp_path, print)
    (tmp_path / "config").mkdir()
    with told("login node"):
        doctor(tmp_path, print)


def test_a_lock_is_seen_by_another(tmp_path: Path) -> None:
    assert not node.is_locked(tmp_path)
    with alone(tmp_path, "testing"):
        assert node.is_locked(tmp_path)


class Refusing(BaseHTTPRequestHandler):
    """A host that answers every request with an error, as many do at their root."""

    def do_HEAD(self) -> None:
        self.send_error(403)

    def log_message(self, *arguments: Any) -> None:
        """Nothing."""


def test_hosts_that_answer_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    (tmp_path / "config/corpora").mkdir(parents=True)
    archive = {"archive": f"{here}/a.tgz", "sha256": None, "members": {"en": "a", "de": "b"}}
    corpus = {
        "source": "en",
        "target": "de",
        "splits": {"train": archive, "valid": {"every": 9}, "test": {"sacrebleu": "wmt14"}},
        "preprocessing": {**PREPROCESSING, "bpe_merges": 9},
    }
    (tmp_path / "config/corpora/x.yaml").write_text(json.dumps(corpus))
    other = {"like": "x", "source": "de", "target": "en"}
    (tmp_path / "config/corpora/y.yaml").write_text(json.dumps(other))
    try:
        assert node.addresses(tmp_path) == [here, "https://statmt.org"]
        assert node.reached([here, "http://127.0.0.1:9"]) == [here]
    finally:
        server.shutdown()
