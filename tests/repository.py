"""The configuration of this repository, for tests that only read it."""

from functools import cache
from pathlib import Path

from nat.configuration import Configuration, load

ROOT = Path(__file__).resolve().parents[1]


@cache
def configured(scale: str | None = None) -> Configuration:
    """The configuration at a scale, by default that of config.yaml; read and checked once."""
    return load(scale, ROOT)
