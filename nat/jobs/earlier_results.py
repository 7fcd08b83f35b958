"""Results of earlier versions in the form of `nat.measures.results`: converted, not made again."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from nat.artifacts import Analysis, Artifact, Latency, Score, TotalCorrelation, TrainingRecord
from nat.checksums import RESULTS, remedy
from nat.configuration import Configuration, load
from nat.configuration.named_runs import choice_of
from nat.errors import UserError
from nat.files import as_json, atomic_path, read_json
from nat.jobs.analyse import with_measures as of_analysis
from nat.measures.latency_numbers import with_measures as of_latency
from nat.measures.latency_setting import STATE
from nat.measures.results import NOT_AVAILABLE, is_current, missing
from nat.measures.statistics import MEASURED
from nat.measures.total_correlation import with_measures as of_pair
from nat.measures.training_curve import with_measures as of_training
from nat.papers.relation import latency


def convert() -> Iterator[str]:
    """Convert all results of the current folder in place, and keep their times.

    So Snakemake makes nothing again for their sake. What has the form already is left alone, and so
    is what is damaged.

    Yields:
        Lines for the user: how many files of each kind were converted, and why one was not.
    """
    for kind, converted in KINDS.items():
        made = left = 0
        for path in sorted(Path().glob(re.sub(r"{\w+}", "*", kind.template))):
            try:
                content = read_json(path)
                if is_current(content):
                    left += 1
                else:
                    _replace(path, _converted(path, content, converted))
                    made += 1
            except UserError as error:
                yield f"left as it is: {error}"
        name = kind.template.split("/")[2]
        yield f"{RESULTS}/*/{name}: {made} files converted, {left} were so already"


def _converted(path: Path, content: Any, by: Callable[[Any, Path], dict[str, Any]]) -> Any:
    try:
        return by(content, path)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not what its job writes ({error!r}); {remedy(path)}") from error


def _replace(path: Path, content: Any) -> None:
    times = path.stat()
    with atomic_path(path) as temporary:
        temporary.write_text(as_json(content), encoding="utf-8")
        os.utime(temporary, ns=(times.st_atime_ns, times.st_mtime_ns))


def _score(found: Mapping[str, Any], path: Path) -> dict[str, Any]:
    numbers = found["measures"]
    lacking = found.get("not_available", [name for name in MEASURED if name not in numbers])
    facts = {key: value for key, value in found.items() if key != "not_available"}
    return {**facts, "measures": {path.stem: numbers | missing(lacking, NOT_AVAILABLE)}}


def _latency(found: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Where there was no device, the systems are those that the configuration has today."""
    if STATE not in found:
        return of_latency(found)
    run, _, corpus, group, seed = path.parts[-6:-1]
    number = int(seed.removeprefix("seed"))
    there = latency(_configuration(run), corpus, group, number, path.stem)
    return of_latency(found, there.names)


@cache
def _configuration(run: str) -> Configuration:
    return load(choice_of(Path(), run), checked=False)


def _training(found: Mapping[str, Any], path: Path) -> dict[str, Any]:
    curve = path.with_suffix(".csv")
    if not curve.exists():
        raise UserError(f"{curve} does not exist; {remedy(curve)}")
    return of_training(found, curve.read_text(encoding="utf-8").splitlines())


KINDS: dict[type[Artifact], Callable[[Any, Path], dict[str, Any]]] = {
    Score: _score,
    Analysis: lambda found, _: of_analysis(found),
    Latency: _latency,
    TotalCorrelation: lambda found, _: of_pair(found),
    TrainingRecord: _training,
}
"""What each kind of file is converted by."""
