"""The one fairseq task: a system's training on a corpus."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import iterators
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.tasks import FairseqTask, register_task
from torch import Tensor

from nat import registry
from nat.checksums import remedy
from nat.data.arrays import mapped_array
from nat.data.batch import Batch
from nat.data.binarised import BinarisedText
from nat.data.subwords import merge
from nat.data.vocabulary import SPECIALS, UNK
from nat.distillation.pairwise_bleu import distortion
from nat.errors import UserError
from nat.fairseq_plugin.components import Criterion, SystemModel, start_from
from nat.fairseq_plugin.dataset import TrainingPairs, passes
from nat.files import atomic_write_text, read_json, write_json
from nat.measures import bleu
from nat.objective.objective import Objective
from nat.program import Progress
from nat.training import loggers
from nat.training.learnable import Objectives, told
from nat.training.model_file import build_model, load_model, write_tensors
from nat.training.record import ROWS, Record, per_position
from nat.training.run import CURVE, FINISHED, RUN_FILE, Run
from nat.transformer.length import ConstantLength
from nat.transformer.model import Transformer

NO_METRIC = "none"
"""The metric of the best checkpoint for fairseq. It has no value; otherwise fairseq would copy
checkpoints to further files. The task itself chooses among them."""

BLEU_COUNTS = tuple(f"bleu_{number}" for number in range(10))
"""The counts that BLEU is a function of, see `nat.measures.bleu`, summed over batches."""


MOST_REPLACED = 100
"""Batches in a row without a gradient, after which a training ends."""


class Finished(SystemExit):
    """The training has ended; raised after the last validation. It ends `fairseq-train` well."""


@dataclass
class TaskOptions(FairseqDataclass):
    """The task's options."""

    data: str = field(default="", metadata={"help": "folder of checkpoints, with the run's file"})


@register_task("nat", dataclass=TaskOptions)
class TrainingTask(FairseqTask):
    """Loads the pairs, counts updates, validates, and keeps weights for averaging.

    For fairseq the training is a single long epoch (see `dataset.passes`).
    """

    def __init__(self, options: TaskOptions) -> None:
        super().__init__(options)
        self.run = Run(**read_json(Path(options.data) / RUN_FILE))
        self.vocabularies = self.run.vocabularies
        self.record = Record()
        self.transformer: Transformer
        self.criterion: Criterion
        self._metric = self.run.recipe.validation.metric
        self._decoding: Any = None
        if self._metric == "bleu":
            assert self.run.training.validation_decoding is not None
            self._decoding = registry.build("decoding", self.run.training.validation_decoding)
        several = torch.distributed.is_initialized()
        self._writes = not several or torch.distributed.get_rank() == 0
        self._progress = Progress(f"train {self.run.name}", self.run.lengths.updates, "updates")
        self._started = time.monotonic()
        self._update_started: float | None = None
        self._learning_rate = 0.0
        self._validation: Counter[str] = Counter()
        self._kept_before: list[int] = []
        self._batches: list[np.ndarray] = []  # of a pass over the training text
        self._logger = loggers.TrainingLogger()

    # Model, objective and data.

    def build_model(self, _options: Any, from_checkpoint: bool = False) -> SystemModel:
        """Build the model of the run, untrained or with the weights that it starts from."""
        run = self.run
        self.transformer = build_model(run.training, self.vocabularies.sizes)
        if run.init_from is not None:
            start_from(self.transformer, run.init_from)
        return SystemModel(self.transformer)

    def build_criterion(self, _options: Any, from_checkpoint: bool = False) -> Criterion:
        """Build the objective; after the model, since a teacher starts as its copy."""
        run, model, teacher = self.run, self.transformer, None
        if run.teacher is not None:
            teacher = load_model(run.teacher, sizes=model.vocabulary_sizes).model
        updates = run.lengths.updates
        objective = Objective(run.training, model, run.seed, run.bfloat16, teacher, updates)
        self.criterion = Criterion(self, objective)
        return self.criterion

    def load_dataset(self, split: str, **_: Any) -> None:
        """Load the pairs of `train`, or those of the raw `valid` that validation uses."""
        run, model, training = self.run, self.transformer, split == "train"
        regulariser = _regulariser(run) if training and run.pairwise_bleu else None
        pairs = TrainingPairs(
            run.train if training else run.valid,
            (model.longest_source, model.longest_target),
            run.tokens_per_batch,
            f"{run.name}, {split}",
            None if training else run.recipe.validation.sentences,
            regulariser,
            Objectives(run.training, model) if training else None,
        )
        self.datasets[split] = pairs
        if training and isinstance(model.length_predictor, ConstantLength):
            model.length_predictor.difference.fill_(pairs.mean_difference)
        if training and self._writes:
            self._progress.say(told(len(pairs), pairs.left_out, pairs.not_learned))

    def get_batch_iterator(
        self,
        dataset: TrainingPairs,
        num_shards: int = 1,
        shard_id: int = 0,
        data_buffer_size: int = 0,
        **_: Any,
    ) -> iterators.EpochBatchIterator:
        """All batches of the training, or those of one validation."""
        if dataset in self.dataset_to_epoch_iter:
            return self.dataset_to_epoch_iter[dataset]
        run = self.run
        batches = dataset.batches(run.tokens_per_batch, run.seed)
        if dataset is self.datasets.get("train"):
            self._batches = batches
            # one more update than needed, so that fairseq does not reach the end of its epoch
            needed = (run.lengths.updates + 1) * run.accumulation * num_shards
            batches = passes(batches, needed, run.seed)
        self.dataset_to_epoch_iter[dataset] = iterators.EpochBatchIterator(
            dataset=dataset,
            collate_fn=dataset.collater,
            batch_sampler=batches,
            seed=run.seed,
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
        model: SystemModel,
        criterion: Criterion,
        optimizer: Any,
        update_num: int,
        ignore_grad: bool = False,
    ) -> Any:
        """Loss and gradient of one batch; another batch takes the place of one without a gradient.

        Raises:
            UserError: if `MOST_REPLACED` batches in a row have none.
        """
        if self._update_started is None:
            self._update_started = time.monotonic()
        self.criterion.update = update_num
        step = partial(super().train_step, model=model, criterion=criterion, optimizer=optimizer)
        for attempt in range(MOST_REPLACED):
            try:
                result = step(sample, update_num=update_num, ignore_grad=ignore_grad)
            except torch.OutOfMemoryError as error:
                # with the words of torch, fairseq would skip the batch and continue
                raise RuntimeError("not enough memory") from error
            gradients = (each.grad for each in model.parameters() if each.grad is not None)
            if ignore_grad or self.criterion.value or any(each.any() for each in gradients):
                return result
            self.record.without_gradient += 1
            draw = np.random.default_rng((self.run.seed, update_num, attempt))
            pairs, drawn = self.datasets["train"], draw.integers(len(self._batches))
            sample = pairs.collater([pairs[number] for number in self._batches[drawn]])
        raise UserError(
            f"{self.run.name}: nothing is learned from {MOST_REPLACED} batches in a row, update "
            f"{update_num:,}; look at the options of the target, or start from a trained system "
            "('init_from')"
        )

    def optimizer_step(self, optimizer: Any, model: SystemModel, update_num: int) -> None:
        """Update the model, then its teacher."""
        self._learning_rate = float(optimizer.get_lr())
        optimizer.step()
        self.criterion.objective.after_update(self.transformer)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Criterion) -> None:
        """Record sums over the batches and devices of an update or of a part of validation."""
        sums = criterion.reduce_metrics(logging_outputs)
        if not criterion.training:
            self._validation.update(sums)
            return
        run, record, now = self.run, self.record, time.monotonic()
        assert self._update_started is not None
        sums["training_seconds"] = now - self._update_started
        self._update_started, record.seconds = None, now - self._started
        norm = float(metrics.get_meter("train", "gnorm").val)
        row_every = max(1, run.lengths.updates // ROWS)
        row = record.add_update(sums, self._learning_rate, norm, row_every)
        if record.updates % row_every == 0:
            self._show(row)
        if self._writes:
            speed = row["tokens_per_second"]
            shown = f"{speed / 1000:.0f}k" if speed >= 10_000 else f"{speed:,.0f}"
            self._progress.update(record.updates, f"loss {row['loss']:.2f}, {shown} tokens/s")
            if record.updates in run.keep.values():
                self._save_weights(run.weights(record.updates))

    def _save_weights(self, path: Path) -> None:
        weights = self.transformer.state_dict()
        write_tensors(path, {name: value.detach().cpu() for name, value in weights.items()})

    # Validation, and the checkpoints that it chooses.

    def begin_epoch(self, epoch: int, model: SystemModel) -> None:
        """Open the logger, and validate the initial weights if they are those of a model.

        Every device validates the whole set, so that they need not wait for each other.
        """
        if self._writes:
            self._logger = loggers.opened(self.run, self.record.updates)
        if self.run.init_from is None or self.record.updates:
            return
        sums: Counter[str] = Counter()
        self.criterion.eval()
        pairs = self.datasets["valid"]
        for numbers in pairs.batches(self.run.tokens_per_batch, self.run.seed):
            batch = pairs.collater([pairs[number] for number in numbers])
            _, _, log = self.valid_step(batch, model, self.criterion)
            sums.update({name: float(value) for name, value in log.items()})
        self._add_validation(sums, saved=False)

    def valid_step(
        self, sample: dict[str, Any], model: SystemModel, criterion: Criterion
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """Loss of a batch of the raw validation text, and the counts of its BLEU."""
        loss, positions, log = super().valid_step(sample, model, criterion)
        if self._decoding is not None:
            log.update(self._bleu_counts(sample["batch"]))
        return loss, positions, log

    def post_validate(self, model: SystemModel, stats: dict[str, Any], _aggregator: Any) -> None:
        """Record the validation; keep the weights if they are used for averaging.

        Raises:
            Finished: after the last update, or when there was no improvement for too long.
        """
        run, record = self.run, self.record
        last = record.updates >= run.lengths.updates
        saved = last or record.updates % run.lengths.save_every == 0
        values, keep = self._add_validation(self._validation, saved)
        self._validation = Counter()
        if self._writes and keep:
            self._save_weights(run.weights(record.updates))
        patience = run.recipe.patience
        tired = patience is not None and record.since_best >= patience
        if last or (tired and record.candidates):  # without any, there would be no model
            if self._writes:
                self._write_finished()
            self._logger.close()
            raise Finished
        stats.update(values)
        stats[NO_METRIC] = None

    def _add_validation(
        self, sums: Mapping[str, float], saved: bool
    ) -> tuple[dict[str, float], bool]:
        """Its losses per position (nats) and BLEU; True if its weights are to be kept."""
        values = per_position({name: sums[name] for name in sums if name not in BLEU_COUNTS})
        if self._decoding is not None:
            counts = np.array([[sums[name] for name in BLEU_COUNTS]])
            values["bleu"] = float(bleu.unsmoothed(counts)[0])
        self.record.seconds = time.monotonic() - self._started
        average = self.run.recipe.average
        keep = self.record.add_validation(
            values, self._metric, average.checkpoints, average.by, saved
        )
        self._show(self.record.rows[-1])
        if self._writes:
            atomic_write_text(self.run.folder / CURVE, self.record.csv())
        return values, keep

    def _show(self, row: Mapping[str, Any]) -> None:
        """Tell the logger a row of the curve."""
        values = {name: row[name] for name in row if name not in ("update", "split")}
        self._logger.log({f"{row['split']}/{name}": values[name] for name in values}, row["update"])

    def _bleu_counts(self, batch: Batch) -> dict[str, float]:
        """Counts of the translations of a batch against its target.

        Words are merged from subwords and compared as they are, or in the corpus' units of BLEU, so
        this BLEU is only for choosing checkpoints, not for reporting.
        """
        source = batch.source.to(next(self.transformer.parameters()).device)
        vocabulary = self.vocabularies.target
        translations = self._decoding(self.transformer, source)
        hypotheses = [merge(vocabulary.decode(each.tokens)) for each in translations]
        references = [
            # no prediction of a model is the translation of an unknown word
            merge(vocabulary.decode(row)).replace(SPECIALS[UNK], "\N{REPLACEMENT CHARACTER}")
            for row in batch.target.tolist()
        ]
        truth = [[line] for line in bleu.split(references, self.run.unit)]
        translated = bleu.split(hypotheses, self.run.unit)
        counts = bleu.tokenised_bleu(translated, truth).sentences.sum(0)
        return dict(zip(BLEU_COUNTS, map(float, counts), strict=True))

    def _write_finished(self) -> None:
        balance = self.criterion.objective.balance
        finished = {
            "balance": None if balance is None else balance.found(),
            "record": asdict(self.record),
            "parameters": sum(each.numel() for each in self.transformer.parameters()),
            "batches_per_epoch": len(self._batches),
            "pairs": {split: self.datasets[split].counts for split in ("train", "valid")},
        }
        write_json(self.run.folder / FINISHED, finished)

    def post_save(self, _path: str, _updates: int) -> None:
        """Remove weights that no checkpoint on disk refers to: this one and the one before."""
        candidates = [update for update, _ in self.record.candidates]
        updates = (*candidates, *self._kept_before, *self.run.keep.values())
        needed = {self.run.weights(update) for update in updates}
        for path in self.run.folder.glob("weights_[0-9]*.pt"):
            if path not in needed:
                path.unlink(missing_ok=True)
        self._kept_before = candidates

    def get_checkpoint_dict(self) -> dict[str, Any]:
        """Return the state that enters a checkpoint."""
        return {type(self).__name__: asdict(self.record)}

    def set_checkpoint_dict(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.record = Record(**state)
        self._started -= self.record.seconds
        self._kept_before = [update for update, _ in self.record.candidates]
        if self._writes:
            self._progress.say(f"resumes from its checkpoint of update {self.record.updates:,}")


def _regulariser(run: Run) -> np.ndarray:
    """The term that is added to the cost of each candidate in a choice, nats, float32 [n, C]."""
    assert run.pairwise_bleu is not None and run.gamma is not None
    similarity, candidates = mapped_array(run.pairwise_bleu), len(run.gamma)
    sentences = len(BinarisedText(run.train[0]))
    if similarity.shape != (sentences, candidates, candidates):
        raise UserError(
            f"{run.pairwise_bleu} has the shape {list(similarity.shape)}, expected {sentences} "
            f"sentences x {candidates} candidates x {candidates}; {remedy(run.pairwise_bleu)}"
        )
    return distortion(similarity, run.training.text.regulariser["beta"], run.gamma)
