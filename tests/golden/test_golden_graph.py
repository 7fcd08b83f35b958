"""The jobs of `all` are as stored, see `tests.golden.freeze`."""

import pytest

from tests.golden import freeze


@pytest.mark.parametrize("scale", freeze.SCALES)
def test_as_stored(scale: str) -> None:
    changes = freeze.differences(f"graph_{scale}")
    assert not changes, "\n".join(changes[: freeze.SHOWN])
