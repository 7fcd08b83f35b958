import errno
import gzip
import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import nat.data.sources as module
from nat.data.sources import Place, download, probe
from nat.workflow.verification import verify
from tests.messages import must_name, told

CONTENT = b"".join(b"line %d of the published file\n" % number for number in range(20_000))
PACKED = gzip.compress(CONTENT)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WHOLE = ["train.en", "train.en.sha256"]
"""Names of the files that a download leaves."""


@dataclass
class Server:
    """What the test server does, and what it was asked."""

    content: bytes = CONTENT
    cut_after: int | None = None  # bytes of each answer, then the connection closes
    stalls: bool = False  # then it stays open without a word
    status: int = 200
    ranges: bool = True
    length: bool = True
    asked: list[str | None] = field(default_factory=list)
    address: str = ""
    finished: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.asked.append(asked)
            if state.status != 200:
                self.send_error(state.status)
                return
            start, size = 0, len(state.content)
            if asked and state.ranges:
                start = int(asked.removeprefix("bytes=").partition("-")[0])
                self.send_response(206 if start < size else 416)
                place = f"{start}-{size - 1}" if start < size else "*"
                self.send_header("Content-Range", f"bytes {place}/{size}")
            else:
                self.send_response(200)
            body = state.content[start:]
            if state.length:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut_after])
            self.wfile.flush()
            if state.stalls:
                state.finished.wait(20)

        def log_message(self, *_: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{listener.server_port}/data/train.en"
    monkeypatch.setattr(module, "PAUSE", 0.0)
    monkeypatch.setattr(module, "PIECE", 1 << 14)
    monkeypatch.setenv("no_proxy", "*")
    yield state
    state.finished.set()
    listener.shutdown()
    listener.server_close()
    thread.join()


URL = "https://data.example/a/train.en"


def get(folder: Path, url: str = URL, checksum: str | None = SHA256, owner: str = "toy") -> Path:
    place = Place(owner, folder, folder / "mirror", folder / "downloads")
    return download(url, checksum, place, "config/corpora/toy.yaml, splits.train.urls.en")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


PART = "downloads/127.0.0.1/data/train.en.toy.part"


def test_a_file_is_downloaded_once_and_on_the_disk_before_it_has_its_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tmp_path / "downloads/127.0.0.1/data/train.en"
    synced: dict[int, bool] = {}

    def sync(handle: int) -> None:
        synced[os.fstat(handle).st_ino] = expected.exists()

    monkeypatch.setattr(os, "fsync", sync)
    assert get(tmp_path, server.address) == get(tmp_path, server.address) == expected
    assert expected.read_bytes() == CONTENT
    assert server.asked == [None]
    assert files(tmp_path) == WHOLE
    assert not synced[expected.stat().st_ino] and synced[expected.parent.stat().st_ino]


@pytest.mark.parametrize(("content", "published"), [(CONTENT, True), (PACKED, False)])
def test_cut_connection_is_resumed_within_a_run(
    server: Server, tmp_path: Path, content: bytes, published: bool
) -> None:
    server.content, server.cut_after = content, len(content) // 4 + 1
    checksum = SHA256 if published else None
    assert get(tmp_path, server.address, checksum).read_bytes() == content
    starts = [f"bytes={number * server.cut_after}-" for number in (1, 2, 3)]
    assert server.asked == [None, *starts]
    assert files(tmp_path) == WHOLE


def test_cut_connection_leaves_a_piece_for_the_next_run(server: Server, tmp_path: Path) -> None:
    server.cut_after, server.ranges = 200_000, False
    with told("200,000 bytes", "kept"):
        get(tmp_path, server.address)
    assert files(tmp_path) == ["train.en.toy.part"]
    server.cut_after, server.ranges = None, True
    server.asked.clear()
    assert get(tmp_path, server.address).read_bytes() == CONTENT
    assert server.asked == ["bytes=200000-"]
    assert files(tmp_path) == WHOLE


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("piece", [CONTENT[:1000], b"other", b"x" * (len(CONTENT) + 5), CONTENT])
def test_any_piece_of_an_earlier_run_ends_well(
    server: Server, tmp_path: Path, piece: bytes, ranges: bool
) -> None:
    put(tmp_path / PART, piece)
    server.ranges = ranges
    assert get(tmp_path, server.address).read_bytes() == CONTENT
    assert files(tmp_path) == WHOLE


def test_what_came_before_a_server_fell_silent_is_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", (1.0, 0.4))
    server.stalls, server.cut_after = True, 1000  # far less than is read at once
    server.content = CONTENT[:3500]
    checksum = hashlib.sha256(server.content).hexdigest()
    assert get(tmp_path, server.address, checksum).read_bytes() == server.content
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("content", "ending", "checksum", "parts"),
    [
        (CONTENT, "", SHA256, [SHA256, "config/corpora/toy.yaml", "splits.train.urls.en"]),
        (b"<html>log in</html>", "", SHA256, [SHA256, "mirror/127.0.0.1/data/train.en"]),
        (PACKED, ".tgz", None, ["1,000 bytes", "complete .tgz"]),
        (b"<html>log in</html>", ".zip", None, ["19 bytes", "zip"]),
    ],
)
def test_wrong_bytes_leave_nothing(
    server: Server,
    tmp_path: Path,
    content: bytes,
    ending: str,
    checksum: str | None,
    parts: list[str],
) -> None:
    # without a length, the end of an answer that is cut looks like that of the file
    server.content, server.length, server.cut_after = content, False, 1000
    with told(server.address + ending, *parts):
        get(tmp_path, server.address + ending, checksum)
    assert files(tmp_path) == []


@pytest.mark.parametrize(("status", "attempts"), [(404, 1), (503, module.ATTEMPTS)])
def test_refusals_are_told_without_passwords(
    server: Server, tmp_path: Path, status: int, attempts: int
) -> None:
    server.status = status
    url = server.address.replace("http://", "http://user:SECRET@")
    with told(status, server.address, "mirror/127.0.0.1/data") as error:
        get(tmp_path, url)
    assert "SECRET" not in str(error.value) and "user:" not in str(error.value)
    assert len(server.asked) == attempts
    assert files(tmp_path) == []


def test_no_network(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offline = Mock(side_effect=socket.gaierror(-3, "Temporary failure in name resolution"))
    monkeypatch.setattr(socket, "getaddrinfo", offline)
    with told("connection", f"{tmp_path}/mirror/data.example/a/train.en"):
        get(tmp_path)
    assert files(tmp_path) == []


def test_full_disk_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(module, "Progress", Mock(return_value=Mock(update=Mock(side_effect=full))))
    with told("train.en", "disk is full"):
        get(tmp_path, server.address)
    assert files(tmp_path) == []


@pytest.mark.parametrize("url", ["https://data.example/", "http://h/../../etc/x"])
def test_other_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with told(f"'{url}'", "splits.train.urls.en"):
        get(tmp_path, url)


def test_an_old_file_that_nothing_is_known_of_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = put(tmp_path / "downloads/data.example/a/train.en", CONTENT)
    assert get(tmp_path, checksum=None) == old
    must_name(caplog.text, old, "checksum")
    caplog.clear()
    assert get(tmp_path, checksum=None) == get(tmp_path) == old
    assert not caplog.text


def test_mirror_needs_no_network_and_its_files_are_written_down(tmp_path: Path) -> None:
    mirrored = put(tmp_path / "mirror/data.example/a/train.en", CONTENT)
    assert get(tmp_path, checksum=SHA256.upper()) == mirrored
    assert not (tmp_path / "downloads").exists()
    assert get(tmp_path, checksum=None) == mirrored
    mirrored.write_bytes(b"changed")
    for checksum in (None, SHA256):
        with told(mirrored, "checksum"):
            get(tmp_path, checksum=checksum)
    packed = put(mirrored.with_name("a.tgz"), PACKED[:-5] + b"wrong")
    with told(packed, "complete .tgz"):
        get(tmp_path, URL.replace("train.en", "a.tgz"), None)


def test_first_download_is_written_down_and_holds(server: Server, tmp_path: Path) -> None:
    server.content = PACKED
    address = server.address + ".gz"
    path = get(tmp_path, address, None)
    record = path.with_name(path.name + ".sha256")
    assert record.read_text() == hashlib.sha256(PACKED).hexdigest() + "\n"
    for content, has_record in ((PACKED, True), (PACKED[:-5] + b"wrong", True), (b"", False)):
        path.write_bytes(content)
        if not has_record:
            record.unlink()
        assert get(tmp_path, address, None).read_bytes() == PACKED
    assert len(server.asked) == 3
    path.unlink()
    server.content = gzip.compress(b"another edition\n")
    with told("checksum", record):
        get(tmp_path, address, None)
    assert files(tmp_path) == ["train.en.gz.sha256"]
    record.unlink()
    assert get(tmp_path, address, None).read_bytes() == server.content


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_a_published_checksum_takes_the_place_of_that_of_the_first_download(
    server: Server, tmp_path: Path, algorithm: str
) -> None:
    results = tmp_path / "results"
    path = get(results, server.address, None)
    server.content = b"the second edition\n"
    with told(server.address):
        get(results, server.address, 64 * "0")
    assert path.read_bytes() == CONTENT  # a user may have put it there by hand
    published = hashlib.new(algorithm, server.content).hexdigest()
    get(results, server.address, published)
    assert path.read_bytes() == server.content
    assert verify(results) == (1, {})
    path.write_bytes(b"?")
    assert [*verify(results)[1]] == [path]
    get(results, server.address, published)
    assert verify(results) == (1, {})


def test_two_corpora_download_a_file_once(server: Server, tmp_path: Path) -> None:
    server.cut_after = 100_000  # slow enough for the other to come in between

    with ThreadPoolExecutor(4) as pool:
        owners = ["en-de", "de-en", "synthetic-a", "synthetic-b"]
        paths = list(pool.map(partial(get, tmp_path, server.address, SHA256), owners))
    assert len(set(paths)) == 1
    assert server.asked.count(None) == 1
    assert files(tmp_path) == WHOLE


def test_an_address_is_probed_without_a_download(server: Server) -> None:
    assert probe(server.address) is None and server.asked == ["bytes=0-0"]
    must_name(str(probe("http://127.0.0.1:1/a")), "ConnectionError")
    server.status = 404
    must_name(str(probe(server.address)), "404")
