from collections.abc import Iterator

import pytest

from nat.data.parallel import CHUNK, in_order


def double(items: list[int]) -> list[int]:
    return [2 * item for item in items]


def fail(items: list[int]) -> list[int]:
    raise ValueError(f"item {items[0]}")


@pytest.mark.parametrize("processes", [1, 3])
def test_order_is_kept(processes: int) -> None:
    count = 9 * CHUNK + 5
    assert list(in_order(double, range(count), processes)) == list(range(0, 2 * count, 2))
    assert list(in_order(double, [], processes)) == []


def test_a_stream_is_not_read_far_ahead() -> None:
    read = 0

    def numbers() -> Iterator[int]:
        nonlocal read
        for number in range(100 * CHUNK):
            read = number
            yield number

    results = in_order(double, numbers(), 2)
    next(results)
    assert read < 10 * CHUNK
    results.close()


def test_an_error_arrives() -> None:
    with pytest.raises(ValueError, match="item 0"):
        list(in_order(fail, range(5), 2))
