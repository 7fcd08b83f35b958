"""Faults at random: damaged and hostile files, kills, full disks.

`make test-endurance` runs all of it and prints the figures. A small share of it, NAT_ENDURANCE with
its default of 0.02, is in the tests of every change. What happens is drawn from the seed
NAT_ENDURANCE_SEED, so that what fails can be repeated.
"""

import csv
import gzip
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nat.data.archive import is_whole_zip, unpack
from nat.data.formats import read_format
from nat.data.lines import read_lines
from nat.data.origins import PairSource
from nat.errors import UserError
from nat.files import atomic_directory, read_json, write_json
from nat.options import validated
from tests.data.test_formats import TMX
from tests.graph.test_graph import copy_repository, start
from tests.repository import ROOT, variables

SHARE = float(os.environ.get("NAT_ENDURANCE", "0.02"))
SEED = int(os.environ.get("NAT_ENDURANCE_SEED", "1"))
WHOLE = SHARE >= 1

TOLD, HARMLESS, OTHER, TRACEBACK = "told", "harmless", "another result", "traceback"


def times(number: int) -> int:
    """How often something is done of `number` times in a whole run; at least four times."""
    return max(4, round(SHARE * number))


def show(what: str, found: Counter[str]) -> None:
    """A line for the reader of `make test-endurance`."""
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(found.items()))
    print(f"\n{what}: {sum(found.values()):,}, of which {counts}")


def faults(whole: bytes, numbers: random.Random) -> dict[str, bytes]:
    """The same bytes with each fault of a disk, a network or a hostile sender."""
    place = numbers.randrange(len(whole) + 1)
    head, tail, flipped = whole[:place], whole[place:], bytearray(whole)
    if tail:
        flipped[place] ^= 1 << numbers.randrange(8)
    return {
        "a flipped bit": bytes(flipped),
        "zeros": head + bytes(len(tail[:64])) + tail[64:],
        "cut off": head,
        "without its head": tail,
        "garbage": head + numbers.randbytes(numbers.randrange(1, 40)) + tail,
        "repeated": head + tail[: numbers.randrange(1, 200)] + tail,
        "emptied": b"",
        "random bytes": numbers.randbytes(len(whole)),
    }


# Hostile input


def tar_gz(text: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a.en")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


def zipped(text: bytes, method: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a.en", text)
    return packed.getvalue()


def text_of(numbers: random.Random) -> bytes:
    """Some lines of what is hard on programs that read text."""
    pieces = [
        *("one", "zwei", " ", "\t", "<seg>", "</seg>", "@@", "\u2028", "\u0085", "\ufeff", "\x00"),
        *("\r", "&amp;", "<unk>", "\u200b", "\U0001f600", "S-1\t", "R1-1\t", "T-1\t", "0.5\t"),
    ]
    lines = ("".join(numbers.choices(pieces, k=numbers.randrange(9))) for _ in range(8))
    return "\n".join(lines).encode()


def in_format(name: str, **keys: Any) -> Callable[[Path], Any]:
    part = validated(PairSource, {"format": name, **keys})
    together = name in ("tsv", "tmx")

    def read(path: Path) -> Any:
        files = {"pairs": [path]} if together else {"en": [path], "ro": [path]}
        return list(read_format(part, files, "ro", "en"))

    return read


def members(path: Path) -> Any:
    folder = path.with_name("members")
    folder.mkdir(exist_ok=True)
    [found] = unpack(path, {"en": ["a.en"]}, folder)["en"]
    return found.read_bytes()


def of_a_whole_zip(path: Path) -> Any:
    """As if it had been downloaded, without a checksum that anyone has published."""
    if not is_whole_zip(path, or_unknown=True):
        raise UserError("not whole")
    return members(path)


Maker = Callable[[random.Random], bytes]
HOSTILE: dict[str, tuple[Maker, Callable[[Path], Any], bool]] = {
    "plain text": (text_of, lambda path: list(read_lines(path)), False),
    "text.gz": (
        lambda numbers: gzip.compress(text_of(numbers), mtime=0),
        lambda path: list(read_lines(path)),
        True,
    ),
    "tsv": (text_of, in_format("tsv", columns={"en": 0, "ro": 1}), False),
    "tmx": (lambda numbers: TMX.encode(), in_format("tmx"), False),
    "tar.gz": (lambda numbers: tar_gz(text_of(numbers)), members, True),
    "zip": (lambda numbers: zipped(text_of(numbers), zipfile.ZIP_DEFLATED), members, True),
    "downloaded zip of LZMA": (
        lambda numbers: zipped(text_of(numbers), zipfile.ZIP_LZMA),
        of_a_whole_zip,
        True,
    ),
}
"""How an input is made and read, and whether it has a checksum of its own that must be checked, as
long as its beginning tells what it is."""


@pytest.mark.timeout(3600)
def test_hostile_input_is_read_or_told_in_a_sentence(tmp_path: Path) -> None:
    numbers = random.Random(SEED)
    path = tmp_path / "input"
    found: Counter[str] = Counter()
    for name, (make, read, is_checked) in HOSTILE.items():
        for _ in range(times(6000) // len(HOSTILE) + 1):
            whole = make(numbers)
            path.write_bytes(whole)
            before = result(read, path)
            path.write_bytes(numbers.choice([*faults(whole, numbers).values()]))
            after = result(read, path)
            if isinstance(after, Exception):
                print(f"{name}: {type(after).__name__}: {after}")
                found[TRACEBACK] += 1
            elif after is None:
                found[TOLD] += 1
            elif path.read_bytes() == 2 * whole:  # a file of gzip may have several parts
                found[HARMLESS] += 1
            elif is_checked and after != before and path.read_bytes()[:2] == whole[:2]:
                print(f"{name}: {whole!r} became {path.read_bytes()!r}")
                found[OTHER] += 1
            else:
                found[HARMLESS] += 1
    show("hostile inputs", found)
    assert not found[OTHER] and not found[TRACEBACK]


def result(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read; None if it is refused; an exception that no user should see."""
    try:
        return read(path)
    except UserError:
        return None
    except Exception as error:  # noqa: BLE001 (any other is what is counted)
        return error


# Kills and full disks

WRITER = """
import sys
from pathlib import Path
from nat.files import atomic_directory, write_json
from nat.data.lines import write_lines
for number in range(1000):
    with atomic_directory(Path("clean")) as folder:
        for name in ("train.en", "train.de"):
            write_lines(folder / name, [f"{number} {line}" for line in range(2000)])
    write_json("score.json", {"number": number, "values": list(range(2000))})
    print(number, flush=True)
"""
"""Writes the same two results again and again."""


def writer(folder: Path, **options: Any) -> "subprocess.Popen[str]":
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", WRITER]
    return subprocess.Popen(
        command, cwd=folder, env=variables(ROOT), text=True, **streams, **options
    )


def is_whole(folder: Path) -> bool:
    """Whether both results are those of one round; a reader refuses what is not."""
    read_json(folder / "score.json")
    sides = [list(read_lines(folder / f"clean/train.{side}")) for side in ("en", "de")]
    return sides[0] == sides[1] and len(sides[0]) == 2000


@pytest.mark.timeout(3600)
def test_whoever_is_killed_leaves_whole_results(tmp_path: Path) -> None:
    numbers = random.Random(SEED)
    found: Counter[str] = Counter()
    for _ in range(times(200)):
        process = writer(tmp_path)
        assert process.stdout is not None
        process.stdout.readline()  # the first round is complete
        time.sleep(numbers.random() * 0.3)
        process.send_signal(numbers.choice([signal.SIGKILL, signal.SIGTERM]))
        process.communicate()
        if (tmp_path / "clean").exists():
            assert is_whole(tmp_path)
            found["with a whole folder"] += 1
        else:  # between two renames; Snakemake makes it again
            assert (tmp_path / ".clean.replaced").exists()
            found["without a folder"] += 1
    with atomic_directory(tmp_path / "clean"):
        pass
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".clean")]
    assert left == []
    show("kills", found)


@pytest.mark.timeout(1800)
def test_a_full_disk_is_told_and_leaves_the_results_before_it(tmp_path: Path) -> None:
    numbers = random.Random(SEED)
    with atomic_directory(tmp_path / "clean") as folder:
        for side in ("en", "de"):
            (folder / f"train.{side}").write_text("".join(f"{line}\n" for line in range(2000)))
    write_json(tmp_path / "score.json", {})
    found: Counter[str] = Counter()
    for _ in range(times(20)):
        most = numbers.randrange(10, 9000)

        def limit(most: int = most) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        process = writer(tmp_path, preexec_fn=limit)
        _, errors = process.communicate()
        assert process.returncode == 1
        assert "nat.errors.UserError: cannot write clean" in errors, errors
        assert is_whole(tmp_path)
        assert not (tmp_path / ".clean.partial").exists()
        found["told, with the results before it whole"] += 1
    show("full disks", found)


TIMES = ("seconds", "training_seconds", "update_seconds", "tokens_per_second")
"""Keys of JSON and columns of tables that a clock fills."""

KILLS = 20


def results_of(repository: Path) -> list[Path]:
    """Files of all results but those that are looked at, from the folder of the run."""
    found = []
    for path in sorted((repository / "results").rglob("[!.]*")):
        own = path.relative_to(repository)
        hidden = any(part.startswith(".") for part in own.parts)
        left_out = hidden or {"report", "logs", "benchmarks"} & {*own.parts}
        if path.is_file() and not left_out and path.suffix not in (".pdf", ".png"):
            found.append(own)
    return found


def fingerprints(repository: Path) -> Iterator[tuple[str, str]]:
    """What was made, without what a clock has said; figures hold the time when they were drawn."""
    for path in results_of(repository):
        if "latency" not in path.parts:
            content = without_times(repository / path)
            yield str(path), hashlib.sha256(content).hexdigest()


def without_times(path: Path) -> bytes:
    def left(found: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in found.items() if key not in TIMES}

    if path.suffix == ".json":
        return json.dumps(json.loads(path.read_text(), object_hook=left)).encode()
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return json.dumps([left(row) for row in csv.DictReader(file)]).encode()
    return path.read_bytes()


@pytest.mark.skipif(not WHOLE, reason="takes minutes; `make test-endurance`")
@pytest.mark.timeout(7200)
def test_a_run_that_is_killed_twenty_times_ends_like_one_that_is_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    numbers = random.Random(SEED)
    undisturbed = copy_repository(tmp_path_factory.mktemp("undisturbed"))
    began = time.monotonic()
    process = start(undisturbed, "demo")
    screen, _ = process.communicate()
    assert process.returncode == 0, screen
    seconds = time.monotonic() - began
    killed = copy_repository(tmp_path_factory.mktemp("killed"))
    kills: Counter[str] = Counter()
    while kills.total() < KILLS:
        process = start(killed, "demo", start_new_session=True)
        try:
            # once started it works for about a third of what a run takes
            screen, _ = process.communicate(timeout=seconds * numbers.uniform(0.1, 0.4))
        except subprocess.TimeoutExpired:
            number = numbers.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
            os.killpg(process.pid, number)
            process.communicate()
            kills[signal.Signals(number).name] += 1
        else:  # it ended before: there is too little left for the kills to come
            assert process.returncode == 0, screen
            shutil.rmtree(killed / numbers.choice(["results", "results/micro"]))
        start(killed, "--unlock").communicate()
    process = start(killed, "demo")
    screen, _ = process.communicate()
    assert process.returncode == 0, screen
    show("kills of a run", kills)
    assert kills.total() == KILLS
    assert dict(fingerprints(killed)) == dict(fingerprints(undisturbed))
