"""Our beam search and CTranslate2's against fairseq's: the same sentences and the same weights.

fairseq's `SequenceGenerator` searches with fairseq's own Transformer, into which the weights of
ours are copied; both keep what earlier tokens have computed. Both write as many tokens at most,
never write a special symbol, and have no smallest length. The best hypotheses must have the same
scores, or nothing is reported. CTranslate2 is what `distillation_engine` in config/config.yaml
chooses; its scores differ where a search comes to the maximal length (see
`nat.decoding.ctranslate2_beam`), so sentences are counted whose translations differ from ours. The
three take turns; numbers are medians and quartiles over rounds. Seconds are processor time of one
thread, in fp32.

The first case is the teacher of scale `demo` with the first sentences of its test set if these
exist, else random weights and sentences of the same size.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import quartiles, restart_with_fast_memory, shown

ROOT = Path(__file__).resolve().parents[1]

DEMO = Path("results/demo/models/toy-ka-lu/at-base/seed1/model.pt")
"""A trained model of the size of the first case."""

DEMO_TEXT = Path("results/corpora/toy-ka-lu/test/binarised/test.ka")


@dataclass(frozen=True)
class Case:
    """A model and what it translates.

    Attributes:
        model_dim: width; the feed-forward part is four times as wide.
        layers: of the encoder and of the decoder.
        heads: of the attention.
        symbols: of the vocabulary.
        sentences: in the one batch.
        tokens: of each source, where sentences are random.
    """

    model_dim: int
    layers: int
    heads: int
    symbols: int
    sentences: int
    tokens: int


CASES = (Case(64, 2, 4, 1000, 64, 8), Case(512, 6, 8, 10_000, 8, 25))
BEAM = 5
TOLERANCE = 1e-4
"""Largest difference between the scores of the two searches."""

SIDES = ("ours", "ctranslate2")
"""What is compared with fairseq."""

SHOWN = (("ms", 1), ("ratio", 2))
"""Of each, with so many decimals."""

GOAL = 2.0
"""Least speed relative to fairseq that is aimed at."""


def main() -> None:
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description="Beam search against fairseq's.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each case (default 5)")
    parser.add_argument("--model", type=Path, default=ROOT / DEMO, help="of the first case")
    parser.add_argument("--text", type=Path, default=ROOT / DEMO_TEXT, help="binarised, its source")
    parser.add_argument("--output", type=Path, default=ROOT / "results/bench/beam_search.json")
    arguments = parser.parse_args()
    restart_with_fast_memory()

    import torch
    from rich.console import Console
    from rich.table import Table

    from nat.files import write_json

    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("model", "sentences")
    for name in ("fairseq, ms", "ours, ms", "ratio", "CTranslate2, ms", "ratio"):
        table.add_column(name)
    table.add_column("translations that differ")
    results = []
    for number, case in enumerate(CASES):
        given = (arguments.model, arguments.text) if number == 0 else None
        if given is not None and not all(path.exists() for path in (given[0], *of_text(given[1]))):
            given = None
        found = measure(case, arguments.rounds, given)
        results.append(found)
        table.add_row(
            f"d={case.model_dim}, {case.layers}+{case.layers} layers, "
            f"{found['symbols']:,} symbols, {found['weights']}",
            f"{found['sentences']}",
            shown(found["fairseq"], 1),
            *(shown(found[side][key], digits) for side in SIDES for key, digits in SHOWN),
            f"{found['differ']}",
        )
    console.print(table)
    console.print(
        f"Beam {BEAM}, fp32, one thread, processor time, medians (quartiles) of "
        f"{arguments.rounds} rounds, goal {GOAL}, load {os.getloadavg()[0]:.1f}. Our best "
        f"hypotheses have the scores of fairseq's; ratios are its time to the others'. Written to "
        f"{arguments.output}"
    )
    write_json(arguments.output, {"goal": GOAL, "beam": BEAM, "cases": results})


def of_text(prefix: Path) -> tuple[Path, Path]:
    """The files of a binarised text."""
    from nat.data.binarised import files_of

    return files_of(prefix)


def measure(case: Case, rounds: int, given: tuple[Path, Path] | None = None) -> dict[str, Any]:
    """Time the searches in turns.

    Args:
        case: the model and the sentences.
        rounds: of each search.
        given: a trained model and the binarised text that it translates; None for random ones.
    """
    import numpy as np
    import torch

    from nat.data.batch import source_tensor
    from nat.data.binarised import BinarisedText
    from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
    from nat.decoding.beam_search import BeamSearch
    from nat.decoding.ctranslate2_beam import CTranslate2Beam
    from nat.decoding.engines.ctranslate2 import CTranslate2Engine
    from nat.export.formats import convert
    from nat.training.model_file import load_model
    from nat.transformer.architecture import Architecture
    from nat.transformer.model import Transformer

    torch.manual_seed(1)
    if given is None:
        numbers = np.random.default_rng(1)
        model = Transformer(
            Architecture(
                model_dim=case.model_dim,
                ffn_dim=4 * case.model_dim,
                encoder_layers=case.layers,
                decoder_layers=case.layers,
                heads=case.heads,
                pre_norm=True,
            ),
            case.symbols,
        ).eval()
        shape = (case.sentences, case.tokens)
        source = source_tensor(list(numbers.integers(len(SPECIALS), case.symbols, shape)))
    else:
        model = load_model(given[0]).model
        text = BinarisedText(given[1])
        source = source_tensor([text[number] for number in range(case.sentences)])
    longest = source.size(1) - 1 + 10
    options = {"beam": BEAM, "longest_ratio": 0.0, "longest_margin": longest}
    search, in_engine = BeamSearch(**options), CTranslate2Beam(**options)
    its_search = fairseq_search(model, source, longest)
    vocabulary = Vocabulary(
        f"w{number}" for number in range(model.embedding.num_embeddings - len(SPECIALS))
    )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "model"
        convert("ctranslate2", model, Vocabularies(vocabulary, vocabulary), made)
        engine = CTranslate2Engine(made, "float32", torch.device("cpu"))
    found = search(model, source)
    pairs = zip(its_search(), found, strict=True)
    difference = max(abs(score - mine.score) for score, mine in pairs)
    if not difference <= TOLERANCE:
        sys.exit(f"error: the scores of the two searches differ by up to {difference:.2g}")
    written = zip(in_engine(model, source, engine), found, strict=True)
    differ = sum(its.tokens != mine.tokens for its, mine in written)
    sides: list[Callable[[], Any]] = [
        its_search,
        lambda: search(model, source),
        lambda: in_engine(model, source, engine),
    ]
    times: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, its_times in zip(sides, times, strict=True):
            started = time.process_time()
            side()
            its_times.append(1000 * (time.process_time() - started))
    of_fairseq, *others = times
    return {
        **asdict(case),
        "weights": "random" if given is None else "trained",
        "symbols": model.embedding.num_embeddings,
        "fairseq": quartiles(of_fairseq),
        **{
            name: {
                "ms": quartiles(its),
                "ratio": quartiles(
                    [one / other for one, other in zip(of_fairseq, its, strict=True)]
                ),
            }
            for name, its in zip(SIDES, others, strict=True)
        },
        "difference": difference,
        "differ": differ,
    }


def fairseq_search(model: Any, source: Any, longest: int) -> Callable[[], list[float]]:
    """What translates sentences by fairseq's search and returns the scores of the best ones.

    Args:
        model: of this project, whose weights are copied.
        source: [B, S].
        longest: maximal number of tokens of a target.
    """
    import torch
    from fairseq.data import Dictionary
    from fairseq.models.transformer import TransformerModel
    from fairseq.models.transformer.transformer_config import TransformerConfig
    from fairseq.sequence_generator import SequenceGenerator

    from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK

    # fairseq numbers the special symbols that it has in another order
    dictionary = Dictionary()
    for number in range(len(dictionary), model.embedding.num_embeddings):
        dictionary.add_symbol(f"w{number}")
    its_number = torch.arange(len(dictionary))
    for mine, its in ((PAD, dictionary.pad()), (BOS, dictionary.bos())):
        its_number[mine] = its
    assert (dictionary.eos(), dictionary.unk()) == (EOS, UNK)

    sizes = model.architecture
    cfg = TransformerConfig()
    for part, layers in ((cfg.encoder, sizes.encoder_layers), (cfg.decoder, sizes.decoder_layers)):
        part.embed_dim, part.ffn_embed_dim = sizes.model_dim, sizes.ffn_dim
        part.layers, part.attention_heads = layers, sizes.heads
        part.normalize_before = sizes.pre_norm
    cfg.decoder.input_dim = cfg.decoder.output_dim = sizes.model_dim
    cfg.no_scale_embedding = not sizes.scale_embeddings
    cfg.activation_fn = sizes.activation
    cfg.share_decoder_input_output_embed = True
    cfg.max_source_positions = cfg.max_target_positions = sizes.max_positions
    embedded = model.embedding.weight.detach()
    tables = []
    for weight in (embedded if model.source_embedding is None else None, embedded):
        weight = model.source_embedding.weight.detach() if weight is None else weight
        table = torch.nn.Embedding(len(weight), sizes.model_dim, padding_idx=dictionary.pad())
        table.weight.data[its_number[: len(weight)]] = weight
        tables.append(table)
    encoder = TransformerModel.build_encoder(cfg, dictionary, tables[0])
    decoder = TransformerModel.build_decoder(cfg, dictionary, tables[1])
    its_model = TransformerModel(cfg, encoder, decoder).eval()
    for mine, its in ((model.positions, encoder), (model.positions_of_decoder, decoder)):
        before = torch.zeros(dictionary.pad() + 1, sizes.model_dim)
        its.embed_positions.weights = torch.cat((before, mine.detach()))
    copy_layers(model, its_model)

    generator = SequenceGenerator(
        [its_model],
        dictionary,
        beam_size=BEAM,
        max_len_a=0,
        max_len_b=longest,
        min_len=0,
        tokens_to_suppress=[dictionary[int(its_number[each])] for each in (BOS, MASK, BLANK)],
    )
    tokens = its_number[source]
    lengths = tokens.ne(dictionary.pad()).sum(1)
    sample = {"net_input": {"src_tokens": tokens, "src_lengths": lengths}}

    def search() -> list[float]:
        found = generator.generate([its_model], sample, bos_token=dictionary.bos())
        return [float(best["score"]) for best, *_ in found]

    return search


def copy_layers(model: Any, its_model: Any) -> None:
    """Copy the weights of all layers of ours to fairseq's."""
    import torch

    def linear(its: Any, mine: Any, part: int = 0, parts: int = 1) -> None:
        for name in ("weight", "bias"):
            of_part = getattr(mine, name).detach().chunk(parts)[part]
            getattr(its, name).data.copy_(of_part)

    def attention(its: Any, mine: Any) -> None:
        if hasattr(mine, "query"):
            linear(its.q_proj, mine.query)
            joined, first = mine.key_value, 0
        else:
            joined, first = mine.query_key_value, 1
            linear(its.q_proj, joined, 0, 3)
        for number, part in enumerate((its.k_proj, its.v_proj)):
            linear(part, joined, first + number, first + 2)
        linear(its.out_proj, mine.output)

    with torch.no_grad():
        pairs = [
            (model.encoder_layers, its_model.encoder),
            (model.decoder_layers, its_model.decoder),
        ]
        for layers, side in pairs:
            for mine, its in zip(layers, side.layers, strict=True):
                attention(its.self_attn, mine.attention)
                linear(its.self_attn_layer_norm, mine.around_attention.norm)
                linear(its.fc1, mine.feed_forward.inner)
                linear(its.fc2, mine.feed_forward.outer)
                linear(its.final_layer_norm, mine.around_feed_forward.norm)
                if hasattr(mine, "cross_attention"):
                    attention(its.encoder_attn, mine.cross_attention)
                    linear(its.encoder_attn_layer_norm, mine.around_cross_attention.norm)
        if model.architecture.pre_norm:
            linear(its_model.encoder.layer_norm, model.encoder_norm)
            linear(its_model.decoder.layer_norm, model.decoder_norm)


if __name__ == "__main__":
    main()
