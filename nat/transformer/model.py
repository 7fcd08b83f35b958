"""The Transformer that every system shares: encoder, decoder, embeddings, length predictor.

A model without decoder layers is a single stack, like the "deep encoder" of Libovický and Helcl
(2018): the layers of the encoder run over an upsampled canvas, on which a masked frame shows the
embedding of a source token. In that paper each state becomes several frames after the last layer;
here each token does before the first one, so that an engine for encoders can run the whole model.

The model returns states. Objectives and decoding methods select positions and symbols and compute
probabilities with its output layer, see `nat.transformer.output`.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from nat import registry
from nat.data.vocabulary import MASK, PAD, VocabularySizes
from nat.errors import UserError
from nat.transformer import copying
from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.cache import DecoderCache, FixedCache
from nat.transformer.dropout import dropout
from nat.transformer.encoded import Encoded
from nat.transformer.layers import UNCHANGED, DecoderLayer, DecoderTrace, EncoderLayer
from nat.transformer.length import (
    ConstantLength,
    LengthClassifier,
    LengthPredictor,
    LengthToken,
)
from nat.transformer.linear import Linear
from nat.transformer.output import Output
from nat.transformer.part import Part

BERT_DEVIATION = 0.02
"""Standard deviation of initial weights (Devlin et al. 2019)."""

AnyPart = TypeVar("AnyPart", bound=Part)


class Transformer(nn.Module):
    """Encoder-decoder Transformer with a causal or a bidirectional decoder.

    Args:
        architecture: sizes.
        vocabulary_size: symbols of the joint vocabulary, or of the target.
        length: what the length predictor predicts, `target`, `offset` or `constant`, or `token` for
            the target by a token that the encoder sees; None for no predictor.
        dropout: on embeddings and on the output of every sublayer.
        decoder: options of the decoder.
        empty_token: whether a position may predict BLANK, the empty token; read by decodings.
        parts: options of further parts of the network, by their names in `nat/parts`.
        predicts_end: whether the target ends in EOS on the canvas, which decodings leave out. So it
            is in published checkpoints (Ghazvininejad et al. 2019, Gu and Kong 2021).
        source_vocabulary_size: symbols of the source, which then has an embedding of its own; None
            for a joint vocabulary with one embedding.

    Attributes:
        embedding: of target symbols, which is the output projection, too, [V, D]; of a joint
            vocabulary also of source symbols.
        source_embedding: of source symbols, [V of the source, D]; None with a joint vocabulary.
    """

    def __init__(
        self,
        architecture: Architecture,
        vocabulary_size: int,
        length: str | None = None,
        dropout: float = 0.0,
        decoder: DecoderOptions = UNCHANGED,
        empty_token: bool = False,
        parts: Mapping[str, Mapping[str, Any]] | None = None,
        predicts_end: bool = False,
        source_vocabulary_size: int | None = None,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.decoder = decoder
        self.empty_token = empty_token
        self.predicts_end = predicts_end
        self.dropout = dropout
        dim = architecture.model_dim
        self.embedding_scale = math.sqrt(dim) if architecture.scale_embeddings else 1.0
        self.embedding = nn.Embedding(vocabulary_size, dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        self.source_embedding: nn.Embedding | None = None
        if source_vocabulary_size is not None:
            self.source_embedding = nn.Embedding(source_vocabulary_size, dim, padding_idx=PAD)
            nn.init.normal_(self.source_embedding.weight, std=dim**-0.5)
        self.decoder_positions: nn.Parameter | None = None
        if architecture.positions == "sinusoidal":
            table = sinusoidal_positions(architecture.max_positions, dim)
            self.register_buffer("positions", table, persistent=False)
        else:
            self.positions = nn.Parameter(torch.empty(architecture.max_positions, dim))
            nn.init.normal_(self.positions, std=dim**-0.5)
        if architecture.positions == "learned_apart":
            self.decoder_positions = nn.Parameter(torch.empty_like(self.positions))
            nn.init.normal_(self.decoder_positions, std=dim**-0.5)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(architecture, dropout) for _ in range(architecture.encoder_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(architecture, dropout, decoder) for _ in range(architecture.decoder_layers)
        )
        self.copy_temperature: nn.Parameter | None = None
        if decoder.copy == "soft_index":
            self.copy_temperature = nn.Parameter(torch.tensor(copying.LEARNED_TEMPERATURE))
        self.join_positions, self.join_source_positions = (
            Linear(2 * dim, dim) if combined == "concatenated" else None
            for combined in (decoder.positions, decoder.source_positions)
        )
        final = nn.LayerNorm if architecture.pre_norm else nn.Identity
        self.encoder_norm = final(dim, architecture.norm_epsilon)
        self.decoder_norm = (
            final(dim, architecture.norm_epsilon) if architecture.decoder_layers else nn.Identity()
        )
        self.length_predictor: LengthPredictor | ConstantLength | None = None
        if length == "constant":
            self.length_predictor = ConstantLength()
        elif length == "token":
            self.length_predictor = LengthToken(dim, dropout)
        elif length is not None:
            self.length_predictor = LengthClassifier(dim, length)
        self.part_options = {
            name: registry.build("parts", registry.Method(method=name, **options))
            for name, options in (parts or {}).items()
        }
        for name, part in self.part_options.items():
            self.add_module(name.replace(".", "_"), part(architecture, dropout))
        if architecture.initialisation == "bert":
            initialise_like_bert(self)

    @property
    def vocabulary_sizes(self) -> VocabularySizes:
        """Numbers of symbols that the model knows."""
        own = self.source_embedding
        source = None if own is None else own.num_embeddings
        return VocabularySizes(self.embedding.num_embeddings, source)

    @property
    def output(self) -> Output:
        """The output layer, which shares its weight with the embedding of the target."""
        return Output(self.embedding.weight)

    @property
    def parts(self) -> list[Part]:
        """The further parts, in the order in which the system names them."""
        return [cast(Part, getattr(self, name.replace(".", "_"))) for name in self.part_options]

    def part(self, kind: type[AnyPart]) -> AnyPart | None:
        """The part of a class; None if the system has none."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def _decoder(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], iter(self.decoder_layers))

    @property
    def longest_source(self) -> int:
        """Maximal number of source tokens, without EOS, that fit the model's positions."""
        positions = self.architecture.max_positions
        if self.decoder.upsample is None:
            return positions - 1
        longest = min(positions - 1, int(positions / self.decoder.upsample) + 1)
        while self.canvas_length(longest) > positions:
            longest -= 1
        return longest

    def canvas_length(self, source_length: int) -> int:
        """Positions of the upsampled canvas of so many source tokens, without EOS."""
        assert self.decoder.upsample is not None
        frames = (source_length + self.decoder.count_source_end) * self.decoder.upsample
        return max(1, math.ceil(round(frames, 9)))  # since 50 * 1.1 is above 55

    @property
    def longest_target(self) -> int:
        """Maximal number of target tokens that fit the model's positions, with BOS or EOS.

        With chunks, a target is filled up to whole chunks, one of which only has EOS where they
        are already whole, and hybrid systems number positions from 1; semi-autoregressive ones,
        which number them from 0, keep to the same limit, but for their search.
        """
        longest, chunk = self.architecture.max_positions - 1, self.decoder.chunk
        return longest if chunk is None else longest // chunk * chunk - 1

    def upsampled_padding(self, encoded: Encoded) -> Tensor:
        """Padding of canvases with ceil(upsample * source tokens) positions, [B, T]."""
        lengths = self.canvas_lengths(self.copied_lengths(encoded.source))
        width = int(lengths.max()) if lengths.numel() else 0
        return torch.arange(width, device=lengths.device) >= lengths[:, None]

    def canvas_lengths(self, source_lengths: Tensor) -> Tensor:
        """Positions of upsampled canvases for numbers of source tokens, [B]."""
        assert self.decoder.upsample is not None
        lengths = source_lengths.double() * self.decoder.upsample
        # rounded, since 50 * 1.1 is above 55; at least one position, also for an empty source
        return lengths.round(decimals=9).ceil().long().clamp(min=1)

    def copied_lengths(self, source: Tensor) -> Tensor:
        """Source tokens that are upsampled and copied, of ids with EOS, [B, S] to [B]."""
        return source.ne(PAD).sum(1) - 1 + int(self.decoder.count_source_end)

    def scaled_embedding(self, tokens: Tensor) -> Tensor:
        """Embeddings of target symbols, times sqrt(D) if the architecture says so, [B, T, D]."""
        return self.embedding(tokens) * self.embedding_scale

    def scaled_source_embedding(self, source: Tensor) -> Tensor:
        """The same of source symbols, [B, S, D]."""
        table = self.embedding if self.source_embedding is None else self.source_embedding
        return table(source) * self.embedding_scale

    def with_positions(self, vectors: Tensor) -> Tensor:
        """Combine vectors with those of the encoder's positions, then dropout, [B, T, D].

        Raises:
            UserError: if a sentence is longer than the architecture's `max_positions`.
        """
        numbers = self._numbers(self.positions, 0, vectors.size(1))
        return self._numbered(vectors, numbers, self.join_source_positions)

    def _numbers(self, table: Tensor, start: int, end: int) -> Tensor:
        """Vectors of positions, [end - start, D], of a table of them."""
        if end > table.size(0):
            raise UserError(
                f"a sentence of {end} tokens does not fit the model; shorten it, or train with "
                f"max_positions above {table.size(0)}"
            )
        return table[start:end]

    @property
    def positions_of_decoder(self) -> Tensor:
        """Vectors of the decoder's positions, [max_positions, D]."""
        return self.positions if self.decoder_positions is None else self.decoder_positions

    def _numbered(self, vectors: Tensor, numbers: Tensor, join: Linear | None) -> Tensor:
        """Vectors [B, T, D] and those of their positions, added or by `join`, then dropout."""
        if join is None:
            joined = vectors + numbers
        else:
            if self.architecture.positions != "sinusoidal":  # on the scale of unscaled embeddings
                numbers = numbers * self.embedding_scale
            joined = join(torch.cat((vectors, numbers.expand_as(vectors)), 2)).to(vectors.dtype)
        return dropout(joined, self.dropout, self.training)

    def encode(self, source: Tensor) -> Encoded:
        """Encode source tokens [B, S] (right-padded, each row with at least its EOS)."""
        padding = source.eq(PAD)
        if not self.decoder_layers:
            encoded = Encoded(self.scaled_source_embedding(source), padding, source)
        else:
            states, unseen = self.with_positions(self.scaled_source_embedding(source)), padding
            token = self.length_predictor
            if isinstance(token, LengthToken):
                states, unseen = token.before(states, padding)
            for layer in self.encoder_layers:
                states = layer(states, ~unseen[:, None, None, :])
            states, length = self.encoder_norm(states), None
            if isinstance(token, LengthToken):
                length, states = states[:, 0], states[:, 1:]
            encoded = Encoded(states, padding, source, length_state=length)
        for part in self.parts:
            encoded = part.encoded(encoded)
        return encoded

    def canvas(self, tokens: Tensor, padding: Tensor, encoded: Encoded) -> Tensor:
        """Vectors that the decoder's positions show, without the vector of its position, [B, T, D].

        MASK shows the embedding of the mask symbol or a copy of the source.
        """
        vectors = self.scaled_embedding(tokens)
        if self.decoder.copy != "none":
            copied = self._copied(padding, encoded)
            vectors = torch.where(tokens.eq(MASK)[:, :, None], copied, vectors)
        for part in self.parts:
            vectors = part.shown(vectors, tokens, encoded)
        return vectors

    def _copied(self, padding: Tensor, encoded: Encoded) -> Tensor:
        """The copy of the source at each position, [B, T, D]."""
        kind, copied = self.decoder.copy, encoded.copied
        sizes = self.copied_lengths(encoded.source), (~padding).sum(1), padding.size(1)
        states = encoded.states if copied is None else copied
        if kind in copying.HARD:
            # without decoder layers the states are the embeddings
            if self.decoder_layers:
                states = self.scaled_source_embedding(encoded.source)
            places = copying.places_of(kind, *sizes)
            return states.gather(1, places[:, :, None].expand(-1, -1, states.size(2)))
        scale = self.decoder.upsample if kind == "soft_upsampled" else self.copy_temperature
        return copying.soft_copy(kind, states, *sizes, scale)

    def decode(
        self,
        tokens: Tensor,
        padding: Tensor,
        encoded: Encoded,
        causal: bool,
        positions: Tensor | None = None,
        group: int = 1,
        trace: DecoderTrace | None = None,
    ) -> Tensor:
        """Last decoder states of whole sentences, [B, T, D]; those at padding are meaningless.

        Args:
            tokens: decoder input, [B, T].
            padding: True at padding, [B, T].
            encoded: encoder states of the same B sentences.
            causal: each position sees only its own group and those before it.
            positions: numbers of the positions, [B, T]; None for 0 to T - 1.
            group: number of positions that see each other although the decoder is causal.
            trace: records states and attention weights of each layer.
        """
        visible = None
        if not causal:
            # an empty target attends to its padding, since a softmax over nothing would be NaN
            visible = (~padding | padding.all(1, keepdim=True))[:, None, None, :]
            if self.decoder.attention_without_self:
                places = torch.arange(tokens.size(1), device=tokens.device)
                others = visible & places.ne(places[:, None])
                visible = others | (visible & ~others.any(3, keepdim=True))
        elif group > 1:
            groups = torch.arange(tokens.size(1), device=tokens.device) // group
            seen = groups[:, None] >= groups
            # padding attends to padding, too, for the same reason
            visible = (seen & ~padding[:, None]) | (padding[:, :, None] & seen)
            visible, causal = visible[:, None], False
        table = self.positions_of_decoder
        if positions is None:
            numbers = self._numbers(table, 0, tokens.size(1))[None]
        else:
            numbers = table[positions]
        vectors = self.canvas(tokens, padding, encoded)
        states = self._numbered(vectors, numbers, self.join_positions)
        if not self.decoder_layers:
            assert not causal
            for layer in self.encoder_layers:
                states = layer(states, visible)
            return self.encoder_norm(states)
        for layer in self._decoder():
            source = encoded.keys_and_values(layer)
            states = layer(states, visible, causal, source, encoded.visible, numbers, trace)
        return self.decoder_norm(states)

    @torch.no_grad()
    def start(self, encoded: Encoded, beam: int, stride: int = 1) -> DecoderCache:
        """A cache for `step` with `beam` hypotheses per sentence.

        The positions of their tokens are numbered 0, stride, 2 stride and so on.
        """
        return DecoderCache(self._sources(encoded), encoded.visible, beam, stride)

    @torch.no_grad()
    def start_fixed(self, encoded: Encoded, beam: int, most: int) -> FixedCache:
        """The same for at most so many tokens, one at a time, in memory of a fixed shape."""
        return FixedCache(self._sources(encoded), encoded.visible, beam, most)

    def _sources(self, encoded: Encoded) -> list[tuple[Tensor, Tensor]]:
        across = (layer.cross_attention for layer in self._decoder())
        return [attention.keys_and_values(encoded.states) for attention in across]

    @torch.no_grad()
    def step(self, tokens: Tensor, cache: DecoderCache | FixedCache) -> Tensor:
        """Decoder states of the next tokens of each hypothesis, [B * beam, n] to [B * beam, n, D].

        The new tokens see each other. The cache, which `start` makes, advances.
        """
        new, table = tokens.size(1), self.positions_of_decoder
        if isinstance(cache, FixedCache):
            numbers = table[cache.length]
        else:
            first, last = cache.length * cache.stride, (cache.length + new - 1) * cache.stride
            numbers = self._numbers(table, first, last + 1)[:: cache.stride]
        states = self._numbered(self.scaled_embedding(tokens), numbers, self.join_positions)
        for number, layer in enumerate(self._decoder()):
            extended, source = partial(cache.extended, number), cache.sources[number]
            states = layer.step(states, extended, source, cache.source_visible, cache.beam)
        cache.length += new
        return self.decoder_norm(states)


@torch.no_grad()
def initialise_like_bert(model: Transformer) -> None:
    """Draw embeddings, learned positions and linear weights from N(0, 0.02^2); biases are zero.

    Devlin et al. (2019). Embeddings of PAD are zero; normalisation layers stay as they are.
    """
    apart = {module for part in model.parts if part.initialised_apart for module in part.modules()}
    for module in model.modules():
        if module in apart:
            continue
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=BERT_DEVIATION)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for embedding in (model.embedding, model.source_embedding):
        if embedding is not None:
            embedding.weight[PAD] = 0
    for table in (model.positions, model.decoder_positions):
        if isinstance(table, nn.Parameter):
            nn.init.normal_(table, std=BERT_DEVIATION)


def sinusoidal_positions(length: int, dim: int) -> Tensor:
    """Sines and cosines of geometrically falling frequencies (Vaswani et al. 2017, sec. 3.5)."""
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
