"""All of `results` held against its manifests, see `nat.checksums`."""

import json
import os
from itertools import pairwise
from pathlib import Path

from nat import checksums
from nat.checksums import CHECKPOINTS, DOWNLOADS, OF_FOLDER, RESULTS, TIMESTAMP
from nat.errors import UserError

_WITHOUT_CHECKSUMS = ("logs", "benchmarks", "tensorboard", "results/bench", "results/site")
"""Folders whose files have no checksum: they say how a job runs, or `make` has filled them."""


def verify(top: Path) -> tuple[int, dict[Path, str]]:
    """Compare every file below a folder, also behind links, with its checksum.

    Returns the number of files that are what was written, and the faults of others, or of
    manifests. What a run removes meanwhile is no fault: Snakemake itself sees that a file is
    missing, unless it is in a folder that was made as one.
    """
    if not top.is_dir():
        raise UserError(f"{top} is not a folder; name results, or a folder in it")
    intact, faults = 0, dict[Path, str]()

    def refused(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            faults[Path(error.filename)] = f"cannot be read ({error.strerror})"

    walked: set[Path] = set()  # links may lead back to a folder, or twice to the same
    for where, folders, names in os.walk(top, onerror=refused, followlinks=True):
        here = Path(where)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if here.resolve() in walked or any(map(here.match, _WITHOUT_CHECKSUMS)):
            folders.clear()
            continue
        walked.add(here.resolve())
        whole = any((each / TIMESTAMP).exists() for each in (here, *here.parents))
        of_downloads = (RESULTS, DOWNLOADS) in pairwise(here.parts)
        listed = checksums.manifest(here)
        expected = {here / name: digest for name, digest in (listed or {}).items()}
        for path in (here / name for name in names if not name.startswith(".")):
            if of_downloads or path.is_symlink():
                read = checksums.recorded_of_download if of_downloads else checksums.recorded
                if (digest := read(path)) is not None:
                    expected[path] = digest
            elif path not in expected and (listed == {} or here.name != CHECKPOINTS):
                faults[here / OF_FOLDER] = "missing, damaged or incomplete"
        for path, digest in sorted(expected.items()):
            try:
                if checksums.sha256_of(path) != digest:
                    faults[path] = "damaged"
                elif "scores" in here.parts and (older := _made_again(path.resolve())):
                    faults[path] = f"computed from an earlier {older}"
                else:
                    intact += 1
            except UserError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    faults[path] = str(error)
                elif whole:
                    faults[path] = "missing"
    return intact, faults


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
