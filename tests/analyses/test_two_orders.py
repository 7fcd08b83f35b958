"""What objectives learn of the sentences AB and BA."""

import pytest
import torch

from nat.analyses import two_orders
from nat.analyses.toy import tiny
from nat.analyses.two_orders import A, B, batch_of, shares
from nat.artifacts import Analysis
from nat.data.candidates import RAW, Text
from nat.data.vocabulary import SPECIALS, VocabularySizes
from nat.objective.objective import Objective
from nat.training.model_file import build_model
from tests.repository import configured, job

CORPUS = "toy-ka-lu"


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "shares"),
    [
        ("at-base", [50, 50, 0, 0, 0]),
        ("fully-nat-nat-raw", [25, 25, 25, 25, 0]),  # positions are independent
        ("ctc-raw", [25, 25, 0, 0, 50]),  # A or nothing, B for certain, A or nothing: B and ABA
        ("vae-kd", None),
    ],
)
def test_what_is_learned_of_two_sentences(system: str, shares: list[int] | None) -> None:
    """Percentages of AB, BA, AA, BB and all others."""
    asked = Analysis(configured().run, CORPUS, system, 1, "two_orders")
    measures = two_orders.analyse(job(configured(), asked))[two_orders.SPLIT]["measures"]
    names = (*two_orders.OUTPUTS, two_orders.OTHER)
    learned = [measures[f"two_orders_{name}"]["value"] for name in names]
    if shares is None:  # latents carry the order, not perfectly
        assert min(learned[:2]) > 30 and sum(learned) == pytest.approx(100)
    else:
        assert learned == pytest.approx(shares, abs=3)


def test_probabilities_are_those_of_the_objective() -> None:
    training = tiny(configured().training(CORPUS, "ctc-raw"), text=Text.of(RAW))
    torch.manual_seed(3)
    model = build_model(training, VocabularySizes(len(SPECIALS) + 4)).eval()
    found = shares(training, model)
    objective = Objective(training, model, 1, bfloat16=False).eval()
    nll = objective(model, batch_of([(A, B), (B, A), (A, A), (B, B)]), 0).parts["nll"]
    expected = nll.double().neg().exp().tolist()
    assert list(found.values()) == pytest.approx([*expected, 1 - sum(expected)], rel=1e-4)
