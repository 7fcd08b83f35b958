"""What decodings of several lengths have in common is made once, and changes no translation."""

import functools

import numpy as np
import pytest
import torch

from nat.decoding.corpus import translate
from nat.decoding.known import Known, once
from nat.decoding.length_parallel import LengthParallel
from nat.decoding.mask_correct import MaskCorrect
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from tests.tiny import make_model

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


@pytest.mark.parametrize("backwards", [False, True])
def test_translations_are_those_of_each_decoding_alone(backwards: bool) -> None:
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


def test_the_same_symbols_in_a_batch_of_another_width_are_another_text() -> None:
    known = Known()
    for shape in ((2, 3), (3, 2)):
        source = torch.arange(6).view(shape)
        assert once(known, "method", source, functools.partial(tuple, shape)) == shape
