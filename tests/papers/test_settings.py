"""The settings that the papers state, row by row, and the effective configuration."""

import copy
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nat.configuration import Configuration
from nat.configuration.files import PAPER_SCALE
from nat.papers.settings import (
    CHECKED,
    COLUMNS,
    DEVIATION,
    DEVIATIONS,
    MAP,
    OUTSIDE,
    ROWS,
    StatedSettings,
    check,
    deviations,
)
from tests.messages import told
from tests.repository import ROOT, configured


@pytest.fixture(scope="module")
def settings() -> StatedSettings:
    return StatedSettings(configured(PAPER_SCALE))


def test_every_row_is_checked_a_deviation_or_not_about_the_configuration(
    settings: StatedSettings,
) -> None:
    verdicts = [settings.verdict(row) for row in settings.rows]
    assert len(verdicts) == len((ROOT / ROWS).read_text().splitlines()) - 1
    assert [verdict for verdict in verdicts if not verdict.kind] == []
    kinds = Counter(verdict.kind for verdict in verdicts)
    assert kinds[CHECKED] >= 1_100 and kinds[OUTSIDE] <= 115 and kinds[DEVIATION] > 0
    assert all(verdict.reason for verdict in verdicts if verdict.kind != CHECKED)
    lines = {verdict.row.line for verdict in verdicts if verdict.kind == DEVIATION}
    used = {id(settings.entries["deviations"][line]) for line in lines}
    assert [each for each in settings.map.deviations if id(each) not in used] == []
    papers = dict.fromkeys(row.paper for row in settings.rows)
    sentences = [each for paper in papers for each in deviations(settings.configuration, paper)]
    assert len(sentences) == len(lines) and all(each[-1].isalnum() for each in sentences)


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
    settings: StatedSettings, folder: str, name: str, change: dict[str, Any], paper: str, key: str
) -> None:
    plain = settings.configuration
    changed = {**plain.files[folder], name: {**plain.files[folder][name], **change}}
    other = StatedSettings(replace(plain, files={**plain.files, folder: changed}))
    rows = [row for row in other.rows if (row.paper, row.key) == (paper, key)]
    assert any(other.verdict(row).kind is None for row in rows)


@pytest.mark.parametrize(
    ("paper", "table", "change", "key"),
    [
        ("dims", "5", {"split": "test"}, "split"),
        ("dims", "5", {"decoding": "mask-predict-1-lb3"}, "decoding.length_beam"),
        ("dims", "7", {"with": {"deduplicated": ""}}, "decoding.deduplicate"),
        ("hrt", "10", {"setting": "{device}-1"}, "latency.batch"),
        ("mple", "2", {"setting": "0.3"}, "l_target.beta"),
    ],
)
def test_a_table_that_shows_something_else_is_noticed(
    settings: StatedSettings, paper: str, table: str, change: dict[str, Any], key: str
) -> None:
    files = copy.deepcopy(dict(settings.configuration.files))
    part = files["papers"][paper]["tables"][table]
    part["cells"] = part.get("cells", {}) | change
    other = StatedSettings(replace(settings.configuration, files=files))
    rows = [row for row in other.rows if (row.paper, row.key) == (paper, key)]
    assert any(other.verdict(row).kind is None for row in rows)


def test_words_that_code_no_longer_says_are_noticed(settings: StatedSettings) -> None:
    fixed = [row for row in settings.rows if row.line in settings.entries["code"]]
    assert {settings.verdict(row).kind for row in fixed} == {CHECKED}
    line = fixed[0].line
    says = settings.entries["code"][line].model_copy(update={"says": "what no file says"})
    entries = {**settings.entries, "code": {line: says}}
    other = StatedSettings(settings.configuration)
    other.entries = entries
    assert other.verdict(fixed[0]).kind is None


@pytest.mark.parametrize(
    ("value", "key"), [("many", "expected.tokens.train"), ("2, 4", "betas"), ("many", "dropout")]
)
def test_a_value_of_another_kind_differs(settings: StatedSettings, value: str, key: str) -> None:
    row = next(row for row in settings.rows if row.key == key and settings.named(row))
    assert settings.verdict(row._replace(value=value)).kind != CHECKED


# What is wrong in the three files

PAPER = {"title": "A bag of words"}
HEADER = ",".join(COLUMNS)
DROPOUT = "bow,Sec. 3,all,BoW-NAT,wmt14-en-de,dropout,0.3,paper,"
BEAM = "bow,Sec. 3,all,BoW-NAT,all,decoding.length_beam,9,paper,"
OF_METHOD = "bow,Sec. 2,all,BoW-NAT,all,target.bag,of the target,paper,"
LINES = [HEADER, DROPOUT, BEAM, OF_METHOD]
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
DIFFERING = {**ABOUT_BOW, "key": "dropout", "reason": "it overfits"}
IN_DEVIATIONS = {"deviations": [DIFFERING, OURS]}


def stating(
    root: Path, lines: list[str] = LINES, in_map: Any = IN_MAP, differing: Any = IN_DEVIATIONS
) -> Configuration:
    """The repository's configuration with one paper and these three files."""
    (root / "config/published").mkdir(parents=True)
    (root / ROWS).write_text("\n".join(lines) + "\n")
    (root / MAP).write_text(json.dumps(in_map))  # JSON is YAML
    (root / DEVIATIONS).write_text(json.dumps(differing))
    plain = configured("demo")
    return replace(plain, root=root, files={**plain.files, "papers": {"bow": PAPER}})


def test_the_files_of_the_repository_pass_without_the_file_of_a_paper_too() -> None:
    plain = configured("demo")
    check(plain)
    papers = {name: each for name, each in plain.files["papers"].items() if name != "hints"}
    check(replace(plain, files={**plain.files, "papers": papers}))


def test_a_new_paper_needs_few_lines_and_none_where_nothing_is_stated(tmp_path: Path) -> None:
    nothing = replace(configured("demo"), root=tmp_path)
    check(nothing)
    assert deviations(nothing, "dims") == []
    stated = stating(tmp_path)
    check(stated)
    sentences = [sentence.rsplit(": ", 1)[1] for sentence in deviations(stated, "bow")]
    assert sentences == ["it overfits", "as in its code"]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["paper,wher,key"], ["line 1", "expected paper,where"]),
        ([HEADER, DROPOUT.replace(",paper", ",code")], ["'code'"]),
        ([HEADER, DROPOUT.replace("bow", "bwo")], ["mean 'bow'"]),
        ([*LINES, BEAM.replace("BoW-NAT", "BoW")], ["line 5", MAP]),
    ],
)
def test_a_wrong_row_is_refused(tmp_path: Path, lines: list[str], names: list[str]) -> None:
    with told(ROWS, *names):
        check(stating(tmp_path, lines))


BAG = {"paper": "bow", "key": "target.bag"}
OURS_OF_ALL = {**ABOUT_BOW, "ours": ["hints-kd"]}


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        ("outside", [{**BAG, "reason": "methods"}], ["'outside'", "mean 'method'"]),
        ("tasks", {"bow": {"wmt14-en-de": "wmt14-en-d"}}, ["'tasks.bow'", "mean 'wmt14-en-de'"]),
        ("systems", [{**ABOUT_BOW, "ours": ["hints-k"]}], ["'systems'", "mean 'hints-kd'"]),
        ("systems", [{**OURS_OF_ALL, "tasks": ["wmt14-en-d"]}], ["mean 'wmt14-en-de'"]),
        ("systems", [OURS_OF_ALL, {**OURS_OF_ALL, "key": "drop"}], ["'systems.1'", "'dropout'"]),
        (
            "decodings",
            [{**ABOUT_BOW, "ours": ["mask-predict4"]}],
            ["mask-predict4", "mask-predict-4-lb"],
        ),
        ("keys", {"dropuot": "recipe.dropout"}, ["'dropuot'", "mean 'dropout'"]),
        ("deviations", [{"system": "BoW", "reason": "r"}], ["'deviations.0'", "mean 'BoW-NAT'"]),
        ("deviations", [{**DIFFERING, "ours": "0.1"}], ["'deviations.0'"]),  # a key has the value
        ("deviations", [{**BAG, "reason": "r"}], ["'deviations.0'"]),  # the row is outside
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, key: str, value: Any, names: list[str]) -> None:
    given = {key: value}
    of_deviations = key == "deviations"
    files = (IN_MAP, given) if of_deviations else (IN_MAP | given, IN_DEVIATIONS)
    with told(DEVIATIONS if of_deviations else MAP, *names):
        check(stating(tmp_path, LINES, *files))
