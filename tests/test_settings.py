"""The settings that the papers state, row by row, and the effective configuration."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from repository import configured

from nat.reporting import stated
from nat.reporting.stated import CHECKED, DEVIATION, OUTSIDE, Stated, Verdict

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def settings() -> Stated:
    return Stated(configured(stated.SCALE))


@pytest.fixture(scope="module")
def verdicts(settings: Stated) -> list[Verdict]:
    return list(settings.verdicts())


def test_every_row_is_checked_a_deviation_or_not_about_the_configuration(
    verdicts: list[Verdict],
) -> None:
    with (ROOT / stated.ROWS).open(encoding="utf-8", newline="") as file:
        assert len(verdicts) == sum(1 for _ in csv.DictReader(file))
    open_rows = [f"{verdict.row}; ours: {verdict.ours}" for verdict in verdicts if not verdict.kind]
    assert open_rows == []
    kinds = Counter(verdict.kind for verdict in verdicts)
    assert kinds[CHECKED] > kinds[OUTSIDE] > kinds[DEVIATION] > 0
    assert all(verdict.reason for verdict in verdicts if verdict.kind != CHECKED)


@pytest.mark.parametrize("part", ["outside", "systems", "decodings", "values"])
def test_every_entry_of_the_map_is_about_some_row(settings: Stated, part: str) -> None:
    entries: list[dict[str, Any]] = settings.map[part]
    about = [stated._first(entries, row) for row in settings.rows]
    assert [entry for entry in entries if entry not in about] == []


def test_every_deviation_is_one(settings: Stated, verdicts: list[Verdict]) -> None:
    found = [verdict for verdict in verdicts if verdict.kind == DEVIATION]
    about = [stated._first(settings.deviations, verdict.row) for verdict in found]
    assert [entry for entry in settings.deviations if entry not in about] == []
    for paper in ("dims", "fully_nat", "hrt", "mple", "hints"):
        sentences = stated.deviations(settings.configuration, paper)
        assert all(sentence[-1].isalnum() for sentence in sentences)
        assert len(sentences) == sum(verdict.row.paper == paper for verdict in found)


def test_what_deviations_are_made_of_changes_with_them(settings: Stated) -> None:
    plain = settings.configuration
    system = {**plain.files["systems"]["dims-cmlm-kd"], "text": "raw"}
    changed = {**plain.files["systems"], "dims-cmlm-kd": system}
    other = replace(plain, files={**plain.files, "systems": changed})
    assert stated.made_of(plain, "dims") != stated.made_of(other, "dims")
    assert stated.made_of(plain, "overview") == stated.made_of(other, "overview") == []


def test_a_deviation_of_a_method_does_not_hide_a_key(settings: Stated) -> None:
    """Only rows that the map calls those of a method are said to differ without a comparison."""
    of_method = next(row for row in settings.rows if row.key == "decoding.reveal_schedule")
    assert settings.verdict(of_method).kind == DEVIATION
    deviation = {"paper": "dims", "key": "dropout", "ours": "another", "reason": "none"}
    other = Stated(settings.configuration)
    other.deviations = [deviation]
    rows = [row for row in other.rows if (row.paper, row.key) == ("dims", "dropout")]
    assert rows and all(other.verdict(row).kind is None for row in rows)


@pytest.mark.parametrize(
    ("folder", "name", "change", "paper", "key"),
    [
        ("recipes", "hrt", {"updates": 299_000}, "hrt", "updates"),
        ("recipes", "ctc", {"tasks": {"wmt20-ja-en": {"dropout": 0.2}}}, "fully_nat", "dropout"),
        ("systems", "oaxe-kd", {"target": {"method": "oaxe"}}, "mple", "target.truncation_margin"),
        ("systems", "hints-kd", {"teacher": "at-base"}, "hints", "teacher"),
        ("systems", "dims-cmlm-kd", {"text": "raw"}, "dims", "text"),
    ],
)
def test_a_changed_configuration_is_noticed(
    settings: Stated, folder: str, name: str, change: dict[str, Any], paper: str, key: str
) -> None:
    plain = settings.configuration
    changed = {**plain.files[folder], name: {**plain.files[folder][name], **change}}
    other = Stated(replace(plain, files={**plain.files, folder: changed}))
    rows = [row for row in other.rows if (row.paper, row.key) == (paper, key)]
    assert any(other.verdict(row).kind is None for row in rows)
    assert all(settings.verdict(row).kind is not None for row in rows)


def test_rows_are_held_against_the_decodings_that_tables_show(settings: Stated) -> None:
    rows = [
        row for row in settings.rows if row.paper == "hints" and row.key.startswith("decoding.")
    ]
    named = {name for row in rows for name in settings.named(row)}
    assert named == {"hints-npd9-sum"}
    tuned = [row for row in settings.rows if row.value == "tuned on validation"]
    assert {row.paper for row in tuned} == {"mple"} and len(tuned) == 4
    for row in tuned:
        assert settings.verdict(row).kind == CHECKED
        assert settings.verdict(replace(row, task="wmt14-en-de")).kind is None


@pytest.mark.parametrize(
    ("recipe", "followed", "but_for"),
    [
        ("hrt-at", "vaswani", set()),
        ("hrt", "hrt-at", {"updates"}),
        ("hrt-deep", "teacher-deep", {"updates"}),
        (
            "oaxe",
            "mple-student",
            {"updates", "learning_rate", "warmup_updates", "schedule", "keep"},
        ),
        (
            "mple-10k",
            "mple-student",
            {
                "updates",
                "learning_rate",
                "warmup_updates",
                "schedule",
                "keep",
                "average",
                "save_every",
                "validate_every",
                "validations_per_epoch",
            },
        ),
        ("hints-at", "vaswani", set()),
    ],
)
def test_a_recipe_has_the_values_of_the_one_that_it_follows(
    settings: Stated, recipe: str, followed: str, but_for: set[str]
) -> None:
    ours, theirs = settings.configuration._recipe(recipe), settings.configuration._recipe(followed)
    assert {key for key in ours | theirs if ours.get(key) != theirs.get(key)} == but_for


@pytest.mark.parametrize("system", ["hrt", "hrt-12-1", "hrt-20l"])
def test_hrt_has_the_batch_of_its_autoregressive_model(settings: Stated, system: str) -> None:
    """Every pair is in two tasks, which makes the batch twice the standard one (HRT, app. C)."""
    resolved = settings.configuration.on("wmt14-en-de")
    start = resolved.system(system).init_from
    assert start is not None
    sizes = [
        settings.configuration.training("wmt14-en-de", each).recipe.batch_tokens
        for each in (system, start.system)
    ]
    assert sizes[0] == sizes[1]
