"""Published checkpoints of Mask-Predict: what their layers compute, the imported model computes."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.modules import TransformerDecoderLayer, TransformerEncoderLayer
from torch import Tensor, nn

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding import masked_at_outputs
from nat.decoding.canvas import canvases_of
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.onnx_parallel import OnnxParallel
from tests.decoding.test_decode_corpus import engine, must_agree
from tests.fairseq_plugin.test_published_checkpoints import (
    DICTIONARY,
    MODEL,
    SENTENCES,
    SIZES,
    WORDS,
    Part,
    imported,
    prepare,
    write_checkpoint,
)
from tests.messages import told

ROWS = {
    **{PAD: 1, BOS: 0, EOS: 2, UNK: 3, MASK: 4, BLANK: 1},
    **{6 + number: 5 + DICTIONARY.index(word) for number, word in enumerate(WORDS)},
}
"""Rows of their embedding by the symbols of this project."""
SYMBOLS = [ROWS[symbol] for symbol in range(len(ROWS))]
OPTIONS = {
    "arch": "bert_transformer_seq2seq",
    **SIZES,
    **{"encoder_learned_pos": False, "decoder_learned_pos": False},
    **{"no_enc_token_positional_embeddings": False, "no_dec_token_positional_embeddings": False},
    **{"max_source_positions": 300, "max_target_positions": 300},
    **{"share_all_embeddings": True, "dynamic_length": False, "left_pad_source": "True"},
}
CONFIGURED = """
description: A published checkpoint
size: published
input: {method: random_mask}
target: {method: cross_entropy}
length: token
text: raw
init_from: null
recipe: cmlm
imported: {checkpoint: published.pt, dictionary: dict.txt}
"""
SIZE = """
  published:
    {model_dim: 16, ffn_dim: 32, encoder_layers: 2, decoder_layers: 1, heads: 2, max_positions: 64,
     activation: gelu, positions: learned_apart, scale_embeddings: false, norm_epsilon: 1.0e-12}
recipes:
"""


class Released(nn.Module):
    """A model of fairseq's layers, for one sentence."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        options = argparse.Namespace(**OPTIONS, activation_fn="gelu")
        tokens = nn.Embedding(5 + len(DICTIONARY), 16)
        self.encoder = Part(options, TransformerEncoderLayer, 2, tokens)
        self.decoder = Part(options, TransformerDecoderLayer, 1, tokens)
        self.encoder.embed_lengths = nn.Embedding(300, 16)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.4)
        for each in self.modules():
            if isinstance(each, nn.LayerNorm):
                each.eps = 1e-12
        with torch.no_grad():
            tokens.weight[ROWS[EOS]] *= 3  # so that it is predicted
            self.encoder.embed_lengths.weight[20:] *= 0.1  # and short lengths

    def named(self) -> dict[str, Tensor]:
        """The weights by the names of their fairseq."""
        weights, named = self.state_dict(), {}
        for name, value in weights.items():
            if attention := re.fullmatch(r"(.+_attn)\.[qkv]_proj\.(.+)", name):
                before, kind = attention.groups()
                rows = [weights[f"{before}.{each}_proj.{kind}"] for each in "qkv"]
                named[f"{before}.in_proj_{kind}"] = torch.cat(rows)
                continue
            if "layer_norm" in name:
                name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
            if name.startswith("encoder"):
                name = name.replace(".self_attn_layer_norm.", ".layer_norms.0.")
                name = name.replace(".final_layer_norm.", ".layer_norms.1.")
            named[name] = value
        return named

    def encode(self, sentence: list[int]) -> tuple[Tensor, Tensor]:
        """States of tokens and EOS [S, 1, D], and logits of the lengths [300]."""
        source = torch.tensor([ROWS[token] for token in [*sentence, EOS]])
        lengths = self.encoder.embed_lengths.weight
        states = torch.cat([lengths[:1], self.encoder.embedded(source)])[:, None]
        for layer in self.encoder.layers:
            states = layer(states, None)
        return states[1:], states[0, 0] @ lengths.T

    def decode(self, canvas: list[int], source: Tensor) -> Tensor:
        """Logits of the symbols of this project, [T, V]."""
        tokens = torch.tensor([ROWS[token] for token in canvas])
        states = self.decoder.embedded(tokens)[:, None]
        for layer in self.decoder.layers:
            states = layer(states, source, None)[0]
        return states[:, 0] @ self.decoder.embed_tokens.weight[SYMBOLS].T

    def translate(self, sentence: list[int], steps: int, beam: int) -> list[int]:
        """Their mask-predict."""
        source, lengths = self.encode(sentence)
        lengths[0] = -torch.inf
        best, translation = -torch.inf, []
        for length in lengths.topk(beam).indices.clamp(min=2).tolist():
            canvas, scores = torch.full((length,), MASK), torch.zeros(length).double()
            for step in range(steps):
                masked = scores.argsort(stable=True)[: length * (steps - step) // steps]
                canvas[masked] = MASK
                logs = self.decode(canvas.tolist(), source).log_softmax(1)
                logs[:, [PAD, BOS, MASK, BLANK]] = -torch.inf
                scores[masked], canvas[masked] = (each[masked] for each in logs.max(1))
            if scores.mean() > best:
                best, translation = float(scores.mean()), canvas.tolist()
        return translation


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Released:
    """A released model, as the checkpoint of a run of the micro scale in the current folder."""
    monkeypatch.chdir(tmp_path)
    prepare(CONFIGURED, SIZE)
    return released()


def released(seed: int = 1) -> Released:
    theirs = Released(seed).eval()
    write_checkpoint(Path("published.pt"), theirs.named(), OPTIONS)
    return theirs.double()


@torch.no_grad()
def test_encoder_lengths_and_decoder_compute_the_same(theirs: Released) -> None:
    ours, source = imported().double(), source_tensor(SENTENCES)
    encoded = ours.encode(source)
    lengths = ours.length_predictor(encoded.length_states, encoded.padding)
    tokens = torch.tensor([[7, MASK, EOS], [MASK, 3, PAD], [MASK, MASK, MASK]])
    states = ours.decode(tokens, tokens.eq(PAD), encoded, causal=False)
    nearly: dict[str, float] = {"rtol": 0, "atol": 1e-6}
    for row, sentence in enumerate(SENTENCES):
        own, logits = theirs.encode(sentence)
        torch.testing.assert_close(encoded.states[row, : len(sentence) + 1], own[:, 0], **nearly)
        assert lengths[row, 0] == -torch.inf
        torch.testing.assert_close(lengths[row, 1:], logits[1:256].log_softmax(0), **nearly)
        canvas = tokens[row][tokens[row].ne(PAD)]
        found = states[row, : len(canvas)] @ ours.embedding.weight.T
        torch.testing.assert_close(found, theirs.decode(canvas.tolist(), own), **nearly)


@torch.no_grad()
@pytest.mark.parametrize("steps", [1, 4])
def test_translations_are_the_same(theirs: Released, steps: int) -> None:
    ended, source = 0, source_tensor(SENTENCES)
    for seed in range(4):
        theirs = released(seed)
        made = MaskPredict(steps=steps, length_beam=3)(imported().double(), source)
        for sentence, found in zip(SENTENCES, made, strict=True):
            expected = theirs.translate(sentence, steps, beam=3)
            ended += EOS in expected
            assert found.tokens == [token for token in expected if token != EOS]
    assert ended


def test_a_canvas_has_a_place_for_the_end(
    theirs: Released, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, source = imported(), source_tensor(SENTENCES)
    with torch.no_grad():
        ours.length_predictor.lengths.weight.zero_()  # all are as probable, also 1
    assert canvases_of(ours, ours.encode(source), 3).lengths.min() == 2
    written = [Hypothesis([7, 8, 9], 0.0, 3)] * len(SENTENCES)
    monkeypatch.setattr(masked_at_outputs, "BeamSearch", lambda beam: lambda *given: written)
    seen: list[Any] = []
    decode = ours.decode

    def noted(tokens: Tensor, *given: Any, **named: Any) -> Tensor:
        seen.append(tokens)
        return decode(tokens, *given, **named)

    monkeypatch.setattr(ours, "decode", noted)
    masked_at_outputs.MaskedAtOutputs(scheme="tail", share=0.4, beam=1)(ours, source, ours)
    assert seen[0].tolist() == [[7, 8, MASK, EOS]] * len(SENTENCES)


def test_exports_write_the_same(theirs: Released) -> None:
    ours, source = imported(), source_tensor(SENTENCES)
    its = OnnxParallel(steps=3, length_beam=2)(ours, source, engine(ours, "float32", "onnx"))
    must_agree(its, MaskPredict(steps=3, length_beam=2)(ours, source), 1e-4)


@pytest.mark.parametrize(
    ("options", "weights", "named"),
    [
        ({"share_all_embeddings": False}, {}, "share_all_embeddings"),
        ({"dynamic_length": True}, {}, "dynamic_length"),
        ({"no_dec_token_positional_embeddings": True}, {}, "no_dec_token_positional_embeddings"),
        ({"decoder_layers": 3}, {}, "decoder_layers"),
        ({"encoder_normalize_before": True}, {}, "encoder_normalize_before"),
        ({"arch": "cmlm_transformer_ctc"}, {}, "src_upsample"),
        ({}, {"decoder.embed_out": torch.ones(5 + len(DICTIONARY), 16)}, "decoder.embed_out"),
    ],
)
def test_a_checkpoint_of_another_form_is_refused(
    theirs: Released, options: dict[str, Any], weights: dict[str, Tensor], named: str
) -> None:
    write_checkpoint(Path("published.pt"), theirs.named() | weights, {**OPTIONS, **options})
    with told("published.pt", named):
        imported()
    assert not Path(MODEL.path).exists()


@pytest.mark.parametrize(
    ("given", "instead", "words"),
    [
        ("length: token", "length: target", "length"),
        ("length: token", "length: token\ndecoder: {copy: soft}", "decoder.copy"),
        ("activation: gelu", "activation: relu", "activation_fn"),
        ("norm_epsilon: 1.0e-12", "pre_norm: false", "norm_epsilon"),
        ("learned_apart", "learned", "positions"),
    ],
)
def test_a_system_of_another_form_is_refused(
    theirs: Released, given: str, instead: str, words: str
) -> None:
    for file in map(Path, ("config/systems/published.yaml", "config/scales/micro.yaml")):
        file.write_text(file.read_text().replace(given, instead))
    with told(words):
        imported()
