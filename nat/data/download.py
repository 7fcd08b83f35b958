"""Downloads with checksum, mirror folder, resume and atomic rename."""

import bz2
import gzip
import hashlib
import lzma
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nat.data.archive import is_whole_zip
from nat.errors import UserError, refusal
from nat.files import replace_text, to_disk
from nat.locks import in_turn
from nat.program import Progress

if TYPE_CHECKING:
    import requests

ATTEMPTS = 4  # in a row without any new byte
PAUSE = 1.0  # seconds before the second attempt; doubles with each one
TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two pieces of data
PIECE = 1 << 18  # bytes
LONGEST_NAME = 200  # bytes of a part of an address; a file system takes 255, with our endings

_COMPRESSED: Mapping[str, tuple[str, Callable[..., Any]]] = {
    ".gz": ("gzip", gzip.open),
    ".tgz": ("gzip", gzip.open),
    ".bz2": ("bzip2", bz2.open),
    ".xz": ("xz", lzma.open),
}


class _Interrupted(Exception):
    """The connection failed or broke off; another attempt may succeed."""


class _Refused(Exception):
    """The server refuses the file; another attempt would be useless."""


@dataclass(frozen=True)
class Checksum:
    """The checksum of a published file.

    Attributes:
        algorithm: `sha256` or `md5`.
        digest: hexadecimal; None if none is published. Then later downloads must match the first
            one, whose SHA-256 is recorded like that of every download.
    """

    algorithm: str = "sha256"
    digest: str | None = None


def download(
    url: str,
    checksum: Checksum,
    *,
    key: str,
    mirror: Path | None,
    downloads: Path,
    owner: str,
) -> Path:
    """Return a local copy of the file at `url`, with verified checksum.

    Searched in this order: `MIRROR/HOST/PATH`, the same with `.gz` appended (then its content is
    the published file, which must not be packed itself), `DOWNLOADS/HOST/PATH` from an earlier
    download, the network. A broken connection leaves `*.part` in `downloads`, which the next
    attempt or run continues. A file that several corpora need is downloaded by the first; the
    others wait. The SHA-256 of a download is recorded beside it, also if another checksum is
    published.

    Args:
        url: address of one file, http or https.
        checksum: of the file as published.
        key: file and key of the configuration that name the URL, for messages.
        mirror: folder MIRROR/HOST/PATH, or None.
        downloads: folder that keeps downloads.
        owner: name of the corpus; on file systems without locks, two corpora that download the same
            file simultaneously do not share a `.part`.

    Raises:
        UserError: if the file cannot be obtained, or its checksum is wrong.
    """
    place = _place(url, key)
    record = record_of_download(downloads / place)
    expected = _expected(checksum, record)
    if mirror is not None:
        mirrored = _from_mirror(mirror, place, url, expected, key, record)
        if mirrored is not None:
            return mirrored
    path = downloads / place
    with _disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(path.parent):
        expected = _expected(checksum, record)  # the process that held the lock may have stored it
        # One that is damaged, or whose checksum in the configuration has changed since, stays until
        # the right one takes its place: a user may have put it there by hand.
        if path.is_file() and not _fault(path, place, expected):
            if not record.exists():  # as of downloads of earlier versions
                replace_text(record, _digest(path, "sha256") + "\n")
            return path
        part = path.with_name(f"{path.name}.{owner}.part")
        with _disk_errors(part):
            first = record if checksum.digest is None else None
            _fetch(url, part, place, expected, first, key, mirror)
            to_disk(part)  # a power failure must not leave the name without the content
            if checksum.digest is not None:
                # of a file that this one replaces; whoever is stopped here leaves no wrong record
                record.unlink(missing_ok=True)
            part.replace(path)
            to_disk(path.parent)
        if not record.exists():
            replace_text(record, _digest(path, "sha256") + "\n")
    return path


def record_of_download(path: Path) -> Path:
    """Where the SHA-256 of a download is recorded."""
    return path.with_name(f"{path.name}.sha256")


def probe(url: str) -> str | None:
    """Ask for the first byte of a file; what is wrong, or None if it answers."""
    import requests

    try:
        with closing(
            requests.get(url, headers={"Range": "bytes=0-0"}, stream=True, timeout=TIMEOUT)
        ) as response:
            if response.ok:
                return None
            return f"the server answers {response.status_code} {response.reason}"
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"


def probe_all(addresses: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Probe each address once, and say in a line whether it answers.

    Args:
        addresses: each with the file and key of the configuration that name it.

    Yields:
        A line for each address; for one that does not answer, also a line for each key.

    Raises:
        UserError: if an address does not answer.
    """
    keys: dict[str, list[str]] = {}
    for url, key in addresses:
        keys.setdefault(url, []).append(key)
    dead = 0
    for url, naming in keys.items():
        fault = probe(url)
        if fault is None:
            yield f"ok  {url}  ({naming[0]})"
            continue
        dead += 1
        yield f"DEAD  {url}  ({fault})"
        yield from (f"      {key}" for key in naming)
    if dead:
        raise UserError(
            f"{dead} of {len(keys)} addresses do not answer; correct them, or put their files into "
            "the mirror"
        )


def _fetch(
    url: str,
    part: Path,
    place: PurePosixPath,
    expected: Checksum,
    first: Path | None,
    key: str,
    mirror: Path | None,
) -> None:
    """Complete `part` and check it; a wrong file is removed.

    Args:
        url: address of the file.
        part: the file in the making.
        place: HOST/PATH of the file.
        expected: its checksum.
        first: the record of the first download if the checksum is that one.
        key: as in `download`, for messages.
        mirror: as in `download`, for messages.
    """
    resumed = part.exists()
    _transfer(url, part, place, key, mirror)
    fault = _fault(part, place, expected)
    if fault and resumed:
        # The part may be from an older version of the file.
        part.unlink()
        _transfer(url, part, place, key, mirror)
        fault = _fault(part, place, expected)
    if not fault:
        return
    size = part.stat().st_size
    part.unlink()
    due = "correct its checksum" if expected.digest else "correct the address"
    if first is not None and first.exists():
        due = f"remove {first}, where the checksum of the first download is kept, to accept it"
    raise UserError(
        f"{url} ({key}) gave {size:,} bytes {fault}; the file at the address has changed or is "
        f"not the right one: {due}, or put the right file at {_remedy(mirror, place)}"
    )


def _expected(checksum: Checksum, record: Path) -> Checksum:
    """The checksum of the configuration, else that of the first download, else none."""
    if checksum.digest is not None:
        return Checksum(checksum.algorithm, checksum.digest.lower())
    try:
        return Checksum(digest=record.read_text(encoding="utf-8", errors="replace").strip())
    except FileNotFoundError:
        return Checksum()


def _fault(path: Path, place: PurePosixPath, expected: Checksum) -> str | None:
    """What is wrong with a downloaded file; None if nothing is.

    Without a checksum a compressed file must at least be intact, for it has its own.
    """
    if expected.digest is not None:
        found = _digest(path, expected.algorithm)
        if found == expected.digest:
            return None
        return f"with the checksum {found} instead of {expected.digest}"
    if path.stat().st_size == 0:
        return "that hold nothing"
    if place.suffix in _COMPRESSED:
        name, opened = _COMPRESSED[place.suffix]
        try:
            with opened(path, "rb") as file:
                while file.read(PIECE):
                    pass
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            return f"that are not a complete {name} file"
    if place.suffix == ".zip" and not is_whole_zip(path, or_unknown=True):
        return "that are not a complete zip file"
    return None


def _place(url: str, key: str) -> PurePosixPath:
    """HOST/PATH of a URL, its path in the mirror and download folder."""
    try:
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        place = PurePosixPath(parts.hostname or "", parts.path.lstrip("/") + query)
        fits = all(0 < len(part.encode()) <= LONGEST_NAME for part in place.parts)
    except ValueError:  # such as of a damaged IPv6 address
        place, fits = PurePosixPath(), False
    is_file = len(place.parts) > 1 and ".." not in place.parts and "\0" not in url and fits
    if not url.lower().startswith(("http://", "https://")) or not is_file:
        raise UserError(
            f"{key} is '{url}', which is not the http or https address of a file; "
            "use `files` for local files"
        )
    return place


def _remedy(mirror: Path | None, place: PurePosixPath) -> str:
    """The path where a user may put the file."""
    return f"{mirror or 'mirror'}/{place}"


def _from_mirror(
    mirror: Path, place: PurePosixPath, url: str, expected: Checksum, key: str, record: Path
) -> Path | None:
    plain, packed = mirror / place, mirror / f"{place}.gz"
    path = plain if plain.is_file() else packed
    if not path.is_file():
        return None
    if path == packed and place.suffix in (*_COMPRESSED, ".zip"):
        # whoever reads the file unpacks it once
        raise UserError(
            f"the mirror's copy {path} of {url} is packed twice ({key}); unpack it once, to {plain}"
        )
    found = _digest(path, expected.algorithm, unpack=path == packed)
    if expected.digest is None:
        fault = _fault(path, place, expected) if path == plain else None
        if fault:
            raise UserError(
                f"the mirror's copy {path} of {url} has bytes {fault} ({key}); put the right file "
                "there, or remove it to use the network"
            )
        replace_text(record, found + "\n")
    elif found != expected.digest:
        raise UserError(
            f"the mirror's copy {path} of {url} has the checksum {found} instead of "
            f"{expected.digest} ({key}); put the right file there, or remove it to use the "
            "network"
        )
    return path


def _digest(path: Path, algorithm: str, *, unpack: bool = False) -> str:
    try:
        with gzip.open(path, "rb") if unpack else path.open("rb") as file:
            return hashlib.file_digest(file, algorithm).hexdigest()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path} is a damaged gzip file ({error}); replace it") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def _disk_errors(part: Path) -> Iterator[None]:
    """Report a full or read-only disk in one sentence, and remove incomplete files."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UserError(f"cannot write {part}: {refusal(error)}") from error


def _transfer(url: str, part: Path, place: PurePosixPath, key: str, mirror: Path | None) -> None:
    """Complete `part` from the network, resuming after the bytes that it contains.

    Raises:
        UserError: if the server refuses, or `ATTEMPTS` in a row bring nothing new.
    """
    best = _size(part)
    failures = 0
    while True:
        try:
            _attempt(url, part)
            return
        except _Refused as error:
            raise UserError(
                f"{url} ({key}) cannot be downloaded: {error}; correct the address, or put the "
                f"file at {_remedy(mirror, place)}"
            ) from error
        except _Interrupted as error:
            size = _size(part)
            failures = 1 if size > best else failures + 1
            best = max(best, size)
            if failures >= ATTEMPTS:
                kept = f" ({size:,} bytes are kept for the next run)" if size else ""
                raise UserError(
                    f"{url} ({key}) cannot be downloaded: {error}{kept}; look at the network, or "
                    f"put the file at {_remedy(mirror, place)}"
                ) from error
            time.sleep(PAUSE * 2 ** (failures - 1))


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _attempt(url: str, part: Path) -> None:
    """Request the missing bytes of `part` once and append them."""
    import requests  # with what it imports, a fifth of the time that a program takes to start

    size = _size(part)
    # Without "identity" a server may compress the answer, and ranges would count compressed bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={size}-"} if size else {})
    try:
        response = requests.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.Timeout as error:
        raise _Interrupted(f"no answer from {urlsplit(url).netloc} in time") from error
    except requests.exceptions.SSLError as error:
        raise _Refused("its certificate is not accepted") from error
    except requests.ConnectionError as error:
        raise _Interrupted(f"no connection to {urlsplit(url).netloc}") from error
    except requests.RequestException as error:
        raise _Refused(str(error)) from error
    with closing(response):
        if response.status_code == requests.codes.requested_range_not_satisfiable and size:
            # There is nothing after our last byte: the file is complete, or has changed. The
            # checksum decides; a wrong one leads to a fresh start.
            return
        if response.status_code >= 500 or response.status_code == requests.codes.too_many_requests:
            raise _Interrupted(f"the server answers {response.status_code} {response.reason}")
        if response.status_code not in (requests.codes.ok, requests.codes.partial_content):
            raise _Refused(f"the server answers {response.status_code} {response.reason}")
        appends = response.headers.get("Content-Range", "").startswith(f"bytes {size}-")
        _receive(response, part, size if appends else 0)


def _receive(response: "requests.Response", part: Path, start: int) -> None:
    """Write the body of `response` behind the first `start` bytes of `part`."""
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdigit() else None
    name = urlsplit(response.url).path.rpartition("/")[2]
    progress = Progress(f"download {name}", (total or 0) // 1000, "kB") if total else None
    done = start
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        file.truncate(start)
        try:
            # The body as transferred: a .gz file is not decompressed.
            # `read1` gives what has come, so that nothing is lost if no more comes
            while piece := response.raw.read1(PIECE, decode_content=False):
                file.write(piece)
                done += len(piece)
                if progress is not None:
                    progress.update(done // 1000)
        except ReadTimeoutError as error:
            raise _Interrupted(f"the server fell silent after {done:,} bytes") from error
        except HTTPError as error:
            raise _Interrupted(f"the connection broke off after {done:,} bytes") from error
