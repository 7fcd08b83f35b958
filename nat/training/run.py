"""One training: what it reads, what it writes, how it is finished."""

import math
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nat.checksums import OF_FOLDER
from nat.configuration.lengths import Lengths
from nat.configuration.models import Recipe, Training
from nat.files import read_json, write_json

# Beside the model
REPORT = "training.json"
"""It is written last: then the training has ended."""
CURVE = "training.csv"
"""During training, it is in the folder of checkpoints."""
KEPT = "kept"
"""Folder of a training that keeps checkpoints, with `{name}.pt` for each of them."""
ENDED = ".ended"
"""Folder with second names of these files, until Snakemake has recorded the end of the training.
Otherwise it would remove what it has not seen the end of, since it was killed."""

# In the folder of checkpoints
RUN_FILE = "run.json"
"""The run that they belong to."""
RESTORE = "restore.pt"
"""A link to the checkpoint that training resumes from, if any."""
FINISHED = "finished.json"
"""The record of a training that has come to its end."""

_OWN = (
    *(FINISHED, RESTORE, "checkpoint_*_*.pt", "crash.pt", "weights_*.pt", "kept_*.pt"),
    *(CURVE, OF_FOLDER, RUN_FILE),
)


def own_files(folder: Path) -> Iterator[Path]:
    """Yield what trainings write in a folder of checkpoints, also what they have not finished.

    If what is yielded is removed in this order, then whatever is left at any time is complete
    enough to resume from, and the file of the run that it belongs to goes last.
    """
    files = sorted(folder.iterdir())
    for name in _OWN:
        for path in files:
            if any(fnmatch(path.name, each) for each in (name, f".{name}.*", f"{name}.tmp")):
                yield path


def forget_ended(run: str) -> None:
    """Remove the second names of models that Snakemake has recorded; `run` as in `results/RUN`."""
    for folder in Path("results", run, "models").glob(f"*/*/*/{ENDED}"):
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Run:
    """All that a training process must know.

    Attributes:
        name: system and corpus, for messages.
        training: the system's effective configuration.
        lengths: of its recipe.
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
        values = read_json(path)
        training, lengths = Training.of(values.pop("training")), Lengths(**values.pop("lengths"))
        return cls(training=training, lengths=lengths, **values)

    def write(self, path: Path) -> None:
        """Write a run file."""
        lengths, training = asdict(self.lengths), self.training.as_json()
        write_json(path, {**vars(self), "training": training, "lengths": lengths})

    @property
    def recipe(self) -> Recipe:
        """How the system is trained."""
        return self.training.recipe

    @property
    def folder(self) -> Path:
        """The folder of checkpoints."""
        return Path(self.checkpoints)

    @property
    def keep(self) -> dict[str, int]:
        """Updates after which the weights are kept, by the name of the checkpoint."""
        return self.recipe.keep or {}

    def weights(self, update: int) -> Path:
        """File with the weights after an update, which may enter the mean."""
        return self.folder / f"weights_{update}.pt"

    def kept_weights(self, update: int) -> Path:
        """File with the weights after an update that other systems start from."""
        return self.folder / f"kept_{update}.pt"


def accumulation(batch_tokens: int, devices: int, tokens_per_device: int | None) -> tuple[int, int]:
    """Return the batches of each device in an update, and the most tokens of such a batch.

    Args:
        batch_tokens: tokens of one update over all devices.
        devices: that share the update.
        tokens_per_device: most tokens in one batch of a device; None for no limit.
    """
    share = batch_tokens / devices
    batches = 1 if tokens_per_device is None else math.ceil(share / tokens_per_device)
    return batches, max(1, round(share / batches))
