"""Text files as streams of lines: the only reader and writer of text."""

import gzip
import multiprocessing
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

from nat.checksums import remedy, unreadable, verified
from nat.data.flags import counted
from nat.data.raw_text import single_line
from nat.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

SEPARATORS = "lines with other line ends inside, which become spaces"
OddLine = Callable[[str, Path | str, int, str], None]
"""Is told the kind of a line that is odd, its file and number, and the line."""

LONGEST_LINE = 1 << 22
"""Bytes. A longer line is no sentence, and a compressed file of a megabyte can hold one that does
not fit in memory."""

CHUNK = 2000  # lines in a task of a process
_AHEAD = 4  # chunks per process that may be queued


def read_lines(
    path: Path | str, undecodable: str = "refuse", odd: OddLine | None = None
) -> Iterator[str]:
    """Yield the lines of a plain or gzip-compressed UTF-8 file, without line ends.

    Lines end only at line feeds: Unicode line separators within a sentence become spaces, since a
    tool that breaks lines there would shift all lines that follow. Lines that are `undecodable` are
    refused or `empty`, which cleaning counts and drops; lines with separators are `odd`.
    Raises as `unpacked` and `decoded`.
    """
    with unpacked(Path(path)) as file:
        yield from decoded(file, str(path), undecodable, odd=odd)


@contextmanager
def unpacked(path: Path) -> Iterator[BufferedIOBase]:
    """Open a plain or gzip-compressed file, whatever its name; a `UserError` if it is damaged."""
    try:
        with verified(path).open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if compressed else path.open("rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path} is a damaged gzip file ({error}); fetch it again") from error
    except OSError as error:
        raise unreadable(path, error) from error


def decoded(
    file: BinaryIO | BufferedIOBase,
    name: str,
    undecodable: str = "refuse",
    remedy: str = "correct the file or its 'format'",
    odd: OddLine | None = None,
) -> Iterator[str]:
    """Yield the lines of an open file as `read_lines` does.

    Raises a `UserError` for a line that is not UTF-8 or too long; `remedy` is one for the latter.
    Where `odd` lines are told, it also refuses a text whose lines end with carriage returns alone.
    """
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), start=1):
        is_whole = number == 1 and not line.endswith(b"\n")
        returns = line.rstrip(b"\r").count(b"\r") if is_whole and odd is not None else 0
        if len(line) > LONGEST_LINE or returns:
            cause = f"is longer than {LONGEST_LINE:,} bytes; a line of text is one sentence"
            if returns:
                cause = f"has {returns:,} carriage returns inside, but no line feed ends it"
                remedy = "end each line with a line feed, as by tr '\\r' '\\n'"
            raise UserError(f"{name}, line {number} {cause}, so {remedy}")
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            if not line:
                return
        try:
            text = line.decode("utf-8")
            single = single_line(text)
            if odd is not None and single != text.rstrip("\r\n"):
                odd(SEPARATORS, name, number, text.rstrip("\r\n"))
            yield single
        except UnicodeDecodeError as error:
            if undecodable == "refuse":
                raise UserError(
                    f"{name}, line {number} is not valid UTF-8 (byte {error.start + 1} of the "
                    "line); convert the file to UTF-8"
                ) from error
            yield ""


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines` with line feeds to a file of a folder in the making; return their number."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


def count_lines(path: Path) -> int:
    """Number of lines of a file, without decoding it; raises as `unpacked`."""
    with unpacked(path) as file:
        return sum(1 for _ in file)


@contextmanager
def writing_pairs(
    folder: Path, split: str, languages: Sequence[str]
) -> Iterator[Callable[[str, str], None]]:
    """Yield a function that writes a pair to the two files of a split of a folder in the making."""
    one, other = (folder / f"{split}.{language}" for language in languages)
    with one.open("w", encoding="utf-8") as first, other.open("w", encoding="utf-8") as second:

        def write(source: str, target: str) -> None:
            first.write(source + "\n")
            second.write(target + "\n")

        yield write


def read_pairs(folder: Path, split: str, languages: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of a split; raises as `read_parallel`."""
    one, other = (folder / f"{split}.{language}" for language in languages)
    return read_parallel((one, other), remedy(one))


def read_parallel(
    paths: tuple[Path, Path], advice: str, reader: Callable[[Path], Iterator[str]] = read_lines
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two files; a `UserError` with the advice if one has more lines."""
    try:
        yield from zip(*map(reader, paths), strict=True)
    except ValueError as error:
        one, other = (sum(1 for _ in reader(path)) for path in paths)
        raise UserError(
            f"{paths[0]} has {counted(one, 'line')} but {paths[1]} has {other:,}; {advice}"
        ) from error


def in_order(
    work: Callable[[list[Item]], list[Result]], items: Iterable[Item], processes: int
) -> Generator[Result, None, None]:
    """Yield the results of `work` for chunks of `items`, one after the other.

    `work` is a function of a module, so that it can be pickled. Items are not read further ahead
    than the processes need; with one, no other is started.
    """
    source = iter(items)
    chunks = iter(lambda: list(islice(source, CHUNK)), [])
    if processes <= 1:
        for chunk in chunks:
            yield from work(chunk)
        return
    # a fork of a process with threads may wait for ever for a lock that one of them held
    with multiprocessing.get_context("forkserver").Pool(processes) as pool:
        waiting = deque(
            pool.apply_async(work, (chunk,)) for chunk in islice(chunks, _AHEAD * processes)
        )
        while waiting:
            yield from waiting.popleft().get()
            waiting.extend(pool.apply_async(work, (chunk,)) for chunk in islice(chunks, 1))
