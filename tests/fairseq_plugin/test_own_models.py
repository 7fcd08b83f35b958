"""Models of fairseq's own: what they learn and write is what fairseq's task makes of the text."""

from argparse import ArgumentParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.criterions.nat_loss import LabelSmoothedDualImitationCriterion
from fairseq.data import LanguagePairDataset, ListDataset, PrependTokenDataset
from fairseq.iterative_refinement_generator import IterativeRefinementGenerator
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks.translation_lev import TranslationLevenshteinTask
from torch import Tensor

from nat.configuration import read
from nat.configuration import runnable as module
from nat.configuration.runnable import cannot_train
from nat.data.batch import Batch, source_tensor
from nat.data.vocabulary import BOS, EOS, NEVER_WRITTEN, PAD, UNK, VocabularySizes
from nat.decoding.refinement import Refinement
from nat.fairseq_plugin.own_models import OfFairseq, between_ends, swapped
from nat.inputs.fairseq_noise import FairseqNoise
from nat.objective.context import BatchContext
from nat.registry import Method, completed, describe
from nat.targets.fairseq_loss import FairseqLoss
from nat.targets.options import CRF, INAT, INSERTION, LEVT, FairseqOptions
from nat.transformer.architecture import Architecture
from nat.transformer.fairseq_models import NEEDS_COMPILED, fairseq_options
from tests.messages import told

SYMBOLS = 30
SIZE = Architecture(16, 32, 1, 1, 2, positions="learned", initialisation="bert", max_positions=32)
SOURCES = [[7, 8, 9, 20], [10], [11, 12, UNK]]
TARGETS = [[17, 18], [19, 21, 22, 23, 6], [24, UNK, 25]]


def built(name: str, source_symbols: int | None = None, **options: Any) -> Any:
    torch.manual_seed(1)
    options |= {"label_smoothing": 0.1, "dropout": 0.2, "length_loss_factor": 0.3}
    return OfFairseq(SIZE, VocabularySizes(SYMBOLS, source_symbols), name, options)


def as_fairseq(sentence: list[int]) -> Tensor:
    return torch.tensor([*sentence, EOS])  # words, UNK and EOS have the same ids


def of_fairseq(model: Any, noise: str) -> dict[str, Any]:
    """The batch that fairseq's task makes of the sentences."""
    dictionary = model.dictionary
    sides = [
        PrependTokenDataset(
            ListDataset([as_fairseq(one) for one in text], np.array([len(o) + 1 for o in text])),
            dictionary.bos(),
        )
        for text in (SOURCES, TARGETS)
    ]
    pairs = LanguagePairDataset(
        sides[0],
        sides[0].sizes,
        dictionary,
        sides[1],
        sides[1].sizes,
        dictionary,
        left_pad_source=False,
        shuffle=False,
    )
    sample: dict[str, Any] = pairs.collater([pairs[number] for number in range(len(SOURCES))])
    task = SimpleNamespace(tgt_dict=dictionary, cfg=SimpleNamespace(noise=noise))
    torch.manual_seed(7)
    sample["prev_target"] = TranslationLevenshteinTask.inject_noise(task, sample["target"])
    return sample


def batch() -> Batch:
    return Batch.collate([0, 1, 2], SOURCES, TARGETS)


def context(model: Any) -> BatchContext:
    return BatchContext(model, batch(), model.encode(batch().source), seed=7, update=0)


@pytest.mark.parametrize("noise", ["full_mask", "random_delete"])
@pytest.mark.parametrize("name", [INAT, CRF])
def test_the_loss_is_that_of_fairseq(name: str, noise: Any) -> None:
    options = {"pred_length_offset": True}
    model = built(name, **options).eval()
    sample = of_fairseq(model, noise)
    if noise == "random_delete":  # these models keep the length
        sample["prev_target"] = sample["target"].clone()
    criterion = LabelSmoothedDualImitationCriterion(SimpleNamespace(target_dictionary=None), 0.1)
    order = sample["id"]  # fairseq sorts by length
    torch.manual_seed(3)
    theirs, _, log = criterion(model.model, sample)
    ours = Batch.collate(order.tolist(), *([text[n] for n in order] for text in (SOURCES, TARGETS)))
    torch.manual_seed(3)
    found, parts = model.loss(ours.source, swapped(sample["prev_target"]), ours.target)
    torch.testing.assert_close(found, theirs)
    assert parts["length"].item() == pytest.approx(log["length-loss"])
    assert {"word_ins", "length"} <= set(parts) and ("word_crf" in parts) == (name == CRF)


@pytest.mark.parametrize("noise", ["full_mask", "random_delete"])
def test_the_noise_is_that_of_fairseq_and_the_same_in_validation(noise: Any) -> None:
    model = built(LEVT).eval()
    shown = FairseqNoise(noise=noise)(context(model))
    torch.manual_seed(7)
    task = SimpleNamespace(tgt_dict=model.dictionary, cfg=SimpleNamespace(noise=noise))
    target = swapped(between_ends(batch().target))
    assert torch.equal(swapped(shown.tokens), TranslationLevenshteinTask.inject_noise(task, target))
    assert torch.equal(FairseqNoise(noise=noise)(context(model)).tokens, shown.tokens)
    assert shown.tokens[:, 0].eq(BOS).all() and shown.padding.eq(shown.tokens.eq(PAD)).all()


def test_a_batch_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = built(INAT, train_step=2)
    target = FairseqLoss(model=INAT, label_smoothing=0.1, options={"train_step": 2})
    loss = target(context(model), FairseqNoise(noise="full_mask")(context(model)))
    assert loss.value.shape == (1,) and loss.positions.tolist() == [1]
    loss.value.sum().backward()
    assert all(each.grad is not None for each in model.model.decoder.layers.parameters())


@pytest.mark.parametrize(("name", "steps"), [(INAT, 3), (CRF, 1), (LEVT, 3)])
def test_translations_are_those_of_fairseq(name: str, steps: int) -> None:
    model = built(name).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    source = batch().source
    found = Refinement(steps=steps)(model, source)
    sample = of_fairseq(model, "full_mask")
    order = sample["id"].tolist()
    generator = IterativeRefinementGenerator(model.dictionary, max_iter=steps - 1)
    written = dict(zip(order, generator.generate([model.model], sample), strict=True))
    several = False
    for number, one in enumerate(found):
        [best] = written[number]
        kept = [token for token in best["tokens"].tolist() if token > UNK]
        assert one.tokens == [token for token in kept if token not in NEVER_WRITTEN]
        assert one.score == pytest.approx(float(best["score"]), abs=1e-4)
        assert 1 <= one.steps <= steps
        several |= len(one.tokens) > 1
    assert several


@pytest.mark.parametrize("name", [INAT, CRF])
def test_source_symbols_have_an_embedding_of_their_own(name: str) -> None:
    model = built(name, source_symbols=50).eval()
    weights = model.state_dict()
    assert len(weights["model.encoder.embed_tokens.weight"]) == 50
    output = weights["model.decoder.output_projection.weight"]
    assert torch.equal(output, weights["model.decoder.embed_tokens.weight"])
    assert len(output) == SYMBOLS
    assert model.vocabulary_sizes == (SYMBOLS, 50)
    source = source_tensor([[49, 31], [7]])
    target = batch().target[:2]
    assert model.loss(source, model.noised(target, "full_mask"), target)[0].isfinite()
    assert len(Refinement(steps=1)(model, source)) == 2


def test_options_are_those_of_fairseq_that_nothing_else_says() -> None:
    options = {name: set(FairseqOptions.names(name)) for name in (INAT, CRF, INSERTION, LEVT)}
    known = set(FairseqOptions.model_fields)
    assert known == set.union(*options.values())
    assert not known & {*fairseq_options(SIZE), "dropout", "label_smoothing", "length_loss_factor"}
    for name, its in options.items():
        parser = ArgumentParser()
        ARCH_MODEL_REGISTRY[name].add_args(parser)
        assert its <= {action.dest for action in parser._actions}


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (INAT, "train_steps", 2),
        (INAT, "train_step", []),
        (INAT, "dae_ratio", 1.5),
        (INAT, "encoder_layers", 3),
        (INAT, "crf_beam_approx", 3),
        (LEVT, "early_exit", "6"),
    ],
)
def test_an_option_that_a_model_does_not_have(name: str, option: str, value: Any) -> None:
    target = Method(method="fairseq_loss", model=name, options={option: value})
    with told(option):
        describe("targets", target)


def test_only_the_options_that_are_given_are_recorded() -> None:
    given = {"pred_length_offset": False, "train_step": 2}
    for options in ({}, given):
        target = Method(method="fairseq_loss", model=INAT, options=options)
        assert completed("targets", target).as_json()["options"] == options


def test_without_compiled_parts_a_system_is_not_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: False)
    micro = read("micro")
    assert cannot_train(micro, "levt-kd") == NEEDS_COMPILED and not cannot_train(micro, "inat-kd")
