"""All of `results` held against its checksums, see `nat.checksums`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nat.checksums import (
    DOWNLOADS,
    OF_FOLDER,
    RESULTS,
    command,
    folder_of,
    in_folder,
    is_intact,
    is_record,
    recorded,
    remedy,
    sha256_of,
)
from nat.data.download import record_of_download
from nat.program import Progress

_LOGS = "logs"
"""Name of folders whose files have no record."""


@dataclass(frozen=True)
class Found:
    """What was found below a folder.

    Attributes:
        intact: number of files that are what was written.
        unknown: number of files without a record, such as those of earlier versions.
        damaged: files that are not what was written, or are missing from their folder.
    """

    intact: int
    unknown: int
    damaged: tuple[Path, ...]

    @property
    def remedies(self) -> list[str]:
        """The commands that make what is damaged again, or what else is to be done, each once."""
        return list(dict.fromkeys(command(path) or remedy(path) for path in self.damaged))


def verify(folder: Path) -> Found:
    """Compare every file below a folder with its record.

    Raises:
        UserError: if a file cannot be read.
    """
    paths = list(_files(folder))
    progress = Progress(f"verify {folder}", len(paths), "files")
    intact, unknown, damaged = 0, 0, []
    for done, (path, has_record) in enumerate(paths, 1):
        if not has_record:
            unknown += 1
        elif path.exists() and _is_intact(path):
            intact += 1
        elif _is_download(path) or recorded(path) is not None:  # else a run has removed it since
            damaged.append(path)
        progress.update(done)
    return Found(intact, unknown, tuple(damaged))


def _is_intact(path: Path) -> bool:
    if not _is_download(path):
        return is_intact(path)
    record = record_of_download(path).read_text(encoding="utf-8", errors="replace")
    return sha256_of(path) == record.strip()


def _is_download(path: Path) -> bool:
    return (RESULTS, DOWNLOADS) in pairwise(path.parts)


def _files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Files in order, and whether they have a record; also those that only a record names."""
    seen: set[Path] = set()
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != _LOGS)
        here = Path(where)
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
