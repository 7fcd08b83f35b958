"""PairwiseBleu of several versions of a text, and the distortion that is made of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from nat.data.arrays import mapped_array
from nat.distillation.pairwise_bleu import (
    compare_texts,
    distortion,
    merge_comparisons,
    sentence_bleu,
)
from tests.made_up_corpus import as_corpus
from tests.messages import told

CORPUS = as_corpus({"source": "ka", "target": "lu"})
SENTENCES = [
    "the cat sat on the mat",
    "a cat sat on the mat",
    "the cat sat on on the mat today",
    "mat",
    "",
    "the the the",
]


def test_sentence_bleu_is_that_of_sacrebleu() -> None:
    found = sentence_bleu(SENTENCES)
    metric = BLEU(tokenize="none", effective_order=True)
    for row, reference in enumerate(SENTENCES):
        for column, hypothesis in enumerate(SENTENCES):
            expected = 0.0
            if reference and hypothesis:
                expected = metric.sentence_score(hypothesis, [reference]).score
            assert found[row, column] == pytest.approx(expected, rel=1e-6)
    assert found[0, 0] == pytest.approx(100)
    assert found[3, 3] == pytest.approx(100)
    assert found[4].sum() == found[:, 4].sum() == 0
    assert found[0, 2] != found[2, 0]


def write_versions(folder: Path, versions: dict[str, list[str]]) -> list[Path]:
    folders = []
    for name, lines in versions.items():
        (folder / name).mkdir()
        (folder / name / "train.lu").write_text("".join(f"{line}\n" for line in lines))
        folders.append(folder / name)
    return folders


def test_versions_of_a_text(tmp_path: Path) -> None:
    versions = {
        "at": ["ein klein@@ er Hund", "", "ja"],
        "raw": ["ein kleiner Hund", "nein", "ja doch"],
    }
    folders = write_versions(tmp_path, versions)
    output, report = tmp_path / "out/bleu.npy", tmp_path / "out/pairwise_bleu.json"
    parts = [tmp_path / f"out/shards/{shard}of2.npy" for shard in (1, 2)]
    for shard, part in enumerate(parts, start=1):
        compare_texts(CORPUS, folders, part, shard, shards=2)
    assert [len(np.load(part)) for part in parts] == [1, 2]
    found = merge_comparisons(parts, list(versions), output, report)
    pairwise_bleu = mapped_array(output)
    assert pairwise_bleu.shape == (3, 2, 2) and pairwise_bleu.dtype == np.float32
    # words are compared, not subwords
    np.testing.assert_allclose(pairwise_bleu[0], 100, rtol=1e-5)
    assert pairwise_bleu[1].tolist() == [[0, 0], [0, pytest.approx(100)]]
    assert found == json.loads(report.read_text())
    assert found["sentences"] == 3
    assert found["mean_bleu"]["raw"]["at"] == pytest.approx(pairwise_bleu[:, 1, 0].mean(), abs=1e-3)
    assert sorted(path.name for path in output.parent.glob("[!.]*")) == [
        "bleu.npy",
        "pairwise_bleu.json",
        "shards",
    ]


def test_versions_of_unequal_length_are_refused(tmp_path: Path) -> None:
    folders = write_versions(tmp_path, {"at": ["a", "b"], "raw": ["a"]})
    output = tmp_path / "bleu.npy"
    with told("at/train.lu", "2", "raw/train.lu", "1"):
        compare_texts(CORPUS, folders, output)
    assert not output.exists()


def test_distortion_weighs_the_candidates_as_references() -> None:
    pairwise_bleu = np.random.default_rng(0).uniform(0, 100, (4, 3, 3)).astype(np.float32)
    gamma = [0.7, 0.6, 2.3]
    found = distortion(pairwise_bleu, 0.2, gamma)
    for sentence in range(4):
        for candidate in range(3):
            expected = -0.2 * sum(
                gamma[each] * pairwise_bleu[sentence, each, candidate] for each in range(3)
            )
            assert found[sentence, candidate] == pytest.approx(expected, rel=1e-5)
