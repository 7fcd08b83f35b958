"""Loggers: each is told every row of the curve, and no model depends on them."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest

from nat.training import loggers
from tests.messages import told
from tests.repository import write_yaml
from tests.training import test_training
from tests.training.test_training import SETTINGS, curve, model_file, same, train, undisturbed

folder = test_training.folder  # a fixture


@pytest.fixture(params=[*loggers.LOGGERS])
def logger(request: pytest.FixtureRequest, folder: Any) -> Iterator[str]:
    """The name of a logger that the configuration has chosen."""
    write_yaml("config/config.yaml", {**SETTINGS, "logger": request.param})
    yield request.param


def shown_by(package: Mock) -> list[tuple[int, str, float]]:
    """What a package was told: update, name and value."""
    run = package.init.return_value
    found = [
        (call.kwargs["step"], name, value)
        for call in (*run.log.call_args_list, *package.log_metrics.call_args_list)
        for name, value in call.args[0].items()
    ]
    scalars = package.SummaryWriter.return_value.add_scalar.call_args_list
    return found + [(call.args[2], call.args[0], call.args[1]) for call in scalars]


def test_each_row_of_the_curve_is_shown(logger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loggers.LOGGERS[logger][1]
    package = Mock(spec=ModuleType)
    package.configure_mock(**{name: Mock() for name in NAMES})
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, module, package)
        weights, rows = undisturbed("at")
    shown = shown_by(package)
    for row in rows:
        of_row = {name: value for at, name, value in shown if at == int(row["update"])}
        loss = of_row[f"{row['split']}/loss"]
        assert f"{loss:.6g}" == row["loss"]
        if row["split"] == "train":
            assert f"{of_row['train/learning_rate']:.6g}" == row["learning_rate"]
    assert len({at for at, _, _ in shown}) == 12
    ends = package.end_run, package.init().finish, package.SummaryWriter().close
    assert sum(end.call_count for end in ends) == 1
    write_yaml("config/config.yaml", SETTINGS)
    assert same(weights, train("at")) and curve("at") == rows


NAMES = ("init", "SummaryWriter", "start_run", "log_dict", "log_metrics", "end_run")
"""Functions of the packages that are called."""


def test_a_package_that_is_missing_is_told(logger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, logger, None)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    with told(logger, f"pip install 'nat-reproduced[{logger}]'"):
        train("at")
    assert not model_file("at").exists()


@pytest.mark.parametrize("logger", ["tensorboard"], indirect=True)
def test_tensorboard_reads_what_is_written(logger: str) -> None:
    reader: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    train("at")
    read = reader.EventAccumulator(str(model_file("at").with_name("tensorboard"))).Reload()
    valid = [row for row in curve("at") if row["split"] == "valid"]
    shown = [(str(each.step), each.value) for each in read.Scalars("valid/loss")]
    assert [update for update, _ in shown] == [row["update"] for row in valid]
    for (_, value), row in zip(shown, valid, strict=True):
        assert value == pytest.approx(float(row["loss"]), rel=1e-4)
