"""The text of a corpus, wherever it comes from, up to its folder `text`."""

import errno
import gzip
import hashlib
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from sacrebleu.dataset import DATASETS

from nat.checksums import sha256_of
from nat.data import text
from nat.data.clean import filter_folder
from nat.data.corpus_parts import addresses_of, local_files, text_part
from nat.data.lines import read_lines
from nat.data.origins import PairSource, Source, with_archive
from nat.data.sources import Place
from nat.data.splits import folder_of
from nat.data.text import make_text
from nat.files import read_json
from tests.data.test_archive import tar
from tests.made_up_corpus import as_corpus, corpus_file, write_text
from tests.messages import told
from tests.repository import ROOT, configured

SPLITS = ("train", "valid", "test")


def corpus_of(root: Path, lines: int = 3) -> dict[str, Any]:
    sides = ("en", "de")
    for split in SPLITS:
        write_text(root, **{split: [[f"{split} {x} {n}" for n in range(lines)] for x in sides]})
    return corpus_file(*sides)


def make(root: Path, corpus: dict[str, Any], name: str = "own", part: str | None = None) -> Path:
    """Make the text of all splits of a corpus, or of a part of it."""
    typed = as_corpus(corpus)
    typed = typed if part is None else text_part(typed, part)
    output = folder_of(name, part or "train", root / "corpora") / "text"
    make_text(typed, output, Place(name, root, root / "mirror", root / "down"), root / "corpora")
    return output


def left_nothing(root: Path) -> bool:
    return not list((root / "corpora").rglob("*.en"))


# Local files


def test_local_files_are_copied_and_described(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    packed = tmp_path / "elsewhere.gz"
    packed.write_bytes(gzip.compress((tmp_path / "test.de").read_bytes()))
    corpus["splits"]["test"]["files"]["de"] = str(packed)  # an absolute path
    folder = make(tmp_path, corpus)
    text = (folder / "test.de").read_bytes()
    assert text == (tmp_path / "test.de").read_bytes()
    facts = read_json(folder / "text.json")
    assert facts["pairs"] == {"train": 3, "valid": 3, "test": 3}
    assert facts["sha256"]["test.de"] == hashlib.sha256(text).hexdigest()
    assert facts["read_from"]["test.de"] == [str(packed)]
    assert dict(local_files(as_corpus(corpus)))["splits.test.files.de"] == packed


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"test.de": b"one\n"}, ["splits.test", "test.en", "3 lines", "test.de", "1"]),
        ({"valid.de": b"gut\nsch\xf6n\ngut\n"}, ["valid.de", "line 2", "UTF-8", "byte 4"]),
        ({"valid.en": None}, ["splits.valid.files.en"]),
        ({"train.en": b"", "train.de": b""}, ["splits.train"]),
    ],
)
def test_faults_are_told_and_leave_nothing(
    tmp_path: Path, changed: dict[str, bytes | None], parts: list[str]
) -> None:
    corpus = corpus_of(tmp_path)
    for name, content in changed.items():
        (tmp_path / name).write_bytes(content or b"")
        if content is None:
            (tmp_path / name).unlink()
    with told("config/corpora/own.yaml", *parts):
        make(tmp_path, corpus)
    assert left_nothing(tmp_path)


def test_a_wrong_count_and_a_full_disk_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(tmp_path)
    corpus["splits"]["train"]["pairs"] = 4
    with told("splits.train.pairs", "4", "3"):
        make(tmp_path, corpus)
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(text, "check_expected", full)
    with told("text", "disk is full"):
        make(tmp_path, corpus_of(tmp_path))
    assert left_nothing(tmp_path)


# Splits


def test_a_part_of_a_corpus_is_made_of_its_splits(tmp_path: Path) -> None:
    corpus = as_corpus(corpus_of(tmp_path))
    part = text_part(corpus)
    assert part.split_names == ["train", "valid"]
    assert text_part(corpus, "test").split_names == ["test"]
    assert corpus.test_names == ["test"]
    assert corpus.split_names == [*SPLITS]
    assert folder_of("toy", "valid") == Path("results/corpora/toy/train")
    assert folder_of("toy", "test_2017") == Path("results/corpora/toy/test_2017")


@pytest.mark.parametrize("order", [("valid", "test", "test_b"), ("test_b", "test", "valid")])
def test_several_splits_that_are_cut_out_share_no_pair(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    corpus = corpus_of(tmp_path, lines=20)
    every = {"valid": 5, "test": 5, "test_b": 4}
    cut = {split: {"every": every[split]} for split in order}
    folder = make(tmp_path, corpus | {"splits": {**cut, "train": corpus["splits"]["train"]}})
    left = [f"train de {n}" for n in range(20)]
    for split in ("valid", "test", "test_b"):
        chosen = left[every[split] - 1 :: every[split]]
        assert list(read_lines(folder / f"{split}.de")) == chosen
        left = [line for line in left if line not in chosen]
    assert list(read_lines(folder / "train.de")) == left
    pairs = {"train": 10, "valid": 4, "test": 3, "test_b": 3}
    assert read_json(folder / "text.json")["pairs"] == pairs


# Downloads and archives, from the mirror


def tgz(path: Path, files: dict[str, str]) -> str:
    """Write an archive; return its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return sha256_of(tar(path, files))


def segments(lines: list[str]) -> str:
    return "".join(f'<seg id="{n}"> {line} </seg>\n' for n, line in enumerate(lines, start=1))


TALK = "<url>http://ted/{0}</url>\n<talkid>{0}</talkid>\n<title>{1} {0}</title>\n"
PREPROCESSING = {"lowercase": True, "tokeniser": "moses", "measure": "tokens", "max_ratio": 1.5}
TOO_LONG = " far too many words on this side"


def iwslt(root: Path) -> dict[str, Any]:
    """A corpus with the structure of IWSLT14: 20 talks, each with a title and ten lines."""
    train = {"de": "", "en": ""}
    for language, word in (("de", "Zeile"), ("en", "Line")):
        for talk in range(20):
            train[language] += TALK.format(talk, word)
            for line in range(10):
                extra = TOO_LONG if (language, line) == ("en", 7) else ""
                train[language] += f"{word} {talk}-{line}, \u201eso\u201d{extra}.\n"
    address = "https://data.example/iwslt/de-en.tgz"
    texts = {f"{side}.tags": text for side, text in train.items()}
    for name in ("tst2010", "dev2010"):
        for side in ("de", "en"):
            lines = [f"{name} {side} {n}, it\u2019s so." for n in range(5)]
            lines[2] += TOO_LONG if side == "en" else ""  # but a test set stays as it is
            texts[f"{name}.{side}.xml"] = segments(lines)
    tgz(root / "mirror" / address.removeprefix("https://"), texts)
    archive = {"archive": address, "sha256": None}
    tests = {side: [f"{name}.{side}.xml" for name in ("tst2010", "dev2010")] for side in train}
    tags = {side: f"{side}.tags" for side in train}
    return {
        "source": "de",
        "target": "en",
        "preprocessing": PREPROCESSING,
        "splits": {
            "train": {**archive, "format": "ted", "members": tags},
            "valid": {"every": 23},
            "test": {**archive, "format": "ted_segments", "members": tests},
        },
    }


def test_every_23rd_useful_pair_becomes_validation(tmp_path: Path) -> None:
    corpus = iwslt(tmp_path)
    text = make(tmp_path, corpus)
    folder = text.parent
    filter_folder("clean", as_corpus(corpus), text, folder / "clean")
    filter_folder("tokens", as_corpus(corpus), folder / "clean", folder / "tokens")
    # 20 talks of a title and ten lines, one of which is too unlike: 200 useful ones, 8 cut out
    facts = read_json(text / "text.json")
    assert facts["pairs"] == {"train": 212, "valid": 8, "test": 10}
    assert facts["pairs_of_parts"] == {"train": [220], "test": [10]}
    kept = read_json(folder / "tokens" / "tokens.json")["splits"]
    assert [kept[split]["kept"] for split in SPLITS] == [192, 8, 10]
    useful = [
        (f"Zeile {talk}" if line < 0 else f"Zeile {talk}-{line}, \u201eso\u201d.")
        for talk in range(20)
        for line in range(-1, 10)
        if line != 7
    ]
    assert list(read_lines(text / "valid.de")) == useful[22::23]
    assert next(read_lines(folder / "tokens" / "valid.en")).startswith("line 2-1 , \u201e so")
    assert list(read_lines(text / "test.en"))[4:6] == [
        "tst2010 en 4, it's so.",
        "dev2010 en 0, it's so.",
    ]
    [(url, digest)] = facts["downloads"].items()
    record = tmp_path / f"down/{url.removeprefix('https://')}.sha256"
    assert digest in record.read_text()


def parts(root: Path) -> dict[str, Any]:
    one = {"a/x.en": "Ana Ştie\nunu\n", "a/x.ro": "Ana Ştie\nunu\n"}
    checksum = tgz(root / "mirror/data.example/one.tgz", one)
    tmx = "<tmx><body>" + "".join(
        f"<tu><tuv xml:lang='en'><seg>e{n}</seg></tuv><tuv xml:lang='ro'><seg>ț{n}</seg></tuv></tu>"
        for n in range(3)
    )
    packed = gzip.compress((tmx + "</body></tmx>").encode())
    (root / "mirror/data.example/two.tmx.gz").write_bytes(packed)
    (root / "own.tsv").write_text("0.9\tlast\tultima\n")
    for side in ("en", "ro"):
        (root / f"t.{side}").write_text("t\n")
    files = {"files": {side: f"t.{side}" for side in ("en", "ro")}}
    members = {"en": "a/*.en", "ro": "a/*.ro"}
    archive = {"archive": "https://data.example/one.tgz", "sha256": checksum, "members": members}
    url = {"urls": {"pairs": "https://data.example/two.tmx.gz"}, "format": "tmx"}
    url["sha256"] = {"pairs": hashlib.sha256(packed).hexdigest()}
    own = {"files": {"pairs": ["own.tsv"]}, "format": "tsv", "columns": {"en": 1, "ro": 2}}
    splits = {"train": {"parts": [archive, url, own]}, "valid": files, "test": files}
    return {"source": "en", "target": "ro", "diacritics": {"ro": "remove"}, "splits": splits}


def test_parts_follow_each_other_and_diacritics_go(tmp_path: Path) -> None:
    text = make(tmp_path, parts(tmp_path))
    assert list(read_lines(text / "train.ro")) == ["Ana Stie", "unu", "t0", "t1", "t2", "ultima"]
    assert list(read_lines(text / "train.en")) == ["Ana Ştie", "unu", "e0", "e1", "e2", "last"]
    facts = read_json(text / "text.json")
    assert facts["pairs_of_parts"]["train"] == [2, 3, 1]
    assert facts["origin"] == "urls and archive and files"


def test_faults_name_the_part_and_leave_nothing(tmp_path: Path) -> None:
    corpus = parts(tmp_path)
    first, second, last = corpus["splits"]["train"]["parts"]
    with told("6", "expected.text.train"):
        make(tmp_path, corpus | {"expected": {"text": {"train": {"about": 9, "tolerance": 0.1}}}})
    first["members"]["ro"] = "a/*.rum"
    with told("own.yaml", "splits.train.parts[0]", "members.ro"):
        make(tmp_path, corpus)
    last["files"]["pairs"] = ["absent.tsv"]
    with told("own.yaml", "splits.train.parts[2].files.pairs", "absent.tsv"):
        make(tmp_path, corpus)
    second["sha256"]["pairs"] = "0" * 64
    with told("own.yaml", "splits.train.parts[1].urls.pairs", "checksum"):
        make(tmp_path, corpus)
    assert left_nothing(tmp_path)


def a_test_set(name: str, source: str, target: str) -> Source:
    corpus = as_corpus({"source": source, "target": target})
    return with_archive(PairSource(sacrebleu=name), corpus.sides)


def test_test_sets_of_sacrebleu() -> None:
    part, known = a_test_set("wmt14/full", "en", "de"), DATASETS["wmt14/full"]
    assert part.members["en"] == "test-full/newstest2014-deen-src.en.sgm"
    assert (part.archive, part.md5) == (known.data[0], known.md5[0])
    assert a_test_set("wmt20", "ja", "en").members["ja"] == "sgm/newstest2020-jaen-src.ja.sgm"
    with told("wmt14/ful", "wmt14/full"):
        a_test_set("wmt14/ful", "en", "de")
    with told("wmt16", "en-ja", "en-ro"):
        a_test_set("wmt16", "en", "ja")


def test_a_test_set_through_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = DATASETS["wmt14/full"]
    place = tmp_path / "mirror" / known.data[0].removeprefix("https://")
    sides = {side: [f"{side} {n} AT&amp;T" for n in range(4)] for side in ("en", "de")}
    members = {name: segments(sides[name.split(".")[-2]]) for name in known.langpairs["de-en"][:2]}
    tgz(place, members)
    monkeypatch.setattr(known, "md5", [hashlib.md5(place.read_bytes()).hexdigest()])
    splits = dict.fromkeys(SPLITS, {"sacrebleu": "wmt14/full", "pairs": 4})
    text = make(tmp_path, {"source": "de", "target": "en", "splits": splits})
    assert list(read_lines(text / "test.de")) == sides["de"]
    assert list(read_lines(text / "test.en")) == sides["en"]


def test_both_sides_are_one_side_of_another_corpus(tmp_path: Path) -> None:
    text = make(tmp_path, parts(tmp_path), "parent")
    test = text.parents[1] / "test/text"
    test.mkdir(parents=True)
    for path in text.glob("test.*"):
        path.rename(test / path.name)
    derived = {"from": "parent", "side": "en", "splits": [*SPLITS]}
    output = make(tmp_path, {"source": "noisy", "target": "en", "derived": derived}, "child")
    for side in ("noisy", "en"):
        assert (output / f"train.{side}").read_bytes() == (text / "train.en").read_bytes()
        assert (output / f"test.{side}").read_bytes() == (test / "test.en").read_bytes()
    facts = read_json(output / "text.json")
    assert facts["pairs"] == {"train": 6, "valid": 1, "test": 1}
    assert facts["origin"] == "en of parent"


def test_every_address_of_a_corpus_is_known() -> None:
    configuration = configured("paper")
    for name in configuration.files["corpora"]:
        written = Path(ROOT, f"config/corpora/{name}.yaml").read_text()
        written = re.sub(r"(?m)#.*$", "", written)
        known = addresses_of(configuration.corpus(name))
        assert set(re.findall(r"https?://[^\s,\]}'\"]+", written)) <= set(known.values()), name
