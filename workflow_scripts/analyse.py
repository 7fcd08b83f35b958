"""Measure a trained model without translating: one analysis, as one JSON file."""

import importlib
from pathlib import Path

from nat.artifacts import Analysis
from nat.configuration import Configuration
from nat.errors import UserError
from nat.files import write_json
from nat.jobs.threads import threads
from nat.reporting.known_measures import ANALYSES
from nat.spelling import hint
from nat.workflow.program import makes


@makes(Analysis)
def main(configuration: Configuration, analysis: Analysis) -> None:
    """Measure a trained model without translating."""
    name = analysis.analysis
    if name not in ANALYSES:
        raise UserError(f"unknown analysis '{name}'; {hint(name, ANALYSES)}")
    # torch takes a second to import, and a mistake in the arguments should be told before
    import torch

    torch.set_num_threads(threads(configuration))
    module = importlib.import_module(f"nat.measures.{name}")
    names = {"corpus": analysis.corpus, "system": analysis.system, "seed": analysis.seed}
    write_json(Path(analysis.path), names | module.analyse(configuration, **names))


if __name__ == "__main__":
    main()
