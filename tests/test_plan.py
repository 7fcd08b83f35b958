"""The plan counts the jobs of the graph and adds up what they take."""

import os
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_graph import copy_repository, counts, snakemake

from nat.configuration.configuration import Configuration
from nat.configuration.reading import read
from nat.workflow import dry_run, plan
from nat.workflow.cluster import ATTEMPTS
from nat.workflow.dry_run import Job
from nat.workflow.together import RULE
from tests.messages import must_name, told

ROOT = Path(__file__).resolve().parents[1]


def configuration(**scale: Any) -> Configuration:
    found = read("micro", ROOT)
    micro = found.files["scales"]["micro"] | {"speed": {"training": 100, "decoding": 10}} | scale
    micro = {key: value for key, value in micro.items() if value is not None}
    return replace(
        found, files={**found.files, "scales": {**found.files["scales"], "micro": micro}}
    )


NAMES = {"corpus": "toy-micro", "system": "at-base", "seed": "1"}
DECODED = {**NAMES, "decoding": "beam5", "split": "test"}
PAPER = {**DECODED, "corpus": "wmt14-en-de"}
MADE = tuple(
    f"results/micro/{name}"
    for decoding in ("beam5", "beam2")
    for name in (f"translations/{decoding}/test.jsonl", f"scores/{decoding}/test.json")
)


def job(rule: str, names: dict[str, str]) -> Job:
    return Job(rule, names, outputs=("made",))


def test_hours_follow_from_recipe_and_speed() -> None:
    jobs = [
        job("train", NAMES),
        job("translate", {**DECODED, "split": "train", "shard": "1", "shards": "2"}),
        job("score", DECODED),
        Job(RULE, NAMES | {"split": "test"}, outputs=MADE),
        Job("dims_table_1", {}),  # a target
    ]
    found = plan.estimate(configuration(), jobs)
    by_part = {one.part: one for one in found}
    recipe = configuration().training("toy-micro", "at-base").as_json()["recipe"]
    tokens = recipe["updates"] * recipe["batch_tokens"]
    assert by_part["training"].device_hours == pytest.approx(tokens / 100 / 3600)
    # 300 pairs in two shards; a beam of 5 costs 20 passes; and 20 sentences by two decodings
    passes = 150 * 20 + 20 * (20 + 8)
    assert by_part["translation"].device_hours == pytest.approx(passes / 10 / 3600)
    assert by_part["training"].core_hours is None
    assert by_part["scores"].device_hours is None
    assert by_part["scores"].core_hours == pytest.approx(plan.SECONDS_OF_SMALL_STEPS / 3600)
    assert by_part["training"].disk_bytes > 4 * plan.weights(
        configuration().architecture("base"), 100
    )


def test_passes_that_decodings_have_in_common_count_once() -> None:
    masks = ["one-pass-lb5", *(f"mask-predict-{steps}-lb5" for steps in (1, 4, 10))]
    twins = [f"{name}-deduplicated" for name in masks]
    made = [f"translations/{name}/test.jsonl" for name in (*masks, *twins, "mask-predict-4-lb2")]
    jobs = [Job(RULE, NAMES | {"split": "test"}, outputs=tuple(made))]
    (found,) = plan.estimate(configuration(), jobs)
    passes = 20 * (5 * (1 + 3 + 9) + 2 * 4)  # over 20 sentences
    assert found.device_hours == pytest.approx(passes / 10 / 3600)


def test_hours_of_a_length_in_epochs() -> None:
    by_epochs = configuration(recipes={"teacher": {"epochs": 40}})
    jobs = [job("train_and_keep", NAMES)]
    (found,) = plan.estimate(by_epochs, jobs)
    assert found.jobs == 1
    # 40 passes over 300 pairs, in whole updates
    tokens = by_epochs.training("toy-micro", "at-base").recipe.batch_tokens
    due = -(-40 * 300 * plan.TOKENS // tokens) * tokens
    assert found.device_hours == pytest.approx(due / 100 / 3600)
    assert any("an epoch as" in sentence for sentence in plan.assumptions(by_epochs, jobs))
    assert not any(
        "an epoch as" in sentence for sentence in plan.assumptions(configuration(), jobs)
    )


def test_without_a_speed_there_are_no_hours() -> None:
    without = configuration(speed=None)
    (found,) = plan.estimate(without, [job("train", NAMES)])
    assert found.device_hours is None
    assert "no 'speed'" in plan.assumptions(without, [])[0]


def test_sizes_of_a_corpus_come_from_what_is_expected_of_it() -> None:
    assert plan.sentences(configuration(), "wmt14-en-de", "test") == 3003
    assert plan.sentences(configuration(), "wmt14-en-de", "train") == 4500000
    assert plan.sentences(configuration(), "toy-micro", "valid") == 20


OF_RULES = {
    "fetch_text": {"corpus": "wmt20-ja-en"},
    "clean": {"corpus": "wmt14-en-de"},
    "tokenise": {"corpus": "wmt14-en-de"},
    "apply_bpe": {"corpus": "wmt14-en-de"},
    "binarise": {"corpus": "wmt14-en-de"},
    "train": {"corpus": "wmt20-ja-en", "system": "dynamic-kd"},  # of SentencePieces
    "translate": {**PAPER, "split": "train", "shard": "3", "shards": "32"},
    "merge_shards": {**PAPER, "split": "train"},
    "distil": {"corpus": "wmt14-en-de", "system": "at-base", "seed": "1"},
    "compare_texts": {
        **{"corpus": "wmt14-en-de", "candidates": "at-base+at-12-1-kd+raw"},
        **{"shard": "3", "shards": "32"},
    },
    "merge_comparisons": {"corpus": "wmt14-en-de", "candidates": "at-base+at-12-1-kd+raw"},
    "estimate_ngrams": {**PAPER, "order": "4"},
    "tune_decoding": {**PAPER, "system": "ctc-kd", "decoding": "ctc-beam20-lm4-tuned"},
    "score": PAPER,
    "analyse": {**PAPER, "system": "nat-kd"},
    "estimate_total_correlation": {**PAPER, "system": "nat-raw", "other": "at-big"},
    "measure_latency": {**PAPER, "group": "speed_table_1", "setting": "cuda-1"},
    "convert": {**PAPER, "engine": "onnx"},
    "trace_decoding": {**PAPER, "split": "test"},
    "make_report": {"run": "paper"},
    "table": {"paper": "dims", "number": "1"},
}
BEAMS = ["beam5", "beam1"]
SETTINGS = ["cuda-1", "cuda-32", "cpu-1", "thread-32", "cores-32"]
SPEED = {
    "title": "latencies",
    "cells": {"task": "wmt14-en-de", "measure": "latency"},
    "tables": {
        "1": {
            "title": "two decodings",
            "columns": [{"setting": SETTINGS, "label": "{setting}"}],
            "rows": [
                {"label": name, "system": "at-base", "decoding": name}
                for name in ("beam5", "beam1")
            ],
        }
    },
}
LARGE = set(OF_RULES) - {"merge_shards", "score", "analyse", "table", "make_report"}
LARGE -= {"measure_latency", "estimate_total_correlation", "tune_decoding", "trace_decoding"}

ON_GPU = {"train", "translate", "tune_decoding", "trace_decoding", "analyse", "measure_latency"}


def one(rule: str, names: dict[str, str], scale: str = "paper") -> plan.Estimate:
    configured = read(scale, ROOT)
    configured.files["papers"]["speed"] = SPEED
    (found,) = plan.estimate(configured, [job(rule, names)])
    return found


@pytest.mark.parametrize("rule", OF_RULES)
def test_every_part_takes_hours_and_disk(rule: str) -> None:
    found = one(rule, OF_RULES[rule])
    on_gpu = rule in ON_GPU
    hours, others = found.device_hours, found.core_hours
    if not on_gpu:
        hours, others = others, hours
    assert hours
    assert others is None
    assert found.longest
    assert (found.disk_bytes > 1e6) == (rule in LARGE)


def test_a_size_is_that_of_the_task() -> None:
    names = {"corpus": "iwslt14-de-en", "system": "hints-kd", "seed": "1"}
    found, paper = one("train", names), read("paper", ROOT)
    recipe = paper.training("iwslt14-de-en", "hints-kd").recipe
    assert paper.on("iwslt14-de-en").system("hints-kd").size != paper.system("hints-kd").size
    tokens = plan.estimated_tokens(
        recipe, plan.TOKENS * plan.sentences(paper, "iwslt14-de-en", "train")
    )
    factor = plan._size(paper.on("iwslt14-de-en"), "hints-kd")
    speed = paper.scale_settings.speed
    assert speed is not None and factor < 0.5
    hours = (found.device_hours or 0) + (found.core_hours or 0)
    assert hours == pytest.approx(tokens / speed.training * factor / 3600)


def test_estimates_grow_with_what_is_done() -> None:
    def hours(rule: str, **names: str) -> float:
        found = one(rule, {**OF_RULES[rule], **names})
        return (found.device_hours or 0) + (found.core_hours or 0)

    of_32 = hours("measure_latency", setting="cuda-32")
    assert hours("measure_latency") == pytest.approx(plan.ALONE_ON_A_GPU * of_32)
    on_processors = [
        hours("measure_latency", setting=each) for each in ("cpu-1", "thread-32", "cores-32")
    ]
    speed = read("paper", ROOT).scale_settings.speed
    assert speed is not None
    slower = speed.decoding / plan.PER_SECOND_ON_A_PROCESSOR
    assert on_processors == pytest.approx([slower * of_32] * 3)
    converted = one("convert", {**PAPER, "engine": "onnx"}).disk_bytes
    assert converted == one("convert", {**PAPER, "engine": "ctranslate2"}).disk_bytes > 0
    five = {"corpus": "wmt14-en-de", "candidates": "a+b+c+d+raw"}
    shard = {**five, "shard": "3", "shards": "10"}
    assert one("merge_comparisons", five).disk_bytes == 4 * 4_500_000 * 25
    assert one("compare_texts", shard).disk_bytes == 4 * 450_000 * 25
    more = hours("compare_texts", **five)
    assert more == pytest.approx(25 / 9 * hours("compare_texts"))


def test_every_rule_that_makes_something_belongs_to_a_part() -> None:
    rules = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    blocks = re.split(r"^ *(?:use )?rule ", rules, flags=re.MULTILINE)[1:]
    names = {
        re.split(r"[ :]", block.partition(" as ")[2] if " as " in block.splitlines()[0] else block)[
            0
        ]
        for block in blocks
        if "output:" in block or " as " in block.splitlines()[0]
    }
    assert names == set(plan.PARTS)


def test_notes_are_not_among_the_assumptions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dry_run, "pending", lambda *_: ([job("train", NAMES)], ["note: look"]))
    monkeypatch.setattr(sys, "argv", ["plan.py", "--scale", "micro"])
    runpy.run_path(str(ROOT / "workflow_scripts/plan.py"), run_name="plan")["main"]()
    shown = capsys.readouterr()
    assert shown.err == "note: look\n"
    assert "training" in shown.out and "look" not in shown.out


def test_the_longest_job_is_shared_by_its_devices() -> None:
    shared = configuration(devices=8, nodes=2)
    alone, together = (
        plan.estimate(each, [job("train", NAMES)])[0] for each in (configuration(), shared)
    )
    assert alone.longest == pytest.approx(alone.device_hours)
    assert together.longest == pytest.approx(alone.longest / 16)  # type: ignore[operator]
    assert together.device_hours == alone.device_hours


def test_a_corpus_of_unknown_size_is_named() -> None:
    known, unknown = (
        job("clean", {"corpus": name}) for name in ("multi30k-en-de", "tatoeba-en-de")
    )
    said = " ".join(plan.assumptions(configuration(), [known, unknown]))
    assert "tatoeba-en-de" in said and "multi30k" not in said
    assert plan.sentences(configuration(), "multi30k-en-de", "train") == 29_000


@pytest.mark.parametrize(
    ("scale", "columns"), [("paper", ["GPU hours", "core hours"]), ("demo", ["core hours"])]
)
def test_the_table_separates_gpus_from_cores(scale: str, columns: list[str]) -> None:
    found = read(scale, ROOT)
    jobs = [
        job("train", {**NAMES, "corpus": "toy-ka-lu"}),
        job("score", {**DECODED, "corpus": "toy-ka-lu"}),
    ]
    shown = plan.table(found, plan.estimate(found, jobs))
    assert [str(column.header) for column in shown.columns] == [
        *["part", "jobs"],
        *[*columns, "longest, h", "disk, GB"],
    ]
    assert list(shown.columns[2 + len(columns) - 1].cells)[1] == "< 0.1"  # not nothing: the score


def test_a_graph_that_does_not_build_says_why() -> None:
    ended = subprocess.run(
        [sys.executable, "workflow_scripts/plan.py", "--scale", "micro", "dimz"],
        cwd=ROOT,
        text=True,
        capture_output=True,
    )
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1
    must_name(ended.stderr, "'dimz'", "'dims'")


def test_the_error_of_a_graph_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = f"{'long ' * 200}end"

    def end(arguments: list[str]) -> None:
        sys.stderr.write(f"Using x.\nerror: {whole}\nmore\n")
        sys.exit(1)

    monkeypatch.setattr("snakemake.cli.main", end)
    with told(whole):
        dry_run.pending(["all"], [])


@pytest.mark.graph
@pytest.mark.timeout(1000)
@pytest.mark.parametrize(
    "papers", [{"overview", "laboratory", "mple"}, pytest.param(None, marks=pytest.mark.long)]
)
def test_the_plan_has_the_jobs_of_the_graph(tmp_path: Path, papers: set[str] | None) -> None:
    repository = copy_repository(tmp_path, papers)
    overview = repository / "config/papers/overview.yaml"
    paper = yaml.safe_load(overview.read_text()) | {"seeds": [1, 2]}  # not those of the scale
    overview.write_text(yaml.safe_dump(paper))
    status, screen = snakemake(repository, "-n", "all")
    assert status == 0, screen
    by_part: dict[str, int] = {}
    for rule, count in counts(screen).items():
        if rule != "all":  # which makes nothing
            part = plan.PARTS.get(rule, rule)
            by_part[part] = by_part.get(part, 0) + count
    said = subprocess.run(
        [sys.executable, "workflow_scripts/plan.py", "--scale", "micro"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository)},
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    rows = re.findall(r"^\W*([a-z_ ]+?) +\W *([\d,]+) ", said, re.MULTILINE)
    shown = {part: int(jobs.replace(",", "")) for part, jobs in rows}
    assert shown == {**by_part, "all": sum(by_part.values())}
    assert "(seed 2)" in screen
    assert not (repository / "results").exists()


def test_jobs_that_would_not_end_are_named(tmp_path: Path) -> None:
    recipe = configuration().training("toy-micro", "at-base").recipe
    hours = recipe.updates * recipe.batch_tokens / 3600 if recipe.updates else 0
    stages = {"stages": {"train": {"minutes": 10}}}  # 100 minutes in four attempts
    slow, fast = ({"speed": {"training": hours / limit, "decoding": 10}} for limit in (1.7, 1.6))
    at = replace(configuration(**slow, **stages), root=tmp_path)
    (found,) = plan.too_long(at, [job("train", NAMES), job("score", DECODED)])
    must_name(found, "4 attempts", "'stages.train.minutes'", "config/scales/micro.yaml")
    at = replace(configuration(**fast, **stages), root=tmp_path)
    assert plan.too_long(at, [job("train", NAMES)]) == []
    # a latency starts again in each attempt, and a cluster may limit them all
    (tmp_path / "config").mkdir()
    (tmp_path / "config/cluster.yaml").write_text("cpu: {most_minutes: 5}\n")
    assert len(plan.too_long(at, [job("train", NAMES)])) == 1


def test_a_job_has_as_many_attempts_as_the_profile_says() -> None:
    profile = yaml.safe_load((ROOT / "slurm/config.yaml").read_text())
    assert profile["retries"] + 1 == ATTEMPTS
