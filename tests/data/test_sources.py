"""Corpora from archives, test sets and other corpora, up to their `text` folder."""

import gzip
import hashlib
import io
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from made_up_corpus import as_corpus
from repository import configured
from sacrebleu.dataset import DATASETS

from nat.data.clean import clean_folder
from nat.data.lines import read_lines
from nat.data.sources import addresses
from nat.data.sources import test_set as a_test_set
from nat.data.text import make_text
from nat.data.tokenise import tokenise_folder
from nat.files import read_json
from tests.messages import told

ROOT = Path(__file__).resolve().parents[2]


def tgz(path: Path, files: dict[str, str]) -> str:
    """Write an archive; return its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(root: Path, corpus: dict[str, Any], name: str = "own") -> Path:
    output = root / "corpora" / name / "text"
    make_text(
        name,
        as_corpus(corpus),
        output,
        root=root,
        mirror=root / "mirror",
        downloads=root / "downloads",
        corpora=root / "corpora",
    )
    return output


def segments(lines: list[str]) -> str:
    return "".join(f'<seg id="{n}"> {line} </seg>\n' for n, line in enumerate(lines, start=1))


TALK = "<url>http://ted/{0}</url>\n<talkid>{0}</talkid>\n<title>{1} {0}</title>\n"
PREPROCESSING = {
    "lowercase": True,
    "normalise_punctuation": False,
    "tokeniser": "moses",
    "measure": "tokens",
    "max_tokens": 175,
    "max_ratio": 1.5,
    "bpe_merges": 100,
}


def iwslt(root: Path) -> dict[str, Any]:
    """A corpus with the structure of IWSLT14: 20 talks, each with a title and ten lines."""
    train = {"de": "", "en": ""}
    for language, word in (("de", "Zeile"), ("en", "Line")):
        for talk in range(20):
            train[language] += TALK.format(talk, word)
            for line in range(10):
                extra = " far too many words on this side" if (language, line) == ("en", 7) else ""
                train[language] += f"{word} {talk}-{line}, \u201eso\u201d{extra}.\n"
    address = "https://data.example/iwslt/de-en.tgz"
    texts = {f"{side}.tags": text for side, text in train.items()}
    for name in ("tst2010", "dev2010"):
        for side in ("de", "en"):
            lines = [f"{name} {side} {n}, it\u2019s so." for n in range(5)]
            texts[f"{name}.{side}.xml"] = segments(lines)
    tgz(root / "mirror" / address.removeprefix("https://"), texts)
    archive = {"archive": address, "sha256": None}
    tests = {side: [f"{name}.{side}.xml" for name in ("tst2010", "dev2010")] for side in train}
    return {
        "source": "de",
        "target": "en",
        "preprocessing": PREPROCESSING,
        "splits": {
            "train": {
                **archive,
                "format": "ted",
                "members": {side: f"{side}.tags" for side in train},
            },
            "valid": {"every": 23},
            "test": {**archive, "format": "ted_segments", "members": tests},
        },
    }


def test_every_23rd_useful_pair_becomes_validation(tmp_path: Path) -> None:
    corpus = iwslt(tmp_path)
    text = make(tmp_path, corpus)
    folder = text.parent
    clean_folder(as_corpus(corpus), text, folder / "clean")
    tokenise_folder(as_corpus(corpus), folder / "clean", folder / "tokens")
    # 20 talks of a title and ten lines, one of which is too unlike: 200 useful ones, 8 cut out
    facts = read_json(text / "text.json")
    assert facts["pairs"] == {"train": 212, "valid": 8, "test": 10}
    assert facts["pairs_of_parts"] == {"train": [220], "test": [10]}
    kept = read_json(folder / "tokens" / "tokens.json")["splits"]
    assert (kept["train"]["kept"], kept["valid"]["kept"]) == (192, 8)
    useful = [
        (f"Zeile {talk}" if line < 0 else f"Zeile {talk}-{line}, \u201eso\u201d.")
        for talk in range(20)
        for line in range(-1, 10)
        if line != 7
    ]
    assert list(read_lines(text / "valid.de")) == useful[22::23]
    assert list(read_lines(folder / "tokens" / "valid.en"))[0].startswith("line 2-1 , \u201e so")
    assert list(read_lines(text / "test.en"))[:6] == [
        *(f"tst2010 en {n}, it's so." for n in range(5)),
        "dev2010 en 0, it's so.",
    ]
    assert (
        facts["downloads"]["https://data.example/iwslt/de-en.tgz"]
        in (tmp_path / "downloads/data.example/iwslt/de-en.tgz.sha256").read_text()
    )


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
    return {
        "source": "en",
        "target": "ro",
        "diacritics": {"ro": "remove"},
        "splits": {
            "train": {
                "parts": [
                    {
                        "archive": "https://data.example/one.tgz",
                        "sha256": checksum,
                        "members": {"en": "a/*.en", "ro": "a/*.ro"},
                    },
                    {
                        "urls": {"pairs": "https://data.example/two.tmx.gz"},
                        "sha256": {"pairs": hashlib.sha256(packed).hexdigest()},
                        "format": "tmx",
                    },
                    {
                        "files": {"pairs": ["own.tsv"]},
                        "format": "tsv",
                        "columns": {"en": 1, "ro": 2},
                        "minimum": {"column": 0, "value": 0.5},
                    },
                ]
            },
            "valid": files,
            "test": files,
        },
    }


def test_parts_follow_each_other_and_diacritics_go(tmp_path: Path) -> None:
    text = make(tmp_path, parts(tmp_path))
    assert list(read_lines(text / "train.ro")) == ["Ana Stie", "unu", "t0", "t1", "t2", "ultima"]
    assert list(read_lines(text / "train.en")) == ["Ana Ştie", "unu", "e0", "e1", "e2", "last"]
    facts = read_json(text / "text.json")
    assert facts["pairs_of_parts"]["train"] == [2, 3, 1]
    assert facts["origin"] == "urls and archive and files"


def test_faults_name_the_part_and_leave_nothing(tmp_path: Path) -> None:
    corpus = parts(tmp_path)
    first, _, last = corpus["splits"]["train"]["parts"]
    with told("6", "expected.text.train"):
        make(tmp_path, corpus | {"expected": {"text": {"train": {"about": 9, "tolerance": 0.1}}}})
    first["members"]["ro"] = "a/*.rum"
    with told("own.yaml", "splits.train.parts[0].members.ro"):
        make(tmp_path, corpus)
    last["files"]["pairs"] = ["absent.tsv"]
    with told("own.yaml", "splits.train.parts[2].files.pairs", "absent.tsv"):
        make(tmp_path, corpus)
    assert not (tmp_path / "corpora/own/text").exists()


@pytest.mark.parametrize(
    ("name", "source", "target", "member"),
    [
        ("wmt14/full", "en", "de", "test-full/newstest2014-deen-src.en.sgm"),
        ("wmt14/full", "de", "en", "test-full/newstest2014-deen-src.de.sgm"),
        ("wmt20", "ja", "en", "sgm/newstest2020-jaen-src.ja.sgm"),
    ],
)
def test_test_sets_of_sacrebleu(name: str, source: str, target: str, member: str) -> None:
    part = a_test_set(name, source, target)
    assert part.members[source] == member
    assert part.md5 == DATASETS[name].md5[0]
    assert part.archive == DATASETS[name].data[0]


def test_unknown_test_sets() -> None:
    with told("wmt14/ful", "wmt14/full"):
        a_test_set("wmt14/ful", "en", "de")
    with told("wmt16", "en-ja", "en-ro"):
        a_test_set("wmt16", "en", "ja")


def test_a_test_set_through_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = DATASETS["wmt14/full"]
    place = tmp_path / "mirror" / found.data[0].removeprefix("https://")
    sides = {side: [f"{side} {n} AT&amp;T" for n in range(4)] for side in ("en", "de")}
    members = {name: segments(sides[name.split(".")[-2]]) for name in found.langpairs["de-en"][:2]}
    tgz(place, members)
    monkeypatch.setattr(found, "md5", [hashlib.md5(place.read_bytes()).hexdigest()])
    test = {"sacrebleu": "wmt14/full", "pairs": 4}
    splits = {"train": test, "valid": test, "test": test}
    text = make(tmp_path, {"source": "de", "target": "en", "splits": splits})
    assert list(read_lines(text / "test.de")) == sides["de"]
    assert list(read_lines(text / "test.en")) == sides["en"]


def test_both_sides_are_one_side_of_another_corpus(tmp_path: Path) -> None:
    text = make(tmp_path, parts(tmp_path), "parent")
    test = text.parent / "tests/test/text"
    test.mkdir(parents=True)
    for path in text.glob("test.*"):
        path.rename(test / path.name)
    derived = {
        "source": "noisy",
        "target": "en",
        "derived": {"from": "parent", "side": "en", "splits": ["train", "valid", "test"]},
    }
    output = make(tmp_path, derived, "child")
    for side in ("noisy", "en"):
        assert (output / f"train.{side}").read_bytes() == (text / "train.en").read_bytes()
        assert (output / f"test.{side}").read_bytes() == (test / "test.en").read_bytes()
    facts = read_json(output / "text.json")
    assert facts["pairs"] == {"train": 6, "valid": 1, "test": 1}
    assert facts["origin"] == "en of parent"


def test_every_address_of_a_corpus_is_known() -> None:
    configuration = configured("paper")
    for name in configuration.corpora:
        written = Path(ROOT, f"config/corpora/{name}.yaml").read_text()
        written = re.sub(r"(?m)#.*$", "", written)
        found = addresses(configuration.corpus(name))
        assert set(re.findall(r"https?://[^\s,\]}'\"]+", written)) <= set(found.values()), name
    found = addresses(configuration.corpus("iwslt14-de-en"))
    assert found and all(key.startswith("splits.") for key in found)


def test_addresses_of_what_a_corpus_has_from_elsewhere(tmp_path: Path) -> None:
    members = {"codes": "codes", "vocabulary": "dict.txt"}
    corpus = iwslt(tmp_path) | {
        "subwords": {"archive": "https://data.example/bpe.zip", "members": members},
        "distilled": {
            "at-base": {"urls": {"en": "https://data.example/distilled.en"}},
            "at-big": {"files": {"en": "data/distilled.en"}},
        },
    }
    found = addresses(as_corpus(corpus))
    assert found == addresses(as_corpus(iwslt(tmp_path))) | {
        "distilled.at-base.urls.en": "https://data.example/distilled.en",
        "subwords.archive": "https://data.example/bpe.zip",
    }
