"""Language models of subwords, compared with a definition in dictionaries."""

import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

import nat.language_model.ngram
from nat.data.binarised import write_binarised
from nat.data.vocabulary import BOS, EOS, UNK, Vocabulary
from nat.files import read_json
from nat.language_model.ngram import FALLBACK, NO_WORDS, LanguageModel, estimate, estimate_from
from tests.messages import told

VOCABULARY = 12
WORDS = [word for word in range(VOCABULARY) if word not in NO_WORDS]


def text(sentences: int = 60, seed: int = 1) -> list[list[int]]:
    """Sentences of a skewed distribution, some empty, so that all counts up to four occur."""
    numbers = np.random.default_rng(seed)
    symbols = np.array([UNK, *range(6, VOCABULARY - 1)])  # the last word never occurs
    weights = 1.0 / np.arange(1, len(symbols) + 1)
    return [
        numbers.choice(symbols, numbers.integers(0, 7), p=weights / weights.sum()).tolist()
        for _ in range(sentences)
    ]


def model_of(sentences: list[list[int]], order: int) -> LanguageModel:
    tokens = np.array([word for sentence in sentences for word in sentence], dtype=np.uint16)
    lengths = np.array([len(sentence) for sentence in sentences])
    return estimate(tokens, lengths, VOCABULARY, order)


class Definition:
    """Chen and Goodman's formulas, n-gram by n-gram."""

    def __init__(self, sentences: list[list[int]], order: int) -> None:
        raw: Counter[tuple[int, ...]] = Counter()
        for sentence in sentences:
            whole = [BOS, *sentence, EOS]
            for length in range(1, order + 1):
                raw.update(tuple(whole[at : at + length]) for at in range(len(whole) - length + 1))
        behind = defaultdict(set)
        for ngram in raw:
            behind[ngram[1:]].add(ngram[0])
        self.counts = {
            ngram: count if len(ngram) == order or ngram[0] == BOS else len(behind[ngram])
            for ngram, count in raw.items()
            if ngram != (BOS,)
        }
        self.discounts = {}
        for length in range(1, order + 1):
            of_length = Counter(
                count for ngram, count in self.counts.items() if len(ngram) == length
            )
            n1, n2, n3, n4 = (of_length[count] for count in (1, 2, 3, 4))
            values = FALLBACK
            if n1 and n2 and n3:
                y = n1 / (n1 + 2 * n2)
                found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
                if all(0 < value <= count for count, value in enumerate(found, 1)):
                    values = found
            self.discounts[length] = values

    def probability(self, context: tuple[int, ...], word: int) -> float:
        length = len(context) + 1
        children = {
            ngram: count
            for ngram, count in self.counts.items()
            if len(ngram) == length and ngram[:-1] == context
        }
        lower = self.probability(context[1:], word) if context else 1 / len(WORDS)
        if not children:
            return lower
        total = sum(children.values())
        taken = {
            ngram: self.discounts[length][min(count, 3) - 1] for ngram, count in children.items()
        }
        ngram = (*context, word)
        own = children.get(ngram, 0) - taken.get(ngram, 0)
        return own / total + sum(taken.values()) / total * lower


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_are_those_of_the_definition(order: int) -> None:
    sentences = text()
    exact, model = Definition(sentences, order), model_of(sentences, order)
    assert order == 1 or exact.discounts[order] != FALLBACK
    seen = [WORDS[:-1]] * order  # as contexts; EOS stands for an unseen one
    for begin in ((), (BOS,)):
        for history in itertools.product(*seen[: max(0, order - 1 - len(begin))]):
            # after any other word, what follows is not the begin any more
            read = history if begin else (WORDS[-1], *history)
            state = np.array([model.begin])
            for word in read:
                _, state = model.step(state, np.array([word]))
            context = ((*begin, *history)[1 - order :]) if order > 1 else ()
            expected = [exact.probability(context, word) for word in WORDS]
            found, _ = model.step(state.repeat(len(WORDS)), np.array(WORDS))
            assert np.exp(found).tolist() == pytest.approx(expected, rel=1e-4), context
            assert np.exp(found).sum() == pytest.approx(1, abs=1e-5)


def test_a_large_text_is_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vars(model_of(text(), 4))
    monkeypatch.setattr(nat.language_model.ngram, "BLOCK", 7)
    parts = vars(model_of(text(), 4))
    assert all(np.array_equal(parts[name], value) for name, value in whole.items())


def test_no_word_is_impossible_and_specials_are() -> None:
    model = model_of([[7, 7, 7]] * 3, 4)
    unigrams = model.log_probabilities[:VOCABULARY]
    assert np.isneginf(unigrams[list(NO_WORDS)]).all()
    assert np.isfinite(unigrams[WORDS]).all()
    assert np.isfinite(model.backoffs).all()
    assert np.isfinite(model.log_probabilities[VOCABULARY:]).all()


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = model_of(text(), 3)
    path = tmp_path / "saved/model.npz"
    model.save(path)
    again = LanguageModel.load(path, VOCABULARY)
    for name, value in vars(model).items():
        assert np.array_equal(vars(again)[name], value)
    assert again.order == 3 and again.vocabulary_size == VOCABULARY
    with told(f"{VOCABULARY} symbols", VOCABULARY + 1):
        LanguageModel.load(path, VOCABULARY + 1)
    content = path.read_bytes()
    (tmp_path / "half.npz").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.npz").write_text("no archive")
    np.save(tmp_path / "one.npy", np.ones(3))
    np.savez(tmp_path / "others.npz", keys=np.ones(3))
    for name, words in {
        "half.npz": "damaged",
        "text.npz": "damaged",
        "one.npy": "damaged",
        "others.npz": "no language model",
        "none.npz": "does not exist",
    }.items():
        with told(name, words) as raised:
            LanguageModel.load(tmp_path / name, VOCABULARY)
        assert "pickle" not in str(raised.value)


def test_a_model_is_made_from_a_distilled_text(tmp_path: Path) -> None:
    vocabulary = Vocabulary([f"w{number}" for number in range(VOCABULARY - 6)])
    sentences = text()
    lines = [" ".join(vocabulary.symbols[word] for word in sentence) for sentence in sentences]
    write_binarised(lines, vocabulary, tmp_path / "train.de")
    vocabulary.save(tmp_path / "vocabulary.txt")
    estimate_from(tmp_path, "de", 3, tmp_path / "order3.npz")
    found, expected = (
        LanguageModel.load(tmp_path / "order3.npz", VOCABULARY),
        model_of(sentences, 3),
    )
    assert np.array_equal(found.keys, expected.keys)
    report = read_json(tmp_path / "order3.json")
    assert report["sentences"] == 60 and report["tokens"] == sum(map(len, sentences))
    whole = [[BOS, *sentence, EOS] for sentence in sentences]
    different = {pair for each in whole for pair in itertools.pairwise(each)}
    assert len(report["ngrams"]) == 3 and report["ngrams"][1] == len(different)
    with told("train.fr"):
        estimate_from(tmp_path, "fr", 3, tmp_path / "x.npz")
    assert not (tmp_path / "x.npz").exists()
