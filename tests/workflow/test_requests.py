"""A path that no rule makes is told with what is wrong in it."""

import re
from pathlib import Path
from typing import Any

import pytest

from nat.artifacts import Analysis, Artifact, Model, TotalCorrelation
from nat.configuration import Choice, Configuration, load
from nat.workflow.graph import inputs_of
from nat.workflow.requests import NUMBER, why_no_rule
from tests.messages import must_name, told

ROOT = Path(__file__).resolve().parents[2]
RULES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
RULES = RULES.replace('"<run>/', '"results/{run}/')
OUTPUTS = re.findall(r'=(?:directory\(|report\(\s*)?"(results/[^"]+)"', RULES)
ALLOWED = {"corpus": "toy-micro", "system": "nat-kd", "seed": NUMBER, "engine": "ctranslate2|onnx"}
OUTPUTS = [
    re.sub(r"\{(\w+)\}", lambda found: f"{{{found[1]},{ALLOWED.get(found[1], '.+')}}}", path)
    for path in OUTPUTS
]


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return load(Choice("micro"), ROOT)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("micro/models/toy-micro/nat-kdd/seed1/model.pt", "'nat-kd'"),
        ("micro/model/toy-micro/nat-kd/seed1/model.pt", "results/micro/models/toy-micro/nat-kd"),
        ("micro/models/toy-micro/nat-kd/seed1/model.pth", "nat-kd/seed1/model.pt"),
        ("corpora/toy-micr/text", "'toy-micro'"),
        ("demo/models/toy-micro/nat-kd/seed1/model.pt", "--config scale=demo"),
        ("demo@wide/models/toy-micro/nat-kd/seed1/model.pt", "--config scale=demo name=wide"),
        ("dem/models/toy-micro/nat-kd/seed1/model.pt", "'demo'"),
        ("micro/scores/toy-micro/nat-kd/seed1/one-pas/test.json", "'one-pass'"),
        ("micro/scores/toy-micro/nat-kd/seed1/one-pass/tets.json", "'test'"),
        ("micro/analyses/toy-micro/nat-kd/seed1/mpel.json", "'mple'"),
        ("micro/models/toy-micro/nat-kd/seed01/model.pt", "seed '01'"),
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-x.json", "cpu-N"),
        ("micro/latency/toy-micro/hnts_table_1/seed1/cpu-1.json", "'hints_table_1'"),
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-1.json", "latency"),
        ("micro/papers/dms/table_1.csv", "'dims'"),
        ("micro/model/toy-micr/nat-kd/seed1/model.pt", "results/micro/models/toy-micr/nat-kd"),
        ("micro/nothing", "docs/results.md"),
    ],
)
def test_the_name_that_is_wrong_is_told(
    configuration: Configuration, path: str, expected: str
) -> None:
    must_name(why_no_rule(configuration, f"results/{path}", ["all", "dims"], OUTPUTS), expected)


def test_the_nearest_target_is_told(configuration: Configuration) -> None:
    must_name(why_no_rule(configuration, "dimz", ["all", "dims"], OUTPUTS), "'dimz'", "'dims'")


@pytest.mark.parametrize(
    ("artifact", "names", "file", "part"),
    [
        (Analysis, ["nat-raw", 1, "latent_components"], "nat", "'parts.latent'"),
        (TotalCorrelation, ["cmlm-raw", 1, "at-base"], "cmlm", "full_mask"),
        (TotalCorrelation, ["nat-raw", 1, "nat-raw"], "nat", "previous_tokens"),
    ],
)
def test_what_cannot_be_measured_of_a_system_is_told_before_any_job(
    configuration: Configuration, artifact: type[Artifact], names: list[Any], file: str, part: str
) -> None:
    with told(f"config/systems/{file}.yaml", names[0], part):
        inputs_of(configuration, artifact("micro", "toy-micro", *names))


def test_a_corpus_that_the_scale_does_not_have_is_told(configuration: Configuration) -> None:
    with told("scales/micro.yaml", "tasks", "toy-ka-lu"):
        inputs_of(configuration, Model("micro", "toy-ka-lu", "nat-kd", 1))
