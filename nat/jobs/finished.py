"""Second names of what a job has finished.

Snakemake removes what a job is to make before it starts it, and what a failed job has made. So all
that is finished has second names in a hidden folder, which is no output, and is put back from there
instead of being made again.
"""

from collections.abc import Mapping
from pathlib import Path

from nat.checksums import recorded, sha256_of
from nat.files import link


def are_intact(files: Mapping[str, Path]) -> bool:
    """Return True if all files are there, and none is damaged."""
    paths = files.values()
    return all(path.exists() and recorded(path) in (None, sha256_of(path)) for path in paths)


def link_all(files: Mapping[str, Path], to: Mapping[str, Path]) -> None:
    """Give files second names; the last one marks them as complete, and is linked last."""
    to[[*files][-1]].unlink(missing_ok=True)
    for name, path in files.items():
        link(path, to[name])
