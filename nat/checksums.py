"""Checksums of results: what is damaged is not used in silence.

Whatever `nat.files` writes has its SHA-256 recorded in the format of `sha256sum`: of a file `NAME`
in `.NAME.sha256` beside it, of a folder that is written as one in its file `.sha256sums`. Every
reader of results passes its files through `verified`. A file without a record, such as one that a
user keeps, is not checked.
"""

import hashlib
import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from nat.errors import UserError
from nat.nested import leaves

OF_FOLDER = ".sha256sums"
"""Name of the record of a folder."""

TIMESTAMP = ".snakemake_timestamp"
"""Name of the file with which Snakemake marks a folder that is the output of a job."""

RESULTS = "results"
"""Folder of all results, in the folder where Snakemake runs."""

DOWNLOADS = "downloads"
"""Folder of `RESULTS` whose files a job downloads again where it needs them."""

OVERRIDE = "override.json"
"""The file of a named run with its changes of the configuration."""

PACKAGE = "package.json"
"""File that makes a folder a package, see `nat.deploy.package`."""

CHECKPOINTS = "checkpoints"
"""Folder beside a model that its training owns; no job makes a file of it again."""

_CORPORA = "corpora"  # folder of `RESULTS` that is not of a run
_REPORT = ("report", "index.html")  # the report is written as one, and this file is the output

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

    It costs about 0.8 seconds per GB of a processor with instructions for it.

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


def file_lines(path: Path) -> str:
    """The record of a file, to be written at `record_of(path)`."""
    return f"{sha256_of(path)}  {path.name}\n"


def folder_lines(folder: Path) -> str:
    """The record of a folder, to be written to its `OF_FOLDER`.

    Records of its single files, if there are any, are taken over and removed.
    """
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not is_record(path):
            lines.append(f"{recorded(path) or sha256_of(path)}  {path.relative_to(folder)}\n")
            record_of(path).unlink(missing_ok=True)
    return "".join(lines)


def recorded(path: Path) -> str | None:
    """The SHA-256 that a file had when it was written; None if there is no record of it."""
    try:
        return record_of(path).read_text(encoding="utf-8", errors="replace").partition(" ")[0]
    except OSError:
        folder = folder_of(path)
        if folder is None:
            return None
        return dict(in_folder(folder)).get(path.relative_to(folder).as_posix())


def folder_of(path: Path, marks: Sequence[str] = (OF_FOLDER,)) -> Path | None:
    """The nearest folder above a file that has one of the files `marks`; None if there is none.

    Outside of `RESULTS` a folder above that of the file must have a record that lists the file.
    """
    for folder in path.parents:
        if any(_is_there(folder / mark) for mark in marks):
            return folder
        if RESULTS not in folder.parent.parts:
            name = path.relative_to(folder.parent).as_posix()
            listed = any(name == each for each, _ in in_folder(folder.parent))
            return folder.parent if listed else None
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that may not be searched
        return False


def in_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and SHA-256 that the record of a folder lists; nothing without a record."""
    try:
        lines = (folder / OF_FOLDER).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        digest, _, name = line.partition("  ")
        yield name, digest


def is_intact(path: Path) -> bool:
    """Whether a file is what was written there, as far as there is a record."""
    expected = recorded(path)
    return expected is None or sha256_of(path) == expected


def verified(path: Path | str) -> Path:
    """`path`, unless its content has changed since it was written.

    A missing file is left to the reader.

    Raises:
        UserError: if the file is damaged, or cannot be read, with the remedy.
    """
    path = Path(path)
    if _is_there(path) and path.is_file() and not is_intact(path):
        raise UserError(
            f"{path} is damaged: its SHA-256 differs from the one of what was written there; "
            f"{remedy(path)}"
        )
    return path


def verified_folder(folder: Path) -> Path:
    """`folder`, unless a file that was written there has changed or is missing.

    Raises:
        UserError: as `verified`.
    """
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
    """Whether the memory of the processor or of a GPU did not suffice.

    PyTorch has no class of its own for an error of the processor's memory, only words.
    """
    reason = str(error).lower()
    return isinstance(error, MemoryError) or any(words in reason for words in _NO_MEMORY)


def check_memory(path: Path | str, error: Exception) -> None:
    """Tell an error of reading that says nothing about the file from one of damage.

    Raises:
        UserError: if the memory of the processor or of a GPU did not suffice.
    """
    if is_of_memory(error):
        raise UserError(
            f"there is not enough memory to read {path}; end other programs, or use a machine with "
            "more memory"
        ) from error


def remedy(path: Path | str, error: OSError | None = None) -> str:
    """How a file is made again or replaced, as the end of a message.

    Args:
        path: of a result, a file of a package or export, or a file of a user.
        error: with which the system refused to read it; None if it was read, or is missing.
    """
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
    if _package_of(path) is not None:
        return "pack the model again with 'nat pack', or copy the whole package again"
    if _in_results(path) is not None:
        return f"remove {path} and run again" if os.path.lexists(path) else "run again"
    made = folder_of(path)
    if made is not None:  # only exports are made as one elsewhere
        return f"make {made} again with 'nat export', or copy the whole folder again"
    return "put the right file there"


def _package_of(path: Path) -> Path | None:
    """The package that a file belongs to; models of other engines are folders of folders in it."""
    return next((each for each in path.parents[:3] if _is_there(each / PACKAGE)), None)


def output_of(path: Path) -> Path:
    """What a job makes as one: the folder above a file where that is the output, else the file."""
    return folder_of(path, (OF_FOLDER, TIMESTAMP)) or path


def command(path: Path | str) -> str | None:
    """The command that makes a file below `RESULTS` again; None for what no rule makes."""
    path = output_of(Path(path))
    results = _in_results(path)
    if results is None or _package_of(path) is not None:
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
        given = " ".join(_saved_override(results / run / OVERRIDE))
        words += [f"override={given}"] if given else []
    return shlex.join(words)


def _in_results(path: Path) -> Path | None:
    """The folder of results that a path is in; None if it is in none.

    Corpora, systems and decodings may have the name of that folder, too, and so may a folder of the
    user above all this.
    """
    here = Path.cwd() / RESULTS
    if (Path.cwd() / path).is_relative_to(here):
        return here if path.is_absolute() else Path(RESULTS)
    return next((each for each in path.parents if each.name == RESULTS), None)


def saved_override(record: Path) -> tuple[str, ...]:
    """The changes of a named run, as its first run saved them, as typed: `KEY=VALUE`.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is damaged.
    """
    changes = json.loads(record.read_text(encoding="utf-8"))
    if not isinstance(changes, Mapping):
        raise ValueError("no keys and values")
    return tuple(
        f"{key}={json.dumps(value)}"
        for key, value in leaves(changes)
        if not isinstance(value, Mapping)
    )


def _saved_override(record: Path) -> tuple[str, ...]:
    """The same, or nothing if the file is missing or damaged."""
    try:
        return saved_override(record)
    except (OSError, ValueError):
        return ()
