"""What docstrings say of authors' code stands among the stated settings, where reports show it."""

import ast
import re
from pathlib import Path

import pytest

from nat.configuration.files import PAPER_SCALE
from nat.papers.settings import StatedSettings
from tests.repository import ROOT, configured

STATED = {
    "decoding/mask_correct.py": [("dims", "decoding.deduplicate")],
    "decoding/mask_predict.py": [("dims", "decoding.deduplicate")],
    "decoding/options.py": [("fully_nat", "decoding.word_bonus")],
    "decoding/ctc_beam.py": [
        ("fully_nat", "decoding.language_model.end"),
        ("fully_nat", "decoding.word_bonus"),
    ],
    "decoding/rescoring.py": [("hints", "decoding.score")],
    "inputs/block_mask.py": [("dims", "input.block_sizes")],
    "inputs/options.py": [("dims", "alignment")],
    "inputs/random_reveal.py": [("fully_nat", "input.count")],
    "parts/options.py": [("fully_nat", "latent.free_until"), ("fully_nat", "latent.added_to")],
    "targets/cmlmc.py": [("dims", "target.mean_over"), ("dims", "encoder_masking")],
    "targets/ctc.py": [("fully_nat", "target.smoothing_over")],
    "targets/dims.py": [("dims", "target.labels"), ("dims", "text.made")],
    "targets/dims_imputer.py": [("dims", "target.alignments")],
    "targets/options.py": [("dims", "target.labels")],
    "targets/hints.py": [],  # weights that are zero by default: the values are not published
    "transformer/architecture.py": [
        ("dims", "initialisation"),
        ("dims", "scale_embedding"),
        ("fully_nat", "initialisation"),
        ("dims", "encoder.positions"),
    ],
    "transformer/copying.py": [("hints", "decoder.copy")],
    "transformer/length.py": [("dims", "length")],
}
"""Settings of papers that files of `nat` speak of."""


def docstrings(path: Path) -> str:
    nodes = ast.walk(ast.parse(path.read_text()))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return " ".join(" ".join(each.split()) for each in constants if isinstance(each, str))


def test_every_file_that_speaks_of_published_code_is_listed() -> None:
    rooms = ("decoding", "inputs", "objective", "parts", "targets", "transformer")
    files = (path for room in rooms for path in (ROOT / "nat" / room).rglob("*.py"))
    speaking = (path for path in files if re.search("published codes?\\b", docstrings(path)))
    assert {str(path.relative_to(ROOT / "nat")) for path in speaking} == STATED.keys()


@pytest.mark.parametrize("file", STATED)
def test_it_is_held_against_the_configuration_or_a_deviation(file: str) -> None:
    settings = StatedSettings(configured(PAPER_SCALE))
    entries = settings.entries
    outside = {*entries["outside"]} - {*entries["code"], *entries["deviations"]}
    for paper, key in STATED[file]:
        of_code = {
            row.line
            for row in settings.rows
            if (row.paper, row.key) == (paper, key) and row.source.endswith("_code")
        }
        assert of_code - outside, (file, paper, key)
