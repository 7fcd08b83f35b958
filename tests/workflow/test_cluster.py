"""What jobs ask a cluster for, and what is said of Slurm's answers."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock
from snakemake_executor_plugin_slurm.validation import get_forbidden_slurm_options

from nat.configuration.configuration import Configuration
from nat.configuration.scales import Cluster, GpuNodes, Nodes, Stages
from nat.locks import acquired
from nat.workflow.cluster import CLUSTER, IN_TURN, read_cluster, resources
from nat.workflow.left_behind import LOCK, stop_slurm_jobs
from nat.workflow.slurm import cancel_what_never_starts, jobs_of_this_folder, state_of
from tests.graph.test_graph import OVERVIEW, copy_repository, counts, snakemake
from tests.messages import must_name, told
from tests.repository import ROOT, changed, configured, program


def configuration(**scale: Any) -> Configuration:
    return changed(configured("micro"), "scales", "micro", **scale)


def cluster(cpu: dict[str, Any] | None = None, **gpu: Any) -> Cluster:
    return Cluster(cpu=Nodes(**(cpu or {})), gpu=GpuNodes(**gpu))


def asked(found: dict[str, Any], attempt: int = 1) -> dict[str, Any]:
    """Every value as it is in an attempt."""
    return {
        key: value(None, attempt=attempt) if isinstance(value, Callable) else value  # type: ignore[arg-type]
        for key, value in found.items()
    }


def test_a_job_leaves_names_to_the_cluster_or_names_what_its_file_does() -> None:
    expected = {"mem_mb": 2000, "runtime": 15, "cpus_per_task": 1}
    assert asked(resources(configuration(), cluster(), "score")) == expected
    named = Cluster(account="lab", qos="long", cpu=Nodes(partition="serial"))
    names = {"slurm_account": "lab", "qos": "long", "slurm_partition": "serial"}
    assert asked(resources(configuration(), named, "score")) == expected | names


def test_processes_of_a_training_have_cores_of_their_own() -> None:
    for gpu, cores in ((False, 6), (True, 3)):
        stages = {"train": {"gpu": gpu, "cores": 3}}
        scale = configuration(stages=stages, processes={"at-base": 1, "nat-kd": 2})
        assert asked(resources(scale, cluster(), "train"))["cpus_per_task"] == cores


@pytest.mark.parametrize(("decodings", "minutes"), [(1, [50, 100, 120]), (2, [100, 120, 120])])
def test_retries_ask_for_more_up_to_the_limit(decodings: int, minutes: list[int]) -> None:
    scale = configuration(stages={"translate": {"gpu": True, "memory_mb": 1000, "minutes": 50}})
    limits = cluster(most_minutes=120, most_memory_mb=2500)
    found = resources(scale, limits, "translate", times=decodings)
    attempts = [asked(found, attempt) for attempt in (1, 2, 3)]
    assert [attempt["runtime"] for attempt in attempts] == minutes
    assert [attempt["mem_mb"] for attempt in attempts] == [1000, 2000, 2500]


@pytest.mark.parametrize("stage", ["latency", "cpu_latency"])
def test_latencies_have_their_node_alone_and_those_of_processors_no_gpu(stage: str) -> None:
    scale = configured("paper")
    found = asked(resources(scale, cluster(), stage))
    assert found["slurm_extra"] == "--exclusive"
    assert ("gpu" in found) == (stage == "latency")
    assert not any(re.search(each, found["slurm_extra"]) for each in get_forbidden_slurm_options())
    assert "slurm_extra" not in resources(scale, cluster(), "translate")


@pytest.mark.parametrize("stage", IN_TURN)
def test_steps_that_share_a_job_share_its_minutes(stage: str) -> None:
    """Snakemake sums them up."""
    limits = cluster({"most_minutes": 240, "most_memory_mb": 2500})
    found = asked(resources(configuration(), limits, stage), 100)
    assert IN_TURN[stage] * found["runtime"] <= 240 and found["mem_mb"] == 2500


@pytest.mark.parametrize(
    ("options", "scale", "expected"),
    [
        ({}, {}, {"gpu": 1}),
        ({"type": "a100"}, {}, {"gpu": 1, "gpu_model": "a100"}),
        ({"request": "gres", "type": "a100"}, {"devices": 4}, {"gres": "gpu:a100:4", "nodes": 1}),
        ({}, {"devices": 8}, {"gpu": 8, "nodes": 1}),
        (
            {},
            {"devices": 8, "nodes": 2},
            {"gpu": 16, "nodes": 2, "mpi": "srun", "tasks": 16, "tasks_per_gpu": 0},
        ),
        (
            {"request": "gres"},
            {"devices": 8, "nodes": 2},
            {"gres": "gpu:8", "nodes": 2, "mpi": "srun", "tasks": 16, "tasks_per_gpu": 0},
        ),
    ],
)
def test_gpus(options: dict[str, Any], scale: dict[str, Any], expected: dict[str, Any]) -> None:
    stages = {"train": {"gpu": True, "cores": 3}, "translate": {"gpu": True}}
    found = asked(resources(configuration(stages=stages, **scale), cluster(**options), "train"))
    names = ("gpu", "gpu_model", "gres", "nodes", "mpi", "tasks", "tasks_per_gpu")
    assert {key: found[key] for key in names if key in found} == expected
    processes_of_a_task = scale.get("devices", 1) if "nodes" not in scale else 1
    assert found["cpus_per_task"] == 3 * processes_of_a_task
    translating = asked(resources(configuration(stages=stages, **scale), cluster(), "translate"))
    assert translating["gpu"] == 1
    assert "nodes" not in translating


def test_the_files_of_cluster_and_scale_are_checked(tmp_path: Path) -> None:
    with told("config/scales/micro.yaml", "nodes", "2", "devices"):
        resources(configuration(nodes=2), cluster(), "train")
    assert read_cluster(configuration()).account is None
    there = replace(configuration(), root=tmp_path)
    assert read_cluster(there).gpu.request == "gpus"  # without a file
    (tmp_path / CLUSTER).parent.mkdir()
    (tmp_path / CLUSTER).write_text(yaml.safe_dump({"gpu": {"request": "gpu"}}))
    with told("config/cluster.yaml", "'gpu.request'", "'gpus' or 'gres'"):
        read_cluster(there)


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for squeue and scancel; returns the file of jobs in the queue."""
    monkeypatch.chdir(tmp_path)
    jobs, tools = tmp_path / "jobs", tmp_path / "bin"
    tools.mkdir()
    program(tools / "squeue", f"cat {jobs}")
    program(tools / "scancel", f'for job in "$@"; do sed -i "/^$job\\t/d" {jobs}; done')
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    (tmp_path / ".snakemake/slurm_logs").mkdir(parents=True)
    return jobs


RUN = "nat_0123abcd-0123-0123-0123-0123456789ab"


def test_jobs_of_a_killed_run_are_stopped_and_no_others(queue: Path, tmp_path: Path) -> None:
    queue.write_text(
        f"11\t{RUN}\tNone\trule_train\t{tmp_path}\n"
        f"12\t{RUN}\tPriority\trule_train\t{tmp_path}\n"
        f"13\t{RUN}\tNone\trule_train\t{tmp_path.parent}\n"
        f"14\tbash\tNone\tmine\t{tmp_path}\n"
    )
    assert [job.number for job in jobs_of_this_folder()] == ["11", "12"]
    must_name(stop_slurm_jobs(of_slurm=False), "2 Slurm jobs", "11 12")
    assert [line.split("\t")[0] for line in queue.read_text().splitlines()] == ["13", "14"]
    assert stop_slurm_jobs(of_slurm=False) == ""


def test_jobs_of_a_run_that_goes_on_are_left_alone(queue: Path, tmp_path: Path) -> None:
    queue.write_text(f"11\t{RUN}\tNone\trule_train\t{tmp_path}\n")
    first = FileLock(LOCK)
    assert acquired(first, 0)
    assert stop_slurm_jobs(of_slurm=False) == ""
    with told("another run submits Slurm jobs from this folder"):
        stop_slurm_jobs(of_slurm=True)
    assert queue.read_text()
    first.release()
    must_name(stop_slurm_jobs(of_slurm=True), "1 Slurm job", "11")
    assert not acquired(FileLock(LOCK), 0)  # by this run, until it ends


def test_a_client_that_hangs_or_fails_is_told(queue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nat.workflow.slurm.SECONDS_TO_ANSWER", 2)
    queue.write_text(f"11\t{RUN}\tPartitionTimeLimit\trule_train\t{queue.parent}\n")
    program(queue.parent / "bin/scancel", "exec sleep 60")
    with told("scancel", "2 seconds"):
        cancel_what_never_starts()
    program(queue.parent / "bin/squeue", "echo 'no controller' >&2; exit 1")
    with told("squeue", "no controller"):
        stop_slurm_jobs(of_slurm=False)
    (queue.parent / ".snakemake/slurm_logs").rmdir()  # no job was ever submitted from here
    assert stop_slurm_jobs(of_slurm=False) == ""


@pytest.mark.parametrize(
    ("queued", "accounted", "state"),
    [
        ("echo TIMEOUT", "exit 1", "TIMEOUT"),
        ("exit 1", "echo CANCELLED by 1000", "CANCELLED"),  # no longer in the queue
        ("true", "echo 'Slurm accounting storage is disabled' >&2; exit 1", ""),
    ],
)
def test_the_state_of_a_job(queue: Path, queued: str, accounted: str, state: str) -> None:
    program(queue.parent / "bin/squeue", queued)
    program(queue.parent / "bin/sacct", accounted)
    assert state_of("7") == state


KEYS = ("log", "benchmark")
HEAD = r"(?m)^ *(?:use rule (\w+) as (\w+) with|rule (\w+)?):\n"
"""First line of a rule: the one that it uses, if any, and its name, unless a loop makes that."""


def test_what_every_rule_says_of_its_resources_environment_and_times() -> None:
    texts = (path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    rules: dict[str, tuple[str, str]] = {}
    for text in texts:
        _, *parts = re.split(HEAD, text)
        for used, new, name, content in zip(*[iter(parts)] * 4, strict=True):
            rules[new or name or "several"] = used, content
    shared: dict[str, set[str]] = {}
    stages: set[str] = set()
    for name, (used, text) in rules.items():
        asked_for = set(re.findall(r'RESOURCES\["(\w+)"\]', text))
        is_local, stages = "    localrule: True" in text, stages | asked_for
        log, time = (re.search(rf"^ +{key}:\n((?: +f?\".*\n)+)", text, re.M) for key in KEYS)
        if used:  # that a rule is local is not inherited (Snakemake 9.27.1)
            assert is_local == ("    localrule: True" in rules[used][1]), name
        elif "    shell:" in text and name != "verify":
            assert is_local != ("**RESOURCES[" in text or name == "several"), name
            assert "ENVIRONMENT" in text or name == "take_over", name
            for stage in asked_for if "    group:" in text else []:
                shared.setdefault(stage, set()).add(name)
        if log and name != "verify":
            assert time, name
            assert log[1].replace("/logs/", "/benchmarks/").replace('.log",', '.tsv"') == time[1]
    assert Stages.model_fields.keys() == stages
    # chains: the text of a training and that of a test set, distilling, scoring
    text = {"generate_text", "clean", "prepare_test_set"}
    assert shared == {"prepare": text, "distil": {"distil"}, "score": {"merge_shards", "score"}}
    assert shared.keys() == IN_TURN.keys()
    # on one machine, what takes all cores runs by itself
    assert "    threads: workflow.cores\n" in rules["measure_latency"][1]


def test_a_container_needs_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    program(tmp_path / "apptainer", "echo apptainer version 1.3.4")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    status, screen = snakemake(repository, "corpora", "--sdm", "apptainer")
    assert status == 1  # the image is missed before any job
    must_name(screen, "--sdm apptainer", "apptainer build envs/nat.sif envs/apptainer.def")
    assert not (repository / "results/corpora").exists()
    (repository / "envs/nat.sif").touch()
    status, screen = snakemake(repository, "-n", "corpora", "--sdm", "apptainer")
    assert status == 0 and counts(screen)["clean"] == 1, screen


@pytest.mark.skipif(shutil.which("conda") is not None, reason="conda is installed")
def test_conda_needs_its_program(tmp_path: Path) -> None:
    status, screen = snakemake(copy_repository(tmp_path, OVERVIEW), "corpora", "--sdm", "conda")
    assert status == 1
    must_name(screen, "--sdm conda", "the program conda; install")
    assert "Traceback" not in screen and "command not found" not in screen
