"""One training: what it reads, what it writes, how it is finished."""

import math
import shutil
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nat.checksums import OF_FOLDER
from nat.configuration.models import Training
from nat.configuration.recipes import Lengths, Recipe
from nat.data.vocabulary import Vocabularies
from nat.options import StrictModel

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
FINISHED = "finished.json"
"""The record of a training that has come to its end."""

_OWN = (
    *(FINISHED, "checkpoint_[0-9]*_[0-9]*.pt", "crash.pt", "weights_[0-9]*.pt"),
    *(CURVE, OF_FOLDER, RUN_FILE),
)


def remove_own_files(folder: Path) -> None:
    """Remove what trainings write in a folder of checkpoints, also what they have not finished.

    Whatever is left at any time is complete enough to resume from, and the file of the run that it
    belongs to goes last.
    """
    files = sorted(folder.iterdir())
    for name in _OWN:
        for path in files:
            if any(fnmatch(path.name, each) for each in (name, f".{name}.*", f"{name}.tmp")):
                path.unlink(missing_ok=True)


def forget_ended(run: str) -> None:
    """Remove the second names of models that Snakemake has recorded; `run` as in `results/RUN`."""
    for folder in Path("results", run, "models").glob(f"*/*/*/{ENDED}"):
        shutil.rmtree(folder, ignore_errors=True)


class Run(StrictModel):
    """All that a training process must know; texts are prefixes of binarised files."""

    name: str  # system and corpus, for messages
    training: Training
    lengths: Lengths
    seed: int
    train: tuple[str, ...]  # the source and its target, or its candidate targets
    pairwise_bleu: str | None  # file with the pairwise BLEU of these candidates
    gamma: list[float] | None  # weights of these candidates in the choice, given or tuned
    valid: tuple[str, str]  # raw source and target
    init_from: str | None  # model whose weights training starts from
    teacher: str | None  # model that the objective consults
    checkpoints: str  # folder that the training owns
    logger: str | None  # see `nat.training.loggers`
    bfloat16: bool  # products take bfloat16 inputs
    devices: int  # that share an update
    accumulation: int  # batches of each device in an update
    tokens_per_batch: int  # most tokens of such a batch
    fingerprint: str
    """Of the configuration, the seed and all input data; two models with the same one may replace
    each other."""
    exact_fingerprint: str
    """Also of what else decides about every bit of the result; a training resumes from a
    checkpoint with the same one only."""
    unit: str = "none"  # that validation counts by BLEU, see `nat.data.corpus.Corpus`
    corpus: dict[str, Any]  # how the training text is made and prepared, for the record

    @property
    def recipe(self) -> Recipe:
        """The recipe of the training."""
        return self.training.recipe

    @property
    def folder(self) -> Path:
        """The folder of checkpoints."""
        return Path(self.checkpoints)

    @property
    def events(self) -> Path:
        """The folder beside the model for TensorBoard's event files."""
        return self.folder.with_name("tensorboard")

    @property
    def vocabularies(self) -> Vocabularies:
        """Those of the texts."""
        return Vocabularies.load(Path(self.train[0]).parent)

    @property
    def keep(self) -> dict[str, int]:
        """Updates after which the weights are kept, by the name of the checkpoint."""
        return self.recipe.keep or {}

    @property
    def saved(self) -> dict[int, Path]:
        """Checkpoints on disk by their updates, the newest first."""
        files = {
            int(path.stem.split("_")[2]): path
            for path in self.folder.glob("checkpoint_[0-9]*_[0-9]*.pt")
        }
        return dict(sorted(files.items(), reverse=True))

    def weights(self, update: int) -> Path:
        """File with the weights after an update, which may enter the mean, or are kept."""
        return self.folder / f"weights_{update}.pt"


def accumulation(batch_tokens: int, devices: int, tokens_per_device: int | None) -> tuple[int, int]:
    """Return the batches of each device in an update, and the most tokens of such a batch.

    An update has `batch_tokens` over all devices, a batch at most `tokens_per_device` if given.
    """
    share = batch_tokens / devices
    batches = 1 if tokens_per_device is None else math.ceil(share / tokens_per_device)
    return batches, max(1, round(share / batches))
