"""The adapter of fairseq: trainings by its trainer, its checkpoints and its own models."""

import importlib
import logging
import sys
from types import ModuleType

# Fairseq imports these modules whatever it is used for. They alone need scikit-learn and
# scipy.stats, whose import takes half as long as all the rest of fairseq with torch.
for _name in (
    "fairseq.criterions.sentence_prediction",
    "fairseq.criterions.sentence_prediction_adapters",
    "fairseq.tasks.audio_classification",
):
    sys.modules.setdefault(_name, ModuleType(_name))

# When it is imported, fairseq says what a task that nobody here uses is missing. The first line of
# a log is the command of its job.
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)

if __name__ == "fairseq_plugin":  # as `--user-dir nat/fairseq_plugin` imports it
    importlib.import_module("nat.fairseq_plugin.translation")
    importlib.import_module("nat.fairseq_plugin.launcher").prepare()
