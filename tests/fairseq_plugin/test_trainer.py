"""Trainer of fairseq: it makes updates of any system and of stock models, as benchmarks do."""

import logging
from collections.abc import Iterator

import pytest

from benchmarks.gpu_training import time_updates
from benchmarks.training_speed import Case, Lengths, batches, ours, stock

LENGTHS = Lengths(200, 1.6, 0.3, 8)


@pytest.fixture(autouse=True)
def without_the_log_of_fairseq() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("system", "side"),
    [*((name, "ours") for name in ("at", "cmlm", "ctc")), ("at", "stock"), ("cmlm", "stock")],
)
def test_an_update_ends_with_a_loss(system: str, side: str) -> None:
    case = Case(system, 16, 1, 50, heads=2)
    (sentences,) = batches(case, LENGTHS, 64, 1)
    step = stock(case, [sentences]) if side == "stock" else ours(case, [sentences], bfloat16=False)
    first = step(0)["loss"]
    for _ in range(30):
        last = step(0)["loss"]
    assert last < first


def test_batches_are_timed_when_they_are_new_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.synchronize", lambda: None)
    monkeypatch.setattr("torch.cuda.memory_reserved", lambda: 0)
    monkeypatch.setattr("benchmarks.gpu_training.WARM_UP", 1)
    case, made = Case("at", 16, 1, 50, heads=2), []
    sentences = batches(case, LENGTHS, 64, 3)
    found = time_updates(lambda number: made.append(number) or {}, case, sentences)
    assert made == [0, 1, 2, 0, 1, 2]
    assert found["milliseconds"] >= 0 and found["milliseconds_again"] >= 0
