"""All of `results` held against its checksums, see `nat.checksums`."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from nat import checksums
from nat.checksums import DOWNLOADS, OF_FOLDER, RESULTS, TIMESTAMP
from nat.data.download import record_of_download
from nat.errors import UserError
from nat.program import Progress

_WITHOUT_RECORDS = ("logs", "benchmarks")
"""Names of folders whose files have no record: they say how a job ran."""


@dataclass
class Found:
    """What was found below a folder.

    Attributes:
        intact: number of files that are what was written.
        unknown: number of files without a record, such as those of earlier versions.
        faults: files and folders that are damaged, missing, or cannot be read, and which of these.
        remedies: what makes them again, or is to be done else, each once.
    """

    intact: int = 0
    unknown: int = 0
    faults: dict[Path, str] = field(default_factory=dict)
    remedies: list[str] = field(default_factory=list)

    def add(self, path: Path, error: BaseException | None = None) -> None:
        """Add a fault: damage, or what the system says instead of giving the file."""
        refusal = None if isinstance(error, FileNotFoundError) else error
        assert refusal is None or isinstance(refusal, OSError)
        if refusal is None:
            self.faults[path] = "damaged" if path.exists() else "missing"
        else:
            self.faults[path] = f"cannot be read ({refusal.strerror or refusal})"
        remedy = checksums.remedy(path, refusal)
        if remedy not in self.remedies:
            self.remedies.append(remedy)


def verify(folder: Path) -> Found:
    """Compare every file below a folder, or of the whole that it is a part of, with its record.

    Raises:
        UserError: if there is no such folder.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name results, or a folder in it")
    found = Found()
    paths = _files(checksums.folder_of(folder / OF_FOLDER) or folder, found)
    progress = Progress(f"verify {folder}", len(paths), "files")
    for done, path in enumerate(paths, 1):
        expected = _expected(path)
        try:
            if expected is None:
                found.unknown += os.path.lexists(path)  # else a run has removed it since
            elif checksums.sha256_of(path) == expected:
                found.intact += 1
            else:
                found.add(path)
        except UserError as error:
            found.add(path, error.__cause__)
        progress.update(done)
    return found


def _expected(path: Path) -> str | None:
    """The SHA-256 that is recorded of a file; None without a record."""
    if not _is_download(path):
        return checksums.recorded(path)
    with suppress(OSError):
        return record_of_download(path).read_text(encoding="utf-8", errors="replace").strip()
    return None


def _is_download(path: Path) -> bool:
    return (RESULTS, DOWNLOADS) in pairwise(path.parts)


def _files(folder: Path, found: Found) -> list[Path]:
    """Files, also those that only the record of their folder names, in order; looks behind links.

    What is wrong with folders and their records is added to what was found.
    """

    def refused(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # else a run has removed it since
            found.add(Path(error.filename), error)

    files: set[Path] = set()
    walked: set[Path] = set()  # links may lead back to a folder, or twice to the same
    for where, folders, names in os.walk(folder, onerror=refused, followlinks=True):
        here = Path(where)
        if here.resolve() in walked:
            folders.clear()
            continue
        walked.add(here.resolve())
        folders[:] = sorted({*folders}.difference(_WITHOUT_RECORDS))
        if {OF_FOLDER, TIMESTAMP}.isdisjoint(names) or checksums.has_whole_record(here):
            files |= {here / name for name, _ in checksums.in_folder(here)}
        else:
            found.add(here / OF_FOLDER)
        shown = {here / name for name in names if not name.startswith(".")}
        files |= {path for path in shown if not (_is_download(path) and path.suffix == ".sha256")}
    return sorted(files)
