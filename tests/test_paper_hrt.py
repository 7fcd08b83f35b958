"""The paper file of HRT: what it shows at each scale, and where its published values stand."""

import shutil
from pathlib import Path

import pytest
from repository import configured

from nat.cells.paper import entries
from nat.configuration import Configuration, load
from nat.data.splits import local_files, local_references
from nat.data.vocabulary import VocabularySizes
from nat.published.published import NONE, read
from nat.training.model_file import build_model
from tests.paper_files import assert_targets_resolve, printed_differences, published_in_tables

ROOT = Path(__file__).resolve().parents[1]
PAPER = "hrt"
NAMES = {
    *(f"hrt_table_{number}" for number in range(1, 13)),
    *(f"hrt_figure_{number}" for number in (1, 2, 4, 5)),
    "hrt_claims",
}


@pytest.fixture(scope="module", params=["paper", "demo", "micro", "small"])
def configuration(request: pytest.FixtureRequest) -> Configuration:
    return configured(request.param)


@pytest.fixture(scope="module")
def at_paper_scale() -> Configuration:
    return configured("paper")


def test_every_table_and_figure_resolves(configuration: Configuration) -> None:
    assert_targets_resolve(configuration, PAPER, NAMES)


def test_every_published_value_stands_beside_ours_or_in_a_quoted_row(
    at_paper_scale: Configuration,
) -> None:
    tables = [line for line in read(ROOT, PAPER) if line.use != NONE]
    shown = published_in_tables(at_paper_scale, PAPER)
    assert shown == sorted(line.value.source for line in tables)
    # all but beam and chunk sizes, the teachers of a caption, and numbers of figures and text
    assert len(tables) == 405


def test_claims_are_judged_on_what_the_paper_prints(at_paper_scale: Configuration) -> None:
    by_claim = printed_differences(at_paper_scale, PAPER)
    assert by_claim["sat"] == pytest.approx([26.69 - 22.07, 28.30 - 26.45, 28.49 - 26.67])
    assert by_claim["chunk-size"] == pytest.approx([25.56 - 26.45, 27.17 - 28.49])
    assert by_claim["first-stage"] == [pytest.approx((29.03 - 28.49) - (28.58 - 28.49))]
    assert len(by_claim["nist"]) == 6 and len(by_claim["faster"]) == 8
    # a speed-up against 1.5, not milliseconds
    assert by_claim["faster"][0] == pytest.approx(1.8 - 1.5)
    assert by_claim["faster"][-1] == pytest.approx(1.5 - 1.5, abs=0.2)
    assert by_claim["ablation"][-1] == pytest.approx(28.49 - 26.96)


def test_nothing_is_run_on_licensed_text_that_is_not_there(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    corpus = "nist-zh-en"

    def nist() -> set[tuple[bool, str]]:
        configuration = load("paper", tmp_path)
        places = entries(configuration, PAPER, "table", "4")
        ours = [each for each in places if each.address and each.address.task == corpus]
        return {(bool(each.cells), each.reason) for each in ours if "published" not in each.row}

    assert nist() == {
        (False, f"not run: data/{corpus}/train.zh is not there (licensed by the LDC)")
    }
    described = load("paper", tmp_path).corpus(corpus)
    for path in (local_files(described, tmp_path) | local_references(described, tmp_path)).values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert nist() == {(True, "")}


def test_the_mean_of_random_masks_is_over_three_draws(at_paper_scale: Configuration) -> None:
    for place in entries(at_paper_scale, PAPER, "figure", "2"):
        decodings = [cell.decoding for cell in place.cells]
        assert len(set(decodings)) == (3 if place.row == "RANDOM" else 1), place.row
        if place.row == "RANDOM":
            assert decodings[0] == f"masked-at-random-{place.x:g}-seed1"


def test_speed_ups_of_a_device_are_over_the_at_on_that_device(
    at_paper_scale: Configuration,
) -> None:
    found = 0
    for place in entries(at_paper_scale, PAPER, "table", "10"):
        if place.measure == "speed_up" and place.derived is None:
            found += 1
            assert [cell.setting for cell in place.over] == [cell.setting for cell in place.cells]
            assert place.cells[0].setting.startswith("cpu" if "CPU" in place.row else "cuda")
    assert found == 2 * 12 * 4


def test_published_speed_ups_stand_beside_ours_as_they_are(at_paper_scale: Configuration) -> None:
    found = {
        (place.row, place.column, place.x): place.published and place.published.value
        for place in entries(at_paper_scale, PAPER, "figure", "1")
    }
    assert found["CMLM1", "GPU", 1] == 9.6 and found["CMLM10", "CPU", 32] == 0.3


@pytest.mark.parametrize(
    ("system", "other"),
    [
        ("hrt", "hrt-at-base"),
        ("hrt-k4", "hrt-at-base"),
        ("hrt-12-1", "hrt-at-12-1"),
        ("hrt-20l", "at-20l"),
        ("sat-mixed", "hrt-at-base"),
    ],
)
def test_both_stages_share_one_set_of_parameters(system: str, other: str) -> None:
    # the begin symbol of every k-th token is one of the special symbols of every vocabulary
    found = configured("demo")
    numbers = [
        sum(
            each.numel()
            for each in build_model(
                found.training("toy-ka-lu", name), VocabularySizes(500)
            ).parameters()
        )
        for name in (system, other)
    ]
    assert numbers[0] == numbers[1]
