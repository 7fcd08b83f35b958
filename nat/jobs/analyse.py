"""Analysing a model without translating: from the files of a run to one JSON file."""

import importlib
from collections.abc import Mapping
from typing import Any

import torch

from nat.artifacts import Analysis
from nat.files import write_json
from nat.job import Job
from nat.jobs.launch import threads


def analyse_model(job: Job[Analysis]) -> None:
    """Measure a model, or the toy of an objective, by an analysis of `nat/analyses`.

    Raises:
        UserError: as the analysis does; nothing is written.
    """
    analysis = job.artifact
    torch.set_num_threads(threads(job.configuration))
    module = importlib.import_module(f"nat.analyses.{analysis.analysis}")
    names = {"corpus": analysis.corpus, "system": analysis.system, "seed": analysis.seed}
    found = module.analyse(job)
    write_json(job.path, with_measures(names | found))


def with_measures(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an analysis found, with the numbers of its splits in the place of all numbers.

    See `nat.measures.results`.
    """
    splits = {name: dict(split) for name, split in found["splits"].items()}
    numbers = {name: split.pop("measures", {}) for name, split in splits.items()}
    return {"measures": numbers, **found, "splits": splits}
