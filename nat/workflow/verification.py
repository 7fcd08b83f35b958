"""All of `results` held against its manifests, see `nat.checksums`."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from nat import checksums
from nat.checksums import CHECKPOINTS, DOWNLOADS, OF_FOLDER, RESULTS, TIMESTAMP
from nat.errors import UserError

_WITHOUT_CHECKSUMS = ("logs", "benchmarks", "tensorboard")
"""Names of folders whose files have no checksum: they say how a job runs."""


@dataclass
class Verification:
    """Number of files that are what was written, and faults of others, or of manifests."""

    intact: int = 0
    faults: dict[Path, str] = field(default_factory=dict)

    @property
    def remedies(self) -> list[str]:
        """What helps, each once."""
        return list(dict.fromkeys(map(checksums.remedy, self.faults)))


def verify(top: Path) -> Verification:
    """Compare every file below a folder, also behind links, with its checksum.

    What a run removes meanwhile is no fault: Snakemake itself sees that a file is missing, unless
    it is in a folder that was made as one.
    """
    if not top.is_dir():
        raise UserError(f"{top} is not a folder; name results, or a folder in it")
    done = Verification()

    def refused(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            done.faults[Path(error.filename)] = f"cannot be read ({error.strerror})"

    walked: set[Path] = set()  # links may lead back to a folder, or twice to the same
    for where, folders, names in os.walk(top, onerror=refused, followlinks=True):
        here = Path(where)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if here.resolve() in walked or here.name in _WITHOUT_CHECKSUMS:
            folders.clear()
            continue
        walked.add(here.resolve())
        whole = any((each / TIMESTAMP).exists() for each in (here, *here.parents))
        files = {here / name for name in names if not name.startswith(".")}
        for path, expected in sorted(_expected(here, files, done)):
            try:
                if checksums.sha256_of(path) != expected:
                    done.faults[path] = "damaged"
                elif "scores" in here.parts and (older := _made_again(path.resolve())):
                    done.faults[path] = f"computed from an earlier {older}"
                else:
                    done.intact += 1
            except UserError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    done.faults[path] = str(error)
                elif whole:
                    done.faults[path] = "missing"
    return done


def _made_again(score: Path) -> Path | None:
    """First file that a score was computed from and that has another checksum now."""
    if score.suffix != ".json" or RESULTS not in score.parts:
        return None
    results = next(each for each in score.parents if each.name == RESULTS)
    run = score.relative_to(results).parts[0]
    for read in json.loads(score.read_text(encoding="utf-8")).get("files", {}).values():
        of_run, *names = Path(read["path"]).parts[1:]
        # the folder of a run may have got another name since
        path = results.joinpath(of_run if of_run == "corpora" else run, *names)
        if checksums.recorded(path) not in (None, "", read["sha256"]):
            return path
    return None


def _expected(here: Path, files: set[Path], done: Verification) -> Iterator[tuple[Path, str]]:
    """The SHA-256 of what is to be in a folder; faults of its manifest are added."""
    if (RESULTS, DOWNLOADS) in pairwise(here.parts):
        for path in files:
            if digest := checksums.recorded_of_download(path):
                yield path, digest
        return
    links = {path for path in files if path.is_symlink()}
    for path in links:
        if (digest := checksums.recorded(path)) is not None:
            yield path, digest
    listed = checksums.manifest(here)
    for name, digest in (listed or {}).items():
        yield here / name, digest
    unlisted = {path.name for path in files - links} - {*(listed or ())}
    if listed == {}:
        done.faults[here / OF_FOLDER] = "damaged"
    elif unlisted and here.name != CHECKPOINTS:
        done.faults[here / OF_FOLDER] = "missing" if listed is None else "incomplete"
