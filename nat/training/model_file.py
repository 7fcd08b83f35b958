"""The finished model of a training: weights, and the configuration that made them.

A result that is made from a model names its weights by their SHA-256. Snakemake makes it again when
the model changes; whoever opens it without Snakemake, as the command `nat` does, passes it through
`check_weights`.
"""

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from nat import registry
from nat.artifacts import Model
from nat.checksums import reading, recorded, remedy, sha256_of
from nat.configuration import differences
from nat.configuration.models import Training
from nat.data.vocabulary import VocabularySizes
from nat.errors import UserError
from nat.files import atomic_path, read_json
from nat.job import JobConfiguration
from nat.transformer.model import Transformer

WEIGHTS = "weights"  # key of the SHA-256 of the `model.pt` that a result was made from
CONVERTED = "model.json"  # file of a converted model with that key
SHOWN = 5  # most differences of configuration that a message lists


@dataclass(frozen=True)
class TrainedModel:
    """A model in evaluation mode, its effective configuration, and the updates of its training."""

    model: Transformer
    training: Training
    updates: int


def build_model(training: Training, sizes: VocabularySizes) -> Transformer:
    """Build the untrained model of an effective configuration."""
    target = registry.describe("targets", training.target)
    if target.decoding_order == "fairseq":
        # trainings, translations and latencies ask no more of a model than fairseq's own have
        network: Transformer = registry.build("targets", training.target).network(training, sizes)
        return network
    return Transformer(
        training.architecture,
        sizes.target,
        length=training.length,
        dropout=training.recipe.dropout,
        decoder=training.decoder,
        empty_token=target.empty_token,
        parts=training.parts,
        predicts_end=training.imported is not None,
        source_vocabulary_size=sizes.source,
    )


def save_model(
    path: Path | str,
    weights: Mapping[str, Tensor],
    training: Training,
    sizes: VocabularySizes,
    updates: int,
) -> None:
    """Write `model.pt` atomically; it loads with `weights_only=True`."""
    separate = {} if sizes.source is None else {"source_vocabulary_size": sizes.source}
    content = {
        "training": training.as_json(),
        "vocabulary_size": sizes.target,
        **separate,
        "updates": updates,
        "weights": {name: value.detach().cpu() for name, value in weights.items()},
    }
    write_tensors(path, content)


def write_tensors(path: Path | str, value: Any) -> None:
    """Write a file with `torch.save`, atomically."""
    content = io.BytesIO()
    torch.save(value, content)
    # torch hides the reason why the file system refuses a write
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def _content(path: Path | str, **options: Any) -> dict[str, Any]:
    """What `model.pt` holds; that of version 0.1 gets the key `parts`."""
    saved: dict[str, Any] = torch.load(path, weights_only=True, **options)
    training, weights = saved["training"], saved["weights"]
    if "parts" not in training:
        latent, predicts = training.pop("latent"), training["decoder"].pop("input_predictor")
        training["parts"] = ({"input_predictor": {}} if predicts else {}) | (
            {} if latent is None else {"latent": latent}
        )
        for name in [name for name in weights if name.startswith("latents.")]:
            weights[name.replace("latents.", "latent.", 1)] = weights.pop(name)
    return saved


def read_training(path: Path) -> Training:
    """Read the training of `model.pt`, whose weights stay in the file; raises as `reading`."""
    with reading(path):
        return Training.of(_content(path, map_location="cpu", mmap=True)["training"])


def load_model(
    path: Path | str,
    device: torch.device | str = "cpu",
    *,
    sizes: VocabularySizes | None = None,
    mapped: bool = False,
) -> TrainedModel:
    """Read `model.pt` and check that its vocabularies have these sizes, if they are given.

    `mapped`: on a processor, leave weights in the file until they are used, for an engine with
    weights of its own, which uses hardly any.

    Raises:
        UserError: as `reading`, and if the model has vocabularies of other sizes.
    """
    with reading(path):
        saved = _content(path, map_location=device, mmap=mapped)
        training = Training.of(saved["training"])
        its = VocabularySizes(saved["vocabulary_size"], saved.get("source_vocabulary_size"))
        if sizes in (None, its):
            with _Building(most=Path(path).stat().st_size, drawn=not mapped):
                model = build_model(training, its)
            model.load_state_dict(saved["weights"], assign=mapped)
    if sizes not in (None, its):
        raise UserError(
            f"{path} has {its} but the corpus {sizes}; they do not belong together, so "
            f"{remedy(path)}"
        )
    model.to(device).eval().requires_grad_(False)
    return TrainedModel(model, training, saved["updates"])


class _Building(TorchFunctionMode):
    """Models are built no larger than their file, and without initial weights if not `drawn`.

    The file may come from a stranger: before its weights are held against the model that it
    describes, a width of 10^7 would have taken the memory, and 10^6 layers the time. Weights that
    are not drawn do not touch their memory. PyTorch's device "meta" takes no memory either, but the
    modules that it imports do.

    Args:
        most: bytes of the file, in which each weight has several.
        drawn: whether weights get initial values.
    """

    def __init__(self, most: int, drawn: bool) -> None:
        super().__init__()
        self._left, self._drawn = most, drawn

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if not self._drawn and func.__name__ in ("normal_", "uniform_", "kaiming_uniform_"):
            return None
        if func in (torch.empty, torch.arange):
            self._left -= math.prod(args if isinstance(args[0], int) else args[0])
            if self._left < 0:
                raise ValueError("its architecture is larger than its weights")
        return func(*args, **(kwargs or {}))


def matching_model(
    model: Model, configuration: JobConfiguration, sizes: VocabularySizes, *, mapped: bool = False
) -> Transformer:
    """Load a model, on a GPU if there is one, if it is that of the configuration; see `load_model`.

    Raises:
        UserError: as `load_model`, and if it was trained with another configuration.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    trained = load_model(model.path, device, sizes=sizes, mapped=mapped)
    expected = configuration.training(model.system).as_json()
    if different := differences(trained.training.as_json(), expected):
        raise UserError(
            f"{model.path} was trained with another configuration "
            f"({'; '.join(different[:SHOWN])}); put that back, or {remedy(model.path)}"
        )
    return trained.model


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Mean of each weight of a training over several files, see `reading`.

    It is summed in float64, and of the weights' own type.
    """
    weights: dict[str, Tensor] = {}
    sums: dict[str, Tensor] = {}
    for path in paths:
        with reading(path):
            weights = torch.load(path, map_location="cpu", weights_only=True)
        sums = {name: value.double() + sums.get(name, 0) for name, value in weights.items()}
    return {name: (value / len(paths)).to(weights[name].dtype) for name, value in sums.items()}


def checksum_of(model: Path) -> str:
    """SHA-256 of `model.pt`, from the manifest of its folder if it is there."""
    return recorded(model) or sha256_of(model)


def check_weights(path: Path, model: Path) -> None:
    """Refuse a result, a converted model or tuned options, of other weights than a `model.pt`.

    Raises:
        UserError: if it was made from others.
    """
    file = path / CONVERTED if path.is_dir() else path
    made_from = read_json(file).get(WEIGHTS) if file.exists() else None
    if made_from not in (None, checksum_of(model)):
        raise UserError(f"{path} was made from other weights than those of {model}; {remedy(path)}")
