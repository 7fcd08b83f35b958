"""Training by fairseq: one task, one model, one criterion, all named `nat`; and translation."""

import logging
import sys
from types import ModuleType

UNUSED = (
    "fairseq.criterions.sentence_prediction",
    "fairseq.criterions.sentence_prediction_adapters",
    "fairseq.tasks.audio_classification",
)
"""Modules that fairseq imports whatever it is used for. They alone need scikit-learn and
scipy.stats, whose import takes half as long as all the rest of fairseq with torch."""

for _name in UNUSED:
    sys.modules.setdefault(_name, ModuleType(_name))

# When it is imported, fairseq says what a task that nobody here uses is missing. The first line of
# a log is the command of its job.
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)

from nat.fairseq_plugin import criterion, model, optimizer, task, translation  # noqa: E402

__all__ = ["criterion", "model", "optimizer", "task", "translation"]
