"""What every program of `workflow_scripts/` shares: how it ends and how it shows progress."""

import atexit
import errno
import gc
import io
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from nat.errors import UserError, refusal

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NUMBER = 1  # of standard output, as the system knows it


class OutputError(UserError):
    """Standard output does not take what a program writes."""


class _ReaderEnded(OutputError):
    """Nobody reads it any more."""


class _Output(io.FileIO):
    """Standard output, whose errors can be told from those of files."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise _ReaderEnded("the reader of standard output has ended") from error
        except OSError as error:
            if error.errno == errno.EBADF:
                told = "standard output is closed; leave it open, or send it to a file"
            else:
                told = f"cannot write to standard output: {refusal(error)}"
            raise OutputError(told) from error


def run(main: Callable[[], None]) -> None:
    """Run `main`; a `UserError` becomes one sentence on stderr and exit status 1.

    The end of a reader of standard output, as of `head`, ends the program quietly.
    """
    end_without_garbage_collection()
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if sys.stdout is sys.__stdout__:  # else a caller reads there what is written
        sys.stdout = _standard_output()
    try:
        main()
        sys.stdout.flush()
    except _ReaderEnded:
        sys.exit(0)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    finally:
        try:
            sys.stdout.flush()
        except OutputError:
            _forget_unwritten()


def _standard_output() -> io.TextIOWrapper:
    """Standard output as Python has opened it, but for its errors."""
    given = sys.__stdout__
    if given is None:  # closed: nothing can be written, and no file may get its number
        os.dup2(os.open(os.devnull, os.O_RDONLY), _NUMBER)
    buffer = io.BufferedWriter(_Output(_NUMBER, "w", closefd=False))
    if not isinstance(given, io.TextIOWrapper):
        return io.TextIOWrapper(buffer)
    by_line = given.line_buffering or given.write_through
    return io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=by_line)


def _forget_unwritten() -> None:
    """Drop what standard output has not taken, or each later write and the end try it again."""
    kept, nowhere = os.dup(_NUMBER), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _NUMBER)
    sys.stdout.flush()
    os.dup2(kept, _NUMBER)
    os.close(kept)
    os.close(nowhere)


def end_without_garbage_collection() -> None:
    """Let this process end without looking for garbage once more.

    This takes half a second where torch is imported, one second with fairseq, and longer than that
    in a graph of 2,000 jobs. What is registered with `atexit` is run, but a file that nobody has
    closed may lose what was written to it last.
    """
    atexit.register(gc.freeze)


class Progress:
    """Progress lines for one job, at most one every `INTERVAL` seconds, on standard output.

    Lines of jobs that run side by side interleave on one screen, so each names its job.
    """

    INTERVAL = 10.0

    def __init__(self, job: str, total: int, unit: str) -> None:
        self.job, self.total, self.unit = job, total, unit
        self.started = self.shown = time.monotonic()
        self.first: int | None = None

    def update(self, done: int, detail: str = "") -> None:
        """Say that `done` of `total` units are finished; print if a line is due."""
        now = time.monotonic()
        if self.first is None:
            self.first, self.started = done, now
        if now - self.shown < self.INTERVAL and done < self.total:
            return
        self.shown = now
        rate = (done - self.first) / max(now - self.started, 1e-9)
        left = (
            f", {_clock((self.total - done) / rate)} left" if rate > 0 and done < self.total else ""
        )
        detail = f", {detail}" if detail else ""
        self.say(f"{done:,}/{self.total:,} {self.unit}{detail}{left}")

    def say(self, text: str) -> None:
        """Print one line that carries the job's name, if it can be printed."""
        try:
            sys.stdout.write(f"  {self.job}: {text}\n")
            sys.stdout.flush()
        except OutputError:  # what a job makes is worth more than what it says
            _forget_unwritten()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
