"""`make bench` measures; here only that it can, on models that take no time."""

from types import ModuleType

import pytest

from benchmarks import decoding
from nat.configuration import load


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    small = {"model_dim": 16, "ffn_dim": 16, "encoder_layers": 1, "decoder_layers": 1, "heads": 2}
    monkeypatch.setattr(decoding, "ARCHITECTURE", small)
    monkeypatch.setattr(decoding, "VOCABULARY_SIZE", 50)
    return decoding


@pytest.mark.parametrize("name", decoding.CASES)
def test_a_decoding_is_network_and_bookkeeping(benchmark: ModuleType, name: str) -> None:
    found = benchmark.measure(load().decoding(name), rounds=1, device="cpu")
    assert 0 < found["share"] < 1
    assert found["bookkeeping_milliseconds"] < found["milliseconds"]
