"""One training: what it reads, what it writes, how it is finished."""

import math
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nat.checksums import OF_FOLDER
from nat.configuration.lengths import Lengths
from nat.configuration.models import Recipe, Training
from nat.files import read_json, write_json
from nat.training.record import ROWS

RUN_FILE = "run.json"
"""In the folder of checkpoints: the run that they belong to."""

RESTORE = "restore.pt"
"""In the folder of checkpoints: a link to the one that training resumes from, if any."""

KEPT = "kept"
"""Folder beside the model of a training that keeps checkpoints, `{name}.pt` for each of them."""

REPORT = "training.json"
"""Beside the model of a training that has ended; it is written last."""

CURVE = "training.csv"
"""Beside the model; during training, in the folder of checkpoints."""

ENDED = ".ended"
"""Folder beside the model: second names of its files, until Snakemake has recorded the end of the
training. Otherwise it would remove what it has not seen the end of, since it was killed."""

FINISHED = "finished.json"
"""In the folder of checkpoints: the record of a training that has come to its end."""

_OWN = r"(run|finished)\.json|training\.csv|(weights|kept)_\d+\.pt"
_WRITTEN = re.compile(
    # what `nat.files.atomic_path` writes, also in the making and by earlier versions; the manifest
    rf"{_OWN}|\.({_OWN})\.(sha256|[a-z0-9_]{{8}})|{re.escape(OF_FOLDER)}"
    # what fairseq writes, and the link to it
    r"|(checkpoint_\d+_\d+|crash)\.pt(\.tmp)?|restore\.pt"
)


def forget_ended(run: str) -> None:
    """Remove the second names of models that Snakemake has recorded; `run` as in `results/RUN`."""
    for folder in Path("results", run, "models").glob(f"*/*/*/{ENDED}"):
        shutil.rmtree(folder, ignore_errors=True)


def is_written(path: Path) -> bool:
    """Whether a file has a name that trainings write in their folders of checkpoints."""
    is_folder = path.is_dir() and not path.is_symlink()
    return _WRITTEN.fullmatch(path.name) is not None and not is_folder


@dataclass(frozen=True)
class Run:
    """All that a training process must know.

    Attributes:
        name: system and corpus, for messages.
        training: the system's effective configuration.
        lengths: of its recipe.
        seed: of initial weights, order of batches, masks and dropout.
        train: prefixes of the binarised source and its target, or its candidate targets.
        pairwise_bleu: file with the pairwise BLEU of these candidates, or None.
        gamma: weights of these candidates in the choice, given or tuned, or None.
        valid: the same of the raw validation text.
        vocabularies: folder with the files of the vocabularies.
        init_from: model whose weights training starts from, or None.
        teacher: model that the objective consults, or None.
        checkpoints: folder that the training owns.
        events: folder for TensorBoard's event files, or None.
        bfloat16: whether products take bfloat16 inputs.
        devices: that share an update.
        accumulation: batches of each device in an update.
        tokens_per_batch: most tokens of such a batch.
        fingerprint: of the configuration, the seed and all input data; two models with the same
            one may replace each other.
        exact_fingerprint: also of what else decides about every bit of the result; a training
            resumes from a checkpoint with the same one only.
        corpus: how the training text is made and prepared, for the record.
    """

    name: str
    training: Training
    lengths: Lengths
    seed: int
    train: tuple[str, ...]
    pairwise_bleu: str | None
    gamma: list[float] | None
    valid: tuple[str, str]
    vocabularies: str
    init_from: str | None
    teacher: str | None
    checkpoints: str
    events: str | None
    bfloat16: bool
    devices: int
    accumulation: int
    tokens_per_batch: int
    fingerprint: str
    exact_fingerprint: str
    corpus: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Run":
        """Read a run file."""
        found = read_json(path)
        training, lengths = Training.of(found.pop("training")), Lengths(**found.pop("lengths"))
        return cls(training=training, lengths=lengths, **found)

    def write(self, path: Path) -> None:
        """Write a run file."""
        found = {**vars(self), "training": self.training.as_json(), "lengths": asdict(self.lengths)}
        write_json(path, found)

    @property
    def recipe(self) -> Recipe:
        """How the system is trained."""
        return self.training.recipe

    @property
    def updates(self) -> int:
        """Updates of the whole training."""
        return self.lengths.updates

    @property
    def row_every(self) -> int:
        """Number of updates in one row of the training curve."""
        return max(1, self.updates // ROWS)

    @property
    def metric(self) -> str:
        """What validation measures: `bleu` or `loss`."""
        return self.recipe.validation.metric

    @property
    def keep(self) -> dict[str, int]:
        """Updates after which the weights are kept, by the name of the checkpoint."""
        return self.recipe.keep or {}


def accumulation(batch_tokens: int, devices: int, tokens_per_device: int | None) -> tuple[int, int]:
    """Cut an update into batches.

    Args:
        batch_tokens: tokens of one update over all devices.
        devices: that share the update.
        tokens_per_device: most tokens in one batch of a device; None for no limit.

    Returns:
        Batches of each device in an update, and the most tokens of such a batch.
    """
    share = batch_tokens / devices
    batches = 1 if tokens_per_device is None else math.ceil(share / tokens_per_device)
    return batches, max(1, round(share / batches))
