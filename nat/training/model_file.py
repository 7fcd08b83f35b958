"""The finished model of a training: weights and the configuration that made them."""

import io
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from nat import registry
from nat.checksums import check_memory, remedy, verified
from nat.configuration.models import Training
from nat.data.vocabulary import VocabularySizes
from nat.errors import UserError
from nat.files import atomic_path
from nat.transformer.model import Transformer

OF_FAIRSEQ = "fairseq_loss"
"""The proxy target whose models are fairseq's own."""

_DRAWS = ("normal_", "uniform_", "kaiming_uniform_")
"""Functions of PyTorch, and methods of its tensors, that draw initial weights."""


@dataclass(frozen=True)
class TrainedModel:
    """A model and its training.

    Attributes:
        model: in evaluation mode.
        training: the system's effective configuration when it was trained.
        updates: number of updates.
    """

    model: Transformer
    training: Training
    updates: int


def build_model(training: Training, sizes: VocabularySizes) -> Transformer:
    """An untrained model of an effective configuration."""
    target = training.target.options
    if training.target.method == OF_FAIRSEQ:
        from nat.transformer.of_fairseq import OfFairseq  # needs what is optional, fairseq

        model = OfFairseq(
            training.architecture,
            sizes,
            target["model"],
            target["options"],
            target["label_smoothing"],
            training.recipe.dropout,
            training.recipe.length_loss_weight,
        )
        # trainings, translations and latencies ask no more of a model than it has
        return cast(Transformer, model)
    return Transformer(
        training.architecture,
        sizes.target,
        length=training.length,
        dropout=training.recipe.dropout,
        decoder=training.decoder,
        empty_token=registry.describe("targets", training.target).traits.empty_token,
        latent=training.latent,
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
    """Write `model.pt` atomically; it loads with `weights_only=True`.

    Args:
        path: the file.
        weights: by name.
        training: the system's effective configuration.
        sizes: of the vocabularies.
        updates: number of updates.
    """
    separate = {} if sizes.source is None else {"source_vocabulary_size": sizes.source}
    write_tensors(
        path,
        {
            "training": training.as_json(),
            "vocabulary_size": sizes.target,
            **separate,
            "updates": updates,
            "weights": {name: value.detach().cpu() for name, value in weights.items()},
        },
    )


def write_tensors(path: Path | str, value: Any) -> None:
    """Write a file with `torch.save`, atomically.

    Raises:
        UserError: if the file system refuses the write.
    """
    content = io.BytesIO()
    torch.save(value, content)
    # torch hides the reason of the file system
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())


class _WithoutDraws(TorchFunctionMode):
    """Models are built without initial weights, whose memory is then not touched.

    PyTorch's device "meta" takes no memory either, but the modules that it imports do.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func.__name__ in _DRAWS:
            return None
        return func(*args, **(kwargs or {}))


def load_model(
    path: Path | str, device: torch.device | str = "cpu", *, mapped: bool = False
) -> TrainedModel:
    """Read `model.pt`.

    Args:
        path: the file.
        device: of the model.
        mapped: on a processor, leave weights in the file until they are used: for an engine with
            weights of its own, which uses hardly any.

    Raises:
        UserError: if the file is missing, is damaged, does not fit the memory or is not a model of
            this project.
    """
    verified(path)
    try:
        saved = torch.load(path, map_location=device, weights_only=True, mmap=mapped)
        training = Training.of(saved["training"])
        sizes = VocabularySizes(saved["vocabulary_size"], saved.get("source_vocabulary_size"))
        with _WithoutDraws() if mapped else nullcontext():
            model = build_model(training, sizes)
        model.load_state_dict(saved["weights"], assign=mapped)
    except FileNotFoundError as error:
        raise UserError(f"model {path} does not exist; train it first") from error
    except Exception as error:  # damage and other files give errors of many kinds
        check_memory(path, error)
        reason = str(error).splitlines()[0].split(". ")[0] if str(error) else type(error).__name__
        raise UserError(
            f"{path} is damaged or not a model of this project ({reason}); {remedy(path)}"
        ) from error
    model.to(device).eval().requires_grad_(False)
    return TrainedModel(model, training, saved["updates"])
