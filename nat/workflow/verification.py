"""All of `results` held against its checksums, see `nat.checksums`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nat.checksums import command, in_folder, is_intact, is_record, remedy
from nat.program import Progress

_NO_RESULTS = ("downloads", "logs")
"""Folders whose files have no record: downloads have checksums of their own."""


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
        elif path.exists() and is_intact(path):
            intact += 1
        else:
            damaged.append(path)
        progress.update(done)
    return Found(intact, unknown, tuple(damaged))


def _files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Files in order, and whether they have a record; also those that only a record names."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NO_RESULTS)
        here = Path(where)
        listed = {name for name, _ in in_folder(here)}
        # a file that was removed and has a record of its own is made again where it is needed
        single = {name for name in names if f".{name}.sha256" in names}
        present = {name for name in names if not name.startswith(".")}
        for name in sorted(listed | single | present):
            path = here / name
            if not is_record(path):
                yield path, name in listed or name in single
