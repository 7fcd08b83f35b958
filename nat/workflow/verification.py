"""All of `results` held against its manifests, see `nat.checksums`."""

import os
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from nat import checksums
from nat.checksums import CHECKPOINTS, DOWNLOADS, OF_FOLDER, RESULTS, recorded_of_download
from nat.errors import UserError
from nat.program import Progress

_WITHOUT_CHECKSUMS = ("logs", "benchmarks", "tensorboard")
"""Names of folders whose files have no checksum: they say how a job runs."""


@dataclass
class Found:
    """The result of a verification.

    Attributes:
        intact: number of files that are what was written.
        faults: files and manifests that are damaged, missing, lack a file or cannot be read, and
            which of these.
        remedies: what makes them again, or is to be done else, each once.
    """

    intact: int = 0
    faults: dict[Path, str] = field(default_factory=dict)
    remedies: dict[str, None] = field(default_factory=dict)

    def add(self, path: Path, fault: str) -> None:
        """Add a fault of a file or a manifest."""
        self.faults[path] = fault
        self.remedies[checksums.remedy(path)] = None


def verify(folder: Path) -> Found:
    """Compare every file below a folder, or of the whole that it is a part of, with its checksum.

    Raises:
        UserError: if there is no such folder.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name results, or a folder in it")
    whole, _ = checksums.manifest_of(folder / OF_FOLDER) or (folder, None)
    found = Found()
    expected = _expected(whole, found)
    progress = Progress(f"verify {folder}", len(expected), "files")
    for done, (path, digest) in enumerate(sorted(expected.items()), 1):
        try:
            if checksums.sha256_of(path) == digest:
                found.intact += 1
            else:
                found.add(path, "damaged")
        except UserError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                found.add(path, str(error))
            elif checksums.recorded(path) is not None:  # else a run has removed it since
                found.add(path, "missing")
        progress.update(done)
    return found


def _expected(top: Path, found: Found) -> dict[Path, str]:
    """The SHA-256 of each file that is to be there, behind links, too.

    What is wrong with folders and manifests is added to what was found. Snakemake itself sees that
    a file is missing, unless it is in a folder that was written as one.
    """

    def refused(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # else a run has removed it since
            found.add(Path(error.filename), f"cannot be read ({error.strerror})")

    expected: dict[Path, str] = {}
    walked: set[Path] = set()  # links may lead back to a folder, or twice to the same
    for where, folders, names in os.walk(top, onerror=refused, followlinks=True):
        here = Path(where)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if here.resolve() in walked or here.name in _WITHOUT_CHECKSUMS:
            folders.clear()
            continue
        walked.add(here.resolve())
        files = {here / name for name in names if not name.startswith(".")}
        there = {path for path in files if not path.is_symlink()}
        links = files - there
        expected |= {path: digest for path in links if (digest := checksums.recorded(path))}
        if (RESULTS, DOWNLOADS) in pairwise(here.parts):
            expected |= {path: digest for path in files if (digest := recorded_of_download(path))}
            continue
        listed = checksums.manifest(here)
        if listed is not None:
            sums = {here / name: digest for name, digest in listed.sums.items()}
            expected |= {path: sums[path] for path in sums if listed.is_whole or path in there}
        if listed is not None and listed.is_damaged:
            found.add(here / OF_FOLDER, "damaged")
        elif here.name != CHECKPOINTS and not there <= expected.keys():
            found.add(here / OF_FOLDER, "missing" if listed is None else "incomplete")
    return expected
