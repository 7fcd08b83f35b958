"""Methods that keep what they return."""

import gc
import weakref

import pytest

from nat.cached_method import cached_method


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    @cached_method
    def doubled(self, number: int, sign: int = 1) -> int:
        self.calls += 1
        if number < 0:
            raise ValueError
        return 2 * number * sign


def test_each_object_keeps_a_value_for_each_of_its_arguments() -> None:
    counter, other = Counter(), Counter()
    assert [counter.doubled(each) for each in (1, 2, 1, 2)] == [2, 4, 2, 4]
    assert counter.doubled(1, sign=-1) == counter.doubled(1, sign=-1) == -2
    assert (counter.calls, other.calls) == (3, 0)


def test_an_error_is_not_kept() -> None:
    counter = Counter()
    for _ in range(2):
        with pytest.raises(ValueError):
            counter.doubled(-1)
    assert counter.calls == 2


def test_an_object_is_not_kept() -> None:
    counter = Counter()
    counter.doubled(1)
    reference = weakref.ref(counter)
    del counter
    gc.collect()
    assert reference() is None
