from pathlib import Path
from typing import Any

import pytest

from nat.files import write_json
from nat.measures.results import Number, missing, read
from tests.messages import told

ROWS = {"numbers": [4, 7], "sums": [1.5, 2], "tokens": [3, 4]}


def test_numbers_of_a_part(tmp_path: Path) -> None:
    measures = {
        "bleu": {"value": 27, "low": 26.5, "high": 27.5, "signature": "s", "precisions": [60.0]},
        "share": {"value": 50.0, "unit": "percent"},
        "ratio": {"value": 0.5, "by_sentence": ROWS},
        **missing(["latency"], "no GPU"),
    }
    content = {"measures": {"test": measures, "valid": {}}, "flags": ["odd"], "not_decoded": 2}
    write_json(tmp_path / "a.json", content)
    found = read(tmp_path / "a.json", "test")
    of_file: dict[str, Any] = {"flags": ("odd",), "not_decoded": 2}
    assert found == {
        "bleu": Number(27.0, 26.5, 27.5, signature="s", **of_file),
        "share": Number(50.0, **of_file),
        "ratio": Number(0.5, by_sentence={key: tuple(row) for key, row in ROWS.items()}, **of_file),
        "latency": Number(None, reason="no GPU", **of_file),
    }
    assert read(tmp_path / "a.json", "valid") == read(tmp_path / "a.json", "elsewhere") == {}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        *(([], ""), ({"splits": {}}, ""), ({"measures": {"test": 3}}, "")),
        ({"measures": {"test": {"bleu": {}}}}, "bleu"),
        ({"measures": {"test": {"bleu": {"value": "x"}}}}, "bleu"),
        ({"measures": {"test": {"bleu": {"value": 1, "by_sentence": [1, 2]}}}}, "bleu"),
        (
            {"measures": {"test": {"bleu": {"value": 1, "by_sentence": ROWS | {"sums": []}}}}},
            "bleu",
        ),
        (
            {"measures": {"test": {"bleu": {"value": 1, "by_sentence": ROWS | {"numbers": [4]}}}}},
            "bleu",
        ),
        ({"measures": {"test": {"bleu": {"value": 1, "repeats": 2}}}}, "bleu"),
    ],
)
def test_damage_is_named(tmp_path: Path, content: Any, named: str) -> None:
    write_json(tmp_path / "a.json", content)
    with told("a.json", named):
        read(tmp_path / "a.json", "test")
