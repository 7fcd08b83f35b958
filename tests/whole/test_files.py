import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from nat.checksums import OF_FOLDER, TIMESTAMP
from nat.files import (
    atomic_directory,
    atomic_path,
    atomic_write_text,
    check_replaceable,
    copy,
    link,
    make_folder,
    read_json,
)
from nat.jobs.train import prepare_checkpoints, remove_checkpoints
from nat.measures import statistics
from nat.program import Progress
from nat.training.model_file import write_tensors
from tests.messages import must_name, told
from tests.repository import ROOT


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != OF_FOLDER)


def test_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert names(path.parent) == ["file.txt"]


def test_files_get_the_permissions_of_the_umask_which_is_never_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", Mock(side_effect=AssertionError))
            atomic_write_text(tmp_path / "file.txt", "text")
            write_tensors(tmp_path / "weights.pt", {"a": torch.zeros(2)})
            statistics.write(tmp_path / "scores.npz", {"a": np.zeros(2)})
    finally:
        os.umask(before)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.glob("[a-z]*")}
    assert modes == dict.fromkeys(["file.txt", "weights.pt", "scores.npz"], "0o640")


def test_full_disk_is_one_sentence(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    with (
        told("file.txt", "disk is full"),
        atomic_path(tmp_path / "file.txt"),
        full.open("w") as file,
    ):
        file.write("x" * 10)
        file.flush()
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with told("file/inner"):
        atomic_write_text(tmp_path / "file" / "inner", "text")
    with told(tmp_path / "file"), atomic_directory(tmp_path / "file" / "inner"):
        pass
    for path in ("file", "file/inner"):
        with told(path, "move the file"):
            make_folder(tmp_path / path)


def test_what_is_in_the_way_of_a_file_or_a_folder_is_to_be_moved(tmp_path: Path) -> None:
    mine = tmp_path / "model.pt/mine"
    mine.parent.mkdir()
    mine.touch()
    atomic_write_text(tmp_path / "second", "text")
    with told("model.pt", "move the folder"):
        atomic_write_text(mine.parent, "text")
    with told("model.pt", "move the folder"):
        link(tmp_path / "second", mine.parent)
    with told(mine, "move it away"), atomic_directory(mine):
        pass
    for path in (mine.parent, tmp_path / "second/inner"):
        with told(path, "move away"):
            read_json(path)
    assert mine.exists()


def test_other_errors_of_the_block_are_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "file.txt"):
        (tmp_path / "missing input").read_text()
    assert names(tmp_path) == []


def test_directory_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    for content in ("first", "second"):
        (tmp_path / ".folder.partial").mkdir()  # left by a killed run
        (tmp_path / ".folder.partial/half").touch()
        with atomic_directory(path) as temporary:
            (temporary / content).write_text(content)
        assert names(path) == [content]
        (path / TIMESTAMP).touch()  # by Snakemake
    with pytest.raises(ValueError), atomic_directory(path) as temporary:
        (temporary / "third").write_text("half")
        raise ValueError
    assert names(path) == [TIMESTAMP, "second"]
    assert names(tmp_path) == ["folder"]


def test_a_directory_does_not_take_the_place_of_what_was_not_made_here(tmp_path: Path) -> None:
    mine = tmp_path / "precious/sub/thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    other_name = tmp_path / "link"
    other_name.symlink_to("precious")
    for path, parts in (
        (tmp_path / "precious", ["precious", "sub/thesis.txt"]),
        (other_name, ["precious", "sub/thesis.txt"]),
        (mine, ["thesis.txt"]),
    ):
        with told(*parts), atomic_directory(path):
            raise AssertionError("nothing is made that cannot be put there")
    assert mine.read_text() == "mine"
    assert sorted(tmp_path.rglob("*")) == [other_name, *sorted(mine.parents[:2]), mine]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path, there: bool) -> None:
    path, made = tmp_path / "current", tmp_path / "elsewhere/first"
    path.symlink_to(made)
    if there:
        with atomic_directory(made) as temporary:
            (temporary / "old").touch()
    for name in ("new", "newer"):
        with atomic_directory(path) as temporary:
            (temporary / name).touch()
        assert path.readlink() == made
        assert {each.name for each in made.iterdir()} == {name, OF_FOLDER}
        assert {*tmp_path.iterdir(), *made.parent.iterdir()} == {path, made.parent, made}


def test_what_is_put_into_a_directory_while_it_is_made_again_stays(tmp_path: Path) -> None:
    mine = tmp_path / "made/mine"
    mine.parent.mkdir()
    with told("made", "mine"), atomic_directory(mine.parent):
        mine.touch()
    assert [*tmp_path.iterdir()] == [mine.parent] and mine.exists()


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b""])
def test_broken_json_names_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "value.json").write_bytes(content)
    made = "results/corpora/c/train/clean/clean.json"
    for path, part in (("value.json", ""), (made, f"snakemake --force {made}"), ("", "read")):
        with told(path or tmp_path, part):
            read_json(tmp_path / path)


def test_a_folder_that_is_copied_into_a_whole_is_listed_with_it(tmp_path: Path) -> None:
    with atomic_directory(tmp_path / "engine") as temporary:
        (temporary / "model.bin").touch()
    made = tmp_path / "made"
    with atomic_directory(made) as temporary:
        copy(tmp_path / "engine", temporary / "engine")
    assert {path.name for path in made.rglob("*")} == {OF_FOLDER, "engine", "model.bin"}
    check_replaceable(made)
    (made / "mine").mkdir()
    (made / "mine" / OF_FOLDER).touch()
    with told(f"mine/{OF_FOLDER}"):
        check_replaceable(made)


def test_a_training_removes_nothing_that_trainings_do_not_write(tmp_path: Path) -> None:
    mine = [tmp_path / f"{name}_mine.pt" for name in ("weights", "kept", "checkpoint_1")]
    theirs = tmp_path / "all/other/events.out.tfevents.1"
    theirs.parent.mkdir(parents=True)
    for path in (*mine, theirs, tmp_path / "weights_3.pt"):
        path.touch()
    (tmp_path / "tensorboard").symlink_to("all")
    run = Mock(folder=tmp_path, saved={}, events=tmp_path / "tensorboard", as_written=dict)
    prepare_checkpoints(run, Progress("train", 1, "updates"))
    remove_checkpoints(run)
    assert set(tmp_path.rglob("*.*")) == {*mine, theirs}


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("name", [".venv-audit", ".venv-latest"])
def test_a_folder_of_a_user_is_not_cleared_for_an_environment(
    tmp_path: Path, name: str, linked: bool
) -> None:
    mine = tmp_path / ("theirs" if linked else name) / "notes.txt"
    mine.parent.mkdir()
    mine.touch()
    if linked:
        (tmp_path / name).symlink_to(mine.parent)
    (tmp_path / "envs").mkdir()
    for file in ("Makefile", "envs/latest.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    by_make = ["make", "audit", f"PYTHON={sys.executable}"]
    command = by_make if name == ".venv-audit" else [sys.executable, "envs/latest.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    must_name(ended.stdout + ended.stderr, "error", name, "move it away")
    assert ended.returncode and mine.exists()
