"""What an export says about itself: how it is used, in words and as a program, and what it is.

The files of `nat/export/templates` are for `string.Template`; the programs there are copied.
"""

import json
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from string import Template
from typing import Any

import yaml

from nat import registry
from nat.configuration.models import Training
from nat.data import raw_text
from nat.decoding.options import LeftToRight
from nat.export.flat import requirements
from nat.export.package import Opened, PackagedScore
from nat.extras import DISTRIBUTION
from nat.registry import Method
from nat.training.model_file import TrainedModel
from nat.traits import KINDS
from nat.transformer.architecture import LENGTH_CLASSES
from nat.transformer.model import Transformer

TEMPLATES = Path(__file__).with_name("templates")
CLONE = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "ctranslate2": "CTranslate2",
    "onnx": "ONNX Runtime",
    "fairseq": "fairseq",
    "huggingface": "transformers of Hugging Face",
}
OF_TEXT = ("sacremoses", "jieba", "sentencepiece", "subword_nmt")
"""Packages that `nat.data.raw_text` imports, each for some corpora only."""
UNLICENSED = (
    "That of the weights is for those to decide who trained them (key `licence` of the file of the "
    "corpus); it depends on that of the corpus."
)


def write_guide(
    to: str, opened: Opened, trained: TrainedModel, decodings: Sequence[str], folder: Path
) -> None:
    """Add README.md, `example.py`, the licence, and the requirements of all code to an export.

    `decodings` are those that the export offers, the usual one first.
    """
    training, corpus = trained.training, opened.package.text
    of_encoder = to == "ctranslate2" and not trained.model.decoder_layers
    template = "ctranslate2_encoder" if of_encoder else to
    example = (TEMPLATES / f"{template}.py").read_text(encoding="utf-8")
    source, target = corpus.sides
    names = {
        "system": training.system,
        "corpus": training.corpus,
        "source": source,
        "target": target,
        "updates": f"{trained.updates:,}",
        "program": PROGRAMS[to],
        "decodings": ", ".join(f"`{name}`" for name in decodings),
        "raw_text": "raw_text.py" if to != "huggingface" else "nat_data_raw_text.py",
        "longest": trained.model.longest_source,
        "licence": f"That of the weights is `{corpus.licence}`." if corpus.licence else UNLICENSED,
        "scores": _scores(opened.scores),
        "settings": json.dumps(training.as_json(), indent=2, ensure_ascii=False),
        "header": _header(to, training, opened),
        "example": example,
    }
    text = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    text = text.replace("$format", (TEMPLATES / f"{template}.md").read_text("utf-8").strip())
    files = {
        "README.md": Template(text).substitute(names),
        "example.py": example,
        "LICENSE": _licence(),
    }
    if to != "huggingface":
        files["raw_text.py"] = Path(raw_text.__file__).read_text(encoding="utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    code = (path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))
    needed = requirements(code, set(OF_TEXT) - _of_text(opened))
    (folder / "requirements.txt").write_text("".join(f"{each}\n" for each in needed))


def _licence() -> str:
    """The licence of this project, which lies in the clone, or in the metadata of the package."""
    if (CLONE / "pyproject.toml").exists():
        return (CLONE / "LICENSE").read_text(encoding="utf-8")
    return str(distribution(DISTRIBUTION).read_text("licenses/LICENSE"))


def _of_text(opened: Opened) -> set[str]:
    """Those of `OF_TEXT` that the corpus needs."""
    how = opened.package.text.preprocessing
    own = how.tokeniser
    tokenisers = {own} if isinstance(own, str) else {*own.values()}
    pieces = opened.package.subwords == raw_text.PIECES
    needed = {"sentencepiece" if pieces else "subword_nmt"} | {"jieba"} & tokenisers
    moses = how.normalise_punctuation or how.escaped or tokenisers & {*raw_text.MOSES}
    return needed | ({"sacremoses"} if moses else set())


def search_of(method: Method, model: Transformer) -> dict[str, Any]:
    """The keys of `model.json` with which an example searches as a decoding does."""
    given = method.options
    if model.length_predictor is None and model.decoder.upsample is None:
        kept = {key: given[key] for key in LeftToRight.model_fields if key in given}
        search = registry.build("decoding", Method(method="ctranslate2_beam", **kept))
        limit = {"ratio": search.longest_ratio, "margin": search.longest_margin}
        return {"translate_batch": search.arguments, "limit": limit}
    if model.decoder.upsample is not None:
        return {"search": {"blank_penalty": given.get("blank_penalty", 0.0)}}
    from_source = getattr(model.length_predictor, "predicts", None) == "offset"
    numbers = {key: given.get(key, 1) for key in ("steps", "length_beam")}
    first = -(LENGTH_CLASSES // 2) if from_source else 0
    return {"search": {**numbers, "first_length": first, "plus_source": from_source}}


def _scores(scores: Sequence[PackagedScore]) -> str:
    if not scores:
        return "No scores came with the model."
    lines = ["| decoding | split | sacreBLEU | 95% interval | signature |", "|---" * 5 + "|"]
    for score in scores:
        bleu = score.measures["sacrebleu"]
        value, signature = f"{bleu.value:.2f}", bleu.signature.replace("|", "\\|")
        interval = "none" if bleu.low is None else f"{bleu.low:.1f} to {bleu.high:.1f}"
        lines.append(f"| {score.decoding} | {score.split} | {value} | {interval} | `{signature}` |")
    return "\n".join([*lines, "", "Intervals are from a bootstrap over the sentences."])


def _header(to: str, training: Training, opened: Opened) -> str:
    """The metadata of the model card, as the Hub of Hugging Face reads them."""
    package = opened.package
    dataset = package.text.dataset or package.corpus
    results = [
        {
            "task": {"type": "translation", "name": "Translation"},
            "dataset": {"type": dataset, "name": package.corpus, "split": score.split},
            "metrics": [
                {
                    "type": "sacrebleu",
                    "name": f"sacreBLEU, {score.decoding}",
                    "value": round(score.measures["sacrebleu"].value, 2),
                }
            ],
        }
        for score in opened.scores
    ]
    header = {
        "library_name": "transformers" if to == "huggingface" else to,
        "pipeline_tag": "translation",
        "language": [*package.text.sides],
        **({"license": package.text.licence} if package.text.licence else {}),
        "datasets": [dataset],
        "metrics": ["sacrebleu"],
        "tags": ["translation", KINDS[training.order]],
        **({"model-index": [{"name": training.system, "results": results}]} if results else {}),
    }
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n\n"


def sizes(folder: Path) -> str:
    """The number of files of an export and what they take on the disk."""
    files = [path for path in folder.rglob("[!.]*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    return f"{len(files)} files, {size:,.1f} MB"
