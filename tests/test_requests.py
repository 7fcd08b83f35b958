"""A path that no rule makes is told with what is wrong in it."""

import re
from pathlib import Path
from typing import Any

import pytest

from nat.artifacts import Analysis, Artifact, Model, TotalCorrelation
from nat.configuration import Choice, Configuration, load
from nat.errors import UserError
from nat.workflow.graph import inputs_of
from nat.workflow.requests import NUMBER, why_no_rule

ROOT = Path(__file__).resolve().parents[1]
RULES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
RULES = RULES.replace('"<run>/', '"results/{run}/')
OUTPUTS = re.findall(r'=(?:directory\(|(?:update|report)\(\s*)?"(results/[^"]+)"', RULES)
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
        ("micro/models/toy-micro/nat-kdd/seed1/model.pt", "did you mean 'nat-kd'?"),
        ("micro/model/toy-micro/nat-kd/seed1/model.pt", "mean results/micro/models/toy-micro/nat"),
        ("micro/models/toy-micro/nat-kd/seed1/model.pth", "nat-kd/seed1/model.pt?"),
        ("micro/models/toy-micr/nat-kd/seed1/model.pt", "did you mean 'toy-micro'?"),
        ("corpora/toy-micr/text", "did you mean 'toy-micro'?"),
        ("demo/models/toy-micro/nat-kd/seed1/model.pt", "'--config scale=demo'"),
        ("demo@wide/models/toy-micro/nat-kd/seed1/model.pt", "'--config scale=demo name=wide"),
        ("dem/models/toy-micro/nat-kd/seed1/model.pt", "did you mean 'demo'?"),
        ("micro/scores/toy-micro/nat-kd/seed1/one-pas/test.json", "did you mean 'one-pass'?"),
        ("micro/scores/toy-micro/nat-kd/seed1/one-pass/tets.json", "did you mean 'test'?"),
        ("micro/analyses/toy-micro/nat-kd/seed1/mpel.json", "did you mean 'mple'?"),
        ("micro/models/toy-micro/nat-kd/seed01/model.pt", "unknown seed '01'"),
        ("micro/models/toy-micro/nat-kd/seed01", "unknown seed '01'"),
        ("micro/latency/toy-micro/dims_table_1/seedx/cpu-1.json", "give a number such as 1"),
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-x.json", "expected cpu-N"),
        ("micro/latency/toy-micro/dms_table_1/seed1/cpu-1.json", "mean 'dims_table_1'?"),
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-1.json", "shows no latency"),
        ("micro/papers/dms/table_1.csv", "did you mean 'dims'?"),
        ("nothing", "unknown scale 'nothing'"),
        ("micro/nothing", "see docs/results.md"),
        (
            "micro/models/toy-micro/nat-kd/seed1",
            "is a folder; request an output in it: {engine}, m",
        ),
        ("micro/models/toy-micro/nat-kdd/seed1", "did you mean 'nat-kd'?"),
        ("micro/papers/dims/", "papers/dims is a folder; request an output in it: table_{number}"),
        (
            "micro/translations/toy-micro/nat-kd/seed1/one-pass",
            "is a folder; request an output in it: {split}.jsonl, {split}.json",
        ),
        ("corpora/toy-micro", "is a folder; request an output in it: text, references, tests/"),
        ("micro", "is a folder; docs/results.md lists the outputs in it"),
        ("micro/models/nat-kd/seed1/model.pt", "see docs/results.md"),
        ("micro/model/toy-micr/nat-kd/seed1/model.pt", "s/{corpus}/nat-kd/seed1/model.pt?"),
        ("micro/models/toy-micro/nat-kd/first/model.pt", "/nat-kd/seed{seed}/model.pt?"),
        (
            "micro/latency/toy-micr/dims_table_1/seed1/cpu-1.jsn",
            "y/{corpus}/dims_table_1/seed1/{sett",
        ),
        ("micro/papers/dims/table_1.cvs", "/table_{number}.csv?"),
    ],
)
def test_the_name_that_is_wrong_is_told(
    configuration: Configuration, path: str, expected: str
) -> None:
    assert expected in why_no_rule(configuration, f"results/{path}", OUTPUTS)


CORRELATION = "for a total correlation"


@pytest.mark.parametrize(
    ("artifact", "names", "message"),
    [
        (Analysis, ["nat-raw", 1, "latent_components"], "nat.* key 'latent' is null"),
        (Analysis, ["at-base", 1, "length_accuracy"], "at.* key 'length' is null"),
        (Analysis, ["hrt", 1, "state_similarity"], "hrt.*: states are compared for"),
        (Analysis, ["nat-raw", 1, "latent_assignment"], "nat.* key 'latent' is null"),
        (Analysis, ["at-base", 1, "mple"], "at.*: the losses of MPLE"),
        (Analysis, ["at-base", 1, "confidence"], "at.*: the confidence of a pass over masks"),
        (TotalCorrelation, ["cmlm-raw", "at-base", 1], f"cmlm.* full_mask {CORRELATION}"),
        (TotalCorrelation, ["nat-raw", "nat-raw", 1], f"nat.* previous_tokens {CORRELATION}"),
    ],
)
def test_what_cannot_be_measured_of_a_system_is_told_before_any_job(
    configuration: Configuration, artifact: type[Artifact], names: list[Any], message: str
) -> None:
    with pytest.raises(UserError, match=f"config/systems/{message}"):
        inputs_of(configuration, artifact("micro", "toy-micro", *names))


def test_a_corpus_that_the_scale_does_not_have_is_told(configuration: Configuration) -> None:
    with pytest.raises(UserError, match="scales/micro.yaml: key 'tasks': .*'toy-ka-lu'"):
        inputs_of(configuration, Model("micro", "toy-ka-lu", "nat-kd", 1))
