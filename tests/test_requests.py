"""A path that no rule makes is told with what is wrong in it."""

import re
from pathlib import Path

import pytest

from nat.artifacts import Model
from nat.configuration import Choice, load
from nat.errors import UserError
from nat.workflow.graph import inputs_of
from nat.workflow.requests import why_no_rule

ROOT = Path(__file__).resolve().parents[1]
RULES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
RULES = RULES.replace('"<run>/', '"results/{run}/')
OUTPUTS = re.findall(r'=(?:directory\(|(?:update|report)\(\s*)?"(results/[^"]+)"', RULES)
OUTPUTS = [path.replace("{engine}", "{engine,ctranslate2|onnx}") for path in OUTPUTS]


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
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-x.json", "expected cpu-N"),
        ("micro/latency/toy-micro/dms_table_1/seed1/cpu-1.json", "mean 'dims_table_1'?"),
        ("micro/latency/toy-micro/dims_table_1/seed1/cpu-1.json", "shows no latency"),
        ("micro/papers/dms/table_1.csv", "did you mean 'dims'?"),
        ("nothing", "see docs/results.md"),
    ],
)
def test_the_name_that_is_wrong_is_told(path: str, expected: str) -> None:
    configuration = load(Choice("micro"), ROOT)
    assert expected in why_no_rule(configuration, f"results/{path}", OUTPUTS)


def test_a_corpus_that_the_scale_does_not_have_is_told() -> None:
    configuration = load(Choice("micro"), ROOT)
    with pytest.raises(UserError, match="scales/micro.yaml: key 'tasks': .*'toy-ka-lu'"):
        inputs_of(configuration, Model("micro", "toy-ka-lu", "nat-kd", 1))
