"""Training on several target texts as a user starts it: it ends and adds up."""

import json
from pathlib import Path

import numpy as np
import pytest

from nat.artifacts import Model
from nat.checksums import OF_FOLDER
from nat.configuration import load
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.vocabulary import Vocabulary
from nat.fairseq_plugin.dataset import TrainingPairs
from nat.jobs.train import describe
from nat.training.run import Run
from tests.messages import told
from tests.repository import job, write_yaml
from tests.training.test_training import (
    CORPUS,
    SCALE,
    SYSTEM,
    SYSTEMS,
    curve,
    folder,  # noqa: F401
    make_start,
    model_file,
    report,
    train,
)

AT = {"system": "at", "decoding": "beam"}
DYNAMIC = {"candidates": [AT, "raw"], "regulariser": {"beta": 0.1, "gamma": [1.0, 1.0]}}
RAW = Path("results/corpora/toy/train/binarised/train.lu")
OF_TEACHER = Path("results/demo/distilled/toy/at/seed1/beam/binarised/train.lu")
PAIRWISE_BLEU = Path("results/demo/distilled/toy/pairwise_bleu/at.beam+raw/seed1/bleu.npy")

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def several_texts(folder: Path) -> None:  # noqa: F811
    student = {**SYSTEM, "length": "target", "recipe": "at", "target": SYSTEMS["cmlm"]["target"]}
    shown = {"input": {"method": "full_mask"}}
    write_yaml("config/systems/dynamic.yaml", {**student, **shown, "text": {"dynamic": DYNAMIC}})
    mixed = {"raw": 0.25, "distilled": AT}
    write_yaml("config/systems/mixed.yaml", {**student, **shown, "text": {"mixed": mixed}})
    predicted = {
        **SYSTEMS["cmlm"],
        "text": "raw",
        "parts": {"input_predictor": {}},
        "teacher": "cmlm",
        "recipe": "dims",
    }
    write_yaml("config/systems/predicted.yaml", predicted)
    # what the teacher says: the references backwards, and nothing of the last sentence
    vocabulary = Vocabulary.load("results/corpora/toy/train/binarised/vocabulary.txt")
    raw = BinarisedText(RAW)
    lines = [vocabulary.decode(raw[number][::-1].tolist()) for number in range(len(raw))]
    write_binarised([*lines[:-1], ""], vocabulary, OF_TEACHER)
    write_likeness(len(lines))


def write_likeness(sentences: int, candidates: int = 2) -> None:
    PAIRWISE_BLEU.parent.mkdir(parents=True, exist_ok=True)
    numbers = np.random.default_rng(3)
    shape = (sentences, candidates, candidates)
    np.save(PAIRWISE_BLEU, numbers.uniform(0, 100, shape).astype(np.float32))


def parts(system: str) -> list[dict[str, float]]:
    rows = [row for row in curve(system) if row.pop("split") == "train"]
    return [{key: float(value or 0) for key, value in row.items()} for row in rows]


@pytest.mark.parametrize("system", ["dynamic", "mixed"])
def test_both_texts_are_learned(system: str) -> None:
    train(system)
    shares = [(row["from_at.beam"], row["from_raw"]) for row in parts(system)]
    assert all(sum(each) == pytest.approx(1) for each in shares)
    assert 0.05 < np.mean([raw for _, raw in shares]) < 0.95
    assert report(system)["tokens"] > 0


def test_the_regulariser_decides_where_it_is_strong() -> None:
    pairwise_bleu = np.load(PAIRWISE_BLEU)
    pairwise_bleu[:, :, 0], pairwise_bleu[:, :, 1] = 0, 100
    np.save(PAIRWISE_BLEU, pairwise_bleu * 1000)
    train("dynamic")
    # but for sentences of one word, where both are the same
    assert np.mean([row["from_raw"] for row in parts("dynamic")]) > 0.8
    pairwise_bleu[:, :, 0], pairwise_bleu[:, :, 1] = 100, 0
    np.save(PAIRWISE_BLEU, pairwise_bleu * 1000)
    train("dynamic")  # another pairwise_bleu is another training
    # the translation that is missing gives way to its reference
    shares = [row["from_at.beam"] for row in parts("dynamic")]
    assert np.mean(shares) > 0.8 and min(shares) < 1


def test_tuned_weights_are_read_and_recorded() -> None:
    write_yaml("config/scales/demo.yaml", {**SCALE, "regulariser": {"gamma": "tuned"}})
    valid = {**CORPUS["splits"]["valid"], "references": [{"files": {"lu": "valid.lu1"}}]}
    splits = {**CORPUS["splits"], "valid": valid}
    write_yaml("config/corpora/toy.yaml", {**CORPUS, "splits": splits})
    gamma = PAIRWISE_BLEU.with_name("gamma.json")
    with told("gamma.json"):
        train("dynamic")
    shares = {}
    for weights in ([1.0, 1.0], [0.5, 3.0]):
        gamma.write_text(json.dumps({"gamma": weights}))
        train("dynamic")  # other weights are another training
        assert report("dynamic")["gamma"] == weights
        shares[weights[1]] = np.mean([row["from_raw"] for row in parts("dynamic")])
    assert shares[1.0] != shares[3.0]


def test_pairs_whose_candidates_are_partly_there() -> None:
    source = BinarisedText(RAW.with_suffix(".ka"))
    files = [RAW.with_suffix(".ka"), OF_TEACHER, RAW]
    pairwise_bleu = np.arange(len(source) * 2, dtype=np.float32).reshape(-1, 2)
    pairs = TrainingPairs(files, (19, 19), 40, "test", regulariser=pairwise_bleu)
    last = len(source) - 1
    assert pairs.ids[-1] == last  # there is a reference
    number, _, targets = pairs[len(pairs) - 1]
    assert (number, len(targets[0])) == (last, 0)
    assert targets[1].tolist() == BinarisedText(RAW)[last].tolist()
    alone = pairs.collater([pairs[len(pairs) - 1]])["batch"]
    assert alone.target[0].tolist() == targets[1].tolist()  # before one is chosen
    batches = pairs.batches(40, seed=1)
    for places in batches:
        batch = pairs.collater([pairs[place] for place in places])["batch"]
        longest = max(batch.source.size(1), batch.candidates.size(2) + 1)
        assert len(places) * longest <= 40
        assert batch.regulariser.tolist() == pairwise_bleu[batch.ids.numpy()].tolist()
    short = TrainingPairs(files, (19, 3), 40, "test")
    assert short.lengths.max() == 3
    assert short.left_out["longer_than_positions"] > pairs.left_out["longer_than_positions"]
    assert len(short) + sum(short.left_out.values()) == len(source)


def test_the_length_of_several_candidates_is_the_mean_of_those_that_are_there() -> None:
    source, raw = BinarisedText(RAW.with_suffix(".ka")), BinarisedText(RAW)
    vocabulary = Vocabulary.load("results/corpora/toy/train/binarised/vocabulary.txt")
    write_binarised(["w1"] * (len(raw) - 1) + [""], vocabulary, Path("short.lu"))
    pairs = TrainingPairs([RAW.with_suffix(".ka"), "short.lu", RAW], (19, 19), 40, "test")
    lengths = raw.lengths[pairs.ids]
    expected = np.where(lengths == 0, 1, (1 + lengths) / 2)
    expected[-1] = lengths[-1]
    assert pairs.mean_lengths.tolist() == expected.tolist()
    difference = expected.mean() - source.lengths[pairs.ids].mean()
    assert pairs.mean_difference == pytest.approx(difference)
    # in a batch the longer side counts
    short = TrainingPairs([RAW.with_suffix(".ka"), "short.lu"], (19, 19), 40, "test")
    assert short.tokens.tolist() == (source.lengths[short.ids] + 1).tolist()


@pytest.mark.parametrize("system", ["predicted", "dynamic"])
def test_a_fingerprint_is_of_all_that_a_model_is_made_from(system: str) -> None:
    make_start()
    before = described(system)
    assert described(system) == before
    assert described(system, seed=2).fingerprint != before.fingerprint
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": {"others": 40}})
    shorter = described(system)
    assert shorter.fingerprint == before.fingerprint
    assert shorter.exact_fingerprint != before.exact_fingerprint
    read = [model_file("cmlm"), *RAW.parent.glob("[!.]*")]
    if system == "dynamic":
        read = [PAIRWISE_BLEU, *OF_TEACHER.parent.glob("[!.]*"), *read[1:]]
    fingerprints = {shorter.fingerprint}
    for path in read:
        path.with_name(OF_FOLDER).unlink(missing_ok=True)
        path.write_bytes(path.read_bytes() + b"\n")
        fingerprints.add(described(system).fingerprint)
    assert len(fingerprints) == 1 + len(read) > 10


def described(system: str, seed: int = 1) -> Run:
    return describe(job(load(), Model("demo", "toy", system, seed)))


@pytest.mark.parametrize("shape", [(46, 2), (47, 3)])
def test_what_does_not_belong_together_is_told(shape: tuple[int, int]) -> None:
    write_likeness(*shape)
    with told("47 sentences", "2 candidates", str([*shape, shape[1]])):
        train("dynamic")
    assert not model_file("dynamic").exists()
