"""The jobs of `all` are as stored, see `tests.golden.freeze`; apart, as they take half the time."""

from tests.golden import freeze


def test_as_stored() -> None:
    changes = freeze.differences("graph")
    assert not changes, "\n".join(changes[: freeze.SHOWN])
