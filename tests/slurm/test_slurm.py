"""The graph on a real Slurm: two virtual nodes with stand-in GPUs, started here, on loopback.

`make test-slurm` runs this; an ordinary `make test` does not. Every run goes through the Slurm
executor and the profile `slurm`, as a user types it.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from private_slurm import NODES, SNAKEMAKE, PrivateSlurm, started

from tests.graph.test_graph import copy_repository
from tests.messages import must_name
from tests.repository import ROOT

SECONDS = 2400  # of one run, on a machine that has much else to do
STAGES = {
    "prepare": {"memory_mb": 600, "minutes": 8},
    "train": {"gpu": True, "memory_mb": 1200, "minutes": 10},
    "translate": {"gpu": True, "memory_mb": 1000, "minutes": 10},
}
PAPER = {
    "title": "Two systems",
    "description": "A teacher and a student, for the test.",
    "tables": {
        1: {
            "title": "both",
            "cells": {"task": "wmt14-en-de", "split": "test"},
            "columns": [{"measure": "sacrebleu"}],
            "rows": [
                {"label": "AT", "system": "at-base", "decoding": "beam5"},
                {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"},
            ],
        }
    },
}
TEACHER = "results/micro/models/toy-micro/at-base/seed1"
MODEL = f"{TEACHER}/model.pt"

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(6000)]


@pytest.fixture(scope="module")
def slurm() -> Iterator[PrivateSlurm]:
    with started() as private:
        yield private


class Repository:
    """A copy of the repository with one small paper, and runs of it."""

    def __init__(self, folder: Path, slurm: PrivateSlurm) -> None:
        self.folder, self.slurm = folder, slurm
        self.runs: list[subprocess.Popen[str]] = []
        copy_repository(folder, ())
        shutil.copytree(ROOT / "slurm", folder / "slurm")
        self.write("config/papers/two.yaml", PAPER)
        self.scale = self.read("config/scales/micro.yaml") | {"stages": STAGES}
        self.write("config/scales/micro.yaml", self.scale)
        self.cluster(request="gres")

    def read(self, path: str) -> Any:
        return yaml.safe_load((self.folder / path).read_text())

    def write(self, path: str, value: Any) -> None:
        (self.folder / path).write_text(yaml.safe_dump(value, sort_keys=False))

    def cluster(self, **gpu: Any) -> None:
        cluster = self.read("config/cluster.yaml")
        cluster["cpu"] |= {"partition": "main", "most_minutes": 60}
        cluster["gpu"] |= {"partition": "main", "most_minutes": 60, **gpu}
        self.write("config/cluster.yaml", cluster)

    def change(self, **scale: Any) -> None:
        self.scale |= scale
        self.write("config/scales/micro.yaml", self.scale)

    def train_on(self, **teacher: Any) -> None:
        """Change the recipe of the teacher."""
        recipes = self.scale["recipes"]
        self.change(recipes={**recipes, "teacher": {**recipes["teacher"], **teacher}})

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        with (self.folder / "screen.txt").open("a") as screen:
            run = subprocess.Popen(
                [*SNAKEMAKE[:2], *arguments, *SNAKEMAKE[2:]],
                cwd=self.folder,
                env=self.slurm.environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=screen,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # as in a terminal, also where the tests themselves run in the background
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.runs.append(run)
        return run

    def run(self, *arguments: str) -> tuple[int, str]:
        """Exit status, and what is on the screen."""
        before = len(self.screen)
        status = self.start(*arguments).wait(SECONDS)
        return status, self.screen[before:]

    def make(self, *arguments: str) -> str:
        """What is on the screen of a run that ends well."""
        status, screen = self.run(*arguments)
        assert status == 0, screen
        return screen

    @property
    def screen(self) -> str:
        path = self.folder / "screen.txt"
        return path.read_text() if path.exists() else ""

    def wait(self, what: str, happened: Callable[[], Any]) -> Any:
        """Wait until the last run that was started has come so far."""
        until = time.monotonic() + SECONDS
        while not (found := happened()):
            assert self.runs[-1].poll() is None, f"ended before: {what}\n{self.screen}"
            assert time.monotonic() < until, f"never happened: {what}\n{self.screen}"
            time.sleep(0.2)
        return found

    def jobs(self, states: str = "R", done: str = "rule_train") -> list[str]:
        """Slurm jobs of this folder."""
        lines = (line.split("|") for line in self.slurm.squeue("%A|%k|%Z", states))
        return [
            number
            for number, comment, place in lines
            if Path(place) == self.folder and comment.startswith(done)
        ]

    def updates(self) -> int:
        """Of the newest checkpoint of the teacher."""
        names = (path.name for path in (self.folder / TEACHER / "checkpoints").glob("*.pt"))
        found = [re.fullmatch(r"checkpoint_\d+_(\d+)\.pt", name) for name in names]
        return max((int(match[1]) for match in found if match), default=0)

    def went_on_from(self, job: str) -> int:
        """The update from which a job's training went on, once it says so."""
        logs = list(self.folder.glob(f".snakemake/slurm_logs/rule_train/*/{job}.log"))
        text = logs[0].read_text() if logs else ""
        found = re.search(r"resumes from its checkpoint of update ([\d,]+)", text)
        return int(found[1].replace(",", "")) if found else 0

    def processes(self, job: str | None = None) -> list[int]:
        """Processes of Slurm jobs in this folder, also of those that Slurm has forgotten."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                environment = (process / "environ").read_bytes().split(b"\0")
                here = (process / "cwd").resolve() == self.folder
                zombie = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            ids = [value.decode() for value in environment if value.startswith(b"SLURM_JOB_ID=")]
            if here and not zombie and ids and job in (None, ids[0].partition("=")[2]):
                found.append(int(process.name))
        return found

    def close(self) -> None:
        """End what still runs."""
        for run in self.runs:
            if run.poll() is None:
                run.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    run.wait(120)
                run.kill()
                run.wait()
        if left := self.jobs("PD,CF,R,S", ""):
            self.slurm.call("scancel", *left)
        until = time.monotonic() + 60
        while self.processes() and time.monotonic() < until:
            time.sleep(0.5)
        for process in self.processes():
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def repository(tmp_path: Path, slurm: PrivateSlurm) -> Iterator[Repository]:
    with closing(Repository(tmp_path.resolve(), slurm)) as found:
        yield found


def test_the_whole_graph(repository: Repository, slurm: PrivateSlurm) -> None:
    screen = repository.make()
    assert "finished" in screen and "Traceback" not in screen
    table = repository.folder / "results/micro/papers/two/table_1.csv"
    statuses = [row["status"] for row in csv.DictReader(table.read_text().splitlines())]
    assert statuses == ["run", "run"]
    # the corpus, its test set, two trainings, the translations of a training text in two shards,
    # those of the test set by each system, which are scored in the same job, text, table
    jobs = slurm.squeue("%A|%k|%b|%T|%Z")
    mine = [job for job in jobs if job.endswith(str(repository.folder))]
    assert {job.split("|")[3] for job in mine} == {"COMPLETED"}
    comments = [job.split("|")[1].partition("_wildcards")[0] for job in mine]
    assert sorted("_".join(comment.split("_")[:2]) for comment in comments) == [
        *["rule_corpus", "rule_distil", "rule_table", "rule_test"],
        *["rule_train"] * 2,
        *["rule_translate"] * 4,
    ]
    with_gpu = {job.split("|")[1].split("_")[1] for job in mine if "gpu" in job.split("|")[2]}
    assert with_gpu == {"train", "translate"}

    # a lost shard is made again alone, with what depends on it
    outputs = repository.folder / "results/micro/translations/toy-micro/at-base/seed1/beam5"
    before = (outputs / "train.jsonl").read_bytes()
    assert not list(outputs.glob("shards/[!.]*")), "shards are temporary"
    assert "Nothing to be done" in repository.make()
    (outputs / "train.jsonl").unlink()
    shard = outputs / "shards/train.1of2.jsonl"
    repository.make(str(shard.relative_to(repository.folder)), "--notemp")
    assert len(shard.read_text().splitlines()) == 150
    screen = repository.make(str((outputs / "train.jsonl").relative_to(repository.folder)))
    assert screen.count("start  translate") == 1 and "part 2/2" in screen
    assert (outputs / "train.jsonl").read_bytes() == before


def test_a_training_outlives_all_that_happens(repository: Repository, slurm: PrivateSlurm) -> None:
    repository.train_on(updates=500_000, save_every=20, validate_every=20)
    training = [MODEL, "--retries", "12"]
    repository.change(stages={**STAGES, "train": {**STAGES["train"], "minutes": 1}})
    run = repository.start(*training)

    def next_job(after: str) -> str:
        def later() -> list[str]:
            return [job for job in repository.jobs() if int(job) > int(after)]

        return str(repository.wait("another attempt", later)[0])

    def goes_on(job: str) -> int:
        return int(repository.wait("goes on", lambda: repository.went_on_from(job)))

    def progress(beyond: int) -> None:
        repository.wait("progress", lambda: repository.updates() > beyond)

    # 1. out of time, after a minute (on a busy machine after some, before there is a checkpoint)
    progress(39)
    (first,) = repository.wait("the job", repository.jobs)
    second = next_job(first)
    assert "TIMEOUT" in "".join(slurm.squeue("%A %T")).split(first, 1)[1][:20]
    reached = goes_on(second)
    assert reached >= 40
    assert f"(Slurm job {first}: TIMEOUT)" in repository.screen

    # 2. cancelled by somebody
    progress(reached)
    slurm.call("scancel", second)
    third = next_job(second)
    again = goes_on(third)
    assert again > reached
    assert f"(Slurm job {second}: CANCELLED)" in repository.screen

    # 3. its node fails, and the processes on it live on for a while
    progress(again)
    (node,) = slurm.call("squeue", "-h", "-j", third, "-o", "%N").split()
    survivors = repository.processes(third)
    for process in survivors:
        os.kill(process, signal.SIGSTOP)  # deaf to Slurm, as on a node that hangs
    slurm.call("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    fourth = next_job(third)
    assert slurm.call("squeue", "-h", "-j", fourth, "-o", "%N").strip() != node
    for process in survivors:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    onwards = goes_on(fourth)
    assert onwards > again
    assert f"(Slurm job {third}: NODE_FAIL)" in repository.screen
    slurm.call("scontrol", "update", f"nodename={node}", "state=resume")

    # 4. the submitting process is killed; its job runs on; the next run stops it and goes on
    progress(onwards)
    run.kill()
    run.wait()
    assert repository.jobs() == [fourth]
    status, screen = repository.run(*training)
    assert status != 0 and "run 'snakemake --unlock'" in screen
    assert repository.jobs() == [fourth], "a run that may not start stops nothing"
    repository.make("--unlock")
    run = repository.start(*training)
    fifth = next_job(fourth)
    assert f"stopped 1 Slurm job that an earlier run left behind: {fourth}" in repository.screen
    # Slurm forgets a job a moment before the last of its processes is gone
    repository.wait("their end", lambda: not repository.processes(fourth))
    assert goes_on(fifth) > onwards

    # 5. Ctrl-C ends the run and its job
    run.send_signal(signal.SIGINT)
    assert run.wait(180) != 0
    assert repository.jobs("PD,CF,R,S") == []


def test_impossible_requests_are_told(repository: Repository) -> None:
    repository.change(devices=3)  # GPUs, of the two that a node has
    status, screen = repository.run(MODEL, "--retries", "0")
    assert status != 0 and "Traceback" not in screen
    must_name(screen, "Slurm refused the job", "config/cluster.yaml")

    # more minutes than the partition grants: Slurm takes the job, and would never start it
    cluster = repository.read("config/cluster.yaml")
    cluster["gpu"]["most_minutes"] = None
    repository.write("config/cluster.yaml", cluster)
    repository.change(devices=1, stages={**STAGES, "train": {**STAGES["train"], "minutes": 600}})
    status, screen = repository.run(MODEL, "--retries", "0")
    assert status != 0
    assert re.search(r"Slurm will never start job \d+ .*PartitionTimeLimit", screen), screen
    assert repository.jobs("PD,CF,R,S", "") == []


def test_two_processes_on_two_nodes(repository: Repository, slurm: PrivateSlurm) -> None:
    repository.train_on(dropout=0.0)
    repository.change(tokens_per_device={"others": 256}, devices=1, nodes=2)
    repository.make(MODEL)
    report = json.loads((repository.folder / TEACHER / "training.json").read_text())
    shape = ("devices", "batches_per_update_and_device", "tokens_per_batch")
    assert [report[key] for key in shape] == [2, 1, 256]
    (job,) = repository.jobs("all")
    assert slurm.call("squeue", "-h", "--states=all", "-j", job, "-o", "%N").strip() == "n[1-2]"

    # the same in one process, on this machine
    repository.change(nodes=1)
    together = repository.folder / "together"
    (repository.folder / TEACHER).rename(together)
    alone = [sys.executable, "-m", "snakemake", MODEL, "--cores", "1", "--config", "scale=micro"]
    subprocess.run(alone, cwd=repository.folder, check=True, timeout=SECONDS)
    curves = [
        list(csv.DictReader((folder / "training.csv").read_text().splitlines()))
        for folder in (together, repository.folder / TEACHER)
    ]
    report = json.loads((repository.folder / TEACHER / "training.json").read_text())
    assert report["devices"] == 1
    assert len(curves[0]) == len(curves[1]) > 10
    for two, one in zip(*curves, strict=True):
        assert float(two["loss"]) == pytest.approx(float(one["loss"]), rel=1e-4)


def test_both_nodes_are_well(slurm: PrivateSlurm) -> None:
    assert set(slurm.states()) == set(NODES)
    assert set(slurm.states().values()) <= {"idle", "mix", "comp"}
