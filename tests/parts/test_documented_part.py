"""The network part that docs/adding-a-method.md shows from start to end."""

import sys
from types import ModuleType
from typing import Any

import pytest
import torch

from nat import registry
from nat.data.vocabulary import MASK, PAD
from tests.repository import ROOT
from tests.tiny import make_batch, make_model, make_objective


@pytest.fixture(autouse=True)
def part(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/adding-a-method.md").read_text(encoding="utf-8")
    code = page.split("`nat/parts/mask_share.py`:\n\n```python\n")[1].split("```")[0]
    module = ModuleType("nat.parts.mask_share")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # where pydantic looks for types
    exec(code, vars(module))
    known = registry.find
    monkeypatch.setattr(
        registry, "find", lambda *of: module.METHOD if "mask_share" in of else known(*of)
    )


def test_it_begins_without_effect_and_is_learned() -> None:
    batch = make_batch()
    parts = {"mask_share": {"levels": 4}}
    plain, model = make_model(length="offset"), make_model(length="offset", parts=parts)
    own = {name for name in model.state_dict() if name not in plain.state_dict()}
    assert own == {"mask_share.embedding.weight"}
    model.load_state_dict(plain.state_dict(), strict=False)
    with torch.no_grad():
        model.mask_share.embedding.weight.zero_()
    tokens = torch.where(batch.target_padding, PAD, MASK)

    def decoded(which: Any) -> torch.Tensor:
        return which.decode(tokens, batch.target_padding, which.encode(batch.source), causal=False)

    torch.testing.assert_close(decoded(model), decoded(plain))
    objective = make_objective(model.train(), "random_mask", {"method": "cross_entropy"})
    objective(model, batch, 0).value.sum().backward()
    assert model.mask_share.embedding.weight.grad.abs().sum() > 0
