"""Analysing a model without translating: from the files of a run to one JSON file."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.artifacts import Analysis
from nat.configuration import Configuration
from nat.errors import UserError
from nat.files import write_json
from nat.jobs.threads import threads
from nat.measures.known import ANALYSES
from nat.spelling import hint


def analyse_model(configuration: Configuration, analysis: Analysis) -> None:
    """Measure a model, or the toy of an objective, by an analysis of `nat/analyses`.

    Raises:
        UserError: for an unknown analysis, and as the analysis does; nothing is written.
    """
    name = analysis.analysis
    if name not in ANALYSES:
        raise UserError(f"unknown analysis '{name}'; {hint(name, ANALYSES)}")
    # torch takes a second to import, and a mistake in the arguments should be told before
    import torch

    torch.set_num_threads(threads(configuration))
    module = importlib.import_module(f"nat.analyses.{name}")
    names = {"corpus": analysis.corpus, "system": analysis.system, "seed": analysis.seed}
    found = module.analyse(configuration, **names)
    write_json(Path(analysis.path), with_measures(names | found))


def with_measures(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an analysis found, with the numbers of its splits in the place of all numbers.

    See `nat.measures.results`.
    """
    splits = {name: dict(split) for name, split in found["splits"].items()}
    numbers = {name: split.pop("measures", {}) for name, split in splits.items()}
    return {"measures": numbers, **found, "splits": splits}
