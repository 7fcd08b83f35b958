"""Cosines of decoder states and maps of one sentence."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from nat.analyses import state_similarity
from nat.analyses.analysis import Pairs
from nat.analyses.state_similarity import cosines, coverage, covered, maps, trace
from nat.data.batch import Batch
from nat.data.vocabulary import BOS, Vocabularies, Vocabulary
from nat.transformer.layers import DecoderTrace
from tests.tiny import make_model, make_texts

LENGTHS = ((3, 5), (7, 2), (0, 4), (4, 6), (4, 1))
TEXTS = make_texts(LENGTHS)


@pytest.mark.parametrize("causal", [False, True])
def test_pairs_of_all_sentences_count_alike(causal: bool) -> None:
    model = make_model()
    found = cosines(Pairs(model, *TEXTS, 1000), causal)
    pairs, beside = [], []
    for number in (0, 1, 3, 4):
        batch = Batch.collate([number], [TEXTS[0][number]], [TEXTS[1][number]])
        encoded, kept = model.encode(batch.source), DecoderTrace()
        shown = torch.full_like(batch.target, 4)
        if causal:
            shown = torch.cat((torch.tensor([[BOS]]), batch.target), 1)
        model.decode(shown, torch.zeros_like(shown).bool(), encoded, causal, trace=kept)
        states = kept.states[-1][0]
        for s in range(len(states)):
            for t in range(s + 1, len(states)):
                pairs.append(float(F.cosine_similarity(states[s], states[t], dim=0)))
                if t == s + 1:
                    beside.append(pairs[-1])
    assert found["state_cosine"] == pytest.approx(np.mean(pairs))
    assert found["state_cosine_neighbours"] == pytest.approx(np.mean(beside))
    for limit in (0.25, 0.5):
        share = 100 * np.mean(np.array(pairs) < limit)
        assert found[f"state_cosine_below_{limit}"] == pytest.approx(share)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layers", [2, 4])
def test_maps(causal: bool, layers: int) -> None:
    model = make_model(decoder_layers=layers)
    vocabulary = Vocabulary([f"w{number}" for number in range(29 - 6)])
    batch = Batch.collate([3], [TEXTS[0][3]], [TEXTS[1][3]])
    found = maps(model, batch, causal, Vocabularies(vocabulary, vocabulary), head=2)
    attention = trace(model, batch, causal).attention[0, 2]
    np.testing.assert_allclose(found["alignment"], attention, atol=1e-4)
    assert found["aligned_by"] == f"layer {min(layers, 3)}, head 3 of 4"
    positions = 7 if causal else 6
    assert np.shape(found["cosines"]) == (positions, positions)
    assert np.shape(found["alignment"]) == (positions, 5)
    np.testing.assert_allclose(np.diag(found["cosines"]), 1)
    np.testing.assert_allclose(found["cosines"], np.transpose(found["cosines"]))
    np.testing.assert_allclose(np.sum(found["alignment"], axis=1), 1, atol=3e-4)
    assert found["source"][-1] == "</s>" and len(found["source"]) == 5
    assert len(found["labels"]) == positions
    if causal:
        assert found["labels"] == [f"w{token - 6}" for token in TEXTS[1][3]] + ["</s>"]


def test_the_head_that_aligns_words_covers_them_best() -> None:
    sharp, even, at_end = torch.eye(4)[:3], torch.full((3, 4), 0.25), torch.zeros(3, 4)
    at_end[:, 3] = 1.0
    traced = state_similarity.TracedBatch(
        labels=torch.zeros(1, 4),
        real=torch.tensor([[True, True, True, False]]),
        cosines=torch.zeros(1, 4, 4),
        # the last position is padding, which looks at every word
        attention=torch.stack(
            [torch.cat((each, torch.ones(1, 4))) for each in (even, sharp, at_end)]
        )[None],
        words=torch.tensor([[True, True, True, False]]),
    )
    assert covered(traced)[0].tolist() == pytest.approx([0.25, 1.0, 0.0])
    found = coverage(Pairs(make_model(), *TEXTS, 1000), True)
    assert len(found) == 4 and all(0 < value < 1 for value in found)
