"""Files that appear whole or not at all, with a record of their checksums."""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

from nat.checksums import (
    OF_FOLDER,
    TIMESTAMP,
    folder_lines,
    in_folder,
    is_record,
    record_of,
    recorded,
    remedy,
    sha256_of,
    unreadable,
    verified,
    verified_folder,
)
from nat.errors import UserError, refusal
from nat.locks import alone


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that replaces it when the block ends well.

    When the block fails, the temporary file is removed and `path` is left as it was. The SHA-256
    is recorded beside the file, see `nat.checksums`.

    Raises:
        UserError: if the file system refuses the write (disk full, permission).
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    os.close(handle)
    temporary = Path(name)
    record = record_of(path)
    try:
        yield temporary
        lines = f"{sha256_of(temporary)}  {path.name}\n"
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        to_disk(temporary)
        # whoever is stopped between these steps leaves a file without a record, not a wrong one
        record.unlink(missing_ok=True)
        temporary.replace(path)
        replace_text(record, lines)
    except OSError as error:
        own = f".{path.name}."
        if error.filename is not None and not Path(error.filename).name.startswith(own):
            raise
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path | str) -> Iterator[Path]:
    """Yield an empty temporary sibling of the directory `path` that takes its place at the end.

    When the block fails, the temporary directory is removed and `path` is left as it was. The
    sibling has a fixed name, so that what a killed run left behind goes away with the next one, and
    a lock, so that a process that is still writing there is not disturbed. The SHA-256 of each file
    is recorded in the directory, see `nat.checksums`. A link stays, and what it points to is
    replaced.

    Raises:
        UserError: as `check_replaceable`, if another process is writing the directory, or if the
            file system refuses a write inside it (disk full, permission).
    """
    path = Path(path)
    if path.is_symlink():  # a folder cannot take the place of a link
        path = path.resolve()
    temporary = path.parent / f".{path.name}.partial"
    replaced = path.parent / f".{path.name}.replaced"
    try:
        check_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone(temporary, f"writing {path}"):
            yield from _filled(path, temporary, replaced)
    except OSError as error:
        inside = error.filename is None or Path(error.filename).is_relative_to(path.parent)
        if not inside:
            raise
        raise UserError(f"cannot write {path}: {refusal(error)}") from error


def _filled(path: Path, temporary: Path, replaced: Path) -> Iterator[Path]:
    for link in filter(Path.is_symlink, (temporary, replaced)):  # what they point to stays
        link.unlink()
    shutil.rmtree(replaced, ignore_errors=True)
    temporary.mkdir(exist_ok=True)
    clear(temporary)
    try:
        yield temporary
        (temporary / OF_FOLDER).write_text(folder_lines(temporary), encoding="utf-8")
        for each in temporary.rglob("*"):
            to_disk(each)
        to_disk(temporary)
        if path.exists():
            check_replaceable(path)  # a user may have put a file there in the meantime
            path.rename(replaced)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    temporary.rename(path)
    to_disk(path.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def check_replaceable(path: Path) -> None:
    """Refuse to replace something that holds files of the user.

    What `atomic_directory` has made lists its files in its record, and may be replaced. A folder
    that was copied into it can have its own record beside such files, and Snakemake marks a folder
    that a job has made.

    Raises:
        UserError: if it is a file or lies below one, or is a folder with a file that its record
            does not list.
    """
    if path.is_dir():
        made = {name for name, _ in in_folder(path)}
        made |= {
            PurePath(name).with_name(mark).as_posix()
            for name in (*made, OF_FOLDER)
            for mark in (OF_FOLDER, TIMESTAMP)
        }
        found = sorted(path.rglob("*"))
        files = (each for each in found if each.is_symlink() or not each.is_dir())
        names = (each.relative_to(path).as_posix() for each in files)
        foreign = next((name for name in names if name not in made), None)
        if foreign is not None:
            raise UserError(
                f"{path} would be replaced, but it holds {foreign}, which was not made here; name "
                "another folder, or move the file"
            )
    for each in (path, *path.parents):
        if each.exists() and not each.is_dir():
            raise UserError(f"{each} is a file; name another folder to make")


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there.

    Raises:
        UserError: if the file system refuses it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {refusal(error)}") from error


def clear(folder: Path) -> None:
    """Remove what is in a folder; nothing that a link in it points to."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def copy(path: Path, to: Path) -> None:
    """Copy a file, or a folder with all that is in it, unless it is damaged.

    A copy gets a record of its own, which would hide the damage.

    Raises:
        UserError: as `nat.checksums.verified`, and if a file of the folder is missing.
    """
    if path.is_dir():
        shutil.copytree(verified_folder(path), to)
    else:
        shutil.copyfile(verified(path), to)


def link(path: Path, to: Path) -> None:
    """Give a file or folder a second name, in the place of what is there.

    Whoever removes or replaces one of the two leaves the other. Where the file system has no such
    links, it is a copy.

    Raises:
        UserError: as `nat.checksums.verified`, or if the file system refuses the new name.
    """
    if path.is_dir():
        shutil.rmtree(to, ignore_errors=True)
        for each in path.rglob("*"):
            if not each.is_dir() and not is_record(each):
                link(each, to / each.relative_to(path))
        (to / OF_FOLDER).write_text(folder_lines(to), encoding="utf-8")
        return
    make_folder(to.parent)
    verified(path)
    record_of(to).unlink(missing_ok=True)
    to.unlink(missing_ok=True)
    try:
        os.link(path, to)
        replace_text(record_of(to), f"{recorded(path) or sha256_of(path)}  {to.name}\n")
    except OSError:
        with atomic_path(to) as temporary:
            copy(path, temporary)


def to_disk(path: Path) -> None:
    """Have the system write a file or folder to the disk now, before it takes another's place.

    Otherwise a power failure can leave a file under its final name without its content.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # some network file systems cannot do so for folders
        if not (path.is_dir() and error.errno in (errno.EINVAL, errno.EBADF, errno.ENOTSUP)):
            raise
    finally:
        os.close(handle)


def replace_text(path: Path, text: str) -> None:
    """Write a small file to the disk, whole or not at all, without a record of its checksum."""
    make_folder(path.parent)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        to_disk(temporary)
        temporary.replace(path)
        to_disk(path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)


def atomic_write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8 to `path`, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON to `path`, whole or not at all."""
    atomic_write_text(path, as_json(value))


def as_json(value: Any) -> str:
    """The text of a JSON file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path | str) -> Any:
    """Read a JSON file.

    Raises:
        UserError: if the file is missing, cannot be read, is damaged or is not JSON.
    """
    path = Path(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not valid JSON ({error}); {remedy(path)}") from error
    verified(path)
    return found
