"""A run has one configuration from its start to its end, and takes over what others made."""

import json
import time
from pathlib import Path

import pytest

from nat.files import read_json
from tests.graph.test_graph import OVERVIEW, copy_repository, finished_run, jobs, snakemake, start
from tests.repository import python

pytestmark = [pytest.mark.timeout(1000), pytest.mark.graph]

MODELS = "results/micro/models/toy-micro"
NAMED = ("--config", "scale=micro", "name=wide", "override=recipes.student.dropout=0.2")


def test_what_is_edited_during_a_run_is_of_the_next(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    recipe = repository / "config/recipes/student.yaml"
    before = recipe.read_text()
    model = f"{MODELS}/nat-kd/seed1/model.pt"
    with start(repository, model) as process:
        while not (repository / "results/micro/logs/train/toy-micro/at-base").exists():
            assert process.poll() is None
            time.sleep(0.01)
        recipe.write_text("nothing: [that is")
        for file in (repository / "config/corpora").glob("toy-micro.yaml"):
            file.rename(repository / "away.yaml")
        screen, _ = process.communicate()
    assert process.returncode == 0, screen
    (repository / "away.yaml").rename(repository / "config/corpora/toy-micro.yaml")
    recipe.write_text(before.replace("dropout: 0.3", "dropout: 0.25"))
    trained = read_json(repository / model.replace("model.pt", "training.json"))["training"]
    assert trained["recipe"]["dropout"] == 0.3
    status, screen = snakemake(repository, "-n", model)
    assert status == 0 and jobs(screen, "train") == {"nat-kd on toy-micro (seed 1)"}, screen
    recipe.write_text(before)
    status, screen = snakemake(repository, "-n", model)
    assert status == 0 and "Nothing to be done" in screen, screen


def test_a_job_is_repeated_by_the_first_line_of_its_log(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    repository, _ = finished_run(tmp_path_factory)
    score = repository / "results/micro/scores/toy-micro/nat-kd/seed1/one-pass/test.json"
    before = score.read_text()
    score.unlink()
    log = repository / "results/micro/logs/translate_and_score/toy-micro/nat-kd/seed1"
    [first] = {path.read_text().splitlines()[0] for path in log.rglob("test*.log")}
    # the program reads nothing of the configuration
    (repository / "config").rename(repository / "away")
    status, _, errors = python(*first.split()[1:], folder=repository, path=repository)
    assert status == 0, errors
    assert json.loads(score.read_text()) == json.loads(before)


def test_an_override_of_a_student_trains_no_teacher(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    repository, _ = finished_run(tmp_path_factory)
    times = {path: path.stat().st_mtime_ns for path in (repository / MODELS).rglob("*.pt")}
    status, screen = snakemake(repository, "demo", *NAMED, scale="")
    assert status == 0, screen
    wide = repository / "results/micro@wide"
    made = {path.parent.parent.name for path in wide.glob("models/toy-micro/*/seed1/model.pt")}
    assert made == {"nat-raw", "nat-kd"}
    texts = wide / "distilled/toy-micro/at-base/seed1/beam5"
    assert (texts / "binarised").is_symlink() and not list(wide.glob("translations/*/at-base"))
    assert (wide / "papers/overview/table_1.csv").exists()
    assert times == {path: path.stat().st_mtime_ns for path in (repository / MODELS).rglob("*.pt")}
    status, screen = snakemake(repository, "-n", "demo", *NAMED, scale="")
    assert status == 0 and "Nothing to be done" in screen, screen
    # a result of the scale that is of another configuration is not taken over
    for record in (repository / MODELS).glob("cmlm-kd/seed1/.*.identity"):
        record.write_text("of something else\n")
    record = "results/micro@wide/models/toy-micro/cmlm-kd/seed1/training.json"
    status, screen = snakemake(repository, "-n", record, "--force", *NAMED, scale="")
    assert status == 0 and "cmlm-kd on toy-micro (seed 1)" in jobs(screen, "train"), screen
