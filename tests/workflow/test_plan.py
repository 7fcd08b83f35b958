"""The plan counts the jobs of the graph and adds up what they take, as assumed or measured."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nat.workflow import plan
from nat.workflow.cluster import ATTEMPTS, sentences
from nat.workflow.together import RULE
from snakemake_logger_plugin_jobs import PendingJob
from tests.graph.test_graph import copy_repository, counts, snakemake
from tests.messages import must_name
from tests.repository import changed, configured

NAMES = {"corpus": "toy-micro", "system": "at-base", "seed": "1"}
TEST = {**NAMES, "split": "test"}
SHARD = {**NAMES, "decoding": "beam5", "split": "train", "shard": "1", "shards": "2"}
MADE = ("x/translations/beam5/test.jsonl", "x/scores/a.json", "x/translations/beam2/test.jsonl")


def job(
    rule: str, names: dict[str, str], *outputs: str, after: str = "", tsv: str = ""
) -> PendingJob:
    return PendingJob(rule, names, (after,), outputs or ("made",), benchmark=tsv)


def estimates(made: tuple[PendingJob, ...] = (), **scale: Any) -> plan.Estimates:
    """Those of the scale micro, changed, where models take as long as at the scale demo."""
    return plan.Estimates(changed(configured("micro"), "scales", "micro", **scale), made)


def test_seconds_and_disk_follow_from_recipe_and_decodings() -> None:
    found = estimates()
    recipe = found.configuration.training("toy-micro", "at-base").recipe
    assert recipe.updates is not None
    training = job("train", NAMES)
    expected = found.of_models.train * recipe.updates * recipe.batch_tokens / 1e6
    assert found.seconds(training) == pytest.approx(expected)
    assert found.gigabytes(training) > 0
    # an update of 512 tokens takes four batches of one device, or on two devices two of each
    found.of_models = found.of_models.model_copy(update={"batch": 2.0})
    assert found.seconds(training) == pytest.approx(expected + 2 * recipe.updates)
    for devices in (1, 2):
        split = estimates(tokens_per_device={"others": 128, "big": 8}, devices=devices)
        split.of_models = found.of_models
        assert split.seconds(training) == pytest.approx(expected + 2 * recipe.updates * 4)
    # 300 pairs in two shards; a beam of 5 costs 20 passes; and 20 sentences by two decodings
    passes = [(job("translate", SHARD), 150 * 20), (job(RULE, TEST, *MADE), 20 * (20 + 8))]
    for each, count in passes:
        assert found.seconds(each) == pytest.approx(found.of_models.translate * count / 1e6)
    assert found.seconds(job("score", TEST)) == found.assumed.jobs["others"]


def test_what_was_measured_says_how_long_jobs_of_its_rule_and_size_take(tmp_path: Path) -> None:
    for name, text in {"a": "s\th:m:s\n50.0\t0:00:50\n", "b": "s\n30\n", "killed": "s\n"}.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    made = [job("translate", SHARD, tsv=str(tmp_path / f"{each}.tsv")) for each in ("a", "killed")]
    again = job("train", NAMES, tsv=str(tmp_path / "b.tsv"))
    found, unmeasured = estimates((*made, again, job("score", TEST)), devices=2), estimates()
    assert found.seconds(made[0]) == pytest.approx(50)
    assert found.seconds(job("translate", {**SHARD, "shards": "4"})) == pytest.approx(25)
    big = job("translate", {**SHARD, "system": "at-big"})
    assert found.seconds(big) == unmeasured.seconds(big)
    assert found.seconds(again) == pytest.approx(60)  # of two devices, side by side
    must_name(" ".join(plan.notes(found, [])), "measured", "train, translate", plan.FILE)


def rows(found: plan.Estimates, jobs: list[PendingJob], *targets: str) -> dict[str, list[str]]:
    columns = [list(column.cells) for column in plan.table(found, jobs, targets).columns]
    return {str(name): [str(each) for each in cells] for name, *cells in zip(*columns, strict=True)}


def test_a_row_counts_what_its_target_waits_for_and_the_last_one_each_job_once() -> None:
    found = estimates(stages={"train": {"gpu": True}})
    an_hour = {"train": 3600e6 / (20 * 512), "gpus": 8}
    found.of_models = found.of_models.model_copy(update=an_hour)
    jobs = [
        PendingJob("dear", {}, ("second", "third")),
        job("train", NAMES, "second", after="first"),  # an hour each
        job("train", NAMES, "third", after="first"),
        job("train", NAMES, "first", after="text"),
        job("binarise", NAMES, "text"),
        PendingJob("cheap", {}, ("first",)),
    ]
    shown = rows(found, jobs, "dear", "cheap", "absent")
    assert list(shown) == ["cheap", "dear", "all of it"]
    # jobs, hours of GPUs and cores, of GPUs not above, longest, on 8 GPUs: the longest chain
    assert shown["cheap"][:6] == ["2", "1.0", "0.0", "1.0", "1.0", "1.0"]
    assert shown["dear"][:6] == ["4", "3.0", "0.0", "2.0", "1.0", "2.0"]
    assert shown["all of it"][:4] == ["4", "3.0", "0.0", "0.0"]
    # of one GPU that two jobs share, an hour of each is half an hour of the GPU
    found.of_models = found.of_models.model_copy(update={"gpus": 1, "side_by_side": 2})
    shown = rows(found, jobs, "dear", "cheap")
    assert shown["cheap"][:6] == ["2", "0.5", "0.0", "0.5", "1.0", "1.0"]
    assert shown["dear"][:6] == ["4", "1.5", "0.0", "1.0", "1.0", "2.0"]


def test_what_is_not_known_or_would_not_end_is_said(tmp_path: Path) -> None:
    assert sentences(configured("paper"), "wmt14-en-de", "train") == 4_500_000  # as is expected
    found = estimates(stages={"train": {"minutes": 10}})  # 100 minutes in four attempts
    jobs = [job("clean", {"corpus": name}) for name in ("multi30k-en-de", "tatoeba-en-de")]
    said = " ".join(plan.notes(found, [*jobs, job("train", NAMES)]))
    assert "tatoeba-en-de" in said and "multi30k" not in said and "attempts" not in said
    found.factors = {found._kind(job("train", NAMES)): 1e6}
    said = " ".join(plan.notes(found, [job("train", NAMES)]))
    must_name(said, f"{ATTEMPTS} attempts", "'stages.train.minutes'", "config/scales/micro.yaml")


@pytest.mark.graph
@pytest.mark.timeout(1000)
def test_the_plan_has_the_jobs_of_the_graph_and_runs_none(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, {"overview", "laboratory"})
    paper = repository / "config/papers/overview.yaml"
    # seeds that are not those of the scale
    paper.write_text(yaml.safe_dump(yaml.safe_load(paper.read_text()) | {"seeds": [1, 2]}))
    for targets in (["all"], ["overview_table_1"]):
        status, screen = snakemake(repository, "-n", *targets)
        assert status == 0 and "(seed 2)" in screen, screen
        made = {rule: count for rule, count in counts(screen).items() if rule not in targets}
        status, screen = snakemake(repository, "plan", *(set(targets) - {"all"}))
        assert status == 0, screen
        assert re.search(rf"all of it +{sum(made.values())} ", screen), screen
    status, screen = snakemake(repository, "plan", "overvew")
    assert status == 1
    must_name(screen, "'overvew'", "'overview'")
    assert not (repository / "results").exists()
