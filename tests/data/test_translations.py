"""Files of translations: shards cover a text, and nothing is lost when they are joined."""

import json
from pathlib import Path
from typing import Any

import pytest

from nat.checksums import sha256_of
from nat.data.translations import (
    merge_shards,
    read_in_order,
    shard_of,
    too_long,
    write_translations,
)
from nat.files import atomic_write_text
from tests.made_up_corpus import translation
from tests.messages import told


def record(number: int, tokens: str = "a b@@ c", status: str = "ok") -> dict[str, Any]:
    return translation(number, tokens, status, text="a bc", score=-0.5, steps=3)


def write(path: Path, numbers: list[int] | range) -> Path:
    write_translations(path, map(record, numbers))
    return path


@pytest.mark.parametrize(("sentences", "shards"), [(0, 1), (1, 3), (10, 3), (500, 7), (8, 8)])
def test_shards_are_contiguous_and_cover_everything_once(sentences: int, shards: int) -> None:
    parts = [shard_of(sentences, shard, shards) for shard in range(1, shards + 1)]
    assert [number for part in parts for number in part] == list(range(sentences))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_merging_joins_counts_and_names(tmp_path: Path) -> None:
    nothing = write_translations(tmp_path / "nothing", [record(0, "", "empty source")])
    assert nothing["mean_score"] is None
    shards = [tmp_path / "1", tmp_path / "2"]
    write_translations(shards[0], [record(0), record(1, "", too_long(8))])
    write_translations(shards[1], [record(2, "", "empty source"), record(3, "", too_long(8))])
    summary = merge_shards(shards, 4, tmp_path / "test.jsonl")
    assert [row["id"] for row in read_in_order(tmp_path / "test.jsonl")] == [0, 1, 2, 3]
    assert summary == json.loads((tmp_path / "test.json").read_text())
    assert summary == {
        "sha256": sha256_of(tmp_path / "test.jsonl"),
        "sentences": 4,
        "decoded": 1,
        "not_decoded": {
            "empty source": {"sentences": 1, "ids": [2]},
            "source longer than 8 positions": {"sentences": 2, "ids": [1, 3]},
        },
        "tokens": 3,
        "mean_score": -0.5,
        "mean_steps": 3.0,
    }


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([[0, 1, 2], [4, 5]], ["1", "sentence 4", "sentence 3"]),
        ([[0, 1, 2], [2, 3, 4, 5]], ["1", "sentence 2", "sentence 3"]),
        ([[3, 4, 5], [0, 1, 2]], ["0", "sentence 3", "sentence 0"]),
        ([[0, 1, 2], [3, 4]], ["5", "6"]),
        ([[0, 1, 2], [3, 4, 5, 6]], ["7", "6"]),
        ([[]], ["0", "6"]),
    ],
)
def test_what_is_missing_or_doubled_is_named_and_nothing_is_written(
    tmp_path: Path, parts: list[list[int]], named: list[str]
) -> None:
    shards = [write(tmp_path / str(part), numbers) for part, numbers in enumerate(parts)]
    (tmp_path / "out").mkdir()
    with told(*named):
        merge_shards(shards, 6, tmp_path / "out" / "test.jsonl")
    assert not list((tmp_path / "out").iterdir())


def test_a_line_that_is_no_record_is_refused(tmp_path: Path) -> None:
    name = "results/demo/translations/c/s/seed1/d/test.jsonl"
    for line in ("not json", "[]", '{"id": 0}', json.dumps(record(1) | {"id": "1"})):
        path = write(tmp_path / name, [0])
        atomic_write_text(path, path.read_text() + line + "\n")
        with told("line 2", f"snakemake --force {name}"):
            list(read_in_order(path))


def test_text_of_any_kind_comes_back(tmp_path: Path) -> None:
    odd = record(0) | {"text": 'a "quoted" line\twith\nbreaks é – “ß”'}
    write_translations(tmp_path / "x", [odd, record(1)])
    assert list(read_in_order(tmp_path / "x")) == [odd, record(1)]
