"""All of `results` held against its checksums, see `nat.checksums`."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from nat.checksums import (
    DOWNLOADS,
    OF_FOLDER,
    RESULTS,
    command,
    folder_of,
    in_folder,
    is_record,
    recorded,
    remedy,
    sha256_of,
)
from nat.data.download import record_of_download
from nat.errors import UserError
from nat.program import Progress

_WITHOUT_RECORDS = ("logs", "benchmarks")
"""Names of folders whose files have no record: they say how a job ran."""


@dataclass(frozen=True)
class Found:
    """What was found below a folder.

    Attributes:
        intact: number of files that are what was written.
        unknown: number of files without a record, such as those of earlier versions.
        damaged: files that are not what was written, are missing from their folder, or cannot be
            read, and folders that cannot be read.
        unreadable: those of them that cannot be read, and why.
    """

    intact: int
    unknown: int
    damaged: tuple[Path, ...]
    unreadable: Mapping[Path, OSError] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """What is wrong, a line for each of `damaged`."""
        return [f"{self._fault(path)}: {path}" for path in self.damaged]

    @property
    def remedies(self) -> list[str]:
        """The commands that make what is damaged again, or what else is to be done, each once."""
        return list(dict.fromkeys(map(self._remedy, self.damaged)))

    def _fault(self, path: Path) -> str:
        error = self.unreadable.get(path)
        if error is not None:
            return f"cannot be read ({error.strerror or error})"
        return "damaged" if path.exists() else "missing"

    def _remedy(self, path: Path) -> str:
        error = self.unreadable.get(path)
        if isinstance(error, PermissionError | IsADirectoryError):
            return remedy(path, error)
        return command(path) or remedy(path)


def verify(folder: Path) -> Found:
    """Compare every file below a folder with its record.

    Raises:
        UserError: if there is no such folder.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name results, or a folder in it")
    unreadable: dict[Path, OSError] = {}
    paths = list(_files(folder, unreadable))
    damaged = [*unreadable]
    progress = Progress(f"verify {folder}", len(paths), "files")
    intact, unknown = 0, 0
    for done, (path, has_record) in enumerate(paths, 1):
        expected = _expected(path) if has_record else None
        if expected is None:
            unknown += os.path.lexists(path)  # else a run has removed it since
        else:
            try:
                if sha256_of(path) == expected:
                    intact += 1
                else:
                    damaged.append(path)
            except UserError as refused:
                error = refused.__cause__
                assert isinstance(error, OSError)
                if not isinstance(error, FileNotFoundError | NotADirectoryError):
                    unreadable[path] = error
                    damaged.append(path)
                elif _expected(path) is not None:  # else a run has removed it since
                    damaged.append(path)
        progress.update(done)
    return Found(intact, unknown, tuple(damaged), unreadable)


def _expected(path: Path) -> str | None:
    """The SHA-256 that is recorded of a file; None without a record."""
    if not _is_download(path):
        return recorded(path)
    try:
        record = record_of_download(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return record.strip()


def _is_download(path: Path) -> bool:
    return (RESULTS, DOWNLOADS) in pairwise(path.parts)


def _files(folder: Path, unreadable: dict[Path, OSError]) -> Iterator[tuple[Path, bool]]:
    """Files in order, and whether they have a record; also those that only a record names.

    Args:
        folder: where to look, also behind links.
        unreadable: gets the folders that cannot be read.
    """

    def refused(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # else a run has removed it since
            unreadable[Path(error.filename)] = error

    seen: set[Path] = set()
    walked: set[tuple[int, int]] = set()  # links may lead back to a folder, or twice to the same
    for where, folders, names in os.walk(folder, onerror=refused, followlinks=True):
        here = Path(where)
        try:
            found = here.stat()
        except OSError:  # a run has removed it since
            continue
        if (found.st_dev, found.st_ino) in walked:
            folders.clear()
            continue
        walked.add((found.st_dev, found.st_ino))
        folders[:] = sorted(name for name in folders if name not in _WITHOUT_RECORDS)
        owner = folder_of(here / OF_FOLDER)
        listed = {owner / name for name, _ in in_folder(owner)} if owner else set()
        listed = {path for path in listed if path.is_relative_to(folder)}
        # a file that was removed and has a record of its own is made again where it is needed
        single = {here / name for name in names if f".{name}.sha256" in names}
        present = {here / name for name in names if not name.startswith(".")}
        if _is_download(here):
            present = {path for path in present if path.suffix != ".sha256"}
            single |= {path for path in present if record_of_download(path).exists()}
        for path in sorted((listed | single | present) - seen):
            if not is_record(path):
                yield path, path in listed or path in single
        seen |= listed
