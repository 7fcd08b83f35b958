from collections import Counter

import torch

from nat.data.vocabulary import MASK
from nat.inputs.random_reveal import RandomReveal
from tests.tiny import make_batch, make_context, make_model


def test_every_number_is_as_likely() -> None:
    model, batch = make_model(), make_batch([(2, 4)] * 400)
    found = RandomReveal()(make_context(model, batch))
    shown = found.tokens.ne(MASK)
    assert torch.equal(found.loss_mask, ~shown)
    assert torch.equal(found.tokens[shown], batch.target[shown])
    counts = Counter(shown.sum(1).tolist())
    # 0 to 4 labels, but one stays hidden
    assert set(counts) == {0, 1, 2, 3}
    for number, share in ((0, 0.2), (1, 0.2), (2, 0.2), (3, 0.4)):
        assert abs(counts[number] / 400 - share) < 0.09
    assert all(abs(shown[:, place].double().mean() - 0.45) < 0.12 for place in range(4))


def test_the_whole_alignment_may_be_revealed() -> None:
    model = make_model(decoder={"upsample": 2.0})
    batch = make_batch([(2, 3)] * 200 + [(1, 5)])  # the last has no alignment
    found = RandomReveal()(make_context(model, batch))
    shown = found.tokens.ne(MASK) & ~found.padding
    assert torch.equal(found.tokens[shown], found.target[shown])
    assert torch.equal(found.loss_mask, ~found.padding)
    assert set(shown[:-1].sum(1).tolist()) == {0, 1, 2, 3, 4}
    assert shown[-1].sum() == 0
