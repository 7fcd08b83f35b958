"""Checksums of results, and what helps when one is damaged.

The SHA-256 of each file is in the manifest of its folder, `.sha256sums`, in the format of
`sha256sum`; `nat.files` writes it. Readers hold each result against it (`verified`), and `snakemake
verify` all at once. Downloads have a checksum of their own.

A comment of the manifest says where below the results of its run a file was written, so that a file
in the place of another is no less noticed if its line has come with it.
"""

import fcntl
import hashlib
import json
import logging
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from nat.errors import UserError
from nat.options import leaves

OF_FOLDER = ".sha256sums"  # the manifest of a folder
TIMESTAMP = ".snakemake_timestamp"  # marks a folder that is the output of a job of Snakemake
RESULTS = "results"  # folder of all results, in the folder where Snakemake runs
DOWNLOADS = "downloads"  # folder of `RESULTS` whose files a job downloads where it needs them
JOBS = "jobs"  # folder of `RESULTS` with what jobs are handed, see `nat.workflow.specification`
OVERRIDE = "override.json"  # the changes of the configuration by a named run
CHECKPOINTS = "checkpoints"  # folder beside a model that its training owns; no job makes it again

_LINE = re.compile(r"([0-9a-f]{64})  (.+)\n|# ([0-9a-f]{64}) of (.+)\n|#.*\n")
_NO_MEMORY = ("out of memory", "not enough memory", "allocate memory", "bad_alloc")


def manifest(folder: Path) -> dict[str, str] | None:
    """Read the SHA-256 of each file of a folder; nothing if damaged, None without a manifest.

    It is empty for a file that was written in another place. Of a file that was being replaced when
    its writer was stopped, two are listed, and that of the one which is there holds.
    """
    try:
        text = (folder / OF_FOLDER).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    listed: defaultdict[str, list[str]] = defaultdict(list)
    places: defaultdict[str, set[str]] = defaultdict(set)
    for line in text.splitlines(keepends=True):
        if (match := _LINE.fullmatch(line)) is None:
            return {}
        digest, name, of_place, place = match.groups()
        if name:
            listed[name].append(digest)
        elif place:
            places[of_place].add(place)
    here = _place(folder)
    digests = {name: each[-1] for name, each in listed.items()}
    for name in (name for name, each in listed.items() if {*each} != {each[-1]}):
        own = sha256_of(folder / name) if (folder / name).is_file() else ""
        digests[name] = own if own in listed[name] else digests[name]
    for name, digest in digests.items():
        if here and digest in places and f"{here}/{name}" not in places[digest]:
            digests[name] = ""
    return digests


def _place(folder: Path) -> str:
    """Place of a folder below the results of a run, also while it is made; empty elsewhere."""
    names = _below_results(folder)[1:]
    return "/".join(re.sub(r"^\.(.+)\.partial$", r"\1", name) for name in names)


def record(folder: Path, name: str, digest: str) -> None:
    """Write the SHA-256 that a file is about to have into the manifest of a folder.

    A new line is appended, so that no process takes away the line of another, also without locks.
    That of a file which is replaced holds until `forget_replaced`.
    """
    place = f"# {digest} of {_place(folder)}/{name}\n" if _place(folder) else ""
    with (folder / OF_FOLDER).open("a", encoding="utf-8") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"{digest}  {name}\n{place}")
        file.flush()
        os.fsync(file.fileno())


def forget_replaced(folder: Path, name: str) -> None:
    """Make comments of all lines of a file in the manifest of a folder but the last one.

    Whoever is stopped in between leaves a manifest that is whole.
    """
    with (folder / OF_FOLDER).open("rb+") as file:
        line = re.compile(rb"^[0-9a-f]{64}  " + re.escape(os.fsencode(name)) + rb"$", re.MULTILINE)
        for match in [*line.finditer(file.read())][:-1]:
            os.pwrite(file.fileno(), b"#", match.start())


def record_whole(folder: Path) -> None:
    """List every file of a folder that no job changes any more, and each manifest one level up.

    So a folder in it that disappears is known to have been there.
    """
    for each in sorted(folder.rglob("*"), key=lambda path: (-len(path.parts), path)):
        listed = manifest(each.parent) or {}
        if each.is_file() and each.name not in (OF_FOLDER, *listed):
            record(each.parent, each.name, sha256_of(each))
        elif (own := each / OF_FOLDER).is_file():
            record(each.parent, f"{each.name}/{OF_FOLDER}", sha256_of(own))
            forget_replaced(each.parent, f"{each.name}/{OF_FOLDER}")


def sha256_of(path: Path | str) -> str:
    """SHA-256 of a file, hexadecimal."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def recorded(path: Path) -> str | None:
    """SHA-256 that a file had when it was written; None without a manifest.

    It is empty if the manifest is damaged, or does not list the file, which is then damage, too.
    A link, such as that of a named run to a result of its scale, stands for what it points to.
    """
    path = path.resolve() if path.is_symlink() else path
    listed = manifest(path.parent)
    return None if listed is None else listed.get(path.name, "")


def record_of_download(path: Path) -> Path:
    """Path of the file with the SHA-256 of a download, which is beside it."""
    return path.with_name(f"{path.name}.sha256")


def recorded_of_download(path: Path) -> str | None:
    """SHA-256 that is recorded of a download; None without a record."""
    try:
        return record_of_download(path).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None


def verified(path: Path | str) -> Path:
    """Return the path, unless the file or its manifest is damaged, which is an error.

    A missing file is left to the reader, a download to its own checksum.
    """
    path = Path(path)
    in_the_making = any(name.endswith(".partial") for name in path.parts[:-1])
    if not path.is_file() or in_the_making or _below_results(path)[:1] == (DOWNLOADS,):
        return path
    expected = recorded(path)
    if expected is None:
        if _below_results(path):
            logging.getLogger(__name__).warning("%s is not checked: no manifest lists it", path)
    elif expected != sha256_of(path):
        fault = "its SHA-256 is another one" if expected else "it is not what was written there"
        raise UserError(f"{path} is damaged, or its manifest: {fault}; {remedy(path)}")
    return path


def verified_folder(folder: Path) -> Path:
    """Return the folder, unless a file that a manifest in it lists has changed or is missing."""
    for listing in folder.rglob(OF_FOLDER):
        for name in manifest(listing.parent) or ():
            if not (path := listing.parent / name).is_file():
                raise unreadable(path, FileNotFoundError())
            if path.name != OF_FOLDER:
                verified(path)
    return folder


def unreadable(path: Path | str, error: OSError) -> UserError:
    """Error of a reader for a file that the system does not give it."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path} does not exist; {remedy(path)}")
    if isinstance(error, IsADirectoryError | NotADirectoryError):
        return UserError(f"{path} cannot be read: {error.strerror}; move away what is there")
    return UserError(f"{path} cannot be read: {error.strerror or error}")


def is_of_memory(error: Exception) -> bool:
    """Return True if memory did not suffice; PyTorch has only words for that of the processor."""
    return isinstance(error, MemoryError) or any(each in str(error).lower() for each in _NO_MEMORY)


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Check a file that is read in the block, and say why it cannot be read if the block fails.

    Raises a `UserError` if it is missing, damaged or of another kind, or if memory does not
    suffice: then it is not damaged.
    """
    verified(path)
    try:
        yield
    except Exception as error:  # damage and other files give errors of many kinds
        if is_of_memory(error):
            advice = "end other programs, or use a machine with more memory"
            raise UserError(f"there is not enough memory to read {path}; {advice}") from error
        if isinstance(error, OSError):
            raise unreadable(path, error) from error
        # torch refuses what would be executed with several lines, and numpy advises to execute it
        held = re.search(r"GLOBAL (\S+)", str(error))
        said = str(error).partition("\n")[0].split(". ")[0]
        reason = type(error).__name__ if not said or "pickle" in said else said
        reason = f"it holds an object of the class {held[1]}" if held else reason
        fault = f"is damaged or of another kind ({reason})"
        raise UserError(f"{path} {fault}; {remedy(path)}") from error


def remedy(path: Path | str) -> str:
    """Advice on how to make a file again, as the end of a message."""
    path = Path(path)
    if path.parent.name == CHECKPOINTS:
        return f"remove the folder {path.parent} and train again"
    if making := command(path):
        return f"run '{making}' to make it again"
    if path.name == OF_FOLDER:
        return f"make the files of {path.parent} again, and move those that are yours elsewhere"
    if _below_results(path):
        return f"remove {path} and run again" if os.path.lexists(path) else "run again"
    return "put the right file there; 'nat pack' and 'nat export' make their folders again"


def command(path: Path | str) -> str | None:
    """Command that makes a file below `RESULTS` again; None for what no rule makes."""
    path = Path(path)
    path = next((each for each in path.parents if (each / TIMESTAMP).exists()), path)
    below = _below_results(path)
    run, *names = below or ("",)
    if run != "corpora" and names[:1] == ["report"]:  # made at once, with this file as its output
        names = ["report", "index.html"]
    hidden = any(name.startswith(".") for name in names)
    # directly in the folder of a run only its overrides lie
    unmade = run in (DOWNLOADS, JOBS) or CHECKPOINTS in names
    if len(names) < 2 or hidden or unmade:
        return None
    words = ["snakemake", "--force", "/".join((RESULTS, run, *names))]
    if run != "corpora":
        scale, _, name = run.partition("@")
        words += ["--config", f"scale={scale}", *([f"name={name}"] if name else [])]
        with suppress(OSError, ValueError):  # without, or with a damaged one
            saved = saved_override(path.parents[len(below) - 2] / OVERRIDE)
            words += [f"{key}={' '.join(given)}" for key, given in saved.items() if given]
    return shlex.join(words)


def _below_results(path: Path) -> tuple[str, ...]:
    """Names of a path below the folder of results; none elsewhere."""
    full, here = Path.cwd() / path, Path.cwd() / RESULTS
    if full.is_relative_to(here):
        return full.relative_to(here).parts
    inner = next((each for each in path.parents if each.name == RESULTS), None)
    return path.relative_to(inner).parts if inner else ()


def saved_override(record: Path) -> dict[str, tuple[str, ...]]:
    """Changes of a named run, as it saved them, as typed, `KEY=VALUE`, and those of its sweep."""
    changes = json.loads(record.read_text(encoding="utf-8"))
    if not isinstance(changes, Mapping):
        raise ValueError("no keys and values")
    swept = changes.get("sweep", {}).items()
    given = [each for each in leaves({**changes, "sweep": {}}) if not isinstance(each[1], Mapping)]
    return {
        "override": tuple(f"{key}={json.dumps(value)}" for key, value in given),
        "sweep": tuple(f"{key}={','.join(values)}" for key, values in swept),
    }
