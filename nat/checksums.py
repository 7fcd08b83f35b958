"""Checksums of results: what is damaged is not used in silence.

Whatever `nat.files` writes has its SHA-256 recorded in the format of `sha256sum`: of a file `NAME`
in `.NAME.sha256` beside it, of a folder that is written as one in its file `.sha256sums`. Every
reader of results passes its files through `verified`. A file without a record, such as one that a
user keeps, is not checked.
"""

import hashlib
import json
import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from nat.errors import UserError
from nat.nested import leaves

OF_FOLDER = ".sha256sums"  # the record of a folder
TIMESTAMP = ".snakemake_timestamp"  # marks a folder that is the output of a job of Snakemake
RESULTS = "results"  # folder of all results, in the folder where Snakemake runs
DOWNLOADS = "downloads"  # folder of `RESULTS` whose files a job downloads where it needs them
OVERRIDE = "override.json"  # the changes of the configuration by a named run
PACKAGE = "package.json"  # makes a folder a package, see `nat.deploy.package`
CHECKPOINTS = "checkpoints"  # folder beside a model that its training owns; no job makes it again

_CORPORA = "corpora"  # folder of `RESULTS` that is not of a run
_REPORT = ("report", "index.html")  # the report is written as one, and this file is the output
_RECORD = re.compile(r"([0-9a-f]{64}  .+\n)*")
_NO_MEMORY = ("out of memory", "not enough memory", "allocate memory", "bad_alloc")
_COARSE = 2_000_000_000  # nanoseconds: a later change may have the same time on some file systems


def record_of(path: Path) -> Path:
    """The record of a single file."""
    return path.with_name(f".{path.name}.sha256")


def is_record(path: Path) -> bool:
    """Whether a file is the record of a file or folder."""
    return path.name == OF_FOLDER or (path.name.startswith(".") and path.suffix == ".sha256")


def sha256_of(path: Path | str) -> str:
    """SHA-256 of a file, hexadecimal; computed once as long as the file does not change.

    Raises:
        UserError: if the file cannot be read.
    """
    path = Path(path)
    try:
        found = path.stat()
        if time.time_ns() - found.st_mtime_ns < _COARSE:
            return _digest(path)
        return _once(path.absolute(), found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise unreadable(path, error) from error


@cache
def _once(path: Path, _inode: int, _size: int, _time: int) -> str:
    return _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_lines(folder: Path) -> str:
    """The record of a folder, for its `OF_FOLDER`; takes over records of single files in it."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not is_record(path):
            lines.append(f"{recorded(path) or sha256_of(path)}  {path.relative_to(folder)}\n")
            record_of(path).unlink(missing_ok=True)
    return "".join(lines)


def recorded(path: Path) -> str | None:
    """The SHA-256 that a file had when it was written; None if there is no record of it.

    It is empty if the record of its folder is damaged where the file may have been.
    """
    try:
        return record_of(path).read_text(encoding="utf-8", errors="replace").partition(" ")[0]
    except OSError:
        folder = folder_of(path)
    if folder is None:
        return None
    found = dict(in_folder(folder)).get(path.relative_to(folder).as_posix())
    return "" if found is None and not has_whole_record(folder) else found


def folder_of(path: Path, marks: Sequence[str] = (OF_FOLDER,)) -> Path | None:
    """The nearest folder above a file that has one of the files `marks`, if there is one.

    Outside of `RESULTS` a folder above that of the file must have a record that lists the file.
    """
    for folder in path.parents:
        if any(os.access(folder / mark, os.F_OK) for mark in marks):
            return folder
        if RESULTS not in folder.parent.parts:
            name = path.relative_to(folder.parent).as_posix()
            listed = any(name == each for each, _ in in_folder(folder.parent))
            return folder.parent if listed else None
    return None


def in_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and SHA-256 that the record of a folder lists; nothing without a record."""
    with suppress(OSError):
        text = (folder / OF_FOLDER).read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            digest, _, name = line.partition("  ")
            yield name, digest


def has_whole_record(folder: Path) -> bool:
    """Whether the record of a folder is there, and lists its files line by line."""
    try:
        text = (folder / OF_FOLDER).read_text(encoding="utf-8")
        has_files = bool({each.name for each in folder.iterdir()} - {OF_FOLDER, TIMESTAMP})
    except (OSError, UnicodeDecodeError):
        return False
    return _RECORD.fullmatch(text) is not None and bool(text) == has_files


def is_intact(path: Path) -> bool:
    """Whether a file is what was written there, as far as there is a record."""
    expected = recorded(path)
    return expected is None or sha256_of(path) == expected


def verified(path: Path | str) -> Path:
    """`path`, unless its content has changed; that a file is missing is left to the reader.

    Raises:
        UserError: if the file is damaged, or cannot be read, with the remedy.
    """
    path = Path(path)
    if os.access(path, os.F_OK) and path.is_file() and not is_intact(path):
        fault = "is damaged: its SHA-256 differs from the one that was recorded of it"
        raise UserError(f"{path} {fault}; {remedy(path)}")
    return path


def verified_folder(folder: Path) -> Path:
    """`folder`, unless a file of its record has changed (see `verified`) or is missing."""
    for name, _ in in_folder(folder):
        if not verified(folder / name).is_file():
            raise UserError(f"{folder / name} does not exist; {remedy(folder / name)}")
    return folder


def unreadable(path: Path | str, error: OSError) -> UserError:
    """What a reader raises for a file that the system does not give it."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path} does not exist; {remedy(path)}")
    return UserError(f"{path} cannot be read ({error.strerror or error}); {remedy(path, error)}")


def is_of_memory(error: Exception) -> bool:
    """Whether memory did not suffice; PyTorch has only words for that of the processor."""
    return isinstance(error, MemoryError) or any(each in str(error).lower() for each in _NO_MEMORY)


def check_memory(path: Path | str, error: Exception) -> None:
    """Raise a `UserError` if a file was not read for want of memory: then it is not damaged."""
    if is_of_memory(error):
        remedy = "end other programs, or use a machine with more memory"
        raise UserError(f"there is not enough memory to read {path}; {remedy}") from error


def remedy(path: Path | str, error: OSError | None = None) -> str:
    """How a file is made again, or made readable after an `error`, as the end of a message."""
    path = Path(path)
    if isinstance(error, PermissionError):
        return f"make {path} readable"
    if isinstance(error, IsADirectoryError):
        return f"move the folder {path} away and {remedy(path)}"
    if path.parent.name == CHECKPOINTS:
        return f"remove the folder {path.parent} and train again"
    found = command(path)
    if found is not None:
        return f"run '{found}' to make it again"
    if _is_packed(path):
        return "pack the model again with 'nat pack', or copy the whole package again"
    if _in_results(path) is not None:
        return f"remove {path} and run again" if os.path.lexists(path) else "run again"
    made = folder_of(path)
    if made is not None:  # only exports are made as one elsewhere
        return f"make {made} again with 'nat export', or copy the whole folder again"
    return "put the right file there"


def _is_packed(path: Path) -> bool:
    """Whether a file is of a package, where models of other engines are folders of folders."""
    return any(os.access(each / PACKAGE, os.F_OK) for each in path.parents[:3])


def command(path: Path | str) -> str | None:
    """The command that makes a file below `RESULTS` again; None for what no rule makes."""
    path = folder_of(Path(path), (OF_FOLDER, TIMESTAMP)) or Path(path)
    results = _in_results(path)
    if results is None or _is_packed(path):
        return None
    run, *names = path.relative_to(results).parts or ("",)
    if run != _CORPORA and names[:1] == [_REPORT[0]]:
        names = [*_REPORT]
    hidden = any(name.startswith(".") for name in names)
    # directly in the folder of a run only its overrides lie
    if len(names) < 2 or hidden or run == DOWNLOADS or names[-2] == CHECKPOINTS:
        return None
    words = ["snakemake", "--force", "/".join((RESULTS, run, *names))]
    if run != _CORPORA:
        scale, _, name = run.partition("@")
        words += ["--config", f"scale={scale}"]
        words += [f"name={name}"] if name else []
        with suppress(OSError, ValueError):  # without, or with a damaged one
            changes = saved_override(results / run / OVERRIDE)
            words += ["override=" + " ".join(changes)] if changes else []
    return shlex.join(words)


def _in_results(path: Path) -> Path | None:
    """The folder of results that a path is in; None if it is in none.

    Corpora, systems and decodings may have the name of that folder, and folders above it, too.
    """
    here = Path.cwd() / RESULTS
    if (Path.cwd() / path).is_relative_to(here):
        return here if path.is_absolute() else Path(RESULTS)
    return next((each for each in path.parents if each.name == RESULTS), None)


def saved_override(record: Path) -> tuple[str, ...]:
    """The changes of a named run, as its first run saved them, as typed: `KEY=VALUE`.

    Raises:
        OSError, ValueError: if the file cannot be read, or is damaged.
    """
    changes = json.loads(record.read_text(encoding="utf-8"))
    if not isinstance(changes, Mapping):
        raise ValueError("no keys and values")
    given = ((key, value) for key, value in leaves(changes) if not isinstance(value, Mapping))
    return tuple(f"{key}={json.dumps(value)}" for key, value in given)
