"""The settings that the papers state, row by row, and the effective configuration."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nat.configuration import Configuration
from nat.configuration.files import PAPER_SCALE, read_value
from nat.measures.known import MEASURES
from nat.papers import settings as module
from nat.papers.cells import Shown
from nat.papers.relation import relation
from nat.papers.settings import MAP, NOTHING, ROWS, Stated, StatedSettings, check, deviations
from tests.messages import told
from tests.repository import ROOT, configured


@pytest.fixture(scope="module")
def settings() -> StatedSettings:
    return StatedSettings(configured(PAPER_SCALE))


def test_every_row_holds_is_a_deviation_or_not_about_the_configuration(
    settings: StatedSettings,
) -> None:
    assert len(settings.rows) == len((ROOT / ROWS).read_text().splitlines()) - 1
    of_method = {line for line, each in settings.entries["deviations"].items() if each.ours}
    outside = {*settings.entries["outside"]} - {*settings.entries["code"], *of_method}
    held = [row for row in settings.rows if row.line not in outside | of_method]
    assert [row for row in held if not holds(settings, row)] == []
    assert len(held) >= 1_100 and len(outside) <= 115
    papers = dict.fromkeys(row.paper for row in settings.rows)
    sentences = [each for paper in papers for each in deviations(settings.configuration, paper)]
    assert len(sentences) == len(settings.entries["deviations"])
    assert all(each[-1].isalnum() for each in sentences)


def holds(settings: StatedSettings, row: Stated) -> bool:
    """Whether ours are the stated values, or none of them is where a deviation says so."""
    if says := settings.about("code", row).says:
        return says in " ".join((ROOT / settings.about("code", row).file).read_text().split())
    names, differs = settings.named(row), settings.about("deviations", row) is not NOTHING
    values, several = settings.about("values", row), re.fullmatch(r"\d+(, \d+)+", row.value)
    if settings.is_of_cells(row) or (several and values is NOTHING):
        listed = several and "ours" not in values.model_fields_set
        wanted = read_value(f"[{row.value}]", "") if listed else settings.stated(row)
        wanted = wanted if isinstance(wanted, list) else [wanted]
        pairs = itertools.product(settings.tasks(row), names)
        ours = of_cells(settings, row) or [settings.value(row, *each) for each in pairs]
        others = [] if settings.path(row).startswith(module.AMONG) else ours
        return all(each in ours for each in wanted) and all(each in wanted for each in others)
    if settings.path(row).startswith("decoding.") and not differs:
        names = [each for each in names if each in decodings(settings, row)]
    return names == settings.named(row) != [] and bool(settings.differing(row)) == differs


def numbers(settings: StatedSettings, row: Stated) -> Iterator[Shown]:
    """What tables and figures of a row show on its task, and the paper, too."""
    named = {
        f"{kind.lower()} {number}"
        for kind, numbers in re.findall(r"(Table|Figure)s? (\d[\d, -]*)", row.experiments)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers)
        for number in range(int(first), int(last or first) + 1)
    }
    task = settings.map.tasks[row.paper].get(row.task)
    for name, part in relation(settings.configuration, row.paper).items():
        ours = {line.label for line in (*part.rows, *part.columns) if line.given.ours_only}
        for each in part.numbers if name in (named or [name]) else ():
            cell = each.first
            if (cell.system or cell.derived) and task in (None, cell.task):
                yield from [each] * (not {cell.row, cell.column} & ours)


def is_about(settings: StatedSettings, row: Stated, system: str | None) -> bool:
    entry = settings.about("systems", row)
    return row.system.startswith("all") or entry is NOTHING or system in entry.ours


def decodings(settings: StatedSettings, row: Stated) -> Iterator[str]:
    """Those of the systems of a row: of their cells, and of the texts that they write."""
    here = settings.configuration
    for cell in (cell for each in numbers(settings, row) for cell in each.cells if cell.system):
        if is_about(settings, row, cell.system):
            yield cell.decoding
        for text in here.training(here.task(cell.task), cell.system).text.candidates:
            if is_about(settings, row, text.system):
                yield str(text.decoding)


def of_cells(settings: StatedSettings, row: Stated) -> list[Any]:
    """The values of a field of the cells of a row, or of those of one measure."""
    field, _, rest = settings.path(row).partition(module.CELLS)[2].partition(".")
    measure, field = (field, rest) if field in MEASURES else (None, field)
    side, found = {"baseline": "over", "decoding": "cells"}.get(field, "own"), list[Any]()
    shown = numbers(settings, row) if field else ()
    for cell in (cell for each in shown for cell in getattr(each, side)):
        if not is_about(settings, row, cell.system) or measure not in (None, cell.measure):
            continue
        if field == "decoding":
            options = settings.decoding(cell.task, cell.decoding) if cell.decoding else {}
            found += [options[rest]] if rest in options else []
            continue
        fields = {"baseline": cell.system, "batch": cell.setting.partition("-")[2]}
        value = (cell._asdict() | fields)[field]
        value = read_value(value, "") if field in ("batch", "setting") else value
        found += [value] * (value not in ("", None))
    return found


@pytest.mark.parametrize(
    ("paper", "key", "value"),
    [
        *(("hrt", "updates", "299_000"), ("mple", "dropout", "many"), ("dims", "betas", "2, 4")),
        *(("dims", "text", "raw"), ("fully_nat", "expected.tokens.train", "many")),
        *(("dims", "split", "test"), ("dims", "decoding.length_beam", "7")),
        *(("hrt", "latency.batch", "2"), ("mple", "l_target.beta", "0.3")),
    ],
)
def test_another_value_is_noticed(
    settings: StatedSettings, paper: str, key: str, value: str
) -> None:
    rows = [row for row in settings.rows if (row.paper, row.key) == (paper, key)]
    assert not all(holds(settings, row._replace(value=value)) for row in rows)


# What is wrong in the three files

PAPER = {"title": "A bag of words"}
HEADER = ",".join(module.COLUMNS)
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
    (root / module.DEVIATIONS).write_text(json.dumps(differing))
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
    with told(module.DEVIATIONS if of_deviations else MAP, *names):
        check(stating(tmp_path, LINES, *files))
