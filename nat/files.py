"""Files that appear whole or not at all, whose checksums are in the manifests of their folders."""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nat import checksums
from nat.errors import UserError, refusal
from nat.locks import alone


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say that the file system refuses a write, and why; errors of other files pass."""
    try:
        yield
    except OSError as error:
        file = Path(error.filename or path)
        own = f".{path.name}." in f"{file} {error.filename2}" or file.name == checksums.OF_FOLDER
        if not own and file not in (path, *path.parents):
            raise
        raise UserError(f"cannot write {path}: {refusal(error)}") from error


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that replaces it when the block ends well.

    When the block fails, the temporary file is removed and `path` is left as it was.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        temporary.touch(exist_ok=False)  # with the permissions that the user's umask gives
        try:
            yield temporary
            digest = checksums.sha256_of(temporary)
            to_disk(temporary)
            # who is stopped after this has listed a file that is not there, which is no damage
            checksums.record(path.parent, path.name, digest)
            temporary.replace(path)
            checksums.forget_replaced(path.parent, path.name)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path | str) -> Iterator[Path]:
    """Yield an empty temporary sibling of the directory `path` that takes its place at the end.

    When the block fails, the temporary directory is removed and `path` is left as it was. The
    sibling has a fixed name, so that what a killed run left behind goes away with the next one, and
    a lock, so that a process that is still writing there is not disturbed. A link stays, and what
    it points to is replaced.

    Raises:
        UserError: as `check_replaceable`, if another process is writing the directory, or if the
            file system refuses a write inside it (disk full, permission).
    """
    path = Path(path)
    with writing(path):  # a folder cannot take the place of a link
        path = path.resolve() if path.is_symlink() else path
    temporary, replaced = (path.parent / f".{path.name}.{part}" for part in ("partial", "replaced"))
    with writing(path):
        check_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone(temporary, f"writing {path}"):
            discard(replaced)
            discard(temporary)
            temporary.mkdir()
            try:
                yield temporary
                checksums.record_whole(temporary)
                for each in (*temporary.rglob("*"), temporary):
                    to_disk(each)
                if path.exists():
                    check_replaceable(path)  # a user may have put a file there in the meantime
                    path.rename(replaced)
            except BaseException:
                discard(temporary)
                raise
            temporary.rename(path)
            to_disk(path.parent)
            discard(replaced)


def discard(folder: Path) -> None:
    """Remove a folder with all that is in it, if it is there; of a link, only the link."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file, or a folder with files that no manifest lists."""
    for each in sorted(path.rglob("*")) if path.is_dir() else ():
        listed = checksums.manifest(each.parent) or {}
        own = {*listed, checksums.TIMESTAMP}
        made = each.name in own or (listed and each.name == checksums.OF_FOLDER)
        if not made and (each.is_symlink() or not each.is_dir()):
            raise UserError(
                f"{path} would be replaced, but it holds {each.relative_to(path)}, which was not "
                "made here; name another folder, or move the file"
            )
    for each in (path, *path.parents):
        if each.exists() and not each.is_dir():
            raise UserError(f"{each} is a file; move it away, or name another folder to make")


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def copy(path: Path, to: Path) -> None:
    """Copy a file or a folder, unless it is damaged: a copy gets a checksum of its own."""
    if path.is_dir():
        shutil.copytree(checksums.verified_folder(path), to)
    else:
        shutil.copyfile(checksums.verified(path), to)


def link(path: Path, to: Path) -> None:
    """Give a file a second name, in the place of what is there.

    Whoever removes or replaces one of the two leaves the other. Without such links, it is a copy.
    """
    make_folder(to.parent)
    with writing(to):
        to.unlink(missing_ok=True)
    digest = checksums.recorded(checksums.verified(path)) or checksums.sha256_of(path)
    checksums.record(to.parent, to.name, digest)
    try:
        os.link(path, to)
        checksums.forget_replaced(to.parent, to.name)
    except OSError:
        with atomic_path(to) as temporary:
            copy(path, temporary)


def link_all(files: Mapping[str, Path], to: Mapping[str, Path]) -> None:
    """Give files second names; the last one marks them as complete, and is linked last.

    Snakemake removes what a job is to make before it starts it, and what a failed job has made. So
    all that is finished has second names in a hidden folder, which is no output, and is put back
    from there instead of being made again.
    """
    to[[*files][-1]].unlink(missing_ok=True)
    for name, path in files.items():
        link(path, to[name])


def are_intact(files: Mapping[str, Path]) -> bool:
    """Return True if all files are there, and none is damaged."""
    return all(
        path.exists() and checksums.recorded(path) in (None, checksums.sha256_of(path))
        for path in files.values()
    )


def to_disk(path: Path) -> None:
    """Have the system write a file or folder now: a power failure must not leave a name alone."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # some network file systems cannot do so for folders
        if not (path.is_dir() and error.errno in (errno.EINVAL, errno.EBADF, errno.ENOTSUP)):
            raise
    finally:
        os.close(handle)


def atomic_write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8 to `path`, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_by_content(folder: Path, text: str) -> Path:
    """Write `text` to a JSON file that is named after its content, unless it is there."""
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        atomic_write_text(path, text)
    return path


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON to `path`, whole or not at all."""
    atomic_write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file; an error names it, and the command that makes it again."""
    with checksums.reading(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))
