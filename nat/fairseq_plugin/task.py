"""The one fairseq task: a system's training on a corpus."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import iterators
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.tasks import FairseqTask, register_task
from sacrebleu.metrics import BLEU
from torch import Tensor

from nat import registry
from nat.checksums import remedy
from nat.data.arrays import mapped_array
from nat.data.batch import Batch
from nat.data.binarised import BinarisedText
from nat.data.bpe import merge
from nat.data.vocabulary import SPECIALS, UNK, Vocabularies
from nat.distillation.pairwise_bleu import distortion
from nat.errors import UserError
from nat.fairseq_plugin.criterion import Criterion
from nat.fairseq_plugin.dataset import Pairs, passes
from nat.fairseq_plugin.model import Model
from nat.files import atomic_write_text, write_json
from nat.program import Progress
from nat.training.averaging import (
    kept_path,
    remove_weights_except,
    save_weights,
    weights_path,
)
from nat.training.record import Record, per_position
from nat.training.run import CURVE, FINISHED, Run
from nat.transformer.length import ConstantLength
from nat.transformer.model import Transformer

ORDERS = 4
"""N-gram orders of BLEU."""


NO_METRIC = "none"
"""The metric of the best checkpoint for fairseq. It has no value; otherwise fairseq would copy
checkpoints to further files. The task itself chooses among them."""


class Finished(Exception):
    """The training has ended; raised after the last validation."""


class BatchTooLarge(RuntimeError):
    """A batch does not fit the memory of the device in the forward or backward pass.

    If its message were that of torch, fairseq would skip the batch and continue.
    """


@dataclass
class TaskOptions(FairseqDataclass):
    """The task's options."""

    run: str = field(default="", metadata={"help": "file that describes the training"})


@register_task("nat", dataclass=TaskOptions)
class Task(FairseqTask):
    """Loads the pairs, counts updates, validates, and keeps weights for averaging.

    For fairseq the training is a single long epoch (see `dataset.passes`).
    """

    def __init__(self, options: TaskOptions) -> None:
        super().__init__(options)
        self.run = Run.read(Path(options.run))
        self.vocabularies = Vocabularies.load(Path(self.run.vocabularies))
        self.record = Record()
        self.decoding: Any = None
        if self.run.metric == "bleu":
            assert self.run.training.validation_decoding is not None
            self.decoding = registry.build("decoding", self.run.training.validation_decoding)
        self.transformer: Transformer
        self.criterion: Criterion
        self._progress = Progress(f"train {self.run.name}", self.run.updates, "updates")
        self._seconds_before = 0.0
        self._started = self._update_started = time.monotonic()
        self._in_update = False
        self._learning_rate = 0.0
        self._validation: dict[str, float] = {}
        self._kept_before: list[int] = []
        self._batches_per_epoch = 0

    # Model, objective and data.

    def build_model(self, options: Any, from_checkpoint: bool = False) -> Model:
        """The model of the run."""
        model: Model = super().build_model(options, from_checkpoint)
        self.transformer = model.transformer
        return model

    def build_criterion(self, options: Any, from_checkpoint: bool = False) -> Criterion:
        """The objective of the run; after the model, since a teacher starts as its copy."""
        self.criterion = super().build_criterion(options, from_checkpoint)
        return self.criterion

    def load_dataset(self, split: str, **_: Any) -> None:
        """Load the pairs of `train`, or those of the raw `valid` that validation uses."""
        run = self.run
        training = split == "train"
        source, *targets = run.train if training else run.valid
        pairs = Pairs(
            BinarisedText(source),
            [BinarisedText(target) for target in targets],
            (self.transformer.longest_source, self.transformer.longest_target),
            run.tokens_per_batch,
            f"{run.name}, {split}",
            None if training else run.recipe.validation.sentences,
            self._regulariser() if training else None,
        )
        self.datasets[split] = pairs
        if training and isinstance(self.transformer.length_predictor, ConstantLength):
            self.transformer.length_predictor.difference.fill_(pairs.mean_difference)
        if training and self._writes:
            left_out = sum(pairs.left_out.values())
            self._progress.say(f"learns from {len(pairs):,} pairs, {left_out:,} are left out")

    def _regulariser(self) -> np.ndarray | None:
        """Added to the cost of each candidate in a choice among texts, nats, float32 [n, C]."""
        if self.run.pairwise_bleu is None:
            return None
        beta, gamma = self.run.training.text.regulariser["beta"], self.run.gamma
        assert gamma is not None
        path = self.run.pairwise_bleu
        found, number = mapped_array(path), len(gamma)
        if found.shape[1:] != (number, number):
            raise UserError(
                f"{path} has the shape {list(found.shape)} instead of sentences x {number} x "
                f"{number}; {remedy(path)}"
            )
        return distortion(found, beta, gamma)

    def get_batch_iterator(
        self,
        dataset: Pairs,
        num_shards: int = 1,
        shard_id: int = 0,
        data_buffer_size: int = 0,
        **_: Any,
    ) -> iterators.EpochBatchIterator:
        """All batches of the training, or those of one validation."""
        if dataset in self.dataset_to_epoch_iter:
            return self.dataset_to_epoch_iter[dataset]
        batches = dataset.batches(self.run.tokens_per_batch, self.run.seed)
        if dataset is self.datasets.get("train"):
            self._batches_per_epoch = len(batches)
            # one more update than needed, so that fairseq does not reach the end of its epoch
            needed = (self.run.updates + 1) * self.run.accumulation * num_shards
            batches = passes(batches, needed, self.run.seed)
        self.dataset_to_epoch_iter[dataset] = iterators.EpochBatchIterator(
            dataset=dataset,
            collate_fn=dataset.collater,
            batch_sampler=batches,
            seed=self.run.seed,
            num_shards=num_shards,
            shard_id=shard_id,
            buffer_size=data_buffer_size,
            disable_shuffling=True,
        )
        return self.dataset_to_epoch_iter[dataset]

    # One update.

    def train_step(
        self,
        sample: dict[str, Any],
        model: Model,
        criterion: Criterion,
        optimizer: Any,
        update_num: int,
        ignore_grad: bool = False,
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """Loss and gradient of one batch."""
        if not self._in_update:
            self._update_started, self._in_update = time.monotonic(), True
        self.criterion.update = update_num
        try:
            step: tuple[Tensor, Tensor, dict[str, Any]] = super().train_step(
                sample, model, criterion, optimizer, update_num, ignore_grad
            )
        except torch.OutOfMemoryError as error:
            raise BatchTooLarge from error
        return step

    def optimizer_step(self, optimizer: Any, model: Model, update_num: int) -> None:
        """Update the model, then its teacher."""
        self._learning_rate = float(optimizer.get_lr())
        optimizer.step()
        self.criterion.objective.after_update(self.transformer)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Criterion) -> None:
        """Record sums over the batches and devices of an update or of a part of validation."""
        names = dict.fromkeys(name for log in logging_outputs for name in log)
        sums = {
            name: float(sum(log[name] for log in logging_outputs if name in log)) for name in names
        }
        Criterion.reduce_metrics(logging_outputs)
        if not criterion.training:
            for name, value in sums.items():
                self._validation[name] = self._validation.get(name, 0.0) + value
            return
        record = self.record
        sums["training_seconds"] = time.monotonic() - self._update_started
        self._in_update = False
        record.seconds = self._wall()
        norm = metrics.get_meter("train", "gnorm")
        record.add_update(sums, self._learning_rate, float(norm.val))
        self._show_progress()
        record.close_row(self.run.row_every)
        if self._writes and record.updates in self.run.keep.values():
            save_weights(kept_path(self._folder, record.updates), self.transformer.state_dict())

    # Validation, and the checkpoints that it chooses.

    def begin_epoch(self, epoch: int, model: Model) -> None:
        """Validate the initial weights if they are those of a model.

        Every device validates the whole set, so that they need not wait for each other.
        """
        if self.run.init_from is None or self.record.updates:
            return
        sums: Counter[str] = Counter()
        self.criterion.eval()
        pairs = self.datasets["valid"]
        for numbers in pairs.batches(self.run.tokens_per_batch, self.run.seed):
            batch = pairs.collater([pairs[number] for number in numbers])
            _, _, log = self.valid_step(batch, model, self.criterion)
            sums.update({name: float(value) for name, value in log.items()})
        self.record.seconds = self._wall()
        self._note_validation(sums, saved=False)

    def begin_valid_epoch(self, epoch: int, model: Model) -> None:
        """Start a validation."""
        self._validation = {}

    def valid_step(
        self, sample: dict[str, Any], model: Model, criterion: Criterion
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """Loss of a batch of the raw validation text, and the counts of its BLEU."""
        loss, positions, log = super().valid_step(sample, model, criterion)
        if self.decoding is not None:
            log.update(self._bleu_counts(sample["batch"]))
        return loss, positions, log

    def post_validate(self, model: Model, stats: dict[str, Any], _aggregator: Any) -> None:
        """Record the validation; keep the weights if they are used for averaging.

        Raises:
            Finished: after the last update, or when there was no improvement for too long.
        """
        record = self.record
        record.seconds = self._wall()
        last = record.updates >= self.run.updates
        saved = last or record.updates % self.run.lengths.save_every == 0
        values, keep = self._note_validation(self._validation, saved)
        if self._writes and keep:
            save_weights(weights_path(self._folder, record.updates), self.transformer.state_dict())
        patience = self.run.recipe.patience
        tired = patience is not None and record.since_best >= patience
        if last or (tired and record.candidates):  # without any, there would be no model
            if self._writes:
                write_json(self._folder / FINISHED, self._finished())
            raise Finished
        stats.update(values)
        stats[NO_METRIC] = None

    def _note_validation(
        self, sums: Mapping[str, float], saved: bool
    ) -> tuple[dict[str, float], bool]:
        """Its losses per position (nats) and BLEU, and whether its weights are to be kept."""
        counts = [int(sums[name]) for name in _BLEU_COUNTS if name in sums]
        values = per_position({name: sums[name] for name in sums if name not in _BLEU_COUNTS})
        if counts:
            correct, total = counts[:ORDERS], counts[ORDERS : 2 * ORDERS]
            lengths = counts[-2], counts[-1]
            values["bleu"] = float(BLEU.compute_bleu(correct, total, *lengths).score)
        average = self.run.recipe.average
        keep = self.record.add_validation(
            values, self.run.metric, average.checkpoints, average.by, saved
        )
        if self._writes:
            atomic_write_text(self._folder / CURVE, self.record.csv())
        return values, keep

    def post_save(self, _path: str, _updates: int) -> None:
        """After a checkpoint: remove weights that no checkpoint on disk refers to."""
        kept = [update for update, _ in self.record.candidates]
        # fairseq keeps this checkpoint and the one before
        remove_weights_except(self._folder, {*kept, *self._kept_before})
        self._kept_before = kept

    def get_checkpoint_dict(self) -> dict[str, Any]:
        """What enters a checkpoint."""
        return {type(self).__name__: self.record.state()}

    def set_checkpoint_dict(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.record = Record.from_state(state)
        self._seconds_before = self.record.seconds
        self._kept_before = [update for update, _ in self.record.candidates]
        if self._writes:
            self._progress.say(f"resumes from its checkpoint of update {self.record.updates:,}")

    @property
    def _folder(self) -> Path:
        return Path(self.run.checkpoints)

    @property
    def _writes(self) -> bool:
        return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0

    def _wall(self) -> float:
        return self._seconds_before + time.monotonic() - self._started

    def _finished(self) -> dict[str, Any]:
        pairs, balance = self.datasets, self.criterion.objective.balance
        return {
            "balance": None if balance is None else balance.found(),
            "record": self.record.state(),
            "parameters": sum(each.numel() for each in self.transformer.parameters()),
            "batches_per_epoch": self._batches_per_epoch,
            "pairs": {
                split: {"used": len(pairs[split]), "left_out": pairs[split].left_out}
                for split in ("train", "valid")
            },
        }

    def _show_progress(self) -> None:
        if not self._writes:
            return
        sums = self.record.open
        speed = sums["tokens"] / max(sums["training_seconds"], 1e-9)
        loss = sums["loss"] / max(sums["positions"], 1)
        shown = f"{speed / 1000:.0f}k" if speed >= 10_000 else f"{speed:,.0f}"
        self._progress.update(self.record.updates, f"loss {loss:.2f}, {shown} tokens/s")

    def _bleu_counts(self, batch: Batch) -> dict[str, float]:
        """N-gram counts of the translations of a batch against its target.

        Words are merged from subwords and compared without tokenisation or detokenisation, so this
        BLEU is only for choosing checkpoints, not for reporting.
        """
        device = self.transformer.output.weight.device
        found = self.decoding(self.transformer, batch.source.to(device))
        vocabulary = self.vocabularies.target
        hypotheses = [merge(vocabulary.decode(one.tokens)) for one in found]
        references = [
            # no prediction of a model is the translation of an unknown word
            merge(vocabulary.decode(row)).replace(SPECIALS[UNK], "\N{REPLACEMENT CHARACTER}")
            for row in batch.target.tolist()
        ]
        if len(hypotheses) != len(references):
            raise RuntimeError(f"{len(hypotheses)} translations of {len(references)} sentences")
        score = BLEU(tokenize="none", force=True).corpus_score(hypotheses, [references])
        counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        return dict(zip(_BLEU_COUNTS, map(float, counts), strict=True))


_BLEU_COUNTS = (
    *(f"bleu_correct_{order}" for order in range(1, ORDERS + 1)),
    *(f"bleu_total_{order}" for order in range(1, ORDERS + 1)),
    "bleu_hypothesis_length",
    "bleu_reference_length",
)
