"""Checksums of results, and what helps when one is damaged.

`nat.files` writes the SHA-256 of each of its files into the manifest of the folder, `.sha256sums`,
in the format of `sha256sum`. A folder that was written as one has a manifest that begins with
`WHOLE`, and lists all of its files, also those in folders of it. `snakemake verify` holds all
results against their manifests. Readers check only what a flipped bit would change in silence:
models and binarised text (`verified`), besides downloads, which have a checksum of their own.
"""

import fcntl
import hashlib
import json
import logging
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nat.errors import UserError
from nat.options import leaves

OF_FOLDER = ".sha256sums"  # the manifest of a folder
TIMESTAMP = ".snakemake_timestamp"  # marks a folder that is the output of a job of Snakemake
RESULTS = "results"  # folder of all results, in the folder where Snakemake runs
DOWNLOADS = "downloads"  # folder of `RESULTS` whose files a job downloads where it needs them
OVERRIDE = "override.json"  # the changes of the configuration by a named run
PACKAGE = "package.json"  # makes a folder a package, see `nat.export.package`
CHECKPOINTS = "checkpoints"  # folder beside a model that its training owns; no job makes it again

WHOLE = "# all files of this folder, which was written as one\n"

_CORPORA = "corpora"  # folder of `RESULTS` that is not of a run
_REPORT = ("report", "index.html")  # the report is written as one, and this file is the output
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_NO_MEMORY = ("out of memory", "not enough memory", "allocate memory", "bad_alloc")


class Manifest(NamedTuple):
    """The content of a manifest.

    Attributes:
        sums: SHA-256 by the name of each file, relative to the folder.
        is_whole: whether the folder was written as one.
        is_damaged: whether there is a line that is none of a manifest.
    """

    sums: dict[str, str]
    is_whole: bool
    is_damaged: bool


def manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None if it has none."""
    try:
        text = (folder / OF_FOLDER).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    *lines, rest = text.removeprefix(WHOLE).split("\n")
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    sums = {match[2]: match[1] for match in found}
    is_whole = text.startswith(WHOLE) or (folder / TIMESTAMP).exists()
    return Manifest(sums, is_whole, len(found) < len(lines) or bool(rest) or not text)


def manifest_of(path: Path) -> tuple[Path, Manifest] | None:
    """The manifest that is to list a file, and its folder; None if there is none.

    It is that of the file's own folder, or of one above that was written as one.
    """
    for folder in path.parents:
        found = manifest(folder)
        if found is not None and (found.is_whole or folder == path.parent):
            return folder, found
    return None


def record(path: Path, digest: str) -> None:
    """Write the SHA-256 of a file into the manifest of its folder.

    A new line is appended, so that no process takes away the line of another that writes there at
    the same time, also on file systems without locks.
    """
    with path.with_name(OF_FOLDER).open("a+", encoding="utf-8", errors="replace") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        lines = file.readlines()
        others = [line for line in lines if not line.endswith(f"  {path.name}\n")]
        if len(others) < len(lines):
            file.truncate(0)
            file.writelines(others)
        file.write(f"{digest}  {path.name}\n")
        file.flush()
        os.fsync(file.fileno())


def record_whole(folder: Path) -> None:
    """Write the manifest of a folder that is complete; it takes the place of those in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not is_record(path))
    lines = [f"{recorded(path) or sha256_of(path)}  {path.relative_to(folder)}\n" for path in files]
    for listing in folder.rglob(OF_FOLDER):
        listing.unlink()
    (folder / OF_FOLDER).write_text("".join([WHOLE, *lines]), encoding="utf-8")


def is_record(path: Path) -> bool:
    """Return True for the manifest of a folder."""
    return path.name == OF_FOLDER


def sha256_of(path: Path | str) -> str:
    """SHA-256 of a file, hexadecimal.

    Raises:
        UserError: if the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def recorded(path: Path) -> str | None:
    """The SHA-256 that a file had when it was written; None if it is not known.

    It is empty if the manifest is damaged. A link, such as that of a named run to a result of its
    scale, stands for what it points to.
    """
    path = path.resolve() if path.is_symlink() else path
    found = manifest_of(path)
    if found is None:
        return None
    folder, listed = found
    return "" if listed.is_damaged else listed.sums.get(path.relative_to(folder).as_posix())


def record_of_download(path: Path) -> Path:
    """The file with the SHA-256 of a download, which is beside it."""
    return path.with_name(f"{path.name}.sha256")


def recorded_of_download(path: Path) -> str | None:
    """The SHA-256 that is recorded of a download; None without a record."""
    try:
        return record_of_download(path).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None


def is_intact(path: Path) -> bool:
    """Return False if a file is known not to be what was written there."""
    expected = recorded(path)
    return expected is None or sha256_of(path) == expected


def verified(path: Path | str) -> Path:
    """`path`, unless its content has changed; that a file is missing is left to the reader.

    Raises:
        UserError: if the file or its manifest is damaged, with the remedy.
    """
    path = Path(path)
    expected = recorded(path) if path.is_file() else None
    if expected is None:
        if path.is_file() and _in_results(path) is not None:
            logging.getLogger(__name__).warning("%s is not checked: no manifest lists it", path)
    elif expected != sha256_of(path):
        fault = "is damaged, or the manifest of its folder: its SHA-256 is another one"
        raise UserError(f"{path} {fault}; {remedy(path)}")
    return path


def verified_folder(folder: Path) -> Path:
    """`folder`, unless a file that its manifest lists has changed or is missing."""
    whole, listed = manifest_of(folder / OF_FOLDER) or (folder, None)
    for path in () if listed is None else map(whole.joinpath, listed.sums):
        if path.is_relative_to(folder) and not verified(path).is_file():
            raise unreadable(path, FileNotFoundError())
    return folder


def unreadable(path: Path | str, error: OSError) -> UserError:
    """The error of a reader for a file that the system does not give it."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path} does not exist; {remedy(path)}")
    return UserError(f"{path} cannot be read: {error.strerror or error}")


def is_of_memory(error: Exception) -> bool:
    """Return True if memory did not suffice; PyTorch has only words for that of the processor."""
    return isinstance(error, MemoryError) or any(each in str(error).lower() for each in _NO_MEMORY)


def check_memory(path: Path | str, error: Exception) -> None:
    """Raise a `UserError` if a file was not read for want of memory: then it is not damaged."""
    if is_of_memory(error):
        remedy = "end other programs, or use a machine with more memory"
        raise UserError(f"there is not enough memory to read {path}; {remedy}") from error


def remedy(path: Path | str) -> str:
    """The way to make a file again, as the end of a message."""
    path = Path(path)
    if path.parent.name == CHECKPOINTS:
        return f"remove the folder {path.parent} and train again"
    found = command(path)
    if found is not None:
        return f"run '{found}' to make it again"
    if is_record(path):
        return f"make the files of {path.parent} again, and move those that are yours elsewhere"
    if _is_packed(path) or (_in_results(path) is None and any(map(_is_output, path.parents))):
        return "make the folder again with 'nat pack' or 'nat export', or copy it again"
    if _in_results(path) is not None:
        return f"remove {path} and run again" if os.path.lexists(path) else "run again"
    return "put the right file there"


def _is_packed(path: Path) -> bool:
    """Return True in a package, where models of other engines are folders of folders."""
    return any((each / PACKAGE).exists() for each in path.parents[:3])


def command(path: Path | str) -> str | None:
    """The command that makes a file below `RESULTS` again; None for what no rule makes."""
    path = Path(path)
    results = _in_results(path)
    if results is None or _is_packed(path):
        return None
    path = next((each for each in path.parents if _is_output(each)), path)
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


def _is_output(folder: Path) -> bool:
    """Return True for a folder that is made as one."""
    found = manifest(folder)
    return (folder / TIMESTAMP).exists() or (found is not None and found.is_whole)


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
