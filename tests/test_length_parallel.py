"""What decodings of several lengths have in common is made once, and changes no translation."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from nat.decoding.corpus import translate
from nat.decoding.known import Known
from nat.decoding.length_parallel import LengthParallel
from nat.decoding.mask_correct import MaskCorrect
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from nat.transformer.model import Transformer

MakeModel = Callable[..., Transformer]
SENTENCES = [np.random.default_rng(number).integers(6, 29, 1 + number % 4) for number in range(8)]
BATCH_TOKENS = 12


def each_way(lengths: int) -> list[LengthParallel]:
    return [
        method(length_beam=lengths, deduplicate=deduplicate, **options)
        for deduplicate in (True, False)
        for method, options in (
            (OnePass, {}),
            (OnePass, {"length_factor": 1.5}),
            *((MaskPredict, {"steps": steps}) for steps in (4, 1, 2)),
            (MaskPredict, {"steps": 4, "remask": False}),
            *((MaskCorrect, {"steps": steps}) for steps in (1, 2, 4)),
        )
    ]


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Canvases of each pass of the decoder."""
    calls: list[int] = []
    decode = Transformer.decode

    def counted(model: Transformer, tokens: Tensor, *others: Any, **more: Any) -> Tensor:
        calls.append(tokens.size(0))
        return decode(model, tokens, *others, **more)

    monkeypatch.setattr(Transformer, "decode", counted)
    return calls


@pytest.mark.parametrize("backwards", [False, True])
def test_translations_are_those_of_each_decoding_alone(
    make_model: MakeModel, backwards: bool
) -> None:
    model, known = make_model(seed=2, length="offset"), Known()
    methods = [*each_way(1), *each_way(3)]
    written = {}
    for method in reversed(methods) if backwards else methods:
        alone, together = (
            translate(model, one, SENTENCES, range(len(SENTENCES)), BATCH_TOKENS)
            for one in (method, functools.partial(method, known=known))
        )
        assert together == alone
        written[method] = tuple(tuple(each.hypothesis.tokens) for each in together)
    for steps in (2, 4):  # else nothing would be dropped
        one, other = (
            MaskPredict(steps=steps, length_beam=3, deduplicate=deduplicate)
            for deduplicate in (False, True)
        )
        assert written[one] != written[other]


def test_first_passes_and_those_of_twins_are_made_once(
    make_model: MakeModel, passed: list[int]
) -> None:
    model, known = make_model(seed=2, length="offset"), Known()

    def canvases(method: LengthParallel, **again: Known) -> int:
        passed.clear()
        one = functools.partial(method, **again)
        translate(model, one, SENTENCES, range(len(SENTENCES)), BATCH_TOKENS)
        return sum(passed)

    first = 3 * len(SENTENCES)
    assert canvases(MaskCorrect(steps=4, length_beam=3), known=known) == 4 * first
    assert canvases(MaskCorrect(steps=4, length_beam=3, deduplicate=True), known=known) == 0
    assert canvases(MaskCorrect(steps=2, length_beam=3, deduplicate=True), known=known) == first
    assert canvases(MaskCorrect(steps=2, length_beam=3), known=known) == 0
    assert canvases(MaskPredict(steps=1, length_beam=3), known=known) == 0
    assert canvases(OnePass(length_beam=3), known=known) == 0
    assert canvases(OnePass(length_beam=3, length_factor=1.5), known=known) == first
    assert canvases(OnePass(length_beam=2), known=known) == 2 * len(SENTENCES)
    # a decoding that is timed shares nothing
    for _ in range(2):
        assert canvases(MaskCorrect(steps=4, length_beam=3)) == 4 * first
