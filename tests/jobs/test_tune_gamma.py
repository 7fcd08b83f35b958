"""Weights of dynamic distillation that are tuned on several references."""

from dataclasses import replace
from pathlib import Path

import pytest

from nat.artifacts import TunedGamma
from nat.configuration.reading import read
from nat.files import read_json
from nat.jobs.tune_gamma import tune_gamma
from tests.made_up_corpus import translation
from tests.made_up_run import write_lines
from tests.messages import told
from tests.repository import ROOT, job

CORPUS = "toy-ka-lu"
TEXTS = ["at-tiny.beam5", "at-small.beam5", "at-base.beam5", "at-big.beam5", "raw"]
GAMMA = TunedGamma("demo", CORPUS, "+".join(TEXTS), 1)
TRUTH = [
    f"w{number} w{number + 1} w{number + 2} w{number + 3} w{number + 4}" for number in range(9)
]


def worse(line: str, words: int) -> str:
    """The line with so many words replaced."""
    return " ".join(["x"] * words + line.split()[words:])


def write(raw: list[str], translations: list[list[str]], weights: list[float]) -> None:
    """The validation set, its translations, and its references: the truth and something else."""
    inputs = GAMMA.inputs(read("demo", ROOT))
    Path(inputs.text.path).mkdir(parents=True)
    (Path(inputs.text.path) / "valid.lu").write_text("".join(f"{line}\n" for line in raw))
    rows = (
        {"id": number, "references": [line, "y " * 5 + line], "weights": weights}
        for number, line in enumerate(TRUTH)
    )
    write_lines(Path(inputs.references.path) / "valid.lu.jsonl", [*rows])
    for each, version in zip(inputs.translations, translations, strict=True):
        write_lines(Path(each.path), [translation(n, text) for n, text in enumerate(version)])


def test_the_teacher_that_is_right_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    versions = [[worse(line, words) for line in TRUTH] for words in (3, 2, 0, 4)]
    write([worse(line, 5) for line in TRUTH], versions, [0.7, 0.3])
    tune_gamma(job(read("demo", ROOT), GAMMA))
    found = read_json(GAMMA.path)
    assert found["split"] == "valid" and found["sentences"] == 9
    assert found["candidates"] == TEXTS
    assert found["chosen"] == dict(zip(TEXTS, (0, 0, 9, 0, 0), strict=True))
    # references count by their probabilities
    assert found["mean_bleu"]["chosen"] == found["mean_bleu"]["at-base.beam5"] > 70
    assert len(found["gamma"]) == 5


def test_translations_of_another_text_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(TRUTH, [TRUTH, TRUTH[1:], TRUTH, TRUTH], [0.5, 0.5])
    with told("at-small", "valid.jsonl", "8", "valid.jsonl", "9"):
        tune_gamma(job(read("demo", ROOT), GAMMA))
    assert not Path(GAMMA.path).exists()


def test_the_split_is_the_first_with_references(monkeypatch: pytest.MonkeyPatch) -> None:
    demo, paper = (read(scale, ROOT) for scale in ("demo", "paper"))
    assert GAMMA.inputs(demo).translations[0].split == "valid"
    monkeypatch.setattr(TunedGamma, "texts", lambda *names: ())
    assert replace(GAMMA, corpus="wmt14-en-de").inputs(paper).references.split == "test"
    with told("toy-synthetic-a.yaml", "references", "gamma"):
        replace(GAMMA, corpus="toy-synthetic-a").inputs(demo)
