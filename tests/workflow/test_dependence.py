"""Which changes of the code make a report again."""

import shutil
from pathlib import Path

import pytest

import nat
from nat.workflow.dependence import CODE_OF_REPORTS, code_of_reports


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
