"""A model as a checkpoint that `fairseq-generate --user-dir nat/fairseq_plugin` opens.

    model.pt          checkpoint of fairseq, whose task is `nat_translation`
    dict.LANGUAGE.txt dictionaries of both languages, the same for a joint vocabulary

`nat.fairseq_plugin.translation` has the task.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.data.vocabulary import Vocabularies
from nat.files import atomic_directory
from nat.training.model_file import TrainedModel, write_tensors


def write_fairseq(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    languages: tuple[str, str],
    decodings: Mapping[str, Any],
    folder: Path,
) -> None:
    """Write the folder; it appears whole or not at all.

    `decodings` are methods with their options, JSON-able, by name; the usual one first.
    """
    source, target = languages
    task = {"_name": "nat_translation", "source_lang": source, "target_lang": target}
    model = {
        "_name": "nat_exported",
        "training": json.dumps(trained.training.as_json()),
        "vocabulary_size": vocabularies.sizes.target,
        "source_vocabulary_size": vocabularies.sizes.source,
        "decodings": json.dumps(dict(decodings)),
    }
    weights = trained.model.state_dict()
    with atomic_directory(folder) as temporary:
        write_tensors(
            temporary / "model.pt",
            {
                "args": None,
                "cfg": {"task": task, "model": model},
                "model": {f"transformer.{name}": value for name, value in weights.items()},
                "optimizer_history": [
                    {"num_updates": trained.updates, "criterion_name": "", "lr_scheduler_state": {}}
                ],
                "extra_state": {},
            },
        )
        vocabularies.source.save(temporary / f"dict.{source}.txt")
        vocabularies.target.save(temporary / f"dict.{target}.txt")
