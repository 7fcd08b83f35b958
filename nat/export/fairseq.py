"""A model as a checkpoint that `fairseq-generate --user-dir nat/fairseq_plugin` opens.

    model.pt          checkpoint of fairseq, whose task is `nat_translation`
    dict.LANGUAGE.txt dictionaries of both languages, the same for a joint vocabulary
    nat_plugin        the code with which fairseq runs it, for `--user-dir`

`nat.fairseq_plugin.translation` has the task.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from nat.data.vocabulary import Vocabularies
from nat.export.flat import write_code
from nat.training.model_file import TrainedModel, write_tensors
from nat.transformer.as_values import values_of


def write_fairseq(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    languages: tuple[str, str],
    decodings: Mapping[str, Any],
    folder: Path,
) -> str:
    """Write to a folder; returns what was checked.

    `decodings` are methods with their options, JSON-able, by name; the usual one first.
    """
    source, target = languages
    task = {"_name": "nat_translation", "source_lang": source, "target_lang": target}
    model = {
        "_name": "nat_exported",
        "network": json.dumps(values_of(trained.model)),
        "decodings": json.dumps(dict(decodings)),
    }
    weights = {f"transformer.{name}": each for name, each in trained.model.state_dict().items()}
    write_tensors(
        folder / "model.pt",
        {
            "args": None,
            "cfg": {"task": task, "model": model},
            "model": weights,
            "optimizer_history": [
                {"num_updates": trained.updates, "criterion_name": "", "lr_scheduler_state": {}}
            ],
            "extra_state": {},
        },
    )
    (folder / "nat_plugin").mkdir()
    parts, entry = trained.model.part_options, "nat.fairseq_plugin.translation"
    last = write_code(folder / "nat_plugin", entry, decodings, parts)
    (folder / "nat_plugin/__init__.py").write_text(f"from . import {last}\n")
    vocabularies.source.save(folder / f"dict.{source}.txt")
    vocabularies.target.save(folder / f"dict.{target}.txt")
    saved = torch.load(folder / "model.pt", weights_only=True)["model"]
    assert all(saved[name].equal(each.cpu()) for name, each in weights.items())
    return "the weights in model.pt are those of the model"
