"""Tables of settings, printed from the configuration."""

import copy
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.papers import reports
from nat.workflow.graph import Graph
from tests.made_up_run import CORPUS, TABLE
from tests.messages import told

FILE = "config/papers/paper.yaml"
SYSTEMS = {"DiMS": {"system": "dims-cmlm-kd"}}
RATE = {"label": "rate", "key": "recipe.learning_rate"}
ROWS: list[dict[str, Any]] = [
    RATE,
    {"label": "momentum", "key": "target.ema_decay"},
    {"label": "beta 2", "key": "recipe.betas.1", "ours_only": True},
    {"label": "smoothing", "key": "target.label_smoothing"},
    {"label": "masks", "key": "input.method", "names": {"random_mask": "Uniform"}},
    {"label": "tokens", "key": "recipe.batch_tokens", "times": 4},
    {"label": "updates", "key": "recipe.updates", "ours_only": True},
]
PRINTED = {"rate": "1e-3", "momentum": "0.5", "smoothing": "0.0", "masks": "Uniform"}
VALUES = made_up_run.HEADER + "".join(
    f"table1,{row},DiMS,,DiMS,,all,,{value},,,ours\n"
    for row, value in {**PRINTED, "tokens": "8192"}.items()
)


def configuration(root: Path, rows: Any = ROWS, columns: Any = ("DiMS",)) -> Any:
    described = {"kind": "settings", "title": "t", "columns": [*columns], "rows": rows}
    return made_up_run.paper(root, systems=copy.deepcopy(SYSTEMS), tables={"1": described})


def test_settings_come_from_the_configuration(tmp_path: Path) -> None:
    made_up_run.publish(tmp_path, VALUES)
    plain = configuration(tmp_path)
    made = made_up_run.make_table(plain, "paper", "1")
    rows = {row[0]: row[1:] for row in made.rows}
    training = plain.training(CORPUS, "dims-cmlm-kd")
    assert rows["rate"][0] == f"{training.recipe.learning_rate:g}"
    assert rows["momentum"] == ["0.99501", "0.9992*", "0.5"]  # 1,200 updates for 7,500
    assert rows["beta 2"] == ["0.98", "0.98", "–"]
    assert rows["smoothing"] == ["not used", "not used", "0.0"]
    assert rows["masks"] == ["Uniform"] * 3
    assert rows["tokens"][1:] == ["32768", "8192 x 4"]
    assert rows["updates"][1:] == ["10 epochs", "–"]
    assert reports.cells(plain, TABLE) == []


def test_settings_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    changed = configuration(tmp_path, [RATE])
    changed.files["systems"]["dims-cmlm-kd"]["recipe"] = "mple-student"
    one, same = (configuration(tmp_path, [RATE]) for _ in range(2))
    assert reports.resolve(one, TABLE) == reports.resolve(same, TABLE)
    assert reports.resolve(one, TABLE) != reports.resolve(changed, TABLE)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"rows": [{**RATE, "key": "recipe.learning_rat"}]}, ["row 'rate'", "learning_rate"]),
        ({"columns": ["DiMZ"]}, ["DiMZ", "DiMS"]),
        ({"columns": ["DiMS", "DiMS"]}, ["label 'DiMS'"]),
        ({"rows": ROWS[:2]}, ["rows", "'momentum'", "config/published/paper.csv"]),
    ],
)
def test_a_mistake_is_told_at_the_start(
    tmp_path: Path, changes: dict[str, Any], names: list[str]
) -> None:
    made_up_run.publish(tmp_path, "".join(VALUES.splitlines(True)[:2]))
    Graph(configuration(tmp_path, [RATE]))
    with told(FILE, "tables.1", *names):
        Graph(configuration(tmp_path, **{"rows": [RATE], **changes}))
