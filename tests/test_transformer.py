import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from nat.data.batch import Batch
from nat.data.vocabulary import BOS, MASK, PAD
from nat.transformer.architecture import Architecture
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.layers import DecoderLayer
from nat.transformer.model import Encoded, Transformer, sinusoidal_positions
from tests.messages import told

MakeModel = Callable[..., Transformer]
MakeBatch = Callable[..., Batch]

KINDS = [
    {"pre_norm": pre_norm, "positions": positions}
    for pre_norm in (False, True)
    for positions in ("sinusoidal", "learned")
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def note_embeddings(model: Transformer) -> list[Tensor]:
    """A list that takes each embedding from now on, with a gradient of its own."""
    embedded: list[Tensor] = []

    def note(module: Any, inputs: Any, output: Tensor) -> None:
        output.retain_grad()
        embedded.append(output)

    model.embedding.register_forward_hook(note)
    return embedded


def previous(target: Tensor) -> Tensor:
    return torch.cat((torch.full_like(target[:, :1], BOS), target), 1)


@kinds
def test_token_by_token_is_the_same_as_all_at_once(
    make_model: MakeModel, make_batch: MakeBatch, kind: dict[str, object]
) -> None:
    model, batch = make_model(**kind), make_batch([(3, 6), (5, 6), (1, 6)])
    tokens = previous(batch.target)
    encoded = model.encode(batch.source)
    whole = model.decode(tokens, tokens.eq(PAD), encoded, causal=True)
    cache = model.start(encoded, beam=1)
    for position in range(tokens.size(1)):
        found = model.step(tokens[:, position, None], cache)[:, 0]
        torch.testing.assert_close(found, whole[:, position])
    assert cache.length == tokens.size(1)


@kinds
def test_hypotheses_of_a_beam_are_selected_and_sentences_finish(
    make_model: MakeModel, make_batch: MakeBatch, kind: dict[str, object]
) -> None:
    beam = 3
    model, batch = make_model(**kind), make_batch([(3, 1), (6, 1), (2, 1)])
    encoded = model.encode(batch.source)
    cache = model.start(encoded, beam)
    generator = torch.Generator().manual_seed(5)
    sentences = torch.arange(3)
    history = torch.full((9, 1), BOS)
    for step in range(5):
        found = model.step(history[:, -1:], cache)[:, 0]
        whole = model.decode(
            history,
            torch.zeros_like(history, dtype=torch.bool),
            model.encode(batch.source[sentences]).repeat(beam),
            causal=True,
        )
        torch.testing.assert_close(found, whole[:, -1])
        kept = torch.tensor([2, 0]) if step == 1 else torch.arange(len(sentences))
        # each sentence goes on from hypotheses of its own, some of them more than once
        origin = torch.randint(beam, (len(kept), beam), generator=generator)
        origin = (origin + kept[:, None] * beam).flatten()
        if step == 1:
            cache.keep_sentences(kept, origin)
        else:
            cache.select(origin)
        sentences = sentences[kept]
        new = torch.randint(6, 29, (len(origin), 1), generator=generator)
        history = torch.cat((history[origin], new), 1)


@kinds
@pytest.mark.parametrize("causal", [True, False])
def test_a_sentence_is_the_same_alone_and_in_a_batch(
    make_model: MakeModel,
    make_batch: MakeBatch,
    one_sentence: Callable[[Batch, int], Batch],
    kind: dict[str, object],
    causal: bool,
) -> None:
    model, batch = make_model(length="offset", **kind), make_batch()
    assert model.length_predictor is not None
    encoded = model.encode(batch.source)
    states = model.decode(batch.target, batch.target_padding, encoded, causal)
    lengths = model.length_predictor(encoded.states, encoded.padding)
    for row in range(len(batch.ids)):
        alone = one_sentence(batch, row)
        own = model.encode(alone.source)
        torch.testing.assert_close(own.states[0], encoded.states[row, : alone.source.size(1)])
        torch.testing.assert_close(
            model.decode(alone.target, alone.target_padding, own, causal)[0],
            states[row, : alone.target.size(1)],
        )
        torch.testing.assert_close(model.length_predictor(own.states, own.padding)[0], lengths[row])


def test_a_causal_decoder_never_sees_the_future(
    make_model: MakeModel, make_batch: MakeBatch
) -> None:
    model, batch = make_model(), make_batch([(3, 6), (2, 6)])
    seen = torch.zeros(6, 6, dtype=torch.bool)
    for causal in (True, False):
        for position in range(6):
            embedded = note_embeddings(model)
            encoded = model.encode(batch.source)
            states = model.decode(batch.target, batch.target_padding, encoded, causal)
            states[:, position].square().sum().backward()
            _, of_decoder = embedded
            assert of_decoder.grad is not None
            seen[position] = of_decoder.grad.abs().sum((0, 2)) != 0
        expected = torch.ones(6, 6, dtype=torch.bool)
        assert torch.equal(seen, expected.tril() if causal else expected)


@kinds
@pytest.mark.parametrize("causal", [True, False])
def test_an_empty_target_in_a_batch_gives_no_nan(
    make_model: MakeModel, make_batch: MakeBatch, kind: dict[str, object], causal: bool
) -> None:
    model, batch = make_model(**kind).train(), make_batch([(3, 4), (2, 0), (0, 3), (0, 0)])
    states = model.decode(batch.target, batch.target_padding, model.encode(batch.source), causal)
    assert states.isfinite().all()
    states[batch.target.ne(PAD)].square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name


def test_padding_sends_no_gradient(make_model: MakeModel, make_batch: MakeBatch) -> None:
    model, batch = make_model(), make_batch()
    embedded = note_embeddings(model)
    states = model.decode(
        batch.target, batch.target_padding, model.encode(batch.source), causal=False
    )
    states[batch.target.ne(PAD)].square().sum().backward()
    for output, tokens in zip(embedded, (batch.source, batch.target), strict=True):
        assert output.grad is not None
        assert (output.grad[tokens.eq(PAD)] == 0).all()
        assert (output.grad[tokens.ne(PAD)] != 0).any(1).all()


def test_masks_differ_by_position_only(make_model: MakeModel, make_batch: MakeBatch) -> None:
    model, batch = make_model(), make_batch([(3, 5)])
    masks = torch.full_like(batch.target, MASK)
    states = model.decode(masks, batch.target_padding, model.encode(batch.source), causal=False)
    assert torch.pdist(states[0]).min() > 1e-3


def test_dropout_only_in_training(make_model: MakeModel, make_batch: MakeBatch) -> None:
    model, batch = make_model(dropout=0.5), make_batch()
    first = model.encode(batch.source).states
    assert torch.equal(first, model.encode(batch.source).states)
    model.train()
    assert not torch.equal(model.encode(batch.source).states, model.encode(batch.source).states)


def test_sinusoids() -> None:
    table = sinusoidal_positions(50, 8)
    for position, pair in ((0, 0), (7, 1), (49, 3)):
        angle = position / 10000 ** (2 * pair / 8)
        assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-5)
        assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_too_long_a_sentence_is_refused(
    make_model: MakeModel, make_batch: MakeBatch, positions: str
) -> None:
    model = make_model(positions=positions)  # for 40 positions
    model.encode(make_batch([(39, 1)]).source)
    with told("41 tokens", "max_positions", "40"):
        model.encode(make_batch([(40, 1)]).source)
    cache = model.start(model.encode(make_batch([(2, 1)]).source), beam=1)
    cache.length = 40
    with told("41 tokens"):
        model.step(torch.tensor([[BOS]]), cache)


def test_saved_weights_fit_any_longest_sentence(make_model: MakeModel) -> None:
    short, long = make_model(seed=1), make_model(seed=2, max_positions=80)
    long.load_state_dict(short.state_dict())  # sinusoids are no weights


@pytest.mark.parametrize(
    "wrong",
    [{"heads": 3}, {"model_dim": 0}, {"activation": "tanh"}, {"width": 3}, {"positions": "rotary"}],
)
def test_senseless_sizes_are_refused(make_model: MakeModel, wrong: dict[str, object]) -> None:
    with pytest.raises((ValidationError, TypeError)):
        make_model(**wrong)


def test_sizes_come_from_the_architecture() -> None:
    model = Transformer(Architecture(16, 24, 3, 1, 4), 29)
    assert (len(model.encoder_layers), len(model.decoder_layers)) == (3, 1)
    encoder = 4 * 16 * 16 + 4 * 16 + 2 * 16 * 24 + 24 + 16 + 4 * 16
    decoder = encoder + 4 * 16 * 16 + 4 * 16 + 2 * 16
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == 29 * 16 + 3 * encoder + decoder


def test_passes_share_the_keys_of_the_source(
    make_model: MakeModel, make_batch: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = make_model(), make_batch([(3, 6), (5, 2), (1, 6)])
    calls = []

    def noted(layer: DecoderLayer) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
        original = layer.keys_and_values

        def note(states: Tensor) -> tuple[Tensor, Tensor]:
            calls.append(layer)
            return original(states)

        return note

    for layer in model.decoder_layers:
        assert isinstance(layer, DecoderLayer)
        monkeypatch.setattr(layer, "keys_and_values", noted(layer))

    def decode(encoded: Encoded, rows: Tensor) -> Tensor:
        target = batch.target[rows]
        return model.decode(target, target.eq(PAD), encoded, causal=False)

    everyone, some = torch.arange(3), torch.tensor([2, 0])
    twice = everyone.repeat_interleave(2)
    four = torch.tensor([1, 4])
    with torch.no_grad():
        rows = (everyone, some, twice, twice[four])
        expected = [decode(model.encode(batch.source[each]), each) for each in rows]
        calls.clear()
        encoded = model.encode(batch.source)
        repeated = encoded.repeat(2)
        shared = (encoded, encoded.rows(some), repeated, repeated.rows(four))
        found = [decode(one, each) for one, each in zip(shared, rows, strict=True)]
    assert calls == list(model.decoder_layers)
    for mine, its in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, its)
    # with gradients nothing is shared, so that each pass has its own way back
    assert decode(encoded, everyone).requires_grad
    assert len(calls) == 4


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_bert_initialisation(positions: Any) -> None:
    torch.manual_seed(1)
    architecture = Architecture(
        64, 128, 2, 2, 4, positions=positions, initialisation="bert", max_positions=50
    )
    options = DecoderOptions(positions="concatenated", input_predictor=True)
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


def test_source_symbols_have_an_embedding_of_their_own(
    make_model: MakeModel, make_batch: MakeBatch
) -> None:
    batch = make_batch()
    options = {"decoder": {"copy": "uniform"}, "latent": {"dim": 3, "posterior_layers": 1}}
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

    def computed(which: Transformer, shown: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoded = which.encode(shown)
        posterior = which.posterior(encoded, batch.target).mean
        return encoded.states, posterior, which.decode(tokens, padding, encoded, causal=False)

    torch.testing.assert_close(computed(model, source), computed(joint, again))
    with torch.no_grad():
        model.source_embedding.weight.zero_()
    assert model.scaled_source_embedding(source).eq(0).all()
    torch.testing.assert_close(model.scaled_embedding(tokens), joint.scaled_embedding(tokens))


def test_bert_initialisation_of_both_embeddings() -> None:
    torch.manual_seed(1)
    architecture = Architecture(16, 32, 1, 1, 2, initialisation="bert")
    model = Transformer(architecture, 300, source_vocabulary_size=400)
    assert model.source_embedding is not None
    for embedding in (model.embedding, model.source_embedding):
        assert embedding.weight[PAD].eq(0).all()
        assert embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)


def test_the_initialisation_of_embeddings_and_layers_by_default() -> None:
    torch.manual_seed(1)
    model = Transformer(Architecture(64, 128, 1, 1, 4), 300)
    assert model.embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
    inner = model.encoder_layers[0].feed_forward.inner.weight
    assert inner.abs().max().item() <= math.sqrt(6 / (64 + 128))


@pytest.mark.parametrize("options", [{}, {"positions": "concatenated"}])
def test_embeddings_without_their_scale(
    make_model: MakeModel, make_batch: MakeBatch, options: dict[str, Any]
) -> None:
    batch = make_batch()
    plain = make_model(positions="learned", scale_embeddings=False, decoder=options)
    assert torch.equal(plain.scaled_embedding(batch.source), plain.embedding(batch.source))
    scaled = make_model(positions="learned", decoder=options)
    scaled.load_state_dict(plain.state_dict())
    expected = plain.scaled_embedding(batch.source) * math.sqrt(16)
    torch.testing.assert_close(scaled.scaled_embedding(batch.source), expected)
    # with scaled weights both are the same model: positions have the scale of the embeddings, too
    with torch.no_grad():
        scaled.embedding.weight /= math.sqrt(16)
        if options:
            scaled.positions /= math.sqrt(16)
            padding = batch.target_padding
            tokens = batch.target.masked_fill(~padding, MASK)
            vectors = plain.scaled_embedding(tokens)
            numbers = plain.positions[None, : tokens.size(1)]
            torch.testing.assert_close(
                scaled._numbered(vectors, scaled.positions[None, : tokens.size(1)]),
                plain._numbered(vectors, numbers),
            )
    torch.testing.assert_close(
        scaled.scaled_embedding(batch.source), plain.scaled_embedding(batch.source)
    )
