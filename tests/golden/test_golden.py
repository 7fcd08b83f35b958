"""The facts of `tests.golden.freeze` are as stored; `make golden` shows what differs."""

import pytest

from tests.golden import freeze


@pytest.mark.parametrize("name", ["cells", "trainings", "records"])
def test_as_stored(name: str) -> None:
    changes = freeze.differences(name)
    assert not changes, "\n".join(changes[: freeze.SHOWN])
