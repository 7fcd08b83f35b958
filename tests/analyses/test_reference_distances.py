"""How close a text is to several references."""

import json
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from nat.analyses.reference_distances import MEASURED, analyse, distances
from nat.artifacts import Analysis
from nat.data.translations import write_translations
from nat.distillation.pairwise_bleu import sentence_bleu
from nat.job import Job
from tests.made_up_corpus import translation
from tests.messages import told
from tests.repository import configured, job


def asked(system: str) -> Job[Analysis]:
    """The analysis of a system."""
    return job(configured(), Analysis("demo", "toy-ka-lu", system, 1, "reference_distances"))


def test_nearest_mean_and_farthest_by_hand() -> None:
    text, references = "a b c d e", ["a b c d e", "a b c x y", "v w x y z"]
    scores = sentence_bleu([text, *references])[1:, 0]
    assert scores[0] == 100 and scores[2] < scores[1] < 100
    found = distances(text, references, [0.5, 0.25, 0.25])
    assert found[0] == 100 and found[2] == pytest.approx(scores[2])
    assert found[1] == pytest.approx(50 + scores[1] / 4 + scores[2] / 4)


def test_the_text_is_the_hypothesis_and_not_the_reference() -> None:
    text, reference = "a b c d", "a b c d e f g h"
    short, long = (
        BLEU(effective_order=True).sentence_score(*pair).score
        for pair in ((text, [reference]), (reference, [text]))
    )
    assert short != pytest.approx(long, abs=1)
    assert distances(text, [reference], [1.0])[0] == pytest.approx(short, abs=1e-3)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sentences, of which the second has references, in a new folder."""
    inputs = asked("mple-nat-raw").inputs
    monkeypatch.chdir(tmp_path)
    for split, text, several in zip(
        ("valid", "test"), inputs.texts, inputs.references, strict=True
    ):
        Path(text.path).mkdir(parents=True)
        (Path(text.path) / f"{split}.lu").write_text("x\na b c d\n")
        Path(several.path).mkdir(parents=True, exist_ok=True)
        row = {"id": 1, "references": ["a b c d", "e f g h"], "weights": [0.75, 0.25]}
        (Path(several.path) / f"{split}.lu.jsonl").write_text(json.dumps(row) + "\n")


def test_only_sentences_with_references_count() -> None:
    splits = analyse(asked("mple-nat-raw"))
    assert splits["test"]["sentences"] == 1
    measures = splits["test"]["measures"]
    values = {name: each["value"] for name, each in measures.items()}
    assert values["reference_bleu_nearest"] == 100
    far = values["reference_bleu_farthest"]
    assert values["reference_bleu_mean"] == pytest.approx(75 + far / 4, abs=1e-4)
    # by the number of the sentence, by which systems are compared
    for name, each in measures.items():
        assert each["by_sentence"] == {"numbers": [1], "sums": [values[name]], "tokens": [1]}


def test_a_distilled_text_is_the_translations_of_the_teacher() -> None:
    teacher = asked("mple-nat-kd").inputs.translations
    for each, text in zip(teacher, ("e f g h", "a b c x"), strict=True):
        Path(each.path).parent.mkdir(parents=True, exist_ok=True)
        write_translations(Path(each.path), [translation(0, "x"), translation(1, text)])
    splits = analyse(asked("mple-nat-kd"))
    nearest, mean, farthest = (splits["valid"]["measures"][name]["value"] for name in MEASURED)
    assert nearest == 100 and mean == pytest.approx(25 + 0.75 * farthest, abs=1e-4)
    assert splits["test"]["measures"]["reference_bleu_nearest"]["value"] < 100
    write_translations(Path(teacher[1].path), [translation(0, "x")])
    with told("test.jsonl", "1", "2"):
        analyse(asked("mple-nat-kd"))
