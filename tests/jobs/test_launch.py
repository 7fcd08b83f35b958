"""A training of several processes: how they are started, and that it is the same training."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from nat.artifacts import Model
from nat.configuration import load
from nat.job import JobConfiguration
from nat.jobs.launch import adopt_slurm, launch, launcher
from nat.training.run import accumulation
from tests.messages import must_name, told
from tests.repository import job, program, write_yaml
from tests.training.test_training import (
    SCALE,
    command,
    curve,
    folder,
    kill_at,
    make_start,
    model_file,
    report,
    train,
    weights,
)

__all__ = ["folder"]  # a fixture

WITHOUT_DROPOUT = {name: {"dropout": 0.0} for name in ("at", "cmlm", "dims")}


def scale(**changes: Any) -> None:
    write_yaml("config/scales/demo.yaml", {**SCALE, "recipes": WITHOUT_DROPOUT, **changes})


def handed() -> JobConfiguration:
    return job(load(), Model("demo", "toy", "at", 1)).configuration


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("system", ["at", pytest.param("dims", marks=pytest.mark.long)])
def test_two_processes_train_like_one(folder: Path, system: str) -> None:
    if system == "dims":  # it validates by BLEU, and has a teacher that follows its model
        make_start()
    # batches of 40 tokens: two, one after the other, or one on each device
    scale(tokens_per_device={"others": 40}, devices=1)
    weights_of_one, curve_of_one, report_of_one = train(system), curve(system), report(system)
    shutil.rmtree(model_file(system).parent)
    scale(tokens_per_device={"others": 40}, processes={system: 2})
    if system == "at":
        kill_at(system, 3)  # the processes that train must not outlive their launcher
    ended = subprocess.run(command(system), text=True, capture_output=True, timeout=500)
    assert ended.returncode == 0, ended.stderr[-3000:]
    said = ended.stdout
    assert ("resumes" in said) == (system == "at")
    assert said.count("learns from") == 1
    weights_of_two, curve_of_two, report_of_two = weights(system), curve(system), report(system)

    shape = ("devices", "batches_per_update_and_device", "tokens_per_batch")
    assert [report_of_one[key] for key in shape] == [1, 2, 40]
    assert [report_of_two[key] for key in shape] == [2, 1, 40]
    for key in ("tokens", "updates", "pairs", "averaged_updates"):
        assert report_of_one[key] == report_of_two[key]
    assert len(curve_of_one) == len(curve_of_two) > 3
    for row_of_one, row_of_two in zip(curve_of_one, curve_of_two, strict=True):
        for key, value in row_of_one.items():
            assert row_of_two[key] == value or float(row_of_two[key]) == pytest.approx(
                float(value), rel=1e-4, abs=1e-6
            ), key
    for name, value in weights_of_one.items():
        torch.testing.assert_close(weights_of_two[name], value, rtol=1e-4, atol=1e-5)


def test_the_error_of_one_process_ends_all_with_one_sentence(folder: Path) -> None:
    scale(devices=2)
    (folder / "results/corpora/toy/train/binarised/valid.lu.tokens.npy").unlink()
    ended = subprocess.run(command("at"), text=True, capture_output=True, timeout=500)
    assert ended.returncode != 0
    must_name(ended.stderr, "error", "results/corpora/toy/train/binarised/valid.lu.tokens.npy")
    assert not model_file("at").exists()


@pytest.mark.parametrize(
    ("devices", "most", "expected"),
    [
        (1, None, (1, 32768)),
        (8, 16384, (1, 4096)),
        (16, 4096, (1, 2048)),
        (1, 12000, (3, 10923)),
        (3, 4096, (3, 3641)),
    ],
)
def test_the_batch_in_tokens_stays_what_it_is(
    devices: int, most: int | None, expected: tuple[int, int]
) -> None:
    batches, tokens = accumulation(32768, devices, most)
    assert (batches, tokens) == expected
    assert devices * batches * tokens == pytest.approx(32768, rel=1e-3)


def test_a_node_is_shared_by_torchrun(folder: Path) -> None:
    scale(devices=1)
    assert launcher(handed(), 1, ["train.py"], {}) == []
    scale(devices=8)
    found = launcher(handed(), 1, ["train.py", "--seed", "1"], {})
    assert found[1:4] == ["-m", "torch.distributed.run", "--standalone"]
    assert found[4:] == ["--nproc-per-node=8", "train.py", "--seed", "1"]


def test_processes_share_a_training_where_there_are_no_gpus(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, four = {"devices": 1}, {"devices": 4}
    for gpus, devices, shared in ((0, {}, 3), (1, {}, 1), (2, {}, 2), (0, one, 1), (0, four, 4)):
        monkeypatch.setattr("torch.cuda.device_count", lambda gpus=gpus: gpus)
        scale(**devices)
        found = launcher(handed(), 3, ["train.py"], {})
        assert found[4:5] == ([f"--nproc-per-node={shared}"] if shared > 1 else [])
    # Snakemake says how many threads the job has: those of all processes
    started: list[Any] = []
    monkeypatch.setattr(os, "execvp", lambda *command: started.append(command))
    monkeypatch.setattr(os, "environ", {"OMP_NUM_THREADS": "6", "PATH": ""})
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    scale(processes={"at": 3})
    launch(handed(), "at", ["train.py"])
    assert os.environ["OMP_NUM_THREADS"] == "2" and len(started) == 1


def test_several_nodes_need_slurm(folder: Path) -> None:
    scale(devices=2, nodes=2)
    with told("'nodes'", "--profile slurm"):
        launcher(handed(), 1, ["train.py"], {"PATH": os.environ["PATH"]})


def test_srun_starts_a_process_for_each_device_of_each_node(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = folder / "bin"
    for name, text in {
        "srun": "",
        "squeue": "echo node[3-4]",
        "scontrol": 'test "$2" = hostnames && printf "node3\\nnode4\\n" || '
        'echo "NodeName=$3 NodeAddr=10.0.0.3"',
    }.items():
        program(tools / name, text)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    scale(devices=4, nodes=2, stages={"train": {"gpu": True, "cores": 3}})
    environment = {"SLURM_JOB_ID": "123456", "PATH": os.environ["PATH"]}
    found = " ".join(launcher(handed(), 1, ["train.py"], environment))
    wanted = (
        "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=3 --kill-on-bad-exit=1 "
        "--gpus-per-node=4 --export=ALL,MASTER_ADDR=10.0.0.3,MASTER_PORT=23456,NAT_TASKS=8"
    )
    assert found.startswith(wanted)
    assert re.search(r"python\S* train\.py$", found)

    environment = {"NAT_TASKS": "8", "SLURM_PROCID": "5", "SLURM_LOCALID": "1"}
    adopt_slurm(environment)
    assert [environment[key] for key in ("WORLD_SIZE", "RANK", "LOCAL_RANK")] == ["8", "5", "1"]
