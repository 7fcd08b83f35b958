"""What every program of `workflow_scripts/` shares: how it ends and how it shows progress."""

import atexit
import gc
import io
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from nat.errors import UserError, refusal


class OutputError(UserError):
    """Standard output does not take what a program writes."""


class _Output(io.FileIO):
    """Standard output, whose errors are not those of files; after the first it leads nowhere."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            raise OutputError(f"cannot write to standard output: {refusal(error)}") from error


def run(main: Callable[[], None]) -> None:
    """Run `main`; a `UserError` becomes one sentence on stderr and exit status 1.

    The end of a reader of standard output, as of `head`, ends the program quietly.
    """
    end_without_garbage_collection()
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    given = sys.__stdout__
    if given is not None and sys.stdout is given:  # else a caller reads there what is written
        buffer = io.BufferedWriter(_Output(given.fileno(), "w", closefd=False))
        by_line = given.line_buffering
        sys.stdout = io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=by_line)
    try:
        main()
        sys.stdout.flush()
    except UserError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            sys.exit(0)
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    finally:
        with suppress(OutputError):
            sys.stdout.flush()


def end_without_garbage_collection() -> None:
    """Let this process end without looking for garbage once more, which takes up to a second.

    What is registered with `atexit` is run, but a file that nobody has closed may lose its end.
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
        parts = [f"{done:,}/{self.total:,} {self.unit}", detail]
        if rate > 0 and done < self.total:
            parts.append(f"{timedelta(seconds=round((self.total - done) / rate))} left")
        self.say(", ".join(filter(None, parts)))

    def say(self, text: str) -> None:
        """Print one line that carries the job's name, if it can be printed."""
        with suppress(OutputError):  # what a job makes is worth more than what it says
            sys.stdout.write(f"  {self.job}: {text}\n")
            sys.stdout.flush()
