"""What each system trains on, for the tests that hold for every objective."""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import pytest
import torch

from nat.options import options_of
from nat.transformer.architecture import DecoderOptions
from tests.repository import configured
from tests.sweeps import without_numbers
from tests.tiny import make_model, make_objective


@dataclass(frozen=True)
class Case:
    """A training objective and the model that it is for.

    Attributes:
        input: configuration of the proxy input.
        target: of the proxy target.
        model: keywords of the fixture `make_model`.
        teacher: the same of the model that the objective consults, if it does.
    """

    input: dict[str, Any]
    target: dict[str, Any]
    model: dict[str, Any]
    teacher: dict[str, Any] | None = None

    def build(
        self, dtype: torch.dtype = torch.float64, bfloat16: bool = False, **model: Any
    ) -> tuple[Any, Any]:
        """A tiny model and its objective, with a teacher that is another model."""
        mine = make_model(dtype=dtype, **self.model, **model)
        consulted = None
        if self.teacher is not None:
            consulted = make_model(seed=8, dtype=dtype, **self.teacher, **model)
        objective = make_objective(
            mine, self.input, self.target, bfloat16=bfloat16, teacher=consulted
        )
        if consulted is None and objective.teacher is not None:
            torch.manual_seed(9)
            for parameter in objective.teacher.parameters():
                # of one type, since the generator draws other numbers for another
                parameter.add_(0.2 * torch.randn(parameter.shape, dtype=torch.float64))
        return mine, objective


MASKS, FULL_MASK, OFFSET = {"method": "random_mask"}, {"method": "full_mask"}, {"length": "offset"}
LATENT = {"dim": 8, "posterior_layers": 1, "added_to": "decoder_input"}
FURTHER = {
    "dims, 3 steps": Case(MASKS, {"method": "dims", "teacher_steps": 3}, OFFSET),
    "dims, labels of the last pass": Case(MASKS, {"method": "dims", "labels": "last"}, OFFSET),
    "dims, full mask": Case(FULL_MASK, {"method": "dims", "teacher_steps": 2}, OFFSET),
    "cmlmc, masked sources": Case(MASKS, {"method": "cmlmc", "mask_source": True}, OFFSET),
    "ctc as in the code of Gu and Kong": Case(
        {"method": "glancing"},
        {"method": "ctc", "label_smoothing": 0.1},
        {
            "length": None,
            "decoder": {"copy": "soft_upsampled", "upsample": 3.0, "count_source_end": True},
            "parts": {"latent": LATENT},
        },
    ),
    "attention without self, copies by index": Case(
        FULL_MASK,
        {"method": "cross_entropy"},
        {
            **OFFSET,
            "decoder": {
                "copy": "soft_index",
                "positional_attention": True,
                "attention_without_self": True,
            },
        },
    ),
}
"""Some that no system has."""


@cache
def cases() -> dict[str, Case]:
    """The objective of each system, each combination once, and some that no system has."""
    configuration = configured()
    found: dict[str, Case] = {}
    for name in configuration.systems:
        case = _case(configuration, name)
        # the losses of fairseq's own models are held against fairseq's in test_own_models.py
        if case.target["method"] != "fairseq_loss" and case not in found.values():
            found[name] = case
    return found | FURTHER


def names() -> list[Any]:
    """The names of `cases` as parameters of a test.

    Those that differ from an earlier one in numbers only, such as the steps of a teacher, run the
    same code. They are marked `long`.
    """
    found: list[Any] = []
    kinds: list[Any] = []
    for name, case in cases().items():
        kind = without_numbers(asdict(case))
        found.append(pytest.param(name, marks=pytest.mark.long if kind in kinds else ()))
        kinds.append(kind)
    return found


def _case(configuration: Any, name: str) -> Case:
    system = configuration.system(name)
    teacher = system.teacher
    return Case(
        system.input.as_json(),
        system.target.as_json(),
        _model(configuration, name),
        None if teacher is None else _model(configuration, teacher),
    )


def _model(configuration: Any, name: str) -> dict[str, Any]:
    system = configuration.system(name)
    keywords: dict[str, Any] = {"length": system.length}
    if system.decoder != DecoderOptions():
        keywords["decoder"] = options_of(system.decoder)
    size = configuration.scale_settings.sizes.get(system.size)
    if size is not None and not size.decoder_layers:
        keywords["decoder_layers"] = 0
    parts = {name: options_of(part) for name, part in configuration.methods(name).parts.items()}
    return {**keywords, "parts": parts} if parts else keywords
