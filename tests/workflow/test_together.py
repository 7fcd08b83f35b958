"""Which decodings share a job."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from nat.artifacts import Score
from nat.configuration import Configuration
from nat.workflow.graph import inputs_of
from nat.workflow.together import RULE, Together, rule_kind, together
from nat.workflow.wiring import Wiring
from tests.repository import changed, configured

CORPUS = "toy-micro"


def configuration(shards: int = 1) -> Configuration:
    of_splits = {"train": 2, "valid": 1, "test": shards}
    return changed(configured("micro"), "scales", "micro", shards=of_splits)


def score(system: str, decoding: str, seed: int = 1, split: str = "test") -> Score:
    return Score("micro", CORPUS, system, seed, decoding, split)


def test_decodings_of_a_model_and_split_for_the_same_papers_share_a_job() -> None:
    asked = {
        score("at-base", "beam5"): {"dims"},
        score("at-base", "beam2"): {"dims"},
        score("at-base", "beam3"): {"dims", "overview"},
        score("at-base", "beam4"): {"overview", "dims"},
        score("at-base", "beam5", split="valid"): {"dims"},
        score("at-big", "beam5"): {"dims"},
    }
    assert together(configuration(), asked) == [
        Together(CORPUS, "at-base", "test", ("dims",), (), ("beam2", "beam5"), (1,)),
        Together(CORPUS, "at-base", "test", ("dims", "overview"), (), ("beam3", "beam4"), (1,)),
    ]
    assert together(configuration(shards=2), asked) == []


@pytest.mark.parametrize(
    ("decodings", "together_with"),
    [
        (
            "one-pass npd3 npd9 ctc hints-npd9 ctc-beam20-lm3 ctc-beam20-lm4",
            # the same model at this scale; n-grams of two orders are two models
            {(): ("ctc", "one-pass"), ("at-base",): ("hints-npd9", "npd3", "npd9")},
        ),
        (
            "ctc ctc-tuned onnx-int8-1-lb1 onnx-int8-ctc-tuned",
            {(): ("ctc", "onnx-int8-1-lb1"), ("tuned",): ("ctc-tuned", "onnx-int8-ctc-tuned")},
        ),
    ],
)
def test_decodings_share_a_job_that_consult_the_same_model_and_are_all_tuned_or_none(
    decodings: str, together_with: dict[tuple[str, ...], tuple[str, ...]]
) -> None:
    asked = {score("ctc-kd", decoding): {"mine"} for decoding in decodings.split()}
    jobs = together(configuration(), asked)
    assert {each.consulted: each.decodings for each in jobs} == together_with
    assert len({each.rule for each in jobs}) == len({each.place for each in jobs}) == 2


def test_seeds_with_the_same_decodings_share_a_rule() -> None:
    asked = {
        score("at-base", decoding, seed): {"mine"}
        for decoding, seeds in {"beam2": (1, 2, 3), "beam3": (1, 2, 3), "beam4": (3,)}.items()
        for seed in seeds
    }
    found = together(configuration(), asked)
    assert [(each.seeds, len(each.decodings)) for each in found] == [((1, 2), 2), ((3,), 3)]
    assert len({each.rule for each in found}) == 2
    assert {rule_kind(each.rule) for each in found} == {RULE}
    assert rule_kind("translate") == "translate"


def test_a_job_waits_for_what_any_of_its_decodings_reads() -> None:
    wiring = Wiring(configured("micro"), dry=True, cores=2)
    engines = set()
    for job in wiring.graph.together:
        read = wiring.reads(job)(SimpleNamespace(seed=job.seeds[0]))
        found = {path for paths in read.values() for path in paths}
        for score in job.scores("micro", job.seeds[0]):
            for paths in inputs_of(wiring.configuration, score).values():
                assert found >= set(paths)
        engines.add(frozenset({"ctranslate2", "onnx"} & {Path(path).name for path in found}))
    assert {"ctranslate2", "onnx"} in engines
