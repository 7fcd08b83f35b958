"""Results of earlier versions, as their jobs wrote them."""

import os
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from nat.artifacts import Analysis, Latency, Score, TotalCorrelation, TrainingRecord
from nat.checksums import is_intact
from nat.files import read_json, write_json
from nat.jobs.earlier_results import convert
from nat.measures.results import TRAINING, Number, read
from nat.measures.statistics import MEASURED

NAMES: tuple[Any, ...] = ("micro", "toy-micro", "at-base", 1)
BEFORE = 1_000_000_000
ROWS = {"numbers": [0, 1], "sums": [1.0, 2.0], "tokens": [2, 4]}

SCORE = Score(*NAMES, "beam5", "test").path
ANALYSIS = Analysis(*NAMES, "likelihood").path
PAIR = TotalCorrelation("micro", "toy-micro", "nat-raw", "at-base", 1).path
TIMED, UNTIMED = (
    Latency("micro", "toy-micro", "hints_table_1", 1, setting, ()).path
    for setting in ("cpu-1", "cuda-1")
)
RECORD = TrainingRecord(*NAMES).path

TIMES = {"median": 4.0, "mean": 5.0, "quartile_1": 2.0, "quartile_3": 8.0, "repeats": [4.0] * 5}
FILES: dict[str, dict[str, Any]] = {
    SCORE: {
        "not_decoded": 1,
        "flags": ["odd"],
        "measures": {"sacrebleu": {"value": 27.0, "low": 26.0, "high": 28.0, "signature": "s"}},
        "not_available": ["multi_reference_bleu"],
    },
    ANALYSIS: {
        "corpus": "toy-micro",
        "splits": {"test": {"sentences": 2, "measures": {"nll": {"value": 0.5, "unit": "nats"}}}},
    },
    PAIR: {
        "splits": {
            "valid": {
                "tokens": 6,
                "per_token": {"nats": 1.5, "bits": 2.16},
                "by_sentence": ROWS,
                "exact_per_token": {"given_length": {"nats": 1.0, "bits": 1.44}},
            }
        }
    },
    TIMED: {
        "sentences_of_split": 20,
        "source_words_per_sentence": 8.0,
        "systems": {
            "at-base/beam5": {"milliseconds_per_sentence": TIMES, "model_bytes": 9, "threads": 1},
            "nat/one-pass": {"state": "out of memory", "model_bytes": 9, "threads": 1},
        },
    },
    UNTIMED: {"split": "test", "setting": {"device": "cuda"}, "state": "no GPU"},
    RECORD: {"updates": 20, "parameters": 1234, "flags": ["odd"]},
}


def test_files_of_all_kinds_are_converted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config").symlink_to(ROOT / "config")
    for name, content in FILES.items():
        write_json(name, content)
    Path(RECORD).with_suffix(".csv").write_text("update,split,bleu\n10,valid,4.0\n20,valid,1.0\n")
    for name in FILES:
        os.utime(name, ns=(BEFORE, BEFORE))
    lines = list(convert())
    assert [line for line in lines if "latency" in line] == [
        "results/*/latency: 2 files converted, 0 were so already"
    ]
    for name in FILES:
        assert Path(name).stat().st_mtime_ns == BEFORE and is_intact(Path(name))
    known: dict[str, Any] = {"flags": ("odd",), "not_decoded": 1}
    assert read(Path(SCORE), "test") == {
        "sacrebleu": Number(27.0, 26.0, 28.0, signature="s", **known),
        "multi_reference_bleu": Number(None, reason="not available", **known),
    }
    assert read(Path(ANALYSIS), "test") == {"nll": Number(0.5)}
    assert read_json(ANALYSIS)["splits"] == {"test": {"sentences": 2}}
    assert read(Path(PAIR), "valid") == {
        "total_correlation": Number(2.16, by_sentence={0: (1.0, 2.0), 1: (2.0, 4.0)}),
        "total_correlation_nats": Number(1.5),
        "exact_total_correlation": Number(1.44),
    }
    assert read(Path(TIMED), "at-base/beam5")["latency"].value == 4.0
    assert read(Path(TIMED), "nat/one-pass")["memory"].reason == "out of memory"
    timed = read_json(UNTIMED)["measures"]
    assert "at-base/beam5" in timed and len(timed) > 1
    assert {each["latency"]["reason"] for each in timed.values()} == {"no GPU"}
    trained = read(Path(RECORD), TRAINING)
    assert (trained["parameters"].value, trained["collapsed"].value) == (1234, 1)
    converted = {name: Path(name).stat() for name in FILES}
    assert "results/*/models: 0 files converted, 1 were so already" in list(convert())
    assert {name: Path(name).stat() for name in FILES} == converted


def test_a_score_from_before_the_reasons_lacks_what_it_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(SCORE, {"not_decoded": 0, "measures": {"sacrebleu": {"value": 27.0}}})
    list(convert())
    assert set(read(Path(SCORE), "test")) == set(MEASURED)


def test_damaged_files_are_told_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(SCORE, FILES[SCORE])
    Path(SCORE).write_text('{"measures": {"sacrebleu": 3')
    write_json(PAIR, {"splits": {"valid": {}}})
    write_json(RECORD, FILES[RECORD])  # without its curve
    before = {name: Path(name).read_text() for name in (SCORE, PAIR, RECORD)}
    lines = [line for line in convert() if line.startswith("left as it is: ")]
    assert f"{SCORE} is not valid JSON" in lines[0]
    assert f"{PAIR} is not what its job writes (KeyError" in lines[1]
    assert "training.csv does not exist; run '" in lines[2]
    assert {name: Path(name).read_text() for name in before} == before
