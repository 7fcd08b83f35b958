"""Mask-predict with correction: visible tokens are replaced as well."""

from typing import Any

import pytest

from nat.configuration.compatibility import check_decoding
from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK
from nat.decoding.mask_correct import MaskCorrect
from tests.decoding.test_mask_predict import log_probability, scripted
from tests.messages import told
from tests.repository import configured
from tests.transformer.test_one_pass import LoggedModel


def test_every_pass_replaces_every_token_and_its_probability() -> None:
    # N = 3, T = 3: passes mask 3, 2 and 1 positions
    model: Any = LoggedModel(
        [[3]],
        scripted(
            [
                [(6, 5.0), (7, 2.0), (8, 4.0)],
                [(9, 1.0), (10, 6.0), (8, 4.0)],  # position 0 is corrected, and not sure of it
                [(6, 3.0), (10, 2.0), (11, 7.0)],
            ]
        ),
    )
    (made,) = MaskCorrect(steps=3)(model, source_tensor([[6, 6]]))
    assert model.seen == [[[MASK] * 3], [[6, MASK, MASK]], [[MASK, 10, 8]]]
    assert made.tokens == [6, 10, 11]
    assert made.score == pytest.approx(sum(map(log_probability, [3.0, 2.0, 7.0])) / 3)
    assert made.steps == 3


def test_a_pass_without_masks_corrects_all_the_same() -> None:
    model: Any = LoggedModel([[1]], scripted([[(6, 1.0)], [(7, 2.0)]]))
    (made,) = MaskCorrect(steps=2)(model, source_tensor([[6]]))
    assert model.seen == [[[MASK]], [[6]]]
    assert (made.tokens, made.steps) == ([7], 2)


def test_only_for_systems_that_have_learned_to_correct() -> None:
    configuration = configured()
    for system in ("cmlmc-kd", "dims-cmlmc-kd"):  # the student has it from its teacher
        check_decoding(configuration, system, "mask-correct-4-lb5")
        check_decoding(configuration, system, "mask-predict-4-lb5")
    with told("cmlm-kd", "config/systems/cmlm.yaml", "cmlmc"):
        check_decoding(configuration, "cmlm-kd", "mask-correct-4-lb5")
