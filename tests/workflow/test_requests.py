"""A path that no rule makes is told with what is wrong in it."""

from typing import Any

import pytest

from nat.artifacts import Analysis, Artifact, Model, TotalCorrelation
from nat.workflow.graph import Graph, inputs_of
from tests.messages import must_name, told
from tests.repository import configured


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(configured("micro"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("micro/models/toy-micro/nat-kdd/seed1/model.pt", "models/toy-micro/nat-kd/seed1"),
        ("micro/model/toy-micro/nat-kd/seed1/model.pt", "micro/models/toy-micro/nat-kd"),
        ("corpora/toy-micr/train/text", "corpora/toy-micro/train/text"),
        ("demo/models/toy-micro/nat-kd/seed1/model.pt", "--config scale=demo"),
        ("demo@wide/models/toy-micro/nat-kd/seed1/model.pt", "--config scale=demo name=wide"),
        ("micro/scores/toy-micro/nat-kd/seed1/one-pas/test.json", "seed1/one-pass/test.json"),
        ("micro/models/toy-micro/nat-kd/seed01/model.pt", "nat-kd/seed1/model.pt"),
        ("micro/papers/dms/table_1.csv", "papers/dims/table_1.csv"),
        ("nothing/that/is/made", "docs/results.md"),
    ],
)
def test_the_nearest_path_or_target_is_told(graph: Graph, path: str, expected: str) -> None:
    must_name(graph.why_no_rule(f"results/{path}", ["all", "dims"]), expected)
    must_name(graph.why_no_rule("dimz", ["all", "dims"]), "'dimz'", "'dims'")


@pytest.mark.parametrize(
    ("artifact", "names", "file", "part"),
    [
        (Analysis, ["nat-raw", 1, "latent_components"], "nat", "'parts.latent'"),
        (TotalCorrelation, ["cmlm-raw", 1, "at-base"], "cmlm", "full_mask"),
        (TotalCorrelation, ["nat-raw", 1, "nat-raw"], "nat", "previous_tokens"),
        (TotalCorrelation, ["nat-kd", 1, "at-base"], "nat", "'text'"),
    ],
)
def test_what_cannot_be_measured_of_a_system_is_told_before_any_job(
    graph: Graph, artifact: type[Artifact], names: list[Any], file: str, part: str
) -> None:
    with told(f"config/systems/{file}.yaml", names[0], part):
        inputs_of(graph.configuration, artifact("micro", "toy-micro", *names))


def test_a_corpus_that_the_scale_does_not_have_is_told(graph: Graph) -> None:
    with told("scales/micro.yaml", "tasks", "toy-ka-lu"):
        inputs_of(graph.configuration, Model("micro", "toy-ka-lu", "nat-kd", 1))
