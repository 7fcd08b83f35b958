"""Files out of tar and zip archives.

A member never determines where it is written: it gets a new name, and an archive with a member
outside its folder is refused completely.
"""

import bz2
import errno
import gzip
import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from nat.errors import UserError
from nat.options import hint

_DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, ValueError, IndexError, struct.error, OverflowError, NotImplementedError),
)
"""Errors that reading a damaged archive raises, besides `OSError`."""
_COMPRESSED: Mapping[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZ": bz2.open,
    b"\xfd7": lzma.open,
}


def is_whole_zip(path: Path, or_unknown: bool = False) -> bool:
    """Return True if each member of a zip file has the checksum of its directory.

    Of members that are encrypted, or packed in a way that Python does not know, nothing is known.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except RuntimeError:  # also NotImplementedError
        return or_unknown
    except (*_DAMAGED, OSError):
        return False


def is_whole(path: Path, ending: str) -> bool:
    """Return False for a file that is empty or, if its ending says that it is packed, damaged."""
    if ending == ".zip":
        return is_whole_zip(path, or_unknown=True)
    if ending not in (".gz", ".tgz", ".bz2", ".xz"):
        return path.stat().st_size > 0
    with path.open("rb") as file:
        start = file.read(2)
    try:
        with _COMPRESSED[start](path, "rb") as file:
            while file.read(1 << 20):
                pass
    except (KeyError, *_DAMAGED, OSError):
        return False
    return True


def unpack(
    archive: Path, wanted: Mapping[str, Sequence[str]], folder: Path
) -> dict[str, list[Path]]:
    """Write members of a tar or zip file to `folder`, in one pass over it.

    `wanted` are their names or shell patterns by label, such as a language. The files of a label
    are returned in the order of the patterns, those of one pattern sorted by name. Raises a
    `UserError` if the archive is damaged, lacks a member, or has one outside its folder.
    """
    written: dict[str, Path] = {}
    names: list[str] = []
    patterns = [pattern for several in wanted.values() for pattern in several]
    try:
        for member, opened in _members(archive):
            clean = PurePosixPath(member)
            if clean.is_absolute() or ".." in clean.parts:
                raise UserError(
                    f"{archive} holds '{member}', which is outside its folder; do not use this "
                    "archive, fetch it again from its publisher"
                )
            name = str(clean)
            names.append(name)
            if opened is not None and any(fnmatchcase(name, pattern) for pattern in patterns):
                written[name] = folder / str(len(names))
                with written[name].open("wb") as file, opened() as content:
                    shutil.copyfileobj(content, file, 1 << 20)
    except (*_DAMAGED, RuntimeError, OSError) as error:
        # the disk gives another number, bz2 and places outside the file one of these
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise UserError(
            f"{archive} is damaged or encrypted ({error}); fetch it again, or unpack it yourself"
        ) from error
    files: dict[str, list[Path]] = {}
    for label, several in wanted.items():
        files[label] = []
        for pattern in several:
            matching = sorted(name for name in written if fnmatchcase(name, pattern))
            files[label] += [written[name] for name in matching]
            if not matching:
                raise UserError(
                    f"{archive} has no file '{pattern}' ('members.{label}'); "
                    f"{hint(pattern, names[:50])}"
                )
    return files


def _members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]] | None]]:
    """Name of each member, and a function that opens it; None for what is no regular file."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                is_file = not entry.is_dir() and kind in (0, stat.S_IFREG)
                yield entry.filename, partial(packed.open, entry) if is_file else None
        return
    with archive.open("rb") as file:
        start = file.read(2)
    with _COMPRESSED.get(start, open)(archive, "rb") as unpacked:
        # tarfile does not look at the checksum of a compressed stream that it opens itself
        with tarfile.open(fileobj=unpacked, mode="r|") as stream:
            for member in stream:
                opened = cast(Callable[[], IO[bytes]], partial(stream.extractfile, member))
                yield member.name, opened if member.isreg() else None
        while unpacked.read(1 << 20):
            pass
