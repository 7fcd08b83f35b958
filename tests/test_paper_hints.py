"""The paper file of Hints: what it shows at each scale, and where its published values stand."""

from pathlib import Path

import pytest
from repository import configured

from nat.configuration import Configuration
from nat.published.published import NONE, read
from tests.paper_files import assert_targets_resolve, printed_differences, published_in_tables

ROOT = Path(__file__).resolve().parents[1]
PAPER = "hints"
NAMES = {
    *("hints_table_1", "hints_table_2", "hints_table_3"),
    *("hints_figure_1", "hints_figure_2", "hints_claims"),
}


@pytest.fixture(scope="module", params=["paper", "demo", "micro", "small"])
def configuration(request: pytest.FixtureRequest) -> Configuration:
    return configured(request.param)


def test_every_table_and_figure_resolves(configuration: Configuration) -> None:
    assert_targets_resolve(configuration, PAPER, NAMES)


def test_every_published_value_stands_beside_ours_or_in_a_quoted_row() -> None:
    lines = read(ROOT, PAPER)
    tables = [line for line in lines if line.use != NONE]
    assert len(lines) == 58 and len(tables) == 49
    shown = published_in_tables(configured("paper"), PAPER)
    assert shown == sorted(line.value.source for line in tables)


def test_claims_are_judged_on_what_the_paper_prints() -> None:
    by_claim = printed_differences(configured("paper"), PAPER)
    assert by_claim["alignment-hints"] == [pytest.approx(24.76 - 23.08)]
    assert by_claim["long-sentences"] == [pytest.approx((20.63 - 17.48) - (25.55 - 23.08))]
    assert by_claim["repeated-words"] == [pytest.approx(6.5 - 8.3)]
    assert by_claim["ten-times"][0] == pytest.approx(30.2 - 10)
    assert by_claim["fertilities"] == [pytest.approx(6.54), pytest.approx(7.11)]


def test_students_have_the_size_and_the_recipe_of_their_corpus() -> None:
    found = configured("paper")
    for system in ("hints-at-base", "hints-none-kd", "hints-alignment-kd", "hints-kd"):
        small, base = (found.training(each, system) for each in ("iwslt14-de-en", "wmt14-en-de"))
        assert small.architecture.model_dim == 256
        assert base.architecture.model_dim == 512
        assert small.recipe.batch_tokens < base.recipe.batch_tokens
        chosen = small.recipe.validation.decoding
        assert chosen == base.recipe.validation.decoding
        assert chosen == (None if system == "hints-at-base" else "one-pass")
