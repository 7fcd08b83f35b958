"""A CTC model without a decoder: frames of source tokens, seen by one stack, here and elsewhere."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from test_decode_corpus import CONFIGURATION, VOCABULARIES, engine, texts

from nat.alignment.ctc import collapse
from nat.configuration.compatibility import check_system
from nat.data.batch import Batch, source_tensor
from nat.data.vocabulary import EOS, MASK, PAD
from nat.decoding.ctc import Ctc
from nat.decoding.ctc_beam import CtcBeam
from nat.decoding.ctranslate2_beam import CTranslate2Beam
from nat.decoding.ctranslate2_ctc import PROJECTION, CTranslate2Ctc
from nat.export.ctranslate2 import write_ctranslate2
from nat.transformer.copying import repeated_places
from tests.messages import told

SINGLE: dict[str, Any] = {"decoder_layers": 0, "decoder": {"copy": "repeated", "upsample": 3.0}}
LENGTHS = [3, 9, 1, 12, 5, 0, 11]
SOURCE = source_tensor(texts(LENGTHS))


def frames_of(model: Any, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Last states of the frames [B, T, D], and padding [B, T]."""
    encoded = model.encode(source)
    padding = model.upsampled_padding(encoded)
    canvas = torch.where(padding, PAD, MASK)
    return model.decode(canvas, padding, encoded, causal=False), padding


@pytest.mark.parametrize("upsample", [2.0, 2.5, 3.0])
def test_every_token_has_its_frames(make_model: Callable[..., Any], upsample: float) -> None:
    model = make_model(decoder_layers=0, decoder={"copy": "repeated", "upsample": upsample})
    assert not list(model.decoder_layers)
    states, padding = frames_of(model, SOURCE)
    frames = [max(int(np.ceil(upsample * length)), 1) for length in LENGTHS]
    assert (~padding).sum(1).tolist() == frames
    assert states.shape == (len(LENGTHS), max(frames), model.architecture.model_dim)
    for length, width in zip(LENGTHS, frames, strict=True):
        if length:
            places = repeated_places(torch.tensor([length]), torch.tensor([width]), width)[0]
            assert places.tolist() == sorted(places.tolist())
            shown = set(places.bincount(minlength=length).tolist())
            assert shown <= {int(upsample), int(np.ceil(upsample))}


def test_frames_see_the_whole_source_and_nothing_else(make_model: Callable[..., Any]) -> None:
    model = make_model(**SINGLE)
    states, padding = frames_of(model, SOURCE)
    for row, length in enumerate(LENGTHS):
        alone, _ = frames_of(model, SOURCE[row : row + 1, : length + 1])
        torch.testing.assert_close(alone[0], states[row][~padding[row]])
    changed = SOURCE.clone()
    changed[1, 8] = 7 if changed[1, 8] != 7 else 8
    different = (frames_of(model, changed)[0] - states).abs().amax(2) > 1e-9
    assert different[1][~padding[1]].all() and not different[0].any()


def test_translations_do_not_depend_on_the_batch(make_model: Callable[..., Any]) -> None:
    model = make_model(**SINGLE)
    for method in (Ctc(), CtcBeam(beam=4)):
        together = method(model, SOURCE)
        for row, length in enumerate(LENGTHS):
            (alone,) = method(model, SOURCE[row : row + 1, : length + 1])
            assert alone.tokens == together[row].tokens
            assert alone.score == pytest.approx(together[row].score)


def test_it_learns_a_handful_of_sentences_by_heart(
    make_model: Callable[..., Any], make_objective: Any
) -> None:
    model = make_model(dtype=torch.float32, pre_norm=True, **SINGLE).train()
    numbers = np.random.default_rng(3)
    sources, targets = (
        [numbers.integers(6, 29, length) for length in lengths]
        for lengths in ([3, 5, 4, 6], [4, 3, 5, 6])
    )
    batch = Batch.collate(range(4), sources, targets)
    objective = make_objective(model, {"method": "full_mask"}, {"method": "ctc"})
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for update in range(120):
        optimiser.zero_grad()
        loss = objective(model, batch, update)
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()
    found = Ctc()(model.eval(), source_tensor(sources))
    assert [each.tokens for each in found] == [target.tolist() for target in targets]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"pre_norm": True, "activation": "gelu"},
        {"positions": "learned_apart", "scale_embeddings": False},
        {"decoder": {"copy": "repeated", "upsample": 1.5, "count_source_end": True}},
    ],
    ids=lambda changed: json.dumps(changed),
)
def test_ctranslate2_computes_the_same(
    make_model: Callable[..., Any], changed: dict[str, Any]
) -> None:
    model = make_model(dtype=torch.float32, **{**SINGLE, **changed})
    opened = engine(model, "float32")
    for penalty in (0.0, -1.0):  # untrained models rarely prefer blank
        method = CTranslate2Ctc(blank_penalty=penalty)
        its, ours = method(model, SOURCE, opened), Ctc(blank_penalty=penalty)(model, SOURCE)
        assert [each.tokens for each in its] == [each.tokens for each in ours]
        for one, other in zip(its, ours, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-3)
    its, ours = CTranslate2Ctc()(model, SOURCE, opened), Ctc()(model, SOURCE)
    rounded = CTranslate2Ctc(precision="int8")(model, SOURCE, engine(model, "int8"))
    for one, other in zip(rounded, ours, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.1)
    assert any(one.score != other.score for one, other in zip(rounded, its, strict=True))


@pytest.mark.parametrize(
    ("words", "kind"),
    [("CUDA failed with error out of memory", torch.OutOfMemoryError), ("other", RuntimeError)],
)
def test_a_batch_that_does_not_fit_a_gpu_is_told_as_pytorch_does(
    make_model: Callable[..., Any], words: str, kind: type[Exception]
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise RuntimeError(words)

    single, other = make_model(dtype=torch.float32, **SINGLE), make_model(dtype=torch.float32)
    encoder, searching = engine(single, "float32"), engine(other, "float32")
    encoder._encoder = SimpleNamespace(forward_batch=full)
    searching.translator = SimpleNamespace(translate_batch=full)
    for method, model, opened in (
        (CTranslate2Ctc(), single, encoder),
        (CTranslate2Beam(beam=2), other, searching),
    ):
        with pytest.raises(RuntimeError, match=words) as found:
            method(model, SOURCE, opened)
        assert found.type is kind


def test_the_files_for_ctranslate2_are_enough_without_this_project(
    make_model: Callable[..., Any], tmp_path: Path
) -> None:
    from ctranslate2 import Encoder

    model, source = make_model(dtype=torch.float32, **SINGLE), texts([5])[0]
    write_ctranslate2(model, VOCABULARIES, tmp_path / "made")
    described = json.loads((tmp_path / "made/model.json").read_text())
    width = int(np.ceil(described["upsample"] * len(source)))
    frames = source[np.arange(width) * len(source) // width].astype(int).tolist()
    states = Encoder(str(tmp_path / "made/float32")).forward_batch([frames]).last_hidden_state
    logits = np.array(states)[0] @ np.load(tmp_path / "made" / PROJECTION).T
    logits[:, described["never_chosen"]] = -np.inf
    best = torch.from_numpy(logits.argmax(1))[None]
    (expected,) = Ctc()(model, source_tensor([source]))
    found = collapse(best, torch.zeros_like(best, dtype=torch.bool))
    assert found.tokens[0, : int(found.lengths[0])].tolist() == expected.tokens
    assert EOS not in expected.tokens


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decoder", {"copy": "soft_upsampled", "upsample": 3.0}),
        ("decoder", {"copy": "repeated", "upsample": 3.0, "positional_attention": True}),
        ("latent", {"dim": 4}),
    ],
)
def test_what_needs_a_decoder_is_refused(key: str, value: Any) -> None:
    name, systems = "ctc-encoder-kd", CONFIGURATION.files["systems"]
    files = {**CONFIGURATION.files, "systems": {name: {**systems[name], key: value}}}
    with told("deployment.yaml", key, "encoder-only"):
        check_system(replace(CONFIGURATION, files=files), name)


def test_it_is_checked_what_a_system_without_a_decoder_can_do() -> None:
    for decoding in ("ctc", "ctranslate2-int8-ctc", "onnx-int8-1-lb1", "ctc-beam20"):
        CONFIGURATION.check_decoding("ctc-encoder-kd", decoding)
    with told("ctranslate2-int8-ctc", "ctc-kd"):
        CONFIGURATION.check_decoding("ctc-kd", "ctranslate2-int8-ctc")
    with told("onnx-int8-4-lb1", "ctc-encoder-kd", "4 steps"):
        CONFIGURATION.check_decoding("ctc-encoder-kd", "onnx-int8-4-lb1")
