"""Downloads with checksum, mirror folder, resume and atomic rename."""

import bz2
import gzip
import hashlib
import lzma
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError

from nat.checksums import record_of_download, recorded_of_download
from nat.data.archive import is_whole_zip
from nat.data.corpus import Checksum
from nat.data.lines import unpacked
from nat.errors import UserError
from nat.files import to_disk, writing
from nat.locks import in_turn
from nat.program import Progress

ATTEMPTS = 4  # in a row without any new byte
PAUSE = 1.0  # seconds before the second attempt; doubles with each one
TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two pieces of data
PIECE = 1 << 18  # bytes
LONGEST_NAME = 200  # bytes of a part of an address; a file system takes 255, with our endings

_COMPRESSED: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


class _Interrupted(Exception):
    """The connection failed or broke off; another attempt may succeed."""


@dataclass(frozen=True)
class _Address:
    """A file that is published.

    Attributes:
        url: its address.
        key: file and key of the configuration that name it, for messages.
        mirror: folder MIRROR/HOST/PATH, or None.
    """

    url: str
    key: str
    mirror: Path | None

    @property
    def place(self) -> PurePosixPath:
        """HOST/PATH, its path in the mirror and in the folder of downloads."""
        try:
            parts = urlsplit(self.url)
            query = f"?{parts.query}" if parts.query else ""
            place = PurePosixPath(parts.hostname or "", parts.path.lstrip("/") + query)
            fits = all(0 < len(part.encode()) <= LONGEST_NAME for part in place.parts)
        except ValueError:  # such as of a damaged IPv6 address
            place, fits = PurePosixPath(), False
        is_file = len(place.parts) > 1 and ".." not in place.parts and "\0" not in self.url
        if not (self.url.lower().startswith(("http://", "https://")) and is_file and fits):
            raise UserError(f"{self.key} is '{self.url}', which is not the address of a file")
        return place

    def fails(self, fault: object) -> UserError:
        """The error that says why there is no file, and where a user may put it."""
        place = f"{self.mirror or 'mirror'}/{self.place}"
        return UserError(
            f"{self.url} ({self.key}) {fault}; correct the configuration, or put the right file "
            f"at {place}"
        )


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
    published; if none is, later downloads must have that of the first.

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
    address = _Address(url, key, mirror)
    path = downloads / address.place
    mirrored = _mirrored(address, _expected(checksum, path))
    if mirrored is not None:
        if checksum.digest is None:
            _record(path, _digest(mirrored, "sha256", address.place))
        return mirrored
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(path.parent):
        expected = _expected(checksum, path)  # the process that held the lock may have recorded it
        # One that is damaged, or whose checksum in the configuration has changed since, stays until
        # the right one takes its place: a user may have put it there by hand.
        if not path.is_file() or _fault(path, address.place, expected):
            part = path.with_name(f"{path.name}.{owner}.part")
            with writing(part), _no_half(part):
                _fetch(address, part, expected, record_of_download(path))
                to_disk(part)  # a power failure must not leave the name without the content
                # who is stopped here leaves no record of the file that this one replaces
                record_of_download(path).unlink(missing_ok=True)
                part.replace(path)
                to_disk(path.parent)
        if not record_of_download(path).exists():
            _record(path, _digest(path, "sha256", address.place))
    return path


def _expected(checksum: Checksum, path: Path) -> Checksum:
    """The checksum of the configuration, else that of the first download, else none."""
    return checksum if checksum.digest else Checksum(digest=recorded_of_download(path))


def _record(path: Path, digest: str) -> None:
    record = record_of_download(path)
    with writing(record):
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(f"{digest}\n", encoding="utf-8")


def probe(url: str) -> str | None:
    """Ask for the first byte of a file; what is wrong, or None if it answers."""
    try:
        headers = {"Range": "bytes=0-0"}
        with closing(requests.get(url, headers=headers, stream=True, timeout=TIMEOUT)) as response:
            response.raise_for_status()
    except requests.HTTPError as error:
        return f"the server answers {error.response.status_code} {error.response.reason}"
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"
    return None


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
        dead += fault is not None
        yield f"ok  {url}  ({naming[0]})" if fault is None else f"DEAD  {url}  ({fault})"
        yield from (f"      {key}" for key in naming if fault is not None)
    if dead:
        raise UserError(
            f"{dead} of {len(keys)} addresses do not answer; correct them, or put their files into "
            "the mirror"
        )


def _mirrored(address: _Address, expected: Checksum) -> Path | None:
    """The file of the mirror, if there is one."""
    if address.mirror is None:
        return None
    plain = address.mirror / address.place
    path = plain if plain.is_file() else plain.with_name(f"{plain.name}.gz")
    if not path.is_file():
        return None
    if path != plain and plain.suffix in (*_COMPRESSED, ".zip"):  # readers unpack it once
        fault: str | None = f"that are packed twice; unpack them once, to {plain}"
    else:
        fault = _fault(path, address.place, expected)
    if fault:
        raise UserError(
            f"the mirror's copy {path} of {address.url} has bytes {fault} ({address.key}); put the "
            "right file there, or remove it to use the network"
        )
    return path


def _fetch(address: _Address, part: Path, expected: Checksum, record: Path) -> None:
    """Complete `part` from the network and check it; a wrong file is removed."""
    resumed = part.exists()
    _transfer(address, part)
    fault = _fault(part, address.place, expected)
    if fault and resumed:  # the part may be from an older version of the file
        part.unlink()
        _transfer(address, part)
        fault = _fault(part, address.place, expected)
    if fault:
        size = part.stat().st_size
        part.unlink()
        kept = f" (the checksum of the first download is kept in {record})"
        raise address.fails(f"gave {size:,} bytes {fault}{kept * record.exists()}")


def _fault(path: Path, place: PurePosixPath, expected: Checksum) -> str | None:
    """The fault of a downloaded file; None if it has none.

    Without a checksum a compressed file must at least be whole, for it has its own.
    """
    if expected.digest is not None:
        found = _digest(path, expected.algorithm, place)
        is_right = found == expected.digest.lower()
        return None if is_right else f"with the checksum {found} instead of {expected.digest}"
    if path.stat().st_size == 0:
        return "that hold nothing"
    if place.suffix == ".zip" and not is_whole_zip(path, or_unknown=True):
        return "that are not a complete zip file"
    if place.suffix in _COMPRESSED:
        try:
            with _COMPRESSED[place.suffix](path, "rb") as file:
                while file.read(PIECE):
                    pass
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            return f"that are not a complete file of {_COMPRESSED[place.suffix].__module__}"
    return None


def _digest(path: Path, algorithm: str, place: PurePosixPath) -> str:
    """The checksum of a published file, which a mirror may have packed with gzip."""
    is_packed = path.name == f"{place.name}.gz"
    with unpacked(path) if is_packed else path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


@contextmanager
def _no_half(part: Path) -> Iterator[None]:
    """Remove the incomplete file if the disk is full or refuses it."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _transfer(address: _Address, part: Path) -> None:
    """Complete `part` from the network, resuming after the bytes that it contains.

    Raises:
        UserError: if the server refuses, or `ATTEMPTS` in a row bring nothing new.
    """
    best = _size(part)
    failures = 0
    while True:
        try:
            return _attempt(address, part)
        except _Interrupted as error:
            size = _size(part)
            failures = 1 if size > best else failures + 1
            best = max(best, size)
            if failures >= ATTEMPTS:
                kept = f" ({size:,} bytes are kept for the next run)" if size else ""
                raise address.fails(f"cannot be downloaded: {error}{kept}") from error
            time.sleep(PAUSE * 2 ** (failures - 1))


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _attempt(address: _Address, part: Path) -> None:
    """Request the missing bytes of `part` once and append them."""
    size = _size(part)
    # Without "identity" a server may compress the answer, and ranges would count compressed bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={size}-"} if size else {})
    try:
        response = requests.get(address.url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.RequestException as error:
        failures = requests.Timeout, requests.ConnectionError
        if isinstance(error, requests.exceptions.SSLError) or not isinstance(error, failures):
            raise address.fails(f"cannot be downloaded: {error}") from error
        raise _Interrupted(f"no connection to {urlsplit(address.url).netloc}") from error
    with closing(response):
        status = response.status_code
        if status == requests.codes.requested_range_not_satisfiable and size:
            # There is nothing after our last byte: the file is complete, or has changed. The
            # checksum decides; a wrong one leads to a fresh start.
            return
        fault = f"the server answers {status} {response.reason}"
        if status >= 500 or status == requests.codes.too_many_requests:
            raise _Interrupted(fault)
        if status not in (requests.codes.ok, requests.codes.partial_content):
            raise address.fails(f"cannot be downloaded: {fault}")
        appends = response.headers.get("Content-Range", "").startswith(f"bytes {size}-")
        _receive(response, part, size if appends else 0)


def _receive(response: requests.Response, part: Path, start: int) -> None:
    """Write the body of `response` behind the first `start` bytes of `part`."""
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdigit() else None
    name = urlsplit(response.url).path.rpartition("/")[2]
    progress = Progress(f"download {name}", (total or 0) // 1000, "kB") if total else None
    done = start
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
        except HTTPError as error:
            what = "the server fell silent or the connection broke off"
            raise _Interrupted(f"{what} after {done:,} bytes") from error
