"""What every program of `workflow_scripts/` shares: how it ends and how it shows progress."""

import atexit
import gc
import logging
import sys
import time
import warnings
from collections.abc import Callable

from nat.errors import UserError


def run(main: Callable[[], None]) -> None:
    """Run `main`; a `UserError` becomes one sentence on stderr and exit status 1."""
    end_without_garbage_collection()
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        main()
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def end_without_garbage_collection() -> None:
    """Let this process end without looking for garbage once more.

    This takes half a second where torch is imported, one second with fairseq, and longer than that
    in a graph of 2,000 jobs. What is registered with `atexit` is run, but a file that nobody has
    closed may lose what was written to it last.
    """
    atexit.register(gc.freeze)


class Progress:
    """Progress lines for one job, at most one every `interval` seconds, on standard output.

    Lines of jobs that run side by side interleave on one screen, so each names its job.
    """

    def __init__(self, job: str, total: int, unit: str, interval: float = 10.0) -> None:
        self.job, self.total, self.unit, self.interval = job, total, unit, interval
        self.started = self.shown = time.monotonic()
        self.first: int | None = None

    def update(self, done: int, detail: str = "") -> None:
        """Say that `done` of `total` units are finished; print if a line is due."""
        now = time.monotonic()
        if self.first is None:
            self.first, self.started = done, now
        if now - self.shown < self.interval and done < self.total:
            return
        self.shown = now
        rate = (done - self.first) / max(now - self.started, 1e-9)
        left = (
            f", {_clock((self.total - done) / rate)} left" if rate > 0 and done < self.total else ""
        )
        detail = f", {detail}" if detail else ""
        self.say(f"{done:,}/{self.total:,} {self.unit}{detail}{left}")

    def say(self, text: str) -> None:
        """Print one line that carries the job's name."""
        sys.stdout.write(f"  {self.job}: {text}\n")
        sys.stdout.flush()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
