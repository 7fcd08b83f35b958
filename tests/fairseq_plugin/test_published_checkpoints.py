"""Published checkpoints: what fairseq's own layers compute is what the imported model computes."""

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from fairseq.modules import (
    LearnedPositionalEmbedding,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from torch import Tensor, nn

from nat.artifacts import Model, Shard
from nat.configuration.reading import read
from nat.configuration.runnable import cannot_train
from nat.data.batch import source_tensor
from nat.data.binarised import write_binarised
from nat.data.translations import read_in_order
from nat.data.vocabulary import BLANK, EOS, MASK, PAD, SPECIALS, UNK, Vocabulary, VocabularySizes
from nat.decoding.ctc import CtcDecoding
from nat.decoding.ctc_beam import CtcBeam
from nat.fairseq_plugin.published import read_checkpoint
from nat.files import read_json
from nat.jobs.fetch import fetch_checkpoint
from nat.jobs.models import import_checkpoint
from nat.jobs.translate import translate_shard
from nat.training.model_file import load_model, matching_model
from nat.workflow.graph import Graph
from tests.messages import told
from tests.repository import ROOT, job

CORPUS, SYSTEM = "toy-micro", "published"
WORDS = [f"w{number}" for number in range(20)]
DICTIONARY = [*WORDS[::-1], "madeupword0000"]  # in another order, with one symbol more
ROWS = 4 + len(DICTIONARY) + 1
FAIRSEQ = {
    **{PAD: 1, EOS: 2, UNK: 3, MASK: 1, BLANK: 0},
    **{6 + number: 4 + DICTIONARY.index(word) for number, word in enumerate(WORDS)},
}
"""Rows of fairseq's embedding by the symbols of this project."""
SIZES = {
    **{"encoder_embed_dim": 16, "decoder_embed_dim": 16},
    **{"encoder_ffn_embed_dim": 32, "decoder_ffn_embed_dim": 32},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2},
    **{"encoder_layers": 2, "decoder_layers": 1},
    **{"encoder_normalize_before": False, "decoder_normalize_before": False},
}
OPTIONS = {
    "arch": "cmlm_transformer_ctc",
    **SIZES,
    **{"encoder_learned_pos": True, "decoder_learned_pos": True},
    **{"max_source_positions": 64, "max_target_positions": 64},
    **{"activation_fn": "gelu", "no_scale_embedding": True, "share_all_embeddings": True},
    **{"src_upsample": 3, "dynamic_upsample": True, "axe_eps": True, "force_eps_zero": True},
    **{"left_pad_source": "False", "dropout": 0.3, "attention_dropout": 0.0},
    **{"prepend_bos": False, "latent_dim": 0},
}
CONFIGURED = """
description: A published checkpoint
size: published
input: {method: full_mask}
target: {method: ctc}
decoder: {copy: soft_upsampled, upsample: 3.0, count_source_end: true}
length: null
text: raw
init_from: null
recipe: ctc
imported: {checkpoint: published.pt, dictionary: dict.txt}
"""
SIZE = """
  published:
    {model_dim: 16, ffn_dim: 32, encoder_layers: 2, decoder_layers: 1, heads: 2, max_positions: 64,
     activation: gelu, positions: learned_apart, scale_embeddings: false}
recipes:
"""
SENTENCES = [[6, 9, 11, 9], [20], [25, 6, 7, 8, 9, 10, 3]]


class Part(nn.Module):
    """Encoder or decoder of a released model, with its names."""

    def __init__(self, options: argparse.Namespace, kind: type, number: int, tokens: Any) -> None:
        super().__init__()
        self.embed_tokens = tokens
        positions = options.max_source_positions + 2
        self.embed_positions = LearnedPositionalEmbedding(positions, 16, 1)
        self.layers = nn.ModuleList(kind(options) for _ in range(number))
        self.register_buffer("version", torch.Tensor([3]))

    def embedded(self, tokens: Tensor) -> Tensor:
        """Tokens of one sentence and their positions, [S] to [S, D]."""
        return self.embed_tokens(tokens) + self.embed_positions(tokens[None])[0]


class Released(nn.Module):
    """Fully-NAT's CTC model of fairseq's layers: tokens of fairseq in, logits of frames out."""

    def __init__(self, latent_dim: int) -> None:
        super().__init__()
        options = argparse.Namespace(**OPTIONS)
        tokens = nn.Embedding(ROWS, 16, 1)
        self.encoder = Part(options, TransformerEncoderLayer, 2, tokens)
        self.decoder = Part(options, TransformerDecoderLayer, 1, tokens)
        self.decoder.output_projection = nn.Linear(16, ROWS, bias=False)
        self.decoder.output_projection.weight = tokens.weight
        self.latent_dim = latent_dim
        if latent_dim:
            self.prob_esitmator = nn.Linear(16, 2 * latent_dim)
            self.latent_map = nn.Linear(latent_dim, 16)
            self.q_encoder_y = Part(options, TransformerEncoderLayer, 1, tokens)
            self.bottleneck = nn.Linear(16, 2 * latent_dim)
        for parameter in self.parameters():  # biases and norms, too
            nn.init.normal_(parameter, std=0.4)
        with torch.no_grad():
            tokens.weight[FAIRSEQ[EOS]] *= 4  # so that it is predicted

    def forward(self, source: Tensor) -> Tensor:
        """One sentence, with its EOS, [S] to [3 S, V]."""
        states = self.encoder.embedded(source)[:, None]
        for layer in self.encoder.layers:
            states = layer(states, None)
        copied = states[:, 0]
        if self.latent_dim:
            mean = self.prob_esitmator(copied)[:, : self.latent_dim]
            copied = copied + self.latent_map(mean)
        frames = []
        for place in range(3 * len(source)):
            centres = 3 * torch.arange(len(source)) + 1.5
            weights = F.softmax(-((place - centres) ** 2) / 0.3, dim=0).to(copied.dtype)
            frames.append(weights @ copied)
        canvas = torch.stack(frames)[None]
        positions = self.decoder.embed_positions(torch.zeros(1, canvas.size(1), dtype=torch.long))
        canvas = (canvas + positions).transpose(0, 1)
        for layer in self.decoder.layers:
            canvas = layer(canvas, states, None)[0]
        return self.decoder.output_projection(canvas[:, 0])


def write(path: Path, weights: dict[str, Any], **changes: Any) -> None:
    """A checkpoint of Fully-NAT."""
    write_checkpoint(path, weights, {**OPTIONS, "posterior_layers": 1, **changes})


def write_checkpoint(path: Path, weights: dict[str, Any], options: dict[str, Any]) -> None:
    """A checkpoint as fairseq 0.9 writes it."""
    torch.save(
        {
            "args": argparse.Namespace(**options),
            "model": weights,
            "optimizer_history": [{"criterion_name": "LabelSmoothedDual", "num_updates": 300000}],
            "extra_state": {"train_iterator": {"epoch": 7}, "best": 26.5},
        },
        path,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of the micro scale with a system that is a released model without latents."""
    monkeypatch.chdir(tmp_path)
    prepare(CONFIGURED, SIZE)
    return tmp_path


def prepare(system: str, size: str) -> None:
    """Write what a run with an imported system of this content reads into the current folder."""
    shutil.copytree(ROOT / "config", "config")
    scale = Path("config/scales/micro.yaml")
    scale.write_text(scale.read_text().replace("\nrecipes:\n", size, 1))
    Path("config/systems/published.yaml").write_text(system)
    Path("dict.txt").write_text("".join(f"{word} 5\n" for word in DICTIONARY))
    vocabulary = Vocabulary(WORDS)
    source = read("micro", Path()).corpus(CORPUS).source
    lines = [vocabulary.decode(sentence) for sentence in SENTENCES]
    for where, split in ((f"results/corpora/{CORPUS}/train/binarised", "valid"), (TEST, "test")):
        Path(where).mkdir(parents=True)
        vocabulary.save(f"{where}/vocabulary.txt")
        write_binarised(lines, vocabulary, Path(f"{where}/{split}.{source}"))


TEST = f"results/corpora/{CORPUS}/test/binarised"
MODEL = Model("micro", CORPUS, SYSTEM, 1)


def released(seed: int = 1, latent_dim: int = 0) -> Released:
    torch.manual_seed(seed)
    return Released(latent_dim).eval()


def imported() -> Any:
    import_checkpoint(job(read("micro", Path()).on(CORPUS), MODEL))
    return load_model(MODEL.path).model


def of_fairseq(sentence: list[int]) -> Tensor:
    return torch.tensor([FAIRSEQ[token] for token in [*sentence, EOS]])


@pytest.mark.parametrize("latent_dim", [0, 3])
def test_the_imported_model_computes_the_same(folder: Path, latent_dim: int) -> None:
    theirs = released(latent_dim=latent_dim)
    write(Path("published.pt"), theirs.state_dict(), latent_dim=latent_dim)
    if latent_dim:
        system = Path("config/systems/published.yaml")
        latent = "parts: {latent: {dim: 3, posterior_layers: 1, added_to: decoder_input}}\n"
        system.write_text(CONFIGURED + latent)
    ours, theirs = imported().double(), theirs.double()
    source = source_tensor(SENTENCES)
    encoded = ours.encode(source)
    padding = ours.upsampled_padding(encoded)
    states = ours.decode(torch.where(padding, PAD, MASK), padding, encoded, causal=False)
    symbols = [symbol for symbol in FAIRSEQ if symbol != MASK]
    for row, sentence in enumerate(SENTENCES):
        expected = theirs(of_fairseq(sentence)).detach()
        found = states[row][~padding[row]] @ ours.embedding.weight[symbols].T
        assert found.shape[0] == 3 * (len(sentence) + 1)
        rows = [FAIRSEQ[symbol] for symbol in symbols]
        torch.testing.assert_close(found, expected[:, rows], rtol=0, atol=1e-6)


def collapsed(labels: list[int]) -> list[int]:
    """Words of an alignment in fairseq's numbers, as its published code collapses and prints it."""
    found = [one for one, before in zip(labels, [-1, *labels], strict=False) if one != before]
    return [label for label in found if label not in (0, FAIRSEQ[EOS])]


def test_greedy_translations_are_the_same(folder: Path) -> None:
    several = 0
    for seed in range(5):
        theirs = released(seed)
        write(Path("published.pt"), theirs.state_dict())
        model = imported()
        for sentence, found in zip(
            SENTENCES, CtcDecoding()(model, source_tensor(SENTENCES)), strict=True
        ):
            logits = theirs(of_fairseq(sentence)).detach()
            logits[:, [1, ROWS - 1, ROWS - 2]] = -torch.inf  # padding, BOS, a word not known here
            labels = logits.argmax(1).tolist()
            several += FAIRSEQ[EOS] in labels
            assert [FAIRSEQ[token] for token in found.tokens] == collapsed(labels)
    assert several  # EOS has been taken for BLANK


def test_beam_search_counts_the_end_as_blank(folder: Path) -> None:
    write(Path("published.pt"), released().state_dict())
    model = imported()
    source = source_tensor([[20]])
    encoded = model.encode(source)
    padding = model.upsampled_padding(encoded)
    states = model.decode(torch.where(padding, PAD, MASK), padding, encoded, causal=False)
    logs = (states[0] @ model.embedding.weight.T).log_softmax(1)
    (found,) = CtcBeam(beam=400, symbols=30)(model, source)
    both = torch.logaddexp(logs[:, BLANK], logs[:, EOS])
    [(*_, blanks)] = CtcBeam(symbols=30).emissions(model, encoded)
    torch.testing.assert_close(torch.from_numpy(blanks), both.double(), rtol=0, atol=1e-4)
    assert EOS not in found.tokens


def test_the_files_of_a_model_are_written_and_scores_can_be_made(folder: Path) -> None:
    write(Path("published.pt"), released().state_dict())
    configuration = read("micro", Path())
    inputs = MODEL.inputs(configuration)
    assert inputs.checkpoint.path == "published.pt" and not inputs.paths()["checkpoint"]
    assert SYSTEM in Graph(configuration).imported
    imported()
    report = read_json(Path(MODEL.path).with_name("training.json"))
    assert report["updates"] == 300000 and report["fingerprint"]
    assert report["imported"]["symbols_left_out"] == 1
    assert Path(MODEL.path).with_name("training.csv").exists()
    shard = Shard("micro", CORPUS, SYSTEM, 1, "ctc", "test", 1, 1)
    sizes = VocabularySizes(len(SPECIALS) + len(WORDS))
    matching_model(MODEL, job(configuration, shard).configuration, sizes)
    translate_shard(job(configuration.on(CORPUS), shard))
    assert len(list(read_in_order(Path(shard.path)))) == len(SENTENCES)


def test_a_checkpoint_is_fetched_from_its_address(folder: Path) -> None:
    address = "example.org/models/published.pt"
    system = Path("config/systems/published.yaml")
    system.write_text(CONFIGURED.replace("published.pt", f"https://{address}"))
    configuration = read("micro", Path())
    assert cannot_train(configuration, SYSTEM) == ""
    checkpoint = MODEL.inputs(configuration).checkpoint
    assert checkpoint.path == f"results/checkpoints/{address}"
    published = Path("mirror", address)
    published.parent.mkdir(parents=True)
    write(published, released().state_dict())
    fetch_checkpoint(job(configuration, checkpoint))
    assert Path(checkpoint.path).read_bytes() == published.read_bytes()
    imported()
    Path("dict.txt").unlink()
    assert "dict.txt" in cannot_train(configuration, SYSTEM)


class Harmful:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("touch harmed",)


@pytest.mark.parametrize("value", [Harmful(), Path("x")])
def test_nothing_in_a_checkpoint_is_executed(folder: Path, value: Any) -> None:
    torch.save({"args": argparse.Namespace(hook=value), "model": {}}, "published.pt")
    with told("published.pt", "class"):
        read_checkpoint(Path("published.pt"))
    assert not Path("harmed").exists()


def test_what_is_no_checkpoint_is_refused(folder: Path) -> None:
    path = Path("published.pt")
    with told("published.pt", "does not exist"):
        read_checkpoint(path)
    torch.save({"model": {}}, path)
    with told("published.pt", "args"):
        read_checkpoint(path)
    torch.save({"args": None, "cfg": {"model": {"_name": "nat"}}, "model": {}}, path)
    with told("published.pt", "newer"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("options", "weights", "named"),
    [
        ({"prepend_bos": True}, {}, "prepend_bos"),
        ({"dynamic_upsample": False}, {}, "dynamic_upsample"),
        ({"left_pad_source": "True"}, {}, "left_pad_source"),
        ({"encoder_layers": 3}, {}, "encoder_layers"),
        ({"src_upsample": 2}, {}, "src_upsample"),
        ({"latent_dim": 8}, {}, "latent_dim"),
        ({"activation_fn": None}, {}, "activation_fn"),
        ({}, {"decoder.upsampler.weight": torch.ones(48, 16)}, "decoder.upsampler.weight"),
        ({}, {"decoder.layers.0.fc1.weight": None}, "decoder.layers.0.fc1.weight"),
        (
            {},
            {"decoder.output_projection.weight": torch.ones(ROWS, 16)},
            "decoder.output_projection",
        ),
    ],
)
def test_a_checkpoint_of_another_form_is_refused(
    folder: Path, options: dict[str, Any], weights: dict[str, Tensor | None], named: str
) -> None:
    changed = {**released().state_dict(), **weights}
    kept = {name: value for name, value in changed.items() if value is not None}
    write(Path("published.pt"), kept, **options)
    with told("published.pt", named):
        imported()
    assert not Path(MODEL.path).exists()


def test_a_dictionary_that_does_not_fit_is_refused(folder: Path) -> None:
    write(Path("published.pt"), released().state_dict())
    dictionary = Path("dict.txt")
    before = dictionary.read_text()
    dictionary.write_text(before + "more 1\n")
    with told("published.pt", "26 symbols", "27"):
        imported()
    dictionary.write_text(before.replace("w3 ", "v3 "))
    with told("1 symbols", "w3"):
        imported()


def test_another_checksum_is_refused(folder: Path) -> None:
    write(Path("published.pt"), released().state_dict())
    system = Path("config/systems/published.yaml")
    system.write_text(CONFIGURED.replace("dict.txt}", f"dict.txt, sha256: {'a' * 64}}}"))
    with told("published.pt", "sha256"):
        imported()
