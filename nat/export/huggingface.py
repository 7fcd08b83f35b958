"""A model as a folder that transformers of Hugging Face opens, with the code that it needs.

`config.json` has sizes, decodings and classes, `model.safetensors` the weights; the code is made of
modules of this project. The tokenizer also needs what `nat.export.formats` adds to every export:
preprocessing and subwords. Nothing is uploaded.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from nat.data.corpus import Corpus
from nat.data.splits import sides
from nat.data.vocabulary import Vocabularies
from nat.export.flat import file_name, flattened, requirements
from nat.export.package import PackagedScore
from nat.files import atomic_directory, write_json
from nat.options import options_of
from nat.training.model_file import TrainedModel
from nat.transformer.model import Transformer

CODE = "nat.export.huggingface_code"
LICENCE = Path(__file__).resolve().parents[2] / "LICENSE"
USE = """from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
model = AutoModel.from_pretrained(folder, trust_remote_code=True)
sources = tokenizer(lines, return_tensors="pt", padding=True).input_ids
translations = tokenizer.batch_decode(model.generate(sources), skip_special_tokens=True)
"""


def write_huggingface(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    corpus: Corpus,
    decodings: Mapping[str, Mapping[str, Any]],
    scores: Sequence[PackagedScore],
    folder: Path,
) -> None:
    """Write the folder; it appears whole or not at all.

    Args:
        trained: the model.
        vocabularies: of the corpus.
        corpus: languages and preprocessing.
        decodings: methods with their options, JSON-able, by name; the usual one first.
        scores: of these decodings, for the card.
        folder: to write.
    """
    methods = dict.fromkeys(str(each["method"]) for each in decodings.values())
    code = file_name(CODE)
    with atomic_directory(folder) as temporary:
        weights = {
            f"network.{name}": value.detach().cpu().contiguous()  # as `save_pretrained` names it
            for name, value in trained.model.state_dict().items()
        }
        save_file(weights, temporary / "model.safetensors", metadata={"format": "pt"})
        config = {
            "model_type": "nat",
            "architectures": ["NatModel"],
            "auto_map": {"AutoConfig": f"{code}.NatConfig", "AutoModel": f"{code}.NatModel"},
            "network": network_of(trained.model),
            "decodings": dict(decodings),
        }
        write_json(temporary / "config.json", config)
        tokenizer = {
            "tokenizer_class": "NatTokenizer",
            "auto_map": {"AutoTokenizer": [f"{code}.NatTokenizer", None]},
            "model_max_length": trained.model.longest_source + 1,  # with the end
        }
        write_json(temporary / "tokenizer_config.json", tokenizer)
        vocabularies.save(temporary)
        modules = _code(list(methods), list(trained.model.part_options))
        needed = "".join(f"{each}\n" for each in requirements(modules.values()))
        licence = LICENCE.read_text(encoding="utf-8")
        for name, text in {**modules, "requirements.txt": needed, LICENCE.name: licence}.items():
            (temporary / name).write_text(text, encoding="utf-8")
        card = model_card(trained, corpus, list(decodings), scores)
        (temporary / "README.md").write_text(card, encoding="utf-8")


def network_of(model: Transformer) -> dict[str, Any]:
    """The arguments of `Transformer`, JSON-able; without dropout."""
    predictor = model.length_predictor
    return {
        "architecture": options_of(model.architecture),
        "vocabulary_size": model.vocabulary_sizes.target,
        "source_vocabulary_size": model.vocabulary_sizes.source,
        "length": None if predictor is None else predictor.predicts,
        "decoder": options_of(model.decoder),
        "empty_token": model.empty_token,
        "parts": {name: options_of(part) for name, part in model.part_options.items()},
        "predicts_end": model.predicts_end,
    }


def _code(methods: Sequence[str], parts: Sequence[str]) -> dict[str, str]:
    """The files of the code, by name; the last one has the classes that transformers opens.

    transformers fetches what the file of a class itself imports, and no more.
    """
    travelling = {f"nat.decoding.{each}": ("METHODS", each) for each in methods}
    travelling |= {f"nat.parts.{each}": ("PARTS", each) for each in parts}
    code = flattened([*travelling, CODE])
    *others, classes = code
    for name in (each.removesuffix(".py") for each in others):
        code[classes] += f"from .{name} import __name__ as _{name}\n"
    for module, (table, method) in travelling.items():
        code[classes] += f"from .{file_name(module)} import METHOD as _{method}\n"
        code[classes] += f"{table}['{method}'] = _{method}\n"
    return code


def model_card(
    trained: TrainedModel,
    corpus: Corpus,
    decodings: Sequence[str],
    scores: Sequence[PackagedScore],
) -> str:
    """The card in Markdown: model, use, scores and settings of the training."""
    training = trained.training
    source, target = sides(corpus)
    names = ", ".join(f"`{name}`" for name in decodings)
    head = f"""---
library_name: transformers
pipeline_tag: translation
language: {json.dumps([source, target])}
tags: [translation, non-autoregressive]
---

# {training.system}, {source} to {target}

A model of the system `{training.system}`, trained on the corpus `{training.corpus}` for \
{trained.updates:,} updates. Its code travels with it, under the licence in the file `LICENSE`. \
The licence of the weights is for those to decide who trained them; it depends on that of the \
corpus. The code needs the packages in `requirements.txt`:

```
pip install -r requirements.txt
```

```python
{USE}```

Decodings, of which the first is the default: {names}.

## Scores

"""
    lines = ["No scores of these decodings came with the model."]
    if scores:
        lines = ["| decoding | split | sacreBLEU | 95% interval | signature |", "|---" * 5 + "|"]
        for score in scores:
            bleu = score.measures.sacrebleu
            signature = bleu.signature.replace("|", "\\|")
            interval = "none" if bleu.low is None else f"{bleu.low:.1f} to {bleu.high:.1f}"
            lines.append(
                f"| {score.decoding} | {score.split} | {bleu.value:.2f} | {interval} | "
                f"`{signature}` |"
            )
        lines += ["", "Intervals are from a bootstrap over the sentences."]
    settings = json.dumps(training.as_json(), indent=2, ensure_ascii=False)
    return head + "\n".join([*lines, "", "## Settings", "", "```json", settings, "```", ""])
