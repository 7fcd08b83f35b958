"""A model as a folder that transformers of Hugging Face opens, with the code that it needs.

`config.json` has sizes, decodings and classes, `model.safetensors` the weights; the code is made of
modules of this project. The tokenizer also needs what `nat.export.formats` adds to every export:
preprocessing and subwords. Nothing is uploaded.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from nat.data.vocabulary import Vocabularies
from nat.export.flat import write_code
from nat.files import write_json
from nat.training.model_file import TrainedModel
from nat.transformer.as_values import values_of


def write_huggingface(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    languages: tuple[str, str],
    decodings: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> str:
    """Write to a folder; returns what was checked.

    `decodings` are methods with their options, JSON-able, by name; the usual one first. The
    languages stand in the description of the corpus.
    """
    parts = trained.model.part_options
    code = write_code(folder, "nat.export.huggingface_code", decodings, parts)
    weights = {
        f"network.{name}": value.detach().cpu().contiguous()  # as `save_pretrained` names it
        for name, value in trained.model.state_dict().items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "nat",
        "architectures": ["NatModel"],
        "auto_map": {"AutoConfig": f"{code}.NatConfig", "AutoModel": f"{code}.NatModel"},
        "network": values_of(trained.model),
        "decodings": dict(decodings),
    }
    write_json(folder / "config.json", config)
    tokenizer = {
        "tokenizer_class": "NatTokenizer",
        "auto_map": {"AutoTokenizer": [f"{code}.NatTokenizer", None]},
        "model_max_length": trained.model.longest_source + 1,  # with the end
    }
    write_json(folder / "tokenizer_config.json", tokenizer)
    vocabularies.save(folder)
    saved = load_file(folder / "model.safetensors")
    assert all(saved[name].equal(value) for name, value in weights.items())
    return "the weights in model.safetensors are those of the model"
