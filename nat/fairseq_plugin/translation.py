"""Exported models in `fairseq-generate` and `fairseq-interactive`, see `nat.export.fairseq`.

    fairseq-generate DATA --path FOLDER/model.pt --user-dir nat/fairseq_plugin \\
        --task nat_translation

The dictionaries of fairseq have four special symbols before the words, ours six; ids are changed
on the way in and out.
"""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.data import iterators
from fairseq.dataclass.configs import GenerationConfig
from fairseq.models import BaseFairseqModel
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor

from nat import registry
from nat.data.batch import batches, padded_right
from nat.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from nat.decoding.hypothesis import hypotheses
from nat.options import hint
from nat.transformer.as_values import built_of

FAIRSEQ_SPECIALS = (BOS, PAD, EOS, UNK)
"""Our ids of fairseq's special symbols, in the order of theirs."""
SHIFT = len(SPECIALS) - len(FAIRSEQ_SPECIALS)
HEEDED = ("_name", "print_step", "no_seed_provided")
"""The options of fairseq's generation that have an effect with any decoding."""


@dataclass
class TranslationOptions(TranslationConfig):
    """The options of fairseq's translation, and the decoding."""

    decoding: str = field(default="", metadata={"help": "of the model; default: its first one"})


class ExportedModel(BaseFairseqModel):
    """A Transformer of this project and the decodings that it was exported with."""

    def __init__(self, options: Any) -> None:
        super().__init__()
        self.transformer = built_of(json.loads(options.network))
        self.decodings: dict[str, Any] = json.loads(options.decodings)

    def max_positions(self) -> tuple[int, int]:
        """Most tokens of a source and of a target, with their EOS."""
        model = self.transformer
        return model.longest_source + 1, model.longest_target + 1


@register_task("nat_translation", dataclass=TranslationOptions)
class DecodingTask(TranslationTask):
    """Translates with the decodings of this project."""

    def build_model(self, options: Any, from_checkpoint: bool = False) -> ExportedModel:
        """Build the model of a checkpoint; there is nothing to train."""
        if not from_checkpoint:
            sys.exit("error: nat_translation only translates; train with --task nat")
        return ExportedModel(options)

    def build_generator(
        self, models: list[Any], options: Any, *_: Any, **__: Any
    ) -> "DecodingGenerator":
        """Build the decoding that the option `--decoding` names.

        A mistake in the options ends the program: fairseq would show an error as a traceback.
        """
        (model,) = models  # no decoding of this project has several
        names = list(model.decodings)
        name = self.cfg.decoding or names[0]
        if name not in names:
            sys.exit(f"error: --decoding: the model has no '{name}'; {hint(name, names)}")
        for key, usual in vars(GenerationConfig()).items():
            if key not in HEEDED and getattr(options, key, usual) != usual:
                sys.exit(
                    f"error: --{key.replace('_', '-')} would change nothing, since a decoding has "
                    "its own options; leave it out, or choose another decoding with --decoding: "
                    f"{', '.join(names)}"
                )
        return DecodingGenerator(model.decodings[name])

    def get_batch_iterator(self, dataset: Any, **options: Any) -> iterators.EpochBatchIterator:
        """Batches of sentences of similar length, made without the compiled parts of fairseq."""

        def batch_by_size(
            numbers: Any, max_tokens: int | None, max_sentences: int | None, **_: Any
        ) -> list[list[int]]:
            lengths = {int(number): int(dataset.src_sizes[number]) - 1 for number in numbers}
            size = max_sentences or len(lengths)
            return [
                batch[start : start + size]
                for batch in batches(lengths, max_tokens or 10**9)
                for start in range(0, len(batch), size)
            ]

        dataset.batch_by_size = batch_by_size
        if options.get("max_positions") is not None:  # a reference may have any length
            options["max_positions"] = (options["max_positions"][0], math.inf)
        return super().get_batch_iterator(dataset, **options)


class DecodingGenerator:
    """A decoding in the form that fairseq calls."""

    symbols_to_strip_from_output = {FAIRSEQ_SPECIALS.index(EOS)}

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._method = registry.build("decoding", registry.Method(**options))

    def generate(
        self, models: list[ExportedModel], sample: dict[str, Any], **_: Any
    ) -> list[list[dict[str, Any]]]:
        """Translate a batch; one hypothesis for each sentence, an empty one for an empty one."""
        source = our_ids(sample["net_input"]["src_tokens"])
        batch = []
        for each in hypotheses(self._method, models[0].transformer, source):
            tokens = their_ids([*each.tokens, EOS])
            hypothesis = {
                "tokens": torch.tensor(tokens),
                "score": torch.tensor(each.score),
                "attention": None,
                "alignment": None,
                "positional_scores": torch.full((len(tokens),), each.score),
                "steps": each.steps,
            }
            batch.append([hypothesis])
        return batch


def our_ids(tokens: Tensor) -> Tensor:
    """Source sentences of fairseq [B, S], padded on either side, with our ids and right padding."""
    specials = torch.tensor(FAIRSEQ_SPECIALS, device=tokens.device)
    few = len(FAIRSEQ_SPECIALS)
    changed = torch.where(tokens < few, specials[tokens.clamp(max=few - 1)], tokens + SHIFT)
    return padded_right(changed)


def their_ids(tokens: list[int]) -> list[int]:
    """The ids that fairseq has for our symbols."""
    return [
        FAIRSEQ_SPECIALS.index(token) if token < len(SPECIALS) else token - SHIFT
        for token in tokens
    ]
