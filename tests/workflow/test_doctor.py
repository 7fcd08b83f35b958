"""`nat doctor`: what Slurm's clients say, in the formats that they document, and what follows."""

import sys
from pathlib import Path

import pytest
import yaml

from nat.configuration.scales import Cluster
from nat.export import command
from nat.workflow.cluster import CLUSTER, resources
from nat.workflow.doctor import Partition, partitions, proposed, request, require_memory
from nat.workflow.slurm import CLIENTS, require_account
from tests.messages import must_name, told
from tests.repository import ROOT, configured, program

SETTINGS = """\
Configuration data as of 2026-03-01T12:00:00
AccountingStorageType   = accounting_storage/none
MinJobAge               = 300 sec
"""
SINFO = """\
serial*|up|2-00:00:00|190000|2|(null)
serial*|up|2-00:00:00|90000+|1|(null)
small|up|4:00:00|1|1|gpu:2(S:0-1)
big|up|infinite|500000|2|gpu:a100:4(S:0-1),shard:a100:8
big|up|infinite|400000|1|gpu:nvidia_h100.20gb:4,gpu:tesla:1
closed|down|infinite|400000|1|gpu:8
empty|up|infinite|400000|0|(null)
"""
FOUND = [
    Partition("serial", True, 2880, 190_000, 3, 0),
    Partition("small", False, 240, None, 1, 2),
    Partition("big", False, None, 500_000, 3, 13),
]


def test_partitions() -> None:
    assert partitions(SINFO) == FOUND
    must_name(str(FOUND[0]), "serial (the default)", "3 nodes", "2880", "190000 MB")


def test_null_is_filled_in_and_what_the_file_says_is_kept() -> None:
    found = proposed(Cluster(), FOUND)
    expected = {"partition": "serial", "most_minutes": 2880, "most_memory_mb": 190_000}
    assert found.cpu.model_dump() == expected
    assert (found.gpu.partition, found.gpu.most_minutes) == ("big", None)
    given = {"cpu": {"most_minutes": 60}, "gpu": {"partition": "small", "type": "v100"}}
    kept = proposed(Cluster.model_validate({"account": "mine", **given}), FOUND)
    assert (kept.account, kept.cpu.partition, kept.cpu.most_minutes) == ("mine", "serial", 60)
    gpu = kept.gpu
    assert (gpu.partition, gpu.type, gpu.most_minutes) == ("small", "v100", 240)
    assert proposed(Cluster(), FOUND[:1]).gpu == Cluster().gpu


@pytest.mark.parametrize(
    ("gpu", "words"),
    [
        ({}, ["--gpus=1"]),
        ({"type": "a100"}, ["--gpus=a100:1"]),
        ({"type": "a100", "request": "gres"}, ["--gres=gpu:a100:1"]),
    ],
)
def test_words_of_a_request(gpu: dict[str, str], words: list[str]) -> None:
    paper = configured("paper")
    limits = {"account": "lab", "qos": "long", "gpu": {"partition": "big", "most_minutes": 2000}}
    cluster = Cluster.model_validate({**limits, "gpu": {**limits["gpu"], **gpu}})  # type: ignore[dict-item]
    asked = request(resources(paper, cluster, "train"), 2)
    named = ["--account=lab", "--qos=long", "--partition=big", "--time=2000", "--mem=96000"]
    assert {*asked} == {*named, "--cpus-per-task=4", *words}
    assert "--exclusive" in request(resources(paper, cluster, "latency"), 1)


SBATCH = """
import subprocess, sys
from pathlib import Path

words = dict(word.partition("=")[::2] for word in sys.argv[1:])
if Path("refused").exists() and Path("refused").read_text() in sys.argv:
    sys.exit("sbatch: error: Requested GRES option unsupported")
if "--test-only" not in words:
    assert words["--chdir"] == str(Path.cwd())
    with open(words["--output"], "w") as log:
        sys.exit(subprocess.run(["sh", "-c", words["--wrap"]], stdout=log, stderr=log).returncode)
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the configuration and clients of a Slurm that say what files there say."""
    clients = dict.fromkeys(CLIENTS, "")
    clients |= {"scontrol": "cat settings", "sinfo": "cat partitions"}
    for name, script in clients.items():
        program(tmp_path / "bin" / name, script)
    program(tmp_path / "bin/sbatch", SBATCH, sys.executable)
    for name in ("config", "slurm"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "settings").write_text(SETTINGS)
    (tmp_path / "partitions").write_text(SINFO)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def doctor(monkeypatch: pytest.MonkeyPatch, scale: str = "micro") -> int:
    """Run `nat doctor`; its exit status."""
    monkeypatch.setattr(sys, "argv", ["nat", "doctor", "--scale", scale])
    with pytest.raises(SystemExit) as ended:
        command.main()
        raise SystemExit(0)
    return 0 if ended.value.code in (0, None) else 1


def test_what_is_well_is_said_and_what_to_write(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "refused").write_text("--gpus=1")
    assert doctor(monkeypatch, "paper") == 0
    said = capsys.readouterr().out
    must_name(said, "partition big", "accepted at scale paper: prepare, train", CLUSTER)
    assert said.count("GPUs for PyTorch") == 2
    cluster = Cluster.model_validate(yaml.safe_load(said.split(":\n")[1]))
    assert (cluster.cpu.partition, cluster.gpu.partition) == ("serial", "big")
    assert cluster.gpu.request == "gres"
    assert not list(repository.glob(".nat-doctor*"))


def test_what_keeps_jobs_from_running_is_a_problem(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "settings").write_text(SETTINGS.replace("300 sec", "30 sec"))
    (repository / "refused").write_text("--time=960")  # the last attempt of trainings
    monkeypatch.setattr("nat.workflow.doctor._PROGRAM", ["/nowhere/python"])
    assert doctor(monkeypatch) == 1
    problems = [line for line in capsys.readouterr().out.splitlines() if "problem: " in line]
    assert len(problems) == 4  # of a node for each of two stages
    must_name(problems[0], "MinJobAge", "30 seconds")
    must_name(problems[1], "'train' is refused in attempt 4", "config/scales", CLUSTER)
    must_name(problems[2], "a small job fails", "/nowhere/python")


@pytest.mark.parametrize("storage", ["accounting_storage/none", "(null)"])  # since Slurm 23.11
def test_a_slurm_that_forgets_its_jobs_is_refused(repository: Path, storage: str) -> None:
    require_memory(40)
    forgetting = SETTINGS.replace("300 sec", "60 sec").replace("accounting_storage/none", storage)
    (repository / "settings").write_text(forgetting)
    with told("slurm-init-seconds-before-status-checks: 20"):
        require_memory(40)
    require_memory(20)
    (repository / "settings").write_text(forgetting.replace(storage, "accounting_storage/slurmdbd"))
    require_memory(40)


def test_an_account_is_one_that_slurm_knows(repository: Path) -> None:
    require_account(None)
    for client in ("sacctmgr", "sshare"):  # they do not say
        program(repository / "bin" / client, "")
    require_account("any")
    program(repository / "bin/sacctmgr", "echo Lab; echo other")
    require_account("lab")
    with told("config/cluster.yaml", "'lap'", "lab or other"):
        require_account("lap")
