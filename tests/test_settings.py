"""The settings that the papers state, row by row, and the effective configuration."""

import copy
import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from repository import configured

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.errors import UserError
from nat.published import stated, stated_checks
from nat.published.stated import CHECKED, DEVIATION, OUTSIDE, Stated, Verdict
from nat.published.stated_files import (
    COLUMNS,
    DEVIATIONS,
    MAP,
    ROWS,
    Deviation,
    Entries,
)
from nat.workflow.graph import Graph

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def settings() -> Stated:
    return Stated(configured(PAPER_SCALE))


@pytest.fixture(scope="module")
def verdicts(settings: Stated) -> list[Verdict]:
    return list(settings.verdicts())


def test_every_row_is_checked_a_deviation_or_not_about_the_configuration(
    verdicts: list[Verdict],
) -> None:
    with (ROOT / ROWS).open(encoding="utf-8", newline="") as file:
        assert len(verdicts) == sum(1 for _ in csv.DictReader(file))
    open_rows = [f"{verdict.row}; ours: {verdict.ours}" for verdict in verdicts if not verdict.kind]
    assert open_rows == []
    kinds = Counter(verdict.kind for verdict in verdicts)
    assert kinds[CHECKED] > kinds[OUTSIDE] > kinds[DEVIATION] > 0
    assert all(verdict.reason for verdict in verdicts if verdict.kind != CHECKED)


@pytest.mark.parametrize("part", ["outside", "systems", "decodings", "values"])
def test_every_entry_of_the_map_is_about_some_row(settings: Stated, part: str) -> None:
    entries: Entries[Any] = getattr(settings, part)
    count = set(map(entries.number, settings.rows))
    assert [entry for number, entry in enumerate(entries) if number not in count] == []


def test_every_deviation_is_one(settings: Stated, verdicts: list[Verdict]) -> None:
    found = [verdict for verdict in verdicts if verdict.kind == DEVIATION]
    count = {settings.deviations.number(verdict.row) for verdict in found}
    assert [each for number, each in enumerate(settings.deviations) if number not in count] == []
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
    other = Stated(settings.configuration)
    deviation = Deviation(paper="dims", key="dropout", ours="another", reason="none")
    other.deviations = Entries([deviation])
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


# What is wrong in the three files

PAPER = {"title": "A bag of words"}
HEADER = ",".join(COLUMNS)
DROPOUT = "bow,Sec. 3,all,BoW-NAT,wmt14-en-de,dropout,0.3,paper,"
BEAM = "bow,Sec. 3,all,BoW-NAT,all,decoding.length_beam,9,paper,"
OF_METHOD = "bow,Sec. 2,all,BoW-NAT,all,target.bag,of the target,paper,"
ABOUT_BOW = {"paper": "bow", "system": "BoW-NAT"}
IN_MAP: dict[str, Any] = {
    "reasons": {"method": "fixed by the method", "result": "a result"},
    "outside": [{"paper": "bow", "key": "target.bag", "reason": "method"}],
    "tasks": {"bow": {"wmt14-en-de": "wmt14-en-de"}},
    "systems": [{**ABOUT_BOW, "ours": ["hints-kd"]}],
    "decodings": [{**ABOUT_BOW, "ours": ["hints-npd9-sum"]}],
    "keys": {"dropout": "recipe.dropout"},
    "values": [{"key": "dropout", "value": "0.3", "ours": 0.3}],
}
OURS = {"key": "target.bag", "ours": "of the distilled target", "reason": "as in its code"}
IN_DEVIATIONS = {"deviations": [{**ABOUT_BOW, "key": "dropout", "reason": "it overfits"}, OURS]}


def with_settings(
    root: Path,
    rows: list[str],
    in_map: dict[str, Any],
    deviations: dict[str, Any],
) -> Configuration:
    """The repository's configuration with one paper and these three files."""
    folder = root / "config/published"
    folder.mkdir(parents=True)
    (root / ROWS).write_text("\n".join(rows) + "\n")
    (root / MAP).write_text(json.dumps(in_map))  # JSON is YAML
    (root / DEVIATIONS).write_text(json.dumps(deviations))
    plain = configured("demo")
    return replace(plain, root=root, files={**plain.files, "papers": {"bow": PAPER}})


def changed(content: Any, path: str, value: Any) -> Any:
    """A copy in which a value has changed; None removes it, a number past the end appends it."""
    content = copy.deepcopy(content)
    *way, last = path.split(".")
    place = content
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if isinstance(place, list):
        place[int(last) :] = [value]
    elif value is None:
        del place[last]
    else:
        place[last] = value
    return content


def test_the_files_of_the_repository_pass() -> None:
    stated_checks.check(configured("demo"))


def test_the_file_of_a_paper_may_be_removed() -> None:
    plain = configured("demo")
    papers = {name: each for name, each in plain.files["papers"].items() if name != "hints"}
    stated_checks.check(replace(plain, files={**plain.files, "papers": papers}))


def test_the_files_of_a_new_paper_pass(tmp_path: Path) -> None:
    found = with_settings(tmp_path, [HEADER, DROPOUT, BEAM, OF_METHOD], IN_MAP, IN_DEVIATIONS)
    stated_checks.check(found)
    assert len(stated.made_of(found, "bow")[0]) == 2
    sentences = stated.deviations(found, "bow")
    assert [sentence.rsplit(": ", 1)[1] for sentence in sentences] == [
        "it overfits",
        "as in its code",
    ]


def test_there_may_be_no_stated_settings(tmp_path: Path) -> None:
    found = replace(configured("demo"), root=tmp_path)
    stated_checks.check(found)
    assert stated.deviations(found, "dims") == stated.made_of(found, "dims") == []


@pytest.mark.parametrize("name", [ROWS, MAP, DEVIATIONS])
def test_the_files_belong_together(tmp_path: Path, name: str) -> None:
    found = with_settings(tmp_path, [HEADER, DROPOUT], IN_MAP, IN_DEVIATIONS)
    (tmp_path / name).unlink()
    with pytest.raises(UserError) as caught:
        stated_checks.check(found)
    assert str(caught.value).startswith(f"{name}: cannot be read (No such file or directory); ")
    assert str(caught.value).endswith("belong together, so add it or remove all three")


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        (["paper,wher,key"], 1, ["unknown column 'wher'; did you mean 'where'?"]),
        (["paper,where,key"], 1, [f"the columns must be {HEADER}, in this order"]),
        ([HEADER, DROPOUT[:-1]], 2, ["found 8 values, expected 9", "double quotes"]),
        ([HEADER, "", DROPOUT.replace("0.3", " ")], 3, ["column 'value' is empty; fill it in"]),
        ([HEADER, DROPOUT.replace("paper", "code")], 2, ["'source'", "'code'", "published_code"]),
        ([HEADER, DROPOUT + '"a" "'], 2, ["not valid CSV"]),
        ([HEADER, DROPOUT.replace("bow", "bwo")], 2, ["config/papers/bwo.yaml", "'bow'", "remove"]),
        (
            [HEADER, DROPOUT, BEAM, OF_METHOD, DROPOUT.replace("wmt14", "wmt41")],
            5,
            ["column 'task'", "'wmt41-en-de'; did you mean 'wmt14-en-de'?", "'tasks.bow'", MAP],
        ),
        (
            [HEADER, DROPOUT, BEAM, OF_METHOD, DROPOUT.replace("BoW-NAT", "BoW")],
            5,
            [MAP, "which systems", "{paper: bow, system: BoW, ours: [NAME]}", "'outside'"],
        ),
        (
            [HEADER, DROPOUT, BEAM, OF_METHOD, BEAM.replace("BoW-NAT", "BoW")],
            5,
            [MAP, "which decodings", "to its key 'decodings'"],
        ),
    ],
)
def test_a_wrong_row_is_refused(
    tmp_path: Path, rows: list[str], line: int, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        stated_checks.check(with_settings(tmp_path, rows, IN_MAP, IN_DEVIATIONS))
    assert str(caught.value).startswith(f"{ROWS} line {line}: ")
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("outsid", [], ["unknown key 'outsid'; did you mean 'outside'?"]),
        ("outside.0.reason", None, ["missing key 'reason' at 'outside.0'"]),
        ("outside.0.reason", "methods", ["'outside.0.reason'", "did you mean 'method'?"]),
        ("tasks", {}, ["missing key 'bow' at 'tasks'", f"{ROWS} line 2", "'bow: {wmt14-en-de: "]),
        ("tasks.bwo", {}, ["key 'tasks'", "unknown paper 'bwo'; did you mean 'bow'?"]),
        ("tasks.bow.wmt14-en-de", "wmt14-en-d", ["'tasks.bow.wmt14-en-de'", "'wmt14-en-de'?"]),
        ("systems.0.our", ["a"], ["unknown key 'our' at 'systems.0'"]),
        ("systems.0.ours", [], ["'systems.0.ours'"]),
        ("systems.0.ours", ["hints-k"], ["'systems.0.ours'", "did you mean 'hints-kd'?"]),
        ("systems.0.tasks", ["wmt14-en-d"], ["'systems.0.tasks'", "'wmt14-en-de'?"]),
        ("systems.0.value", 0.3, ["'systems.0.value'", "found 0.3", "text"]),
        ("systems.0.system", "BoW-NTA", ["'systems.0.system'", "of bow", "mean 'BoW-NAT'?"]),
        ("systems.0.paper", ["bow", "bag"], ["'systems.0.paper'", "the paper 'bag'; known: bow"]),
        ("systems.0.key", ["dropout", "drop"], ["'systems.0.key'", "mean 'dropout'?"]),
        (
            "systems.1",
            {"paper": "bow", "key": "dropout", "ours": ["hints-kd"]},
            ["'systems.1'", "no effect; move it before them"],
        ),
        (
            "systems.1",
            {"key": "dropout", "value": "9", "ours": ["hints-kd"]},
            ["'systems.1'", "no row", "fits key and value"],
        ),
        ("decodings.0.ours", ["mask-predict4-lb5"], ["'decodings.0.ours'", "mask-predict-4-lb5"]),
        ("keys.dropuot", "recipe.dropout", ["'keys.dropuot'", "did you mean 'dropout'?"]),
        ("keys.dropout", "resipe.dropout", ["'keys.dropout'", "did you mean 'recipe'?"]),
        ("keys.dropout", "recipe.dropuot", ["'keys.dropout'", "did you mean 'dropout'?"]),
        ("keys.dropout", "recipe.validation.metrics", ["'metrics'", "did you mean 'metric'?"]),
        ("keys.dropout", "corpus.expected.tokns.train", ["'tokns'", "did you mean 'tokens'?"]),
        ("values.0.one_of", [0.3], ["values.0", "'ours', 'one_of' and 'same_as'"]),
        ("values.0.ours", None, ["values.0", "'ours', 'one_of' and 'same_as'"]),
        (
            "values.0",
            {"key": "dropout", "same_as": "hints-at-bas"},
            ["'values.0.same_as'", "did you mean 'hints-at-base'?"],
        ),
    ],
)
def test_a_wrong_map_is_refused(tmp_path: Path, path: str, value: Any, words: list[str]) -> None:
    in_map = changed(IN_MAP, path, value)
    rows = [HEADER, DROPOUT, BEAM, OF_METHOD]
    with pytest.raises(UserError) as caught:
        stated_checks.check(with_settings(tmp_path, rows, in_map, IN_DEVIATIONS))
    assert str(caught.value).startswith(f"{MAP}: ")
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("deviations", None, ["missing key 'deviations'"]),
        ("deviations.0.resaon", "a", ["unknown key 'resaon' at 'deviations.0'", "'reason'?"]),
        ("deviations.0.reason", None, ["missing key 'reason' at 'deviations.0'"]),
        ("deviations.0.system", "BoW", ["'deviations.0.system'", "did you mean 'BoW-NAT'?"]),
        ("deviations.0.paper", "bwo", ["'deviations.0.paper'", "did you mean 'bow'?"]),
        ("deviations.0.ours", "0.1", ["'deviations.0.ours'", "'method'", "remove the key"]),
        ("deviations.1.ours", None, ["'deviations.1'", "'outside'", "remove the entry"]),
        ("deviations.2", OURS, ["'deviations.2'", "no effect"]),
    ],
)
def test_a_wrong_deviation_is_refused(
    tmp_path: Path, path: str, value: Any, words: list[str]
) -> None:
    deviations = changed(IN_DEVIATIONS, path, value)
    rows = [HEADER, DROPOUT, BEAM, OF_METHOD]
    with pytest.raises(UserError) as caught:
        stated_checks.check(with_settings(tmp_path, rows, IN_MAP, deviations))
    assert str(caught.value).startswith(f"{DEVIATIONS}: ")
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_deviation_without_a_paper_holds_for_all_papers(tmp_path: Path) -> None:
    in_map = changed(IN_MAP, "tasks.dims", IN_MAP["tasks"]["bow"])
    in_map["systems"][0]["paper"] = in_map["decodings"][0]["paper"] = ["bow", "dims"]
    rows = [HEADER, DROPOUT, BEAM, OF_METHOD, DROPOUT.replace("bow", "dims")]
    deviations = changed(IN_DEVIATIONS, "deviations.0.paper", None)
    found = with_settings(tmp_path, rows, in_map, deviations)
    found = replace(found, files={**found.files, "papers": {"bow": PAPER, "dims": PAPER}})
    stated_checks.check(found)
    assert [len(stated.deviations(found, paper)) for paper in ("bow", "dims")] == [2, 1]
    assert stated.deviations(found, "overview") == []


@pytest.mark.parametrize(
    ("value", "key"), [("many", "expected.tokens.train"), ("2, 4", "betas"), ("many", "dropout")]
)
def test_a_value_of_another_kind_differs(settings: Stated, value: str, key: str) -> None:
    row = next(row for row in settings.rows if row.key == key and settings.named(row))
    assert settings.verdict(replace(row, value=value)).kind != CHECKED


def test_stated_settings_are_checked_before_a_graph_is_built(tmp_path: Path) -> None:
    (tmp_path / "config/published").mkdir(parents=True)
    (tmp_path / ROWS).write_text(f"{HEADER}\n{DROPOUT}\n")
    (tmp_path / MAP).write_text("tasks: {}\n")
    (tmp_path / DEVIATIONS).write_text("deviations: []\n")
    found = made_up_run.configuration(tmp_path, {"bow": PAPER})
    with pytest.raises(UserError, match="missing key 'bow' at 'tasks'"):
        Graph(found)
    Graph(replace(found, checked=False))
