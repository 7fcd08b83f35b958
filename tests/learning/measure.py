"""Renew the reference points, or show what they are worth.

python -m tests.learning.measure points [SYSTEM ...]   train five or ten seeds of each system
python -m tests.learning.measure worth [SHARE]         plant mistakes; train further seeds of this
                                                       share of the systems, usually of all
"""

import io
import logging
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from scipy.stats import binom

from nat.errors import UserError
from tests.learning import points
from tests.learning.bugs import BUGS, planted
from tests.learning.small_trainings import configuration, learn, systems, workplace

FOUND = 23
"""Mistakes that are found. An order of batches that all seeds share changes no training much."""
FURTHER = 5
"""Healthy trainings of a system with seeds that are not stored and that no other system has."""


def main(command: str = "", *given: str) -> int:
    """Run a command; the status is 1 if the points are worth less than they should be."""
    if command not in ("points", "worth"):
        sys.exit(__doc__)
    logging.disable(logging.INFO)  # fairseq describes every model
    return write_points(given) if command == "points" else show_worth(*map(float, given))


def write_points(names: Sequence[str]) -> int:
    """Train each system with five seeds, those with glancing with ten."""
    for name in names or everything():
        with fresh():
            glancing = configuration().system(name).input.method == "glancing"
        seeds = points.SEEDS + points.MORE_SEEDS if glancing else points.SEEDS
        points.write(name, glancing, dict(zip(seeds, train(name, seeds), strict=True)))
        print(name, flush=True)
    return 0


def show_worth(share: float = 1.0) -> int:
    """Plant each mistake, and train a share of the systems without one."""
    caught = 0
    for name in BUGS:
        with planted(name) as system:
            try:
                refusals = points.refused(system, train(system, points.SEEDS))
            except UserError as error:
                refusals = [str(error)]
        caught += bool(refusals)
        print(f"{'found' if refusals else 'MISSED'}: {name} ({system})", flush=True)
        for each in refusals[:1]:
            print(f"    {each}", flush=True)
    chosen = everything()
    random.Random(1).shuffle(chosen)
    chosen = chosen[: max(1, round(share * len(chosen)))]
    wrongly = 0
    first = points.MORE_SEEDS[-1] + 1
    for number, name in enumerate(chosen):
        start = first + FURTHER * number
        refusals = points.refused(name, train(name, range(start, start + FURTHER)))
        wrongly += bool(refusals)
        print("\n".join(refusals) or f"{name}: as expected", flush=True)
    print(f"{caught} of {len(BUGS)} mistakes found, {wrongly} of {len(chosen)} healthy refused")
    return 0 if caught >= FOUND and wrongly <= binom.ppf(0.99, len(chosen), 0.01) else 1


def everything() -> list[str]:
    """A system of each kind."""
    with fresh():
        return systems(configuration(), points.read_all())


def train(system: str, seeds: Sequence[int]) -> list[dict[str, float]]:
    """The quantities of trainings with these seeds, in a folder of their own."""
    silence = io.StringIO()
    with fresh(), redirect_stderr(silence), redirect_stdout(silence):
        return [learn(configuration(), system, seed) for seed in seeds]


@contextmanager
def fresh() -> Iterator[None]:
    """A new working directory."""
    with tempfile.TemporaryDirectory() as folder, workplace(Path(folder)):
        yield


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
