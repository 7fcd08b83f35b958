"""Text that others publish: their subwords and dictionary, and translations by their teacher."""

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor

from nat.artifacts import CorpusStep, Distilled, DistilledText, Model
from nat.configuration import read
from nat.configuration.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.lines import read_lines, write_lines
from nat.data.raw_text import RawText, bpe_splitter, piece_splitter
from nat.data.splits import GIVEN
from nat.data.subwords import joined, learn, learn_pieces, splitter_at
from nat.data.vocabulary import SPECIALS, UNK, Vocabulary
from nat.files import read_json, write_json
from nat.jobs.prepare import distil_text, prepare_step, prepare_test_set
from nat.measures.perfect import SCORES
from tests.made_up_corpus import corpus_file, prepare_corpus, write_text
from tests.messages import must_name, told
from tests.repository import ROOT, configured, job

NAME, TEACHER = "published", "at-base"
DISTILLED = Distilled("micro", NAME, TEACHER, 1, "beam5")
WORDS = ["lower", "lowest", "newer", "newest", "wider", "widest", ",", "`` it 's @-@ so ''"]
SOURCE = [f"{one} {other} ." for one in WORDS for other in WORDS[::2]]
TARGET = [f"{line} {line}" for line in SOURCE]
TRANSLATED = [f"{line} {line.split()[0]}" for line in SOURCE]
CORPUS: dict[str, Any] = corpus_file("en", "de") | {
    "least_perfect_score": 0,  # few words are known
    "subwords": {"files": {"codes": "codes", "vocabulary": "dict.txt"}},
    "distilled": {TEACHER: {"files": {"de": "distilled.de"}, "segmented": True}},
}
CORPUS["preprocessing"] |= {"normalise_punctuation": True, "tokeniser": "moses_dashes"}
for each in ("train", "valid"):
    CORPUS["splits"][each]["segmented"] = True


def describe(**changes: Any) -> None:
    write_json(f"config/corpora/{NAME}.yaml", {**CORPUS, **changes})


def configuration() -> Configuration:
    return read("micro", Path())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A micro scale with a published corpus: words that are tokenised and split already."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    scale = Path("config/scales/micro.yaml")
    content = scale.read_text()
    scale.write_text(content.replace("wmt14-en-de: toy-micro", f"wmt14-en-de: {NAME}"))
    describe()
    codes = learn([*SOURCE, *TARGET], 12)
    Path("codes").write_text(codes)
    split = bpe_splitter(codes)
    write_splits([*map(split, SOURCE)], [*map(split, TARGET)], ["Newest, lower-wider!", "“so”"])
    translated = [*map(split, TRANSLATED)]
    write("distilled.de", translated)
    write_dictionary([*map(split, [*SOURCE, *TARGET]), *translated], "madeupword0000 0")
    return tmp_path


def write_splits(source: list[str], target: list[str], test: list[str]) -> None:
    text = {"train": (source, target), "valid": (source[:5], target[:5]), "test": (test, test)}
    write_text(Path(), **text)


def write(name: str, lines: Iterable[str]) -> None:
    write_lines(Path(name), lines)


def write_dictionary(lines: list[str], *others: str) -> list[str]:
    """Write the dictionary of lines of subwords; returns its symbols."""
    symbols = sorted({*" ".join(lines).split()}, reverse=True)
    write("dict.txt", [*(f"{symbol} 9" for symbol in symbols), *others])
    return symbols


def prepare() -> Path:
    """Make the steps of the corpus as the programs of the rules do."""
    return prepare_corpus(NAME, configuration().corpus(NAME))


def test_the_subwords_are_those_that_were_published(folder: Path) -> None:
    codes = Path("codes")
    learned = codes.read_text()
    codes.write_bytes(gzip.compress(codes.read_bytes()))
    place = prepare()
    for side in ("en", "de"):
        published = list(read_lines(f"train.{side}"))
        assert list(read_lines(place / f"bpe/train.{side}")) == published
    assert list(read_lines(place / "tokens/train.en")) == SOURCE
    vocabulary = Vocabulary.load(place / "binarised/vocabulary.txt")
    rows = [line.split()[0] for line in read_lines("dict.txt")]
    assert vocabulary.symbols == [*SPECIALS, *rows]
    # a test set is given as text, and so tokenised and split with the published codes
    (first, _) = read_lines(place.parent / "test/tokens/test.en")
    assert first == "Newest , lower @-@ wider !"
    split = bpe_splitter(learned)
    assert next(read_lines(place.parent / "test/bpe/test.en")) == split(first)
    ids = BinarisedText(place.parent / "test/binarised/test.en")[0].tolist()
    assert UNK in ids and vocabulary.ids[split("lower").split()[0]] in ids
    given = read_json(place / "text/text.json")["given"]
    assert given["codes"]["read_from"] == ["codes"] and given["dictionary.txt"]["sha256"]
    assert not (place.parent / "test/text" / GIVEN).exists()


def distilled_lines() -> list[str]:
    """Prepare the corpus and its published translations; what students learn from."""
    prepare()
    distil_text(job(configuration(), DISTILLED))
    return list(read_lines(Path(DistilledText(**vars(DISTILLED)).path) / "train.de"))


def test_students_learn_from_the_published_translations(folder: Path) -> None:
    there = configuration()
    assert "translations" not in DISTILLED.inputs(there)  # by the teacher
    student = Model("micro", NAME, there.canonical(NAME, "nat-kd"), 1)
    assert DISTILLED in student.inputs_of_training(there).texts
    published = list(read_lines("distilled.de"))
    assert distilled_lines() == published
    report = read_json(Path(DISTILLED.path).with_name("distillation.json"))
    assert report["translated"] == len(SOURCE) and report["unknown_tokens"] == 0
    ids = BinarisedText(Path(DISTILLED.path) / "train.de")
    vocabulary = Vocabulary.load(Path("results/corpora", NAME, "train/binarised/vocabulary.txt"))
    assert vocabulary.decode(ids[3].tolist()) == published[3]


@pytest.mark.parametrize("segmented", [False, True])
def test_translations_are_prepared_like_the_text(folder: Path, segmented: bool) -> None:
    split = bpe_splitter(Path("codes").read_text())
    raw = [f"“soț”, it is {number}" for number in range(len(SOURCE))]
    write("distilled.de", map(split, raw) if segmented else raw)
    translations = {"files": {"de": "distilled.de"}, "segmented": segmented}
    describe(distilled={TEACHER: translations}, diacritics={"de": "remove"})
    expected = "“sot”, it is 7" if segmented else '" sot " , it is 7'
    assert distilled_lines()[7] == split(expected)


def test_what_others_have_escaped_is_text_again_wherever_it_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [(one, other) for one in WORDS[:6] for other in WORDS[:6]]
    raw = [f'{one} is "{other}" [&].' for one, other in pairs]
    escaped = [f"{one} is &quot; {other} &quot; &#91; &amp; &#93; ." for one, other in pairs]
    codes = learn(escaped, 40)
    Path("codes").write_text(codes)
    split = bpe_splitter(codes)
    subwords = [*map(split, escaped)]
    write_splits(subwords, subwords, raw)
    symbols = write_dictionary(subwords)
    preprocessing = {**CORPUS["preprocessing"], "escaped": True}
    for segmented, translations in ((True, subwords), (False, raw)):
        write("distilled.de", translations)
        own = {TEACHER: {"files": {"de": "distilled.de"}, "segmented": segmented}}
        describe(preprocessing=preprocessing, distilled=own, least_perfect_score=99)
        assert distilled_lines() == subwords
        shutil.rmtree("results/micro")
    place = Path("results/corpora", NAME)
    for split in ("train", "test"):
        assert [*read_lines(place / split / f"bpe/{split}.en")] == subwords
        assert [*read_lines(place / split / f"bpe/{split}.de")] == subwords
    # the symbols are theirs, as a checkpoint of theirs expects
    assert Vocabulary.load(place / "train/bpe/vocabulary.txt").symbols == [*SPECIALS, *symbols]
    perfect = read_json(place / "test/tokens/perfect.json")
    assert [perfect[name] for name in SCORES] == [100, 100, 100]
    corpus = configuration().corpus(NAME)
    text = RawText(corpus.as_written(), splitter_at(place / "train/bpe/codes"))
    assert [text.subwords(line) for line in raw] == subwords
    assert [text.text(line) for line in subwords] == raw
    describe(least_perfect_score=70)
    with told("XML escapes", "'escaped: true'"):
        prepare()
    # each job says what it has noticed, with an example
    capsys.readouterr()
    both = ("bpe", "train", prepare_step), ("binarised", "test", prepare_test_set)
    for step, split, work in both:
        describe(least_perfect_score=0)
        work(job(configuration(), CorpusStep(NAME, step, split)))
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len({*lines}) > 1 and all("such as line 1 of" in x for x in lines)
        must_name(" ".join(lines), "XML escapes" if split == "train" else "vocabulary lacks")


def test_files_that_do_not_fit_each_other_are_refused(folder: Path) -> None:
    write("distilled.de", TRANSLATED[1:])
    with told("at-base.de", "31", "32", "max_tokens"):
        distilled_lines()
    write("dict.txt", ["low 3", "est 2"])
    with told("dictionary.txt", "'subwords'"):
        prepare()


def test_pieces_have_the_marks_of_this_project(folder: Path) -> None:
    model = learn_pieces(SOURCE * 3, 40)
    Path("spm.model").write_bytes(model)
    encode = SentencePieceProcessor(model_proto=model).encode
    source, target = (
        [" ".join(encode(line, out_type=str)) for line in lines] for lines in (SOURCE, TARGET)
    )
    assert [joined(line, in_pieces=True) for line in source] == SOURCE
    write_splits(source, target, SOURCE[:2])
    write_dictionary(source + target)
    files = {"pieces": "spm.model", "vocabulary": "dict.txt"}
    preprocessing = {**CORPUS["preprocessing"], "tokeniser": "none"}
    describe(subwords={"files": files}, distilled={}, preprocessing=preprocessing)
    place = prepare()
    split = piece_splitter(model)
    assert list(read_lines(place / "bpe/train.en")) == [split(line) for line in SOURCE]
    assert UNK not in BinarisedText(place / "binarised/train.en").tokens


@pytest.mark.parametrize("pair", ["en-de", "de-en", "en-ro", "ro-en", "ja-en"])
def test_corpora_of_the_authors_of_fully_nat(pair: str) -> None:
    corpus = configured("paper").corpus(f"fully-nat-{pair}")
    assert [corpus.source, corpus.target] == pair.split("-") == [*corpus.splits["train"].files]
    assert corpus.in_pieces == (pair == "ja-en")
    assert set(corpus.distilled) == {f"fully-nat-at-{'big' if pair == 'ja-en' else 'base'}"}
    assert corpus.splits["train"].segmented and not corpus.splits["test"].segmented
