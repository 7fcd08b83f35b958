"""The files that text comes from: local ones, downloads, archives, test sets of sacreBLEU.

Downloads have a checksum, a mirror folder, are resumed, and get their names at the end.
"""

import hashlib
import logging
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError

from nat.checksums import DOWNLOADS, RESULTS, record_of_download, recorded_of_download, sha256_of
from nat.data.archive import is_whole, unpack
from nat.data.corpus import Corpus
from nat.data.formats import PAIRS
from nat.data.origins import Source, with_archive
from nat.errors import UserError, told_of, without_passwords
from nat.files import to_disk, writing
from nat.locks import in_turn
from nat.program import Progress

ATTEMPTS = 4  # in a row without any new byte
PAUSE = 1.0  # seconds before the second attempt; doubles with each one
TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two pieces of data
PIECE = 1 << 18  # bytes
MD5_DIGITS = 32  # of a checksum; others are SHA-256
BUSY = requests.codes.too_many_requests


@dataclass(frozen=True)
class Place:
    """The places that files of a corpus are searched in."""

    name: str  # of the corpus
    root: Path = Path()  # folder that local files are relative to
    mirror: Path | str | None = None  # folder MIRROR/HOST/PATH, searched before the network
    downloads: Path = Path(RESULTS, DOWNLOADS)  # folder that keeps them, also incomplete ones

    def key(self, key: str) -> str:
        """A key of the corpus with its file, for messages."""
        return f"config/corpora/{self.name}.yaml, {key}"


@dataclass(frozen=True)
class _Published:
    """A file that is published, and the file and key of the configuration that name it."""

    url: str
    checksum: str | None  # SHA-256 or MD5; None if none is published
    place: Place
    key: str

    @property
    def address(self) -> PurePosixPath:
        """HOST/PATH, its path in the mirror and in the folder of downloads."""
        parts = urlsplit(self.url)
        query = f"?{parts.query}" if parts.query else ""
        address = PurePosixPath(parts.hostname or "", parts.path.lstrip("/") + query)
        if len(address.parts) < 2 or ".." in address.parts:
            raise UserError(f"{self.key} is '{self.url}', which is not the address of a file")
        return address

    @property
    def record(self) -> Path:
        """The file that keeps the SHA-256 of its first download."""
        return record_of_download(self.place.downloads / self.address)

    def refused(self, fault: str) -> UserError:
        """The error that says why there is no file, and where a user may put it."""
        return UserError(
            f"{self.url} ({self.key}) {fault}; correct the configuration, or put the right file "
            f"at {self.place.mirror or 'mirror'}/{self.address}"
        )

    def fault(self, path: Path) -> str | None:
        """The fault of a copy; None if it has none.

        It must have the checksum of the configuration, else that of the first download. Without
        either, a compressed file must at least be whole, for it has its own.
        """
        expected = self.checksum or recorded_of_download(self.place.downloads / self.address)
        if expected is None:
            ending = self.address.suffix
            return None if is_whole(path, ending) else f"that are not a complete {ending} file"
        with path.open("rb") as file:
            algorithm = "md5" if len(expected) == MD5_DIGITS else "sha256"
            digest = hashlib.file_digest(file, algorithm).hexdigest()
        is_right = digest == expected.lower()
        return None if is_right else f"with the checksum {digest} instead of {expected}"

    def write_down(self, path: Path) -> None:
        """Record the SHA-256 of a copy, for downloads to come."""
        with writing(self.record):
            self.record.parent.mkdir(parents=True, exist_ok=True)
            self.record.write_text(f"{sha256_of(path)}\n", encoding="utf-8")


def download(url: str, checksum: str | None, place: Place, key: str) -> Path:
    """Return a local copy of the file at `url`, with verified checksum, or raise a `UserError`.

    Searched in this order: `MIRROR/HOST/PATH`, `DOWNLOADS/HOST/PATH` from an earlier download, the
    network. A broken connection leaves `*.part` in `downloads`, which the next attempt or run
    continues. A file that several corpora need is downloaded by the first; the others wait, and on
    file systems without locks they have a `.part` each. The SHA-256 of a download is recorded
    beside it, also if another checksum is published; if none is, later downloads must have that of
    the first. `key` is the file and key that name the URL.
    """
    published = _Published(url, checksum, place, key)
    path, record = place.downloads / published.address, published.record
    mirrored = place.mirror and Path(place.mirror, published.address)
    if mirrored and mirrored.is_file():
        if fault := published.fault(mirrored):
            raise UserError(
                f"the mirror's copy {mirrored} of {url} has bytes {fault} ({key}); put the right "
                "file there, or remove it to use the network"
            )
        if checksum is None:
            published.write_down(mirrored)
        return mirrored
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(path.parent):
        # One that is damaged, or whose checksum in the configuration has changed since, stays until
        # the right one takes its place: a user may have put it there by hand.
        if not path.is_file() or published.fault(path):
            part = path.with_name(f"{path.name}.{place.name}.part")
            with writing(part):
                try:
                    _fetch(published, part)
                except OSError:  # the disk is full, or refuses it
                    with suppress(OSError):
                        part.unlink(missing_ok=True)
                    raise
                to_disk(part)  # a power failure must not leave the name without the content
                # who is stopped here leaves no record of the file that this one replaces
                record.unlink(missing_ok=True)
                part.replace(path)
                to_disk(path.parent)
        elif checksum is None and not record.exists():
            logging.getLogger(__name__).warning(
                "%s was there before, and no checksum of it is known: it is used as it is", path
            )
        if not record.exists():
            published.write_down(path)
    return path


def _fetch(published: _Published, part: Path) -> None:
    """Complete `part` from the network and check it; a wrong file is removed.

    Raises a `UserError` for it, if the server refuses, or if `ATTEMPTS` in a row bring nothing new.
    """
    is_resumed = part.exists()
    best = failures = 0
    while fault := _attempt(published, part):
        size = _size(part)
        failures = 1 if size > best else failures + 1
        best = max(best, size)
        if failures >= ATTEMPTS:
            kept = f" ({size:,} bytes are kept for the next run)" if size else ""
            raise published.refused(f"cannot be downloaded: {fault}{kept}")
        time.sleep(PAUSE * 2 ** (failures - 1))
    if fault := published.fault(part):
        size = _size(part)
        part.unlink()
        if is_resumed:  # the first bytes may be of an older version of the file
            _fetch(published, part)
            return
        kept = f" (the checksum of the first download is kept in {published.record})"
        raise published.refused(f"gave {size:,} bytes {fault}{kept * published.record.exists()}")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _attempt(published: _Published, part: Path) -> str | None:
    """Append the bytes that `part` lacks; return why another attempt may bring more, or None."""
    done = _size(part)
    # Without "identity" a server may compress the answer, and ranges would count compressed bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    try:
        with requests.get(published.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable and done:
                # There is nothing after our last byte: the file is complete, or has changed. The
                # checksum decides; a wrong one leads to a fresh start.
                return None
            response.raise_for_status()
            if not response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
                done = 0
            length = int(response.headers.get("Content-Length", "0"))
            total = (done + length) // 1000
            progress = Progress(f"download {published.address.name}", total, "kB")
            with part.open("ab") as file:
                file.truncate(done)
                # The body as transferred: a .gz file is not decompressed.
                # `read1` gives what has come, so that nothing is lost if no more comes
                while piece := response.raw.read1(PIECE, decode_content=False):
                    file.write(piece)
                    done += len(piece)
                    if length:
                        progress.update(done // 1000)
        return None
    except (requests.RequestException, HTTPError) as error:
        is_broken = isinstance(error, (requests.Timeout, requests.ConnectionError, HTTPError))
        if is_broken and not isinstance(error, requests.exceptions.SSLError):
            host = published.address.parts[0]
            return f"no connection to {host}, or it broke off ({type(error).__name__})"
        reply = getattr(error, "response", None)
        if reply is not None and (reply.status_code >= 500 or reply.status_code == BUSY):
            return str(error)
        raise published.refused(f"cannot be downloaded: {error}") from error


def probe(url: str) -> str | None:
    """Ask for the first byte of a file; return what is wrong, or None if it answers."""
    headers = {"Range": "bytes=0-0"}
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as reply:
            return None if reply.ok else f"status {reply.status_code}"
    except requests.RequestException as error:
        return type(error).__name__


@dataclass(frozen=True)
class FetchedSource:
    """Files of a source that are available here."""

    origin: str  # as in `Source.origins`
    description: Source  # as in the corpus file; a test set of sacreBLEU by its archive
    key: str  # file and key of the configuration, for messages
    # by label, such as a language or `pairs`; of an archive only itself, under `archive`
    files: dict[str, list[Path]] = field(default_factory=dict)
    downloaded: dict[str, Path] = field(default_factory=dict)  # by the address

    def read_from(self, label: str) -> list[str]:
        """The files that hold a language or other label, for the record."""
        names = self.description.labelled
        label = label if label in names else PAIRS
        if "archive" in self.files:
            return [f"{self.files['archive'][0]}: {name}" for name in names[label]]
        return [str(path) for path in self.files[label]]

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Mapping[str, Sequence[Path]]]:
        """All files by label; members of an archive are unpacked below `folder` for the while.

        An error within names the key.
        """
        with told_of(f"{self.key}: "):
            if "archive" not in self.files:
                yield self.files
                return
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                yield unpack(self.files["archive"][0], self.description.labelled, Path(members))


def fetch(source: Source, corpus: Corpus, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a source of a corpus, by download if needed, or raise a `UserError`."""
    [origin] = source.origins
    fetched = FetchedSource(origin, with_archive(source, corpus.sides), place.key(key))
    source, key = fetched.description, fetched.key
    for label, names in source.labelled.items() if source.files else ():
        fetched.files[label] = [place.root / name for name in names]
        for path in fetched.files[label]:
            if not path.is_file():
                raise UserError(f"{key}.files.{label}: {path} is not there; correct one of them")
    for of_url, url in source.addresses.items():
        label = of_url.removeprefix("urls.")
        path = download(url, source.checksum_of(label), place, f"{key}.{of_url}")
        fetched.files[label] = [path]
        fetched.downloaded[without_passwords(url)] = path
    return fetched
