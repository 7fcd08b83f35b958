import math
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.vocabulary import BOS, MASK, PAD
from nat.parts.options import LatentOptions
from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.model import Transformer, sinusoidal_positions
from tests.messages import told
from tests.tiny import decoded, make_batch, make_model

KINDS = [
    {"pre_norm": pre_norm, "positions": positions}
    for pre_norm in (False, True)
    for positions in ("sinusoidal", "learned")
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


@kinds
def test_token_by_token_is_the_same_as_all_at_once(kind: dict[str, object]) -> None:
    model, batch = make_model(**kind), make_batch([(3, 6), (5, 6), (1, 6)])
    tokens = torch.nn.functional.pad(batch.target, (1, 0), value=BOS)
    encoded = model.encode(batch.source)
    whole = model.decode(tokens, tokens.eq(PAD), encoded, causal=True)
    cache = model.start(encoded, beam=1)
    for position in range(tokens.size(1)):
        found = model.step(tokens[:, position, None], cache)[:, 0]
        torch.testing.assert_close(found, whole[:, position])
    assert cache.length == tokens.size(1)


@pytest.mark.parametrize("options", [{}, {"positional_attention": True}])
def test_a_causal_decoder_never_sees_the_future(options: dict[str, Any]) -> None:
    model, tokens = make_model(decoder=options), [*range(6, 12)]
    for causal in (True, False):
        states = decoded(model, [9, 8, 7], tokens, causal)
        seen = torch.zeros(6, 6, dtype=torch.bool)
        for place in range(6):
            changed = decoded(model, [9, 8, 7], [*tokens[:place], 20, *tokens[place + 1 :]], causal)
            seen[:, place] = (changed - states).abs().amax(1) > 1e-9
        expected = torch.ones(6, 6, dtype=torch.bool)
        assert torch.equal(seen, expected.tril() if causal else expected)


def test_sinusoids() -> None:
    table = sinusoidal_positions(50, 8)
    for position, pair in ((0, 0), (7, 1), (49, 3)):
        angle = position / 10000 ** (2 * pair / 8)
        assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-5)
        assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_too_long_a_sentence_is_refused(positions: str) -> None:
    model = make_model(positions=positions)  # for 40 positions
    model.encode(make_batch([(39, 1)]).source)
    with told("41 tokens", "max_positions", "40"):
        model.encode(make_batch([(40, 1)]).source)
    cache = model.start(model.encode(make_batch([(2, 1)]).source), beam=1)
    cache.length = 40
    with told("41 tokens"):
        model.step(torch.tensor([[BOS]]), cache)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_bert_initialisation(positions: Any) -> None:
    torch.manual_seed(1)
    architecture = Architecture(
        64, 128, 2, 2, 4, positions=positions, initialisation="bert", max_positions=50
    )
    options = DecoderOptions(positions="concatenated")
    model = Transformer(architecture, 300, "target", decoder=options)
    assert model.embedding.weight[PAD].eq(0).all()
    drawn = 0
    for name, parameter in model.named_parameters():
        if "norm" in name:
            assert parameter.eq(1 if name.endswith("weight") else 0).all(), name
        elif name.endswith("bias"):
            assert parameter.eq(0).all(), name
        else:  # the deviation of n draws is known to about sigma / sqrt(2 n)
            error = 0.02 * (5 / math.sqrt(2 * parameter.numel()))
            assert parameter.std().item() == pytest.approx(0.02, abs=error + 0.001), name
            drawn += 1
    # embedding, positions and the weights of all layers
    assert drawn > 20
    learned = [name for name, _ in model.named_parameters() if name == "positions"]
    assert bool(learned) == (positions == "learned")


def test_source_symbols_have_an_embedding_of_their_own() -> None:
    batch = make_batch()
    options = {
        "decoder": {"copy": "uniform"},
        "parts": {"latent": {"dim": 3, "posterior_layers": 1}},
    }
    joint = make_model(**options)
    assert joint.vocabulary_sizes == (29, None)
    assert "source_embedding.weight" not in joint.state_dict()
    model = make_model(source_vocabulary_size=40, **options)
    assert model.vocabulary_sizes == (29, 40)
    rows = torch.arange(40) % 29
    weights = joint.state_dict() | {"source_embedding.weight": joint.embedding.weight[rows]}
    model.load_state_dict(weights)
    # symbols that only the source vocabulary has
    source = torch.where(batch.source >= 18, batch.source + 11, batch.source)
    again = rows[source]
    padding = batch.target_padding
    tokens = batch.target.masked_fill(~padding, MASK)

    def computed(which: Any, shown: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoded = which.encode(shown)
        posterior = which.latent.posterior(which, encoded, batch.target).mean
        return encoded.states, posterior, which.decode(tokens, padding, encoded, causal=False)

    torch.testing.assert_close(computed(model, source), computed(joint, again))
    with torch.no_grad():
        model.source_embedding.weight.zero_()
    assert model.scaled_source_embedding(source).eq(0).all()
    torch.testing.assert_close(model.scaled_embedding(tokens), joint.scaled_embedding(tokens))


def test_the_initialisation_of_embeddings_and_layers_by_default() -> None:
    torch.manual_seed(1)
    model = Transformer(Architecture(64, 128, 1, 1, 4), 300)
    assert model.embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
    inner = model.encoder_layers[0].feed_forward.inner.weight
    assert inner.abs().max().item() <= math.sqrt(6 / (64 + 128))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: make_model(heads=3), ["heads", "model_dim"]),
        (lambda: make_model(model_dim=15, heads=3), ["model_dim"]),
        (lambda: LatentOptions(free_until=0.5, annealed_at=0.4), ["free_until", "annealed_at"]),
    ],
)
def test_what_does_not_fit_together_is_refused(make: Any, named: list[str]) -> None:
    with told(*named, error=ValueError, one_line=False):
        make()
