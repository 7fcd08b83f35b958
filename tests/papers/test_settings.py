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
from repository import ROOT, configured

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.errors import UserError
from nat.papers.settings import CHECKED, DEVIATION, OUTSIDE, Stated, check, deviations
from nat.papers.settings_files import COLUMNS, DEVIATIONS, MAP, ROWS
from nat.workflow.graph import Graph


@pytest.fixture(scope="module")
def settings() -> Stated:
    return Stated(configured(PAPER_SCALE))


def test_every_row_is_checked_a_deviation_or_not_about_the_configuration(settings: Stated) -> None:
    verdicts = [settings.verdict(row) for row in settings.rows]
    with (ROOT / ROWS).open(encoding="utf-8", newline="") as file:
        assert len(verdicts) == sum(1 for _ in csv.DictReader(file))
    assert [verdict for verdict in verdicts if not verdict.kind] == []
    kinds = Counter(verdict.kind for verdict in verdicts)
    assert kinds[CHECKED] > kinds[OUTSIDE] > kinds[DEVIATION] > 0
    assert all(verdict.reason for verdict in verdicts if verdict.kind != CHECKED)
    found = [verdict for verdict in verdicts if verdict.kind == DEVIATION]
    count = {id(settings.deviation(verdict.row)) for verdict in found}
    assert [each for each in settings.deviations.all if id(each) not in count] == []
    for paper in ("dims", "fully_nat", "hrt", "mple", "hints"):
        sentences = deviations(settings.configuration, paper)
        assert all(sentence[-1].isalnum() for sentence in sentences)
        assert len(sentences) == sum(verdict.row.paper == paper for verdict in found)


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


def test_rows_are_held_against_the_decodings_that_tables_show(settings: Stated) -> None:
    rows = [row for row in settings.rows if row.paper == "hints" and row.of_decoding]
    assert {name for row in rows for name in settings.named(row)} == {"hints-npd9-sum"}
    tuned = [row for row in settings.rows if row.value == "tuned on validation"]
    assert {row.paper for row in tuned} == {"mple"} and len(tuned) == 4
    for row in tuned:
        assert settings.verdict(row).kind == CHECKED
        assert settings.verdict(row._replace(task="wmt14-en-de")).kind is None


@pytest.mark.parametrize(
    ("value", "key"), [("many", "expected.tokens.train"), ("2, 4", "betas"), ("many", "dropout")]
)
def test_a_value_of_another_kind_differs(settings: Stated, value: str, key: str) -> None:
    row = next(row for row in settings.rows if row.key == key and settings.named(row))
    assert settings.verdict(row._replace(value=value)).kind != CHECKED


LENGTH = {"updates", "learning_rate", "warmup_updates", "schedule", "keep"}
SAVED = {"average", "save_every", "validate_every", "validations_per_epoch"}


@pytest.mark.parametrize(
    ("recipe", "followed", "but_for"),
    [
        ("hrt-at", "vaswani", set()),
        ("hrt", "hrt-at", {"updates"}),
        ("hrt-deep", "teacher-deep", {"updates"}),
        ("oaxe", "mple-student", LENGTH),
        ("mple-10k", "mple-student", LENGTH | SAVED),
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
    start = settings.configuration.on("wmt14-en-de").system(system).init_from
    assert start is not None
    both = (settings.configuration.training("wmt14-en-de", each) for each in (system, start.system))
    assert len({each.recipe.batch_tokens for each in both}) == 1


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
IN_DEVIATIONS = {"deviations": [{**ABOUT_BOW, "key": "dropout", "reason": "it overfits"}, OURS]}


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


def changed(content: Any, path: str, value: Any) -> Any:
    """A copy in which a value has changed; None removes it, a number past the end appends it."""
    content = place = copy.deepcopy(content)
    *way, last = path.split(".")
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if isinstance(place, list):
        place[int(last) :] = [value]
    elif value is None:
        del place[last]
    else:
        place[last] = value
    return content


def test_the_files_of_the_repository_pass_without_the_file_of_a_paper_too() -> None:
    check(configured("demo"))
    plain = configured("demo")
    papers = {name: each for name, each in plain.files["papers"].items() if name != "hints"}
    check(replace(plain, files={**plain.files, "papers": papers}))


def test_the_files_of_a_new_paper_pass(tmp_path: Path) -> None:
    found = stating(tmp_path)
    check(found)
    sentences = [sentence.rsplit(": ", 1)[1] for sentence in deviations(found, "bow")]
    assert sentences == ["it overfits", "as in its code"]
    assert deviations(found, "overview") == []


def test_there_are_all_files_or_none(tmp_path: Path) -> None:
    found = replace(configured("demo"), root=tmp_path)
    check(found)
    assert deviations(found, "dims") == []
    found = stating(tmp_path)
    for name in (ROWS, MAP, DEVIATIONS):
        text = (tmp_path / name).read_text()
        (tmp_path / name).unlink()
        with pytest.raises(UserError, match=f"^{name}: there is no such file"):
            check(found)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (["paper,wher,key"], "line 1: .*expected paper,where"),
        ([HEADER, "", DROPOUT.replace("0.3", " ")], "line 3: column 'value'"),
        ([HEADER, DROPOUT.replace("0.3", "0,3")], "cannot be read as CSV .*line 2"),
        ([HEADER, DROPOUT.replace(",paper", ",code")], "line 2: column 'source': found 'code'"),
        ([HEADER, DROPOUT.replace("bow", "bwo")], "line 2: column 'paper': .*mean 'bow'"),
        ([*LINES, DROPOUT.replace("wmt14", "wmt41")], "line 5: column 'task'.* 'wmt14-en-de'"),
        ([*LINES, DROPOUT.replace("BoW-NAT", "BoW")], "line 5: column 'system'.*'systems'"),
        ([*LINES, BEAM.replace("BoW-NAT", "BoW")], "line 5: column 'system'.*'decodings'"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path: Path, lines: list[str], where: str) -> None:
    with pytest.raises(UserError, match=f"^{ROWS}:? {where}"):
        check(stating(tmp_path, lines))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("outside.0.reason", "methods", "'outside.0.reason'.*'method'"),
        ("tasks", {}, "'tasks'.*'bow'"),
        ("tasks.bwo", {}, "'tasks'.*'bwo'.*'bow'"),
        ("tasks.bow.wmt14-en-de", "wmt14-en-d", "'tasks.bow.wmt14-en-de'.*'wmt14-en-de'"),
        ("systems.0.our", ["a"], "'systems.0.our'"),
        ("systems.0.ours", ["hints-k"], "'systems.0.ours'.*'hints-kd'"),
        ("systems.0.tasks", ["wmt14-en-d"], "'systems.0.tasks'.*'wmt14-en-de'"),
        ("systems.0.paper", ["bow", "bag"], "'systems.0.paper'.*bow"),
        ("systems.0.key", ["dropout", "drop"], "'systems.0.key'.*'dropout'"),
        ("systems.1", {"key": "dropout", "ours": ["hints-kd"]}, "'systems.1'"),  # after another
        ("systems.1", {"key": "dropout", "value": "9", "ours": ["hints-kd"]}, "'systems.1'"),
        ("decodings.0.ours", ["mask-predict4-lb5"], "'decodings.0.ours'.*mask-predict"),
        ("keys.dropuot", "recipe.dropout", "'keys.dropuot'.*'dropout'"),
        ("keys.dropout", "resipe.dropout", "'keys.dropout'.*'recipe'"),
        ("keys.dropout", "recipe.validation.metrics", "'keys.dropout'.*'metric'"),
        ("values.0.one_of", [0.3], "values.0"),
        ("values.0", {"key": "dropout", "same_as": "at-bas"}, "'values.0.same_as'.*'at-base'"),
        ("deviations.0.system", "BoW", "'deviations.0.system'.*'BoW-NAT'"),
        ("deviations.0.ours", "0.1", "'deviations.0'"),  # a key has the value
        ("deviations.1.ours", None, "'deviations.1'"),  # the row is outside
        ("deviations.2", OURS, "'deviations.2'"),  # after another
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, path: str, value: Any, words: str) -> None:
    file = DEVIATIONS if path.startswith("deviations") else MAP
    given = {MAP: IN_MAP, DEVIATIONS: IN_DEVIATIONS}
    given[file] = changed(given[file], path, value)
    with pytest.raises(UserError, match=f"^{file}: .*{words}"):
        check(stating(tmp_path, LINES, given[MAP], given[DEVIATIONS]))


def test_stated_settings_are_checked_before_a_graph_is_built(tmp_path: Path) -> None:
    stating(tmp_path, in_map={})
    found = made_up_run.configuration(tmp_path, {"bow": PAPER})
    with pytest.raises(UserError, match=MAP):
        Graph(found).check()
