"""Models of fairseq's own with the vocabularies of this project.

They are trained with fairseq's noise, losses and random numbers and decoded by its generator, so
that what is measured of them is fairseq's.
"""

from argparse import Namespace
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.criterions.nat_loss import LabelSmoothedDualImitationCriterion
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.modules import dynamic_crf_layer
from fairseq.tasks.translation_lev import TranslationLevenshteinTask
from torch import Tensor, nn

from nat.data.vocabulary import BOS, EOS, PAD, SPECIALS, VocabularySizes
from nat.transformer.architecture import Architecture
from nat.transformer.fairseq_models import fairseq_options

_FAIRSEQ_PAD = 1


def swapped(tokens: Tensor) -> Tensor:
    """Ids of this project as those of fairseq, or the reverse.

    BOS and PAD are exchanged; EOS, UNK and all other symbols have the same ids.
    """
    return torch.where(tokens <= max(PAD, BOS), PAD + BOS - tokens, tokens)


class OfFairseq(nn.Module):
    """A model of fairseq, with what trainings and decodings ask of any model here.

    `name` is that of the architecture in fairseq, `options` are those of the model and of its loss
    by fairseq's names. `longest_source` and `longest_target` are the most tokens without BOS and
    EOS.
    """

    length_predictor = None
    part_options: dict[str, Any] = {}
    parts: list[Any] = []

    def __init__(
        self,
        architecture: Architecture,
        sizes: VocabularySizes,
        name: str,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__()
        dynamic_crf_layer.np = SimpleNamespace(float=float)  # its name `np.float` is gone
        longest = architecture.max_positions
        chosen = Namespace(
            **fairseq_options(architecture),
            apply_bert_init=architecture.initialisation == "bert",
            max_source_positions=longest,
            # fairseq inserts up to twice the source, and predicts lengths of up to 255 tokens
            max_target_positions=2 * longest + 256,
            share_all_embeddings=sizes.source is None,
            share_decoder_input_output_embed=True,
            **options,
        )
        ARCH_CONFIG_REGISTRY[name](chosen)
        if hasattr(chosen, "crf_beam_approx"):
            chosen.crf_beam_approx = min(chosen.crf_beam_approx, sizes.target)
        self.vocabulary_sizes = sizes
        self.dictionary = _dictionary(sizes.target)
        source = self.dictionary if sizes.source is None else _dictionary(sizes.source)
        # what building a model asks of a task
        task = SimpleNamespace(source_dictionary=source, target_dictionary=self.dictionary)
        self.model = ARCH_MODEL_REGISTRY[name].build_model(chosen, task)
        self.longest_source = self.longest_target = longest - 2

    def encode(self, source: Tensor) -> Tensor:
        """The source itself: fairseq's models encode it where they use it."""
        return source

    def noised(self, target: Tensor, noise: str) -> Tensor:
        """Make what the decoder sees in training by a noise of fairseq's `translation_lev`.

        Targets [B, T] (tokens, padding on the right) become [B, at most T + 2] with BOS and EOS.
        """
        task = SimpleNamespace(tgt_dict=self.dictionary, cfg=SimpleNamespace(noise=noise))
        injected = TranslationLevenshteinTask.inject_noise(task, swapped(between_ends(target)))
        return swapped(injected)

    def loss(
        self, source: Tensor, shown: Tensor, target: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch by fairseq's criterion `nat_loss`, and its parts without factors.

        The source is [B, S] with EOS, the target [B, T]; `shown` is what `noised` made of it.
        """
        task = SimpleNamespace(target_dictionary=self.dictionary)
        criterion = LabelSmoothedDualImitationCriterion(task, self.model.args.label_smoothing)
        sample = {
            "nsentences": len(source),
            "ntokens": 0,  # not used
            "net_input": self.source(source),
            "target": swapped(between_ends(target)),
            "prev_target": swapped(shown),
        }
        value, _, log = criterion(self.model, sample)
        parts = {
            name.removesuffix("-loss"): value.new_tensor(part)
            for name, part in log.items()
            if name.endswith("-loss")
        }
        return value, parts

    def source(self, source: Tensor) -> dict[str, Tensor]:
        """The source [B, S] (tokens, EOS) as fairseq's task gives it to a model: with BOS."""
        begin = torch.full_like(source[:, :1], BOS)
        tokens = swapped(torch.cat((begin, source), 1))
        return {"src_tokens": tokens, "src_lengths": tokens.ne(_FAIRSEQ_PAD).sum(1)}


def between_ends(target: Tensor) -> Tensor:
    """Targets [B, T] between BOS and EOS, [B, T + 2]."""
    begin, end = (torch.full_like(target[:, :1], each) for each in (BOS, PAD))
    ended = torch.cat((begin, target, end), 1)
    lengths = target.ne(PAD).sum(1, keepdim=True)
    return ended.scatter(1, lengths + 1, EOS)


def _dictionary(symbols: int) -> Any:
    """A dictionary of fairseq with so many symbols."""
    dictionary = Dictionary()
    for number in range(len(dictionary), symbols):
        dictionary.add_symbol(SPECIALS[number] if number < len(SPECIALS) else str(number))
    return dictionary
