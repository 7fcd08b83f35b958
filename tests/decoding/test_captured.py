"""One pass and beam search in fixed shapes: the same translations, and no GPU that has to wait."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from nat.data.batch import source_tensor
from nat.data.vocabulary import EOS
from nat.decoding.beam_search import BeamSearch
from nat.decoding.captured import Captured, captured
from nat.decoding.captured_beam import CapturedBeam
from nat.decoding.ctc import CtcDecoding
from nat.decoding.engines import graphs
from nat.decoding.engines.fixed_pass import ROOM, FixedPass
from nat.decoding.engines.fixed_search import FixedSearch
from nat.decoding.engines.graphs import Graphs
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from tests.decoding.test_decode_corpus import must_agree, texts
from tests.tiny import PARALLEL, make_model

MODELS: dict[str, dict[str, Any]] = {
    **PARALLEL,
    "two vocabularies": {"length": "offset", "source_vocabulary_size": 31},
}
AUTOREGRESSIVE: dict[str, dict[str, Any]] = {
    "plain": {},
    "one decoder layer, before": {"decoder_layers": 1, "pre_norm": True},
    "learned positions": {"positions": "learned_apart"},
    "positions by a layer": {"decoder": {"positions": "concatenated"}},
    "two vocabularies": {"source_vocabulary_size": 31},
    "few positions": {"max_positions": 16},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "beam 5": {},
    "greedy": {"beam": 1},
    "by probability": {"beam": 3, "length_penalty": 0.0},
    "for long ones": {"beam": 4, "length_penalty": 3.0},
    "short ones only": {"longest_ratio": 0.5, "longest_margin": 1},
    "of all symbols": {"beam": 40, "longest_margin": 2},
}
SOURCE = source_tensor(texts([5, 1, 9, 3, 14]))


def model_of(name: str, **others: Any) -> Any:
    return make_model(**MODELS[name], **others)


def plain_of(model: Any, **options: Any) -> Any:
    return CtcDecoding(**options) if model.decoder.upsample else OnePass(**options)


@pytest.mark.parametrize("name", MODELS)
def test_the_translations_and_scores_are_those_of_the_plain_pass(name: str) -> None:
    for model in (model_of(name), model_of(name, seed=3)):
        options = {"blank_penalty": 0.7} if model.decoder.upsample else {"deduplicate": True}
        decoding = captured(plain_of(model, **options))
        assert isinstance(decoding, Captured)
        for source in (SOURCE, SOURCE[:1], SOURCE[1:3]):
            made = decoding(model, source)
            must_agree(made, plain_of(model, **options)(model, source), 1e-9)
            assert {one.steps for one in made} == {1}


def test_of_several_lengths_the_best_one_is_taken() -> None:
    model = model_of("offset")
    for options in ({"length_beam": 3}, {"length_beam": 4, "length_factor": 0.8}):
        must_agree(Captured(**options)(model, SOURCE), OnePass(**options)(model, SOURCE), 1e-9)


def talkative(model: Any, end: float) -> Any:
    """The same with clear preferences, EOS among them by so much; so hypotheses end anywhere."""
    with torch.no_grad():
        model.embedding.weight.mul_(3)
        model.embedding.weight[EOS] += end * torch.randn_like(model.embedding.weight[EOS])
    return model


@pytest.mark.parametrize("name", AUTOREGRESSIVE)
@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
def test_beam_search_finds_the_same_in_as_many_passes(name: str, options: dict[str, Any]) -> None:
    passes = set()
    for seed in range(3):
        model = talkative(make_model(**AUTOREGRESSIVE[name], seed=seed), end=seed / 2)
        method = captured(BeamSearch(**options))
        assert isinstance(method, CapturedBeam)
        for source in (SOURCE, SOURCE[1:2]):
            made, expected = method(model, source), BeamSearch(**options)(model, source)
            must_agree(made, expected, 1e-9)
            assert [one.steps for one in made] == [one.steps for one in expected]
            passes |= {one.steps for one in made}
    assert len(passes) > 2


def test_groups_of_tokens_are_searched_without_fixed_shapes() -> None:
    model = make_model(decoder={"chunk": 2})
    assert CapturedBeam()(model, SOURCE) == BeamSearch()(model, SOURCE)


class Waiting(TorchDispatchMode):
    """Refuses what is moved between the processor and the device, or computed on the processor.

    The device is `meta`: PyTorch itself refuses shapes and branches that depend on its values.
    """

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = operation(*arguments, **(options or {}))
        for each in (*arguments, result):
            if isinstance(each, torch.Tensor) and each.dim() and not each.is_meta:
                raise RuntimeError(f"{operation} has a tensor of the processor")
        return result


class Moving(TorchFunctionMode):
    """Refuses tensors of numbers of Python, which would be copied from the processor."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        if function in (torch.tensor, torch.as_tensor, torch.Tensor.new_tensor):
            raise RuntimeError(f"{function.__name__}{arguments} would be copied")
        return function(*arguments, **(options or {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", MODELS)
def test_a_gpu_never_waits_for_the_processor(name: str, dtype: torch.dtype) -> None:
    source = torch.empty((2, 16), dtype=torch.long, device="meta")
    model = model_of(name, dtype=dtype).to("meta")
    with Waiting(), Moving(), torch.inference_mode():
        made = FixedPass(model, Captured(blank_penalty=0.5), source).translate()
    assert all(each.is_meta and len(each) == 2 for each in made)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", AUTOREGRESSIVE)
def test_a_gpu_never_waits_in_a_step_of_a_search(name: str, dtype: torch.dtype) -> None:
    model = make_model(**AUTOREGRESSIVE[name], dtype=dtype).to("meta")
    source = torch.empty((2, 16), dtype=torch.long, device="meta")
    search = FixedSearch(model, CapturedBeam(), source)
    with Waiting(), Moving(), torch.inference_mode():
        memory = list(vars(search.begin()).values())
        for _ in range(2):
            assert search.step() is search.finished
    assert all(each is one for each, one in zip(memory, vars(search).values(), strict=True))


@pytest.mark.parametrize(
    "waits",
    [
        lambda x: x[x.eq(1)],
        lambda x: bool(x.all()),
        lambda x: x.new_tensor([1, 2]),
        lambda x: torch.arange(2),
    ],
)
def test_what_would_wait_is_found(waits: Callable[[Any], Any]) -> None:
    x = torch.empty((2, 16), device="meta")
    with Waiting(), Moving(), pytest.raises((RuntimeError, NotImplementedError)):
        waits(x)


def test_few_shapes_occur() -> None:
    graphs = Graphs(make_model(max_positions=100), CapturedBeam(), FixedSearch)
    shapes = set()
    for sentences in range(1, 9):
        for length in range(1, 100):
            padded = graphs.padded(torch.full((sentences, length), 9))
            assert padded is not None and (padded[:sentences, :length] == 9).all()
            shapes.add(tuple(padded.shape))
    assert len(shapes) == 4 * 8 and max(width for _, width in shapes) == 100
    assert graphs.padded(torch.full((1000, 9), 9)) is None


def test_a_search_does_not_wait_for_sentences_that_fill_up_a_shape() -> None:
    parts = Graphs(make_model(), CapturedBeam(), FixedSearch).of(SOURCE[:3])
    assert parts is not None
    begin, step = parts
    assert begin().longest.tolist() == [17, 11, 23, 0]
    assert step().tolist() == [False, False, False, True]


def test_what_has_no_room_is_translated_without_fixed_shapes(monkeypatch: Any) -> None:
    model = model_of("constant")
    model.length_predictor.difference.fill_(20)
    expected = [one.tokens for one in OnePass()(model, SOURCE)]
    assert [one.tokens for one in Captured()(model, SOURCE)] == expected
    assert max(map(len, expected)) > 16 * ROOM
    monkeypatch.setattr(graphs, "MOST_TOKENS", 0)  # as a large batch
    searched = make_model()
    assert CapturedBeam()(searched, SOURCE) == BeamSearch()(searched, SOURCE)
    frames = model_of("frames", dtype=torch.float32)
    assert Captured(precision="bfloat16")(frames, SOURCE) != Captured()(frames, SOURCE)
    once = [one.tokens for one in OnePass(deduplicate=True)(model, SOURCE)]
    assert [one.tokens for one in Captured(deduplicate=True)(model, SOURCE)] == once


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["offset", "frames"])
def test_half_of_the_precision_changes_scores_little(name: str, precision: Any) -> None:
    model = model_of(name, dtype=torch.float32)
    made, exact = Captured(precision=precision)(model, SOURCE), Captured()(model, SOURCE)
    for one, other in zip(made, exact, strict=True):
        assert one.score == pytest.approx(other.score, rel=0.1)
    assert next(model.parameters()).dtype == torch.float32


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_of_the_precision_searches_with_sums_of_float32(precision: Any) -> None:
    model = make_model(dtype=torch.float32, max_positions=200)
    options = {"longest_margin": 150, "length_penalty": 0.0}
    made = CapturedBeam(**options, precision=precision)(model, SOURCE)
    for one, other in zip(made, BeamSearch(**options)(model, SOURCE), strict=True):
        assert one.score == pytest.approx(other.score, rel=0.1)
    assert any(one.score != float(torch.tensor(one.score).half()) for one in made)


def test_only_a_model_alone_has_fixed_shapes() -> None:
    assert captured(MaskPredict(steps=1), "float16") == Captured(precision="float16")
    assert captured(BeamSearch(beam=3), "float16") == CapturedBeam(beam=3, precision="float16")
    for method in (MaskPredict(steps=2), GroupBeamSearch(), CapturedBeam()):
        assert captured(method) is method


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", MODELS)
def test_graphs_repeat_what_was_captured(name: str) -> None:
    model = model_of(name, dtype=torch.float64)
    plain, method = plain_of(model), captured(plain_of(model))
    expected = [one.tokens for one in plain(model, SOURCE)]
    model.cuda()
    for _ in range(2):  # the second time without capturing
        for number, tokens in enumerate(expected):
            source = SOURCE[number : number + 1].cuda()
            assert [one.tokens for one in method(model, source)] == [tokens]
        assert [one.tokens for one in method(model, SOURCE.cuda())] == expected
    half = Captured(precision="float16")(model.float(), SOURCE.cuda())
    for one, other in zip(half, method(model, SOURCE.cuda()), strict=True):
        assert one.score == pytest.approx(other.score, rel=0.1)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", AUTOREGRESSIVE)
def test_graphs_repeat_a_search(name: str) -> None:
    model = talkative(make_model(**AUTOREGRESSIVE[name]), end=1)
    expected, method = BeamSearch()(model, SOURCE), CapturedBeam()
    model.cuda()
    for _ in range(2):  # the second time without capturing
        for number, one in enumerate(expected):
            must_agree(method(model, SOURCE[number : number + 1].cuda()), [one], 1e-9)
        must_agree(method(model, SOURCE.cuda()), expected, 1e-9)
    half = CapturedBeam(precision="float16")(model.float(), SOURCE.cuda())
    for one, other in zip(half, expected, strict=True):
        assert one.score == pytest.approx(other.score, rel=0.1)
