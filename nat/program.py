"""The common part of all programs of `workflow_scripts/`: their end and their progress."""

import atexit
import gc
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from datetime import timedelta

from nat.errors import UserError, refusal
from nat.extras import extras_named


def run(main: Callable[[], None]) -> None:
    """Run `main`; a `UserError` becomes one sentence on stderr and exit status 1.

    The end of a reader of standard output, as of `head`, ends the program quietly.
    """
    atexit.register(gc.freeze)  # a last search for garbage takes up to a second
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        with extras_named():
            main()
        sys.stdout.flush()
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except OSError as error:
        if not _output_has_ended():
            raise
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"error: cannot write to standard output: {refusal(error)}\n")
            sys.exit(1)


def _output_has_ended() -> bool:
    """Lead standard output nowhere if it takes nothing more: Python flushes it in the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


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
        try:
            sys.stdout.write(f"  {self.job}: {text}\n")
            sys.stdout.flush()
        except OSError:  # what a job makes is worth more than what it says
            _output_has_ended()
