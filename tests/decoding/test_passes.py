"""The passes that decodings tell: they end in the translation, with the probabilities it has."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, EOS, MASK
from nat.decoding.beam_search import BeamSearch
from nat.decoding.ctc import CtcDecoding
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.decoding.hybrid import Hybrid
from nat.decoding.imputer import ImputerDecoding
from nat.decoding.mask_correct import MaskCorrect
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from nat.decoding.passes import Pass
from tests.tiny import make_model

LENGTH, CHUNK = {"length": "offset"}, {"decoder": {"chunk": 2}}
UPSAMPLED = {"decoder": {"upsample": 2}}


@pytest.fixture
def source() -> Any:
    numbers = np.random.default_rng(4)
    return source_tensor([numbers.integers(6, 29, length) for length in (3, 7, 9, 4)])


def written(one: Pass, frames: bool) -> list[int]:
    """The translation that the tokens after the last pass stand for."""
    tokens = one.tokens[: one.tokens.index(EOS)] if EOS in one.tokens else one.tokens
    merged = [token for token, _ in itertools.groupby(tokens)] if frames else tokens
    return [token for token in merged if token != BLANK]


def every(*cases: tuple[Any, dict[str, Any]]) -> pytest.MarkDecorator:
    """For methods, each with the options of a model."""
    names = [type(method).__name__ for method, _ in cases]
    return pytest.mark.parametrize(("method", "options"), cases, ids=names)


@every(
    (OnePass(length_beam=3), LENGTH),
    (MaskPredict(steps=4, length_beam=3), LENGTH),
    (MaskPredict(steps=4, length_beam=3, remask=False), LENGTH),
    (MaskCorrect(steps=4, length_beam=3), LENGTH),
    (CtcDecoding(), UPSAMPLED),
    (ImputerDecoding(steps=4), UPSAMPLED),
    (BeamSearch(beam=3), {}),
    (GroupBeamSearch(beam=3), CHUNK),
    (Hybrid(beam=3), CHUNK),
)
def test_passes_end_in_the_translation_with_its_score(
    source: Any, method: Any, options: Any
) -> None:
    model = make_model(seed=2, **options)
    for passes, one in zip(method.passes(model, source), method(model, source), strict=True):
        last = passes[-1]
        assert written(last, frames="decoder" in options and options != CHUNK) == one.tokens
        counted = last.tokens.index(EOS) + 1 if EOS in last.tokens else len(last.tokens)
        total = sum(last.log_probabilities[:counted])
        mean = not isinstance(method, Hybrid)  # whose score is a sum
        assert total / (counted if mean else 1) == pytest.approx(one.score)


@every(
    (MaskCorrect(steps=4), LENGTH), (ImputerDecoding(steps=4), UPSAMPLED), (Hybrid(beam=2), CHUNK)
)
def test_a_pass_says_what_it_saw_and_what_it_chose(source: Any, method: Any, options: Any) -> None:
    for passes in method.passes(make_model(seed=2, **options), source):
        chosen: set[int] = set()
        for number, one in enumerate(passes):
            places = range(len(one.tokens))
            masks = {place for place in places if one.tokens[place] == MASK}
            chosen |= set(one.chosen)
            assert set(places) - masks == chosen
            if isinstance(method, MaskCorrect):
                assert one.chosen == list(places)
                assert len(one.masked) == len(places) * (4 - number) // 4
            if isinstance(method, ImputerDecoding):
                assert set(one.masked) == masks | set(one.chosen)
            assert all(
                (score == 0) == (place in masks)
                for place, score in enumerate(one.log_probabilities)
            )
            assert all(score <= 0 and math.isfinite(score) for score in one.log_probabilities)
