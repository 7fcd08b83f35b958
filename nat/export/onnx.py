"""A parallel Transformer as two graphs of ONNX, for ONNX Runtime and other programs.

    encoder    source -> states
    decoder    source, states, tokens -> symbols, log_probabilities

Each is a file in float32, and one in int8 with quantised matrix products. Ids are int64. `source`
[B, S] holds the tokens of each sentence, EOS, and padding on the right; `tokens` [B, T] holds MASK
at every position that is to be predicted, and padding on the right. `symbols` [B, T] are the most
probable ones, without those that are never written, and `log_probabilities` [B, T] theirs, in nats,
under the full softmax. On an upsampled canvas the decoder has one more input: `blank_penalty` [],
by which the log-probability of BLANK is lowered for the choice of symbols, in nats.
`nat/export/templates/onnx.md` describes what else a program needs, in `model.json`.
"""

import copy
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxruntime import InferenceSession
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD, SPECIALS, Vocabularies, vocabulary_files
from nat.decoding.engines import BLANK_PENALTY
from nat.decoding.network import never_chosen, silent
from nat.errors import UserError
from nat.files import write_json
from nat.training.model_file import CONVERTED
from nat.transformer.length import LengthPredictor
from nat.transformer.model import Encoded, Transformer
from nat.transformer.projection import largest_in_blocks, whole_blocks

OPSET = 18
OF_LENGTH = "length_state"  # output of the encoder with a vector for each sentence
TOLERANCE = 1e-3
"""Largest difference between what the graphs and the model compute."""


class EncoderGraph(nn.Module):
    """Source [B, S] to everything that the decoder and the choice of lengths need.

    Attributes:
        outputs: names of the tensors: `states` [B, S, D]; of a model with latents
            `without_latents` or `copied`, [B, S, D], and of one with `length: token`
            `length_state` [B, D], see `nat.transformer.model.Encoded`; of one with a length
            predictor `lengths`, the log-probabilities of its classes, [B, 256].
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model
        self.outputs = list(self.named(source_tensor([[len(SPECIALS)]])))

    @torch.no_grad()
    def named(self, source: Tensor) -> dict[str, Tensor]:
        """The tensors by name."""
        encoded, predictor = self.model.encode(source), self.model.length_predictor
        names = ("states", "without_latents", "copied", OF_LENGTH)
        tensors = {name: getattr(encoded, name) for name in names}
        if isinstance(predictor, LengthPredictor):
            tensors["lengths"] = predictor(encoded.length_states, encoded.padding)
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    def forward(self, source: Tensor) -> tuple[Tensor, ...]:
        """The tensors alone."""
        return tuple(self.named(source).values())


class DecoderGraph(nn.Module):
    """A bidirectional pass over a canvas, and the choice of its symbols."""

    def __init__(self, model: Transformer, has_copied: bool) -> None:
        super().__init__()
        self.model = model
        self.choice = ChoiceGraph(model)
        self.inputs = ["source", "states", *(["copied"] if has_copied else []), "tokens"]
        self.inputs += [BLANK_PENALTY] if model.decoder.upsample is not None else []

    def forward(self, *given: Tensor) -> tuple[Tensor, Tensor]:
        """Symbols and log-probabilities, [B, T] each, of the tensors that `inputs` names."""
        named = dict(zip(self.inputs, given, strict=True))
        source, tokens = named["source"], named["tokens"]
        encoded = Encoded(named["states"], source.eq(PAD), source, copied=named.get("copied"))
        decoded = self.model.decode(tokens, tokens.eq(PAD), encoded, causal=False)
        symbols, log_probabilities = self.choice(decoded.flatten(0, 1), named.get(BLANK_PENALTY))
        return symbols.view_as(tokens), log_probabilities.view_as(tokens)


class ChoiceGraph(nn.Module):
    """The output projection and its most probable symbols.

    With a large vocabulary, what follows the product takes as long as the product itself if written
    plainly. In ONNX Runtime, a sum of exponentials that is not part of a softmax takes seven times
    as long as a softmax. The symbols with rules of their own, and the words that fill no block of
    `largest_in_blocks`, are few and kept apart.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        weight = model.output.weight.detach()
        count, self.first = len(weight), len(SPECIALS)
        end = self.first + whole_blocks(count - self.first)
        others = torch.tensor([*range(self.first), *range(end, count)])
        forbidden, silenced = torch.zeros(count), torch.zeros(count)
        forbidden[never_chosen(model)] = -torch.inf
        silenced[silent(model)] = 1.0
        # only products with initialisers of the graph are quantised: nothing else becomes one
        self.in_blocks = nn.Parameter(weight[self.first : end].t().contiguous())
        self.apart = nn.Parameter(weight[others].t().contiguous())
        self.others, self.forbidden, self.silent = others, forbidden[others], silenced[others]

    def forward(self, states: Tensor, penalty: Tensor | None) -> tuple[Tensor, Tensor]:
        """Symbols and log-probabilities of states [N, D], [N] each."""
        logits, others = states @ self.in_blocks, states @ self.apart
        best, word = largest_in_blocks(logits)
        of_words = best - logits.softmax(1).gather(1, word).log()
        normaliser = torch.cat([others, of_words], 1).logsumexp(1, keepdim=True)
        preferred = others + self.forbidden
        if penalty is not None:
            preferred = preferred - penalty * self.silent
        most, other = preferred.max(1, keepdim=True)
        is_word = best > most
        symbol = torch.where(is_word, word + self.first, self.others[other])
        chosen = torch.where(is_word, best, others.gather(1, other))
        return symbol, chosen - normaliser


def write_onnx(
    model: Transformer, vocabularies: Vocabularies, folder: Path, about: Mapping[str, Any]
) -> str:
    """Write a model as graphs, see above; returns what was checked.

    To the content of `model.json`, `about`, are added the names of the lists of symbols. Raises a
    `UserError` for a model that cannot be exported.
    """
    if model.length_predictor is None and model.decoder.upsample is None:
        raise UserError(
            "only systems that translate in parallel are exported to ONNX, and this one has "
            "neither a length predictor nor an upsampled canvas (keys 'length' and "
            "'decoder.upsample'); an autoregressive one can be exported to ctranslate2, and any "
            "other to huggingface"
        )
    model = copy.deepcopy(model).float().cpu()
    encoder = EncoderGraph(model).eval()
    decoder = DecoderGraph(model, "copied" in encoder.outputs).eval()
    longest = model.longest_source
    source, tokens = _example(model, [min(5, longest), min(3, longest)])
    penalty, encoded = torch.tensor(0.5), encoder.named(source)
    given = {"source": source, **encoded, "tokens": tokens, BLANK_PENALTY: penalty}
    _write(encoder, folder / "encoder.float32.onnx", {"source": source}, encoder.outputs)
    inputs = {name: given[name] for name in decoder.inputs}
    _write(decoder, folder / "decoder.float32.onnx", inputs, ["symbols", "log_probabilities"])
    most = _check(model, encoder, decoder, folder)
    for part in ("encoder", "decoder"):
        _quantise(folder / f"{part}.float32.onnx", folder / f"{part}.int8.onnx")
    for name, vocabulary in vocabularies.by_file.items():
        write_json((folder / name).with_suffix(".json"), vocabulary.symbols)
    lists = [path.name for path in vocabulary_files(folder, ".json")]
    write_json(folder / CONVERTED, {**about, "vocabularies": lists})
    return f"the float32 graphs compute what the model computes, within {most:.0e}"


def _example(model: Transformer, lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Random sources of these lengths [B, S], and their canvases of masks [B, T]."""
    numbers = np.random.default_rng(1)
    count = (model.source_embedding or model.embedding).num_embeddings
    source = source_tensor([numbers.integers(len(SPECIALS), count, each) for each in lengths])
    padding = source.eq(PAD)
    encoded = Encoded(torch.empty(0), padding, source)
    upsampled = model.decoder.upsample is not None
    unseen = model.upsampled_padding(encoded) if upsampled else padding
    return source, torch.where(unseen, PAD, MASK)


def _write(graph: nn.Module, path: Path, given: dict[str, Tensor], outputs: list[str]) -> None:
    names = {"tokens": "T", "symbols": "T", "log_probabilities": "T"}
    axes = {
        name: {0: "B"} if name in ("lengths", OF_LENGTH) else {0: "B", 1: names.get(name, "S")}
        for name in (*given, *outputs)
        if name != BLANK_PENALTY
    }
    with warnings.catch_warnings(), torch.no_grad():
        # sizes of the example may be taken for constants: see `_check`
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            tuple(given.values()),
            path,
            dynamo=False,  # the other exporter takes the widths of canvases for constants
            opset_version=OPSET,
            input_names=list(given),
            output_names=outputs,
            dynamic_axes=axes,
        )


def _check(model: Transformer, encoder: EncoderGraph, decoder: DecoderGraph, folder: Path) -> float:
    """Refuse graphs that do not compute what the model computes, for another number of sentences
    of other lengths than those of the example, up to the longest that fits the model, with tokens
    on the canvas, as in a later step. Returns the largest difference."""
    longest = model.longest_source
    source, tokens = _example(model, [longest, 1, (longest + 1) // 2])
    penalty = torch.tensor(1.5 if BLANK_PENALTY in decoder.inputs else 0.0)
    real, revealed = tokens.ne(PAD), torch.arange(tokens.size(1)) % 3 == 1
    tokens = torch.where(real & revealed, len(SPECIALS), tokens)
    with torch.no_grad():
        encoded = model.encode(source)
        expected = encoder.named(source)
        states = model.decode(tokens, ~real, encoded, causal=False)[real]
        log_probabilities = model.output.all_log_probabilities(states)
    preferred = log_probabilities.clone()
    preferred[:, never_chosen(model)] = -torch.inf
    preferred[:, silent(model)] -= penalty
    given = {"source": source, **expected, "tokens": tokens, BLANK_PENALTY: penalty}
    inputs = {name: given[name].numpy() for name in decoder.inputs}
    of_decoder = InferenceSession(folder / "decoder.float32.onnx").run(None, inputs)
    symbols, own = (torch.from_numpy(each)[real][:, None] for each in of_decoder)
    session = InferenceSession(folder / "encoder.float32.onnx")
    outputs = dict(zip(encoder.outputs, session.run(None, {"source": source.numpy()}), strict=True))
    differences = {
        "symbols": preferred.amax(1, keepdim=True) - preferred.gather(1, symbols),
        "log_probabilities": own - log_probabilities.gather(1, symbols),
    }
    for name, value in expected.items():
        computed = torch.from_numpy(outputs[name])
        difference = (computed - value).masked_fill(computed == value, 0)  # also of infinite ones
        of_sentence = name in ("lengths", OF_LENGTH)
        differences[name] = difference if of_sentence else difference[source.ne(PAD)]
    largest = {name: float(each.abs().max()) for name, each in differences.items()}
    for name, most in largest.items():
        if not most < TOLERANCE:
            raise UserError(
                f"the exported model differs from the model in its {name} by {most:g}; this kind "
                "of system cannot be exported to ONNX"
            )
    return max(largest.values())


def _quantise(path: Path, output: Path) -> None:
    logging.disable(logging.WARNING)  # it recommends a step that changes nothing here
    try:
        quantize_dynamic(
            path,
            output,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            # Processors without VNNI add two products in 16 bits, which those of 8 bits exceed.
            reduce_range=True,
            extra_options={"MatMulConstBOnly": True},
        )
    finally:
        logging.disable(logging.NOTSET)
