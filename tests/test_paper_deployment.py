"""The file of the deployment table: what it shows, and what is timed together."""

from pathlib import Path

import pytest
from repository import configured

from nat.cells import timing
from nat.configuration import Configuration
from nat.measures.latency_setting import parse_setting
from tests.paper_files import assert_targets_resolve

ROOT = Path(__file__).resolve().parents[1]
PAPER = "deployment"
TARGETS = {"deployment_table_1", "deployment_figure_1", "deployment_claims"}


@pytest.fixture(scope="module", params=["paper", "demo", "micro"])
def configuration(request: pytest.FixtureRequest) -> Configuration:
    return configured(request.param)


def test_every_table_and_figure_resolves(configuration: Configuration) -> None:
    assert_targets_resolve(configuration, PAPER, TARGETS)


def test_all_systems_of_a_setting_are_timed_together(configuration: Configuration) -> None:
    corpus = configuration.tasks["wmt14-en-de"]
    group = timing.group_name(PAPER, "table", "1")
    for setting in ("thread-1", "thread-32", "cores-1", "cores-32", "cuda-1", "cuda-largest"):
        parse_setting(setting)
        found = timing.find(configuration, corpus, group, configuration.seeds[0], setting)
        decodings = [name.split("/")[1] for name in found.names]
        for engine in (
            *("beam5-tuned", "ctranslate2-int8-beam5-tuned", "ctranslate2-int8-ctc-tuned"),
            *("onnx-int8-ctc-tuned", "onnx-int8-1-lb1", "onnx-int8-2-lb1", "ctc-tuned"),
        ):
            assert engine in decodings, setting
        # CTranslate2 has float16 where there is a GPU
        of_engine = 12 if configuration.scale == "paper" else 8
        assert ("ctranslate2-float16-beam5-tuned" in decodings) == (configuration.scale == "paper")
        assert len(found.names) == of_engine + 2 + 3 + 5 + 6 + 1
