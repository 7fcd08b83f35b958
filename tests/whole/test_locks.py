"""Two processes that would write the same folder: one waits or is refused, nothing is destroyed."""

import errno
import multiprocessing
import os
from multiprocessing.context import ForkProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Timer
from unittest.mock import Mock

import pytest

from nat.files import atomic_directory
from nat.locks import alone, in_turn
from tests.messages import told


def write(path: Path, started: Event, finish: Event) -> None:
    with atomic_directory(path) as folder:
        (folder / "train.en").write_text("of the first\n")
        started.set()
        assert finish.wait(60)
        (folder / "train.de").write_text("of the first\n")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clean"


@pytest.fixture
def first(path: Path) -> tuple[ForkProcess, Event]:
    """A process that is writing the folder, and what lets it go on."""
    context = multiprocessing.get_context("fork")
    started, finish = context.Event(), context.Event()
    process = context.Process(target=write, args=(path, started, finish))
    process.start()
    assert started.wait(60)
    return process, finish


def test_a_successor_is_refused_and_does_no_harm(
    path: Path, first: tuple[ForkProcess, Event]
) -> None:
    process, finish = first
    with told("another process", "clean"), atomic_directory(path) as folder:
        (folder / "train.en").write_text("of the second\n")
    finish.set()
    process.join(60)
    assert process.exitcode == 0
    assert sorted(each.name for each in path.glob("[!.]*")) == ["train.de", "train.en"]
    assert (path / "train.en").read_text() == "of the first\n"
    with atomic_directory(path) as folder:
        (folder / "train.en").write_text("of the second\n")
    assert (path / "train.en").read_text() == "of the second\n"


@pytest.mark.parametrize("fails", [False, True])
def test_a_slurm_job_goes_on_where_its_predecessor_has_ended(
    fails: bool,
    path: Path,
    first: tuple[ForkProcess, Event],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What it waits for has another name then, or is removed."""
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    process, finish = first
    if fails:
        (path.parent / ".clean.partial/train.de").mkdir()  # so that it cannot write this file
    Timer(0.5, finish.set).start()
    with atomic_directory(path) as folder:
        assert list(folder.iterdir()) == []
        (folder / "train.en").write_text("of the second\n")
    process.join(60)
    assert (process.exitcode == 0) != fails
    assert capsys.readouterr().out.count("waits for another process") == 1
    assert [each.name for each in path.glob("[!.]*")] == ["train.en"]
    assert (path / "train.en").read_text() == "of the second\n"
    assert [each.name for each in path.parent.iterdir()] == ["clean"]


def test_what_a_killed_process_left_is_no_lock(
    path: Path, first: tuple[ForkProcess, Event]
) -> None:
    process, _ = first
    process.kill()
    process.join(60)
    assert (path.parent / ".clean.partial/train.en").exists()
    with atomic_directory(path) as folder:
        (folder / "train.de").write_text("of the second\n")
    assert [each.name for each in path.glob("[!.]*")] == ["train.de"]
    assert [each.name for each in path.parent.iterdir()] == ["clean"]


def test_a_lock_that_cannot_be_written_is_an_error_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", Mock(side_effect=OSError(errno.ENOSPC, "No space left")))
    with in_turn(tmp_path):  # what is there can still be read
        pass
    with told(tmp_path, "disk is full"), alone(tmp_path / "seed1", "training"):
        pass
