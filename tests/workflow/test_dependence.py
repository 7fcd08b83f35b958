"""Which changes of the code make a report again."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import nat
from nat.artifacts import CorpusStep, Model, Score, Translations
from nat.workflow.dependence import CODE_OF_REPORTS, code_of_reports, depends_on
from tests.repository import configured


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("measures/significance.py", True),
        ("figures/panels.py", True),
        ("papers/values.py", True),
        ("report/templates/report.css", True),
        ("decoding/beams.py", False),
    ],
)
def test_a_report_is_made_again_when_its_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, counts: bool
) -> None:
    ours = Path(nat.__file__).parent
    for name in {*CODE_OF_REPORTS, Path(file).parts[0]}:
        shutil.copytree(ours / name, tmp_path / name)
    monkeypatch.setattr(nat, "__file__", str(tmp_path / "__init__.py"))
    before = code_of_reports.__wrapped__()
    with (tmp_path / file).open("a") as code:
        code.write("\n")
    assert (code_of_reports.__wrapped__() != before) == counts


def test_only_scores_and_what_they_are_shown_beside_depend_on_the_tokeniser_of_bleu() -> None:
    before = configured("micro")
    corpus = "toy-micro"
    files = dict(before.files)
    changes = {"bleu_tokeniser": "char", "least_perfect_score": 1}
    files["corpora"] = {**files["corpora"], corpus: {**files["corpora"][corpus], **changes}}
    after = replace(before, files=files)
    names = ("micro", corpus, "at-base", 1)
    decoded = (*names, "beam5", "test")
    artifacts = {
        Score(*decoded): True,
        Translations(*decoded): True,
        CorpusStep(corpus, "binarised", "test"): True,
        CorpusStep(corpus, "text", "test"): False,
        CorpusStep(corpus, "text"): False,
        CorpusStep(corpus, "binarised"): False,
        Model(*names): False,
    }
    for artifact, changed in artifacts.items():
        assert (depends_on(before, artifact) != depends_on(after, artifact)) == changed, artifact
