"""The plan counts the jobs of the graph and adds up what they take."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_graph import copy_repository, counts, snakemake

from nat.configuration.configuration import Configuration, read
from nat.errors import UserError
from nat.reporting import plan

ROOT = Path(__file__).resolve().parents[1]
PENDING = "-\t{}\t-\tmissing\tupdate pending"


def configuration(**scale: Any) -> Configuration:
    found = read("micro", ROOT)
    micro = found.files["scales"]["micro"] | {"speed": {"training": 100, "decoding": 10}} | scale
    return replace(
        found, files={**found.files, "scales": {**found.files["scales"], "micro": micro}}
    )


def summary(*outputs: tuple[str, str]) -> list[str]:
    header = "output_file\tdate\trule\tlog-file(s)\tstatus\tplan"
    return [header, *(f"{output}\t{PENDING.format(rule)}" for output, rule in outputs)]


MODEL = "results/models/toy-micro/at-base/seed1"
SHARDS = "results/outputs/toy-micro/at-base/seed1/beam5/shards"
SCORES = "results/scores/toy-micro/at-base"


def test_outputs_of_one_job_are_one_job() -> None:
    jobs = plan.pending(
        summary(
            (f"{MODEL}/model.pt", "train"),
            (f"{MODEL}/training.json", "train"),
            (f"{MODEL}/training.csv", "train"),
            (f"{SHARDS}/train.1of2.jsonl", "translate"),
            (f"{SHARDS}/train.2of2.jsonl", "translate"),
            ("results/outputs/toy-micro/at-base/seed1/beam5/train.jsonl", "gather"),
            ("results/outputs/toy-micro/at-base/seed1/beam5/train.json", "gather"),
            ("results/papers/dims/figure_3.pdf", "figure"),
            ("results/papers/dims/figure_3.csv", "figure"),
        )
    )
    assert [job.rule for job in jobs] == ["train", "translate", "translate", "gather", "figure"]


def test_every_seed_is_a_job() -> None:
    jobs = plan.pending(
        summary(
            *((f"results/models/toy-micro/nat-kd/seed{seed}/model.pt", "train") for seed in (1, 2)),
            *((f"{SCORES}/seed{seed}/beam5/test.json", "score") for seed in (1, 2)),
            *(
                (f"results/ngram/toy-micro/at-base/seed1/order{n}.npz", "estimate_ngrams")
                for n in "34"
            ),
            *(
                (f"results/ngram/toy-micro/at-base/seed1/order{n}.json", "estimate_ngrams")
                for n in "34"
            ),
        )
    )
    assert [job.rule for job in jobs] == ["train"] * 2 + ["score"] * 2 + ["estimate_ngrams"] * 2


def test_what_is_there_is_not_counted() -> None:
    line = f"{MODEL}/model.pt\tSat Nov 21\ttrain\t-\tok\tno update"
    assert plan.pending([line]) == []


def test_hours_follow_from_recipe_and_speed() -> None:
    found = plan.estimate(
        configuration(),
        plan.pending(
            summary(
                (f"{MODEL}/model.pt", "train"),
                (f"{SHARDS}/train.1of2.jsonl", "translate"),
                ("results/scores/toy-micro/at-base/seed1/beam5/test.json", "score"),
            )
        ),
    )
    by_stage = {one.stage: one for one in found}
    recipe = configuration().training("toy-micro", "at-base")["recipe"]
    tokens = recipe["updates"] * recipe["batch_tokens"]
    assert by_stage["training"].device_hours == pytest.approx(tokens / 100 / 3600)
    # 300 pairs in two shards; a beam of 5 costs 20 passes
    assert by_stage["translation"].device_hours == pytest.approx(150 * 20 / 10 / 3600)
    assert by_stage["training"].core_hours is None
    assert by_stage["scores"].device_hours is None
    assert by_stage["scores"].core_hours == pytest.approx(plan.SECONDS_OF_SMALL_STEPS / 3600)
    assert by_stage["training"].disk_bytes > 4 * plan.weights(
        configuration().architecture("base"), 100
    )


def test_hours_of_a_length_in_epochs() -> None:
    by_epochs = configuration(recipes={"teacher": {"epochs": 40}})
    jobs = plan.pending(
        summary((f"{MODEL}/model.pt", "train"), (f"{MODEL}/kept", "train_and_keep"))
    )
    (found,) = plan.estimate(by_epochs, jobs)
    assert found.jobs == 1
    # 40 passes over 300 pairs, in whole updates
    tokens = by_epochs.training("toy-micro", "at-base")["recipe"]["batch_tokens"]
    due = -(-40 * 300 * plan.TOKENS // tokens) * tokens
    assert found.device_hours == pytest.approx(due / 100 / 3600)
    assert any("an epoch as" in sentence for sentence in plan.assumptions(by_epochs, jobs))
    assert not any(
        "an epoch as" in sentence for sentence in plan.assumptions(configuration(), jobs)
    )


def test_without_a_speed_there_are_no_hours() -> None:
    without = configuration(speed={})
    (found,) = plan.estimate(without, plan.pending(summary((f"{MODEL}/model.pt", "train"))))
    assert found.device_hours is None
    assert "no 'speed'" in plan.assumptions(without, [])[0]


def test_sizes_of_a_corpus_come_from_what_is_expected_of_it() -> None:
    assert plan.sentences(configuration(), "wmt14-en-de", "test") == 3003
    assert plan.sentences(configuration(), "wmt14-en-de", "train") == 4500000
    assert plan.sentences(configuration(), "toy-micro", "valid") == 20


MADE = "results/distilled/wmt14-en-de"
OF_STAGES = {
    "fetch_text": "results/corpora/wmt20-ja-en/text",
    "clean": "results/corpora/wmt14-en-de/clean",
    "tokenise": "results/corpora/wmt14-en-de/tokens",
    "apply_bpe": "results/corpora/wmt14-en-de/bpe",
    "binarise": "results/corpora/wmt14-en-de/binarised",
    "train": "results/models/wmt20-ja-en/dynamic-kd/seed2/model.pt",  # of SentencePieces
    "translate": "results/outputs/wmt14-en-de/at-base/seed1/beam5/shards/train.3of32.jsonl",
    "gather": "results/outputs/wmt14-en-de/at-base/seed1/beam5/train.jsonl",
    "distil": f"{MADE}/at-base/seed1/distillation.json",
    "compare_texts": f"{MADE}/similarity/at-tiny+at-base+raw/seed1/bleu.npy",
    "estimate_ngrams": "results/ngram/wmt14-en-de/at-base/seed1/order4.npz",
    "score": "results/scores/wmt14-en-de/at-base/seed1/beam5/test.json",
    "analyse": "results/analyses/wmt14-en-de/nat-kd/seed1/likelihood.json",
    "estimate_total_correlation": "results/total_correlation/wmt14-en-de/nat-raw/at-big/seed1.json",
    "measure_latency": "results/latency/wmt14-en-de/at-base/seed1/beam5/cuda-1.json",
    "table": "results/papers/dims/table_1.csv",
}
LARGE = set(OF_STAGES) - {"gather", "score", "analyse", "table"}
LARGE -= {"measure_latency", "estimate_total_correlation"}


def one(rule: str, output: str, scale: str = "paper") -> plan.Estimate:
    (found,) = plan.estimate(read(scale, ROOT), [plan.Job(rule, output)])
    return found


@pytest.mark.parametrize("rule", OF_STAGES)
def test_every_stage_takes_hours_and_disk(rule: str) -> None:
    found = one(rule, OF_STAGES[rule])
    on_gpu = rule in ("train", "translate", "analyse", "measure_latency")
    hours, others = found.device_hours, found.core_hours
    if not on_gpu:
        hours, others = others, hours
    assert hours
    assert others is None
    assert found.longest
    assert (found.disk_bytes > 1e6) == (rule in LARGE)


def test_estimates_grow_with_what_is_done() -> None:
    def hours(rule: str, output: str) -> float:
        found = one(rule, output)
        return (found.device_hours or 0) + (found.core_hours or 0)

    latency = OF_STAGES["measure_latency"]
    of_32 = hours("measure_latency", latency.replace("cuda-1", "cuda-32"))
    assert hours("measure_latency", latency) == pytest.approx(plan.ALONE_ON_A_GPU * of_32)
    assert hours("measure_latency", latency.replace("cuda-1", "cpu-1")) > of_32
    compared = OF_STAGES["compare_texts"]
    more = compared.replace("raw", "at-big+at-small+raw")
    assert one("compare_texts", more).disk_bytes == 4 * 4_500_000 * 25
    assert hours("compare_texts", more) == pytest.approx(25 / 9 * hours("compare_texts", compared))


def test_the_longest_job_is_shared_by_its_devices() -> None:
    shared = configuration(devices=8, nodes=2)
    alone, together = (
        plan.estimate(each, [plan.Job("train", f"{MODEL}/model.pt")])[0]
        for each in (configuration(), shared)
    )
    assert alone.longest == pytest.approx(alone.device_hours)
    assert together.longest == pytest.approx(alone.longest / 16)  # type: ignore[operator]
    assert together.device_hours == alone.device_hours


def test_a_corpus_of_unknown_size_is_named() -> None:
    known, unknown = (
        plan.Job("clean", f"results/corpora/{name}/clean")
        for name in ("multi30k-en-de", "tatoeba-en-de")
    )
    (said,) = [
        sentence
        for sentence in plan.assumptions(configuration(), [known, unknown])
        if "is not known" in sentence
    ]
    assert said.startswith("the size of tatoeba-en-de is not known")
    assert plan.sentences(configuration(), "multi30k-en-de", "train") == 29_000


@pytest.mark.parametrize(
    ("scale", "columns"),
    [
        ("paper", ["GPU hours", "core hours"]),
        ("demo", ["core hours"]),
    ],
)
def test_the_table_separates_gpus_from_cores(scale: str, columns: list[str]) -> None:
    found = read(scale, ROOT)
    jobs = [
        plan.Job("train", f"{MODEL}/model.pt".replace("toy-micro", "toy-ka-lu")),
        plan.Job("score", f"{SCORES}/seed1/beam5/test.json".replace("toy-micro", "toy-ka-lu")),
    ]
    shown = plan.table(found, plan.estimate(found, jobs))
    assert [str(column.header) for column in shown.columns] == [
        *["stage", "jobs"],
        *[*columns, "longest, h", "disk, GB"],
    ]
    assert list(shown.columns[2 + len(columns) - 1].cells)[1] == "< 0.1"  # not nothing: the score


def test_a_graph_that_does_not_build_says_why() -> None:
    with pytest.raises(UserError, match="^unknown scale 'x'$"):
        plan.check_summary(1, "Using profile\nerror: unknown scale 'x'\n")
    plan.check_summary(0, "")


@pytest.mark.graph
@pytest.mark.timeout(1000)
def test_the_plan_has_the_jobs_of_the_graph(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    overview = repository / "config/papers/overview.yaml"
    paper = yaml.safe_load(overview.read_text()) | {"seeds": [1, 2]}  # not those of the scale
    overview.write_text(yaml.safe_dump(paper))
    status, screen = snakemake(repository, "-n", "all")
    assert status == 0, screen
    by_stage: dict[str, int] = {}
    for rule, count in counts(screen).items():
        if rule != "all":  # which makes nothing
            stage = plan.STAGES.get(rule, rule)
            by_stage[stage] = by_stage.get(stage, 0) + count
    said = subprocess.run(
        [sys.executable, "workflow_scripts/plan.py", "--scale", "micro"],
        cwd=repository,
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    rows = re.findall(r"^\W*([a-z_ ]+?) +\W *([\d,]+) ", said, re.MULTILINE)
    shown = {stage: int(jobs.replace(",", "")) for stage, jobs in rows}
    assert shown == {**by_stage, "all": sum(by_stage.values())}
    assert "(seed 2)" in screen
    assert not (repository / "results").exists()
