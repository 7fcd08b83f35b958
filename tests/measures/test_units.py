"""Wherever BLEU is computed, text without spaces is compared in the units of its corpus."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nat.analyses import weight_plane
from nat.analyses.reference_distances import distances
from nat.data.batch import Batch
from nat.data.vocabulary import SPECIALS, Vocabulary
from nat.distillation.pairwise_bleu import compare_texts
from nat.fairseq_plugin.task import BLEU_COUNTS, TrainingTask
from nat.measures import bleu
from nat.measures.distortion import pairwise_bleu
from tests.made_up_corpus import as_corpus
from tests.tiny import make_model

# as subwords of a tokeniser that leaves a sentence whole: words of BLEU are clauses then
ONE, OTHER = "猫はマットの上に座った", "猫はマットの上に座って"
UNIT = "char"


@pytest.mark.parametrize(("unit", "is_like"), [(UNIT, True), ("none", False)])
def test_versions_of_a_text(tmp_path: Path, unit: str, is_like: bool) -> None:
    corpus = as_corpus({"source": "en", "target": "ja", "bleu_tokeniser": "char"})
    assert corpus.unit == UNIT and as_corpus({"source": "en", "target": "de"}).unit == "none"
    folders = [tmp_path / name for name in ("a", "b")]
    for folder, line in zip(folders, (ONE, OTHER), strict=True):
        folder.mkdir()
        (folder / "train.ja").write_text(f"{line}\n")
    split = partial(bleu.split, unit=unit)
    compare_texts(corpus, folders, tmp_path / "bleu.npy", in_units=split)
    assert (np.load(tmp_path / "bleu.npy")[0, 0, 1] > 50) == is_like


def test_texts_with_several_references() -> None:
    for tokeniser, least in (("char", 80.0), ("13a", 0.0)):
        scores = pairwise_bleu([[ONE]], [[OTHER, ONE]], [[1.0, 0.0]], tokeniser).references
        nearest, mean, farthest = distances(ONE, [OTHER, ONE], [0.5, 0.5], tokeniser)
        assert nearest == pytest.approx(100) and mean == pytest.approx((100 + farthest) / 2)
        assert (scores[0, 0] > 50) == (farthest > 50) == bool(least)


WORDS = Vocabulary([ONE, OTHER, "x"])
HYPOTHESIS, REFERENCE = len(SPECIALS), len(SPECIALS) + 1


@pytest.mark.parametrize(("unit", "is_like"), [(UNIT, True), ("none", False)])
def test_validation_and_the_plane(
    monkeypatch: pytest.MonkeyPatch, unit: str, is_like: bool
) -> None:
    translated = SimpleNamespace(tokens=[HYPOTHESIS])
    batch = Batch.collate([0], [np.array([HYPOTHESIS])], [np.array([REFERENCE])])
    task: Any = SimpleNamespace(
        transformer=make_model(),
        vocabularies=SimpleNamespace(target=WORDS),
        run=SimpleNamespace(unit=unit),
        _decoding=lambda model, source: [translated],
    )
    counts = TrainingTask._bleu_counts(task, batch)  # noqa: SLF001
    values = np.array([[counts[name] for name in BLEU_COUNTS]])
    assert (bleu.unsmoothed(values)[0] > 50) == is_like
    made = [SimpleNamespace(hypothesis=translated)]
    monkeypatch.setattr(weight_plane, "translate", lambda *_: made)
    pairs: Any = SimpleNamespace(
        model=None, sources=[0], targets=[np.array([REFERENCE])], batch_tokens=9
    )
    assert (weight_plane._bleu(pairs, WORDS, unit) > 50) == is_like  # noqa: SLF001
