"""What objectives learn of the sentences AB and BA."""

import pytest
import torch

from nat.analyses import two_orders
from nat.analyses.two_orders import A, B, batch_of, shares, toy
from nat.artifacts import Analysis
from nat.configuration.configuration import Configuration
from nat.data.vocabulary import SPECIALS, VocabularySizes
from nat.objective.objective import Objective
from nat.training.model_file import build_model
from nat.workflow.specification import job
from tests.repository import configured

CORPUS = "toy-ka-lu"


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return configured()


def learned(configuration: Configuration, system: str) -> list[float]:
    """Percentages of AB, BA, AA, BB and all others."""
    found = two_orders.analyse(
        job(configuration, Analysis(configuration.run, CORPUS, system, 1, "two_orders"))
    )
    measures = found[two_orders.SPLIT]["measures"]
    return [
        measures[f"two_orders_{name}"]["value"] for name in (*two_orders.OUTPUTS, two_orders.OTHER)
    ]


@pytest.mark.long
def test_an_autoregressive_model_learns_both_sentences(configuration: Configuration) -> None:
    assert learned(configuration, "at-base") == pytest.approx([50, 50, 0, 0, 0], abs=3)


@pytest.mark.long
def test_independent_positions_mix_them(configuration: Configuration) -> None:
    assert learned(configuration, "fully-nat-nat-raw") == pytest.approx([25, 25, 25, 25, 0], abs=2)


@pytest.mark.long
def test_alignments_do_not_help_with_order(configuration: Configuration) -> None:
    # A or nothing, B for certain, A or nothing: also B and ABA
    assert learned(configuration, "ctc-raw") == pytest.approx([25, 25, 0, 0, 50], abs=3)


@pytest.mark.long
def test_latents_do(configuration: Configuration) -> None:
    found = learned(configuration, "vae-kd")
    assert min(found[:2]) > 30 and sum(found) == pytest.approx(100)


def test_probabilities_are_those_of_the_objective(configuration: Configuration) -> None:
    training = toy(configuration.training(CORPUS, "ctc-raw"))
    torch.manual_seed(3)
    model = build_model(training, VocabularySizes(len(SPECIALS) + 4)).eval()
    found = shares(training, model)
    objective = Objective(training, model, 1, bfloat16=False).eval()
    nll = objective(model, batch_of([(A, B), (B, A), (A, A), (B, B)]), 0).parts["nll"]
    expected = nll.double().neg().exp().tolist()
    assert list(found.values()) == pytest.approx([*expected, 1 - sum(expected)], rel=1e-4)
