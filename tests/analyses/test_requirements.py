"""Which systems an analysis measures, and what else it reads, as the graph knows it."""

import pytest

from nat.artifacts import Analysis, Inputs
from tests.messages import told
from tests.repository import configured


def inputs(analysis: str, system: str, scale: str = "demo", corpus: str = "toy-ka-lu") -> Inputs:
    """What an analysis reads."""
    return Analysis(scale, corpus, system, 1, analysis).inputs(configured(scale))


@pytest.mark.parametrize(
    ("name", "system", "part"),
    [
        ("schedule_bounds", "nat-raw", "'generator'"),
        ("step_errors", "nat-raw", "'generator'"),
        ("latent_assignment", "vae-kd", "one reference"),
    ],
)
def test_a_corpus_that_lacks_what_an_analysis_reads_is_refused(
    name: str, system: str, part: str
) -> None:
    assert inputs(name, system).subwords.step == "bpe"
    with told("multi30k-en-de", part):
        inputs(name, system, "small", "multi30k-en-de")


def test_an_analysis_without_an_entry_reads_the_model_of_any_system() -> None:
    read = inputs("own", "levt-kd")
    assert read.model.system == "levt-kd" and set(read) == {"corpus", "tests", "model"}


@pytest.mark.parametrize(
    ("name", "system", "part"),
    [
        ("confidence", "at-base", "'input.method'"),
        ("two_modes", "ctc-raw", "'decoder.upsample'"),
        ("two_modes", "axe-raw", "'target'"),
        ("two_modes", "vae-raw", "'parts.latent'"),
        ("two_orders", "inat-kd", "'input.method'"),
        *(
            ("shown_tokens", system, "'mask-predict-10-lb1'")
            for system in ("at-base", "nat-raw", "ctc-raw", "inat-kd")
        ),
        ("latent_assignment", "nat-kd", "'parts.latent'"),
        ("length_accuracy", "at-base", "'length'"),
        ("likelihood", "inat-kd", "'input.method'"),
        ("likelihood", "mask-predict-published", "'imported'"),
        ("mple", "dynamic-kd-no-regulariser", "'text'"),
        ("mple", "cmlm-kd", "'parts.input_predictor'"),
        ("reference_distances", "dynamic-kd", "'text'"),
        ("step_errors", "imputer-kd", "'target.method'"),
        ("step_errors", "ctc-vae-kd", "'parts.latent'"),
        ("step_errors", "axe-kd", "'target.method'"),
        ("step_errors", "hints-kd", "'length'"),
        ("step_errors", "sat-kd", "'input.method'"),
        ("weight_plane", "oaxe-kd", "'init_from'"),
    ],
)
def test_what_an_analysis_cannot_tell_of_a_system_is_told_before_it_is_trained(
    name: str, system: str, part: str
) -> None:
    with told("config/systems/", system, part):
        inputs(name, system)
