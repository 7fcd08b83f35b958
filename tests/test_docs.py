"""The pages in docs/ say what the files say."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "file",
    ["nat/inputs/fixed_mask.py", "config/systems/cmlm-fixed-kd.yaml"],
)
def test_the_page_on_methods_shows_the_files_as_they_are(file: str) -> None:
    page = (ROOT / "docs/adding-a-method.md").read_text(encoding="utf-8")
    language = {".py": "python", ".yaml": "yaml"}[Path(file).suffix]
    code = (ROOT / file).read_text(encoding="utf-8")
    assert f"`{file}`:\n\n```{language}\n{code}```\n" in page
