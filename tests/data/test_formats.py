import gzip
from pathlib import Path
from typing import Any

import pytest

from nat.data.corpus import Part
from nat.data.sources import FetchedSource
from nat.options import validated
from tests.messages import told

TMX = """<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en" /><body>
<tu><tuv xml:lang="en"><seg>AT&amp;T
again</seg></tuv><tuv xml:lang="ro"><seg>din nou</seg></tuv></tu>
<tu><tuv xml:lang="ro"><seg>doi</seg></tuv><tuv xml:lang="en"><seg>two</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>alone</seg></tuv></tu>
</body></tmx>
"""


def read(
    folder: Path, part: dict[str, Any], *contents: str | bytes, packed: bool = False
) -> list[tuple[str, str]]:
    paths = []
    for number, content in enumerate(contents):
        data = content.encode() if isinstance(content, str) else content
        paths.append(folder / str(number))
        paths[-1].write_bytes(gzip.compress(data) if packed else data)
    together = part.get("format") in ("tsv", "tmx")
    files = {"pairs": paths} if together else {"de": paths[:1], "en": paths[1:]}
    return read_files(validated(Part, part), files)


def read_files(
    part: Part, files: dict[str, list[Path]], source: str = "de", all_columns: bool = False
) -> list[tuple[str, str]]:
    fetched = FetchedSource(part, "splits.train", files)
    return list(fetched.pairs(source, "en", Path(), all_columns))


def test_lines(tmp_path: Path) -> None:
    assert read(tmp_path, {}, "eins\n\n", "one\ntwo\n") == [("eins", "one"), ("", "two")]
    with told("1 lines", "2", "line n"):
        read(tmp_path, {}, "eins\n", "one\ntwo\n")


def test_unequal_numbers_of_files(tmp_path: Path) -> None:
    with told("1 files", "de", "2", "en"):
        read(tmp_path, {}, "eins\n", "one\n", "two\n")


@pytest.mark.parametrize("packed", [False, True])
def test_tsv_takes_columns_and_leaves_out_low_scores(tmp_path: Path, packed: bool) -> None:
    part = {"format": "tsv", "columns": {"en": 1, "de": 2}, "minimum": {"column": 0, "value": 0.5}}
    text = '0.7\tone "\teins\tmore\n0.4\ttwo\tzwei\n0.5\tthree\tdrei\n0.9\tcut\n'
    found = read(tmp_path, part, text, packed=packed)
    assert found == [("eins", 'one "'), ("drei", "three"), ("", "")]
    with told("line 1", "column 0", "'x'"):
        read(tmp_path, part, "x\tone\teins\n")


def test_undecodable_lines_stop_or_become_empty(tmp_path: Path) -> None:
    part = {"format": "tsv", "columns": {"en": 0, "de": 1}}
    text = b"one\teins\nt\xffwo\tzwei\n"
    with told("line 2", "UTF-8"):
        read(tmp_path, part, text)
    found = read(tmp_path, part | {"undecodable": "empty"}, text)
    assert found == [("eins", "one"), ("", "")]


def test_a_tsv_without_the_columns_is_told(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("one\teins\none,eins\n", encoding="utf-8")
    files = {"pairs": [tmp_path / "p"]}

    def found(all_columns: bool, de: int, **keys: Any) -> list[tuple[str, str]]:
        part = Part(format="tsv", columns={"en": 0, "de": de}, **keys)
        return read_files(part, files, all_columns=all_columns)

    assert found(False, 1) == [("eins", "one"), ("", "")]
    with told("p, line 2", "columns.de"):
        found(True, 1)
    with told("p, line 1", "columns.de"):
        found(False, 2)
    (tmp_path / "p").write_bytes(b"one\teins\n\xff\n")
    assert found(True, 1, undecodable="empty") == [("eins", "one"), ("", "")]


@pytest.mark.parametrize("packed", [False, True])
def test_tmx(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(TMX.encode()) if packed else TMX.encode())
    found = read_files(Part(format="tmx"), {"pairs": [path]}, "ro")
    assert found == [("din nou", "AT&T again"), ("doi", "two"), ("", "alone")]


def test_damaged_tmx(tmp_path: Path) -> None:
    with told("TMX"):
        read(tmp_path, {"format": "tmx"}, TMX[:-40])
    with told("TMX"):
        read(tmp_path, {"format": "tmx"}, "<html><p>not found</html>")


def test_ted_talks_lose_their_headers_but_title_and_description(tmp_path: Path) -> None:
    head = "<url>http://x</url>\n<keywords>a</keywords>\n<talkid>1</talkid>\n<title>{}</title>\n"
    tail = '<reviewer href="x">R</reviewer>\n<description>{}</description>\n 1 < 2 {} \n'
    found = read(
        tmp_path,
        {"format": "ted"},
        (head + tail).format("Titel", "Über", "ja"),
        (head + tail).format("Title", "About", "yes"),
    )
    assert found == [("Titel", "Title"), ("Über", "About"), (" 1 < 2 ja ", " 1 < 2 yes ")]


def test_segments(tmp_path: Path) -> None:
    text = (
        '<doc docid="x">\n<p>\n<seg id="1"> It’s  AT&amp;T </seg>\n<seg id="2">two</seg>\n</doc>\n'
    )
    german = '<seg id="1">eins</seg>\r\n<hl><seg id="2">zwei</seg></hl>\r\n'
    assert read(tmp_path, {"format": "segments"}, german, text) == [
        ("eins", "It’s AT&amp;T"),
        ("zwei", "two"),
    ]
    assert read(tmp_path, {"format": "ted_segments"}, german, text)[0][1] == "It's AT&amp;T"


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("Press <ph/>the red <b>button</b> now", "Press the red button now"),
        ('a <bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept> word', "a bold word"),
        ("<hi>all</hi> of <it>code</it>it", "all of it"),
        ("a<hi>b<hi>c<ph>d<sub>e</sub></ph>f</hi>g<hi/>h</hi>i", "abcfghi"),
        ("all " + 50000 * "<hi>" + "of" + 50000 * "</hi>" + " it", "all of it"),
    ],
    ids=["placeholder", "pair of codes", "isolated code", "nested", "nested deeply"],
)
def test_formatting_inside_a_segment_of_tmx(tmp_path: Path, segment: str, text: str) -> None:
    tmx = TMX.replace("AT&amp;T\nagain", segment)
    assert read_ro(tmp_path, tmx)[0] == ("din nou", text)


def test_languages_of_tmx_may_have_a_region(tmp_path: Path) -> None:
    tmx = TMX.replace('"en"><seg>', '"EN-US"><seg>').replace('"ro"><seg>', '"ro_RO"><seg>')
    assert read_ro(tmp_path, tmx)[:2] == [("din nou", "AT&T again"), ("doi", "two")]
    both = '<tuv xml:lang="en-GB"><seg>British</seg></tuv><tuv xml:lang="en"><seg>plain</seg></tuv>'
    tmx = TMX.replace('<tuv xml:lang="en"><seg>two</seg></tuv>', both)
    assert read_ro(tmp_path, tmx)[1] == ("doi", "plain")
    with told("'ro'", "'en'", "'xx'"):
        read_ro(tmp_path, TMX.replace('"en"><seg>', '"xx"><seg>'))


@pytest.mark.parametrize(
    "text",
    [
        TMX.replace("UTF-8", "klingon"),
        TMX.replace("UTF-8", "utf-7"),
    ],
    ids=["unknown encoding", "other encoding"],
)
def test_tmx_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, text: str) -> None:
    with told(tmp_path / "0"):
        read(tmp_path, {"format": "tmx"}, text)


def test_a_missing_tmx_is_named(tmp_path: Path) -> None:
    with told("absent.tmx"):
        read_files(Part(format="tmx"), {"pairs": [tmp_path / "absent.tmx"]}, "ro")


def read_ro(folder: Path, tmx: str) -> list[tuple[str, str]]:
    path = folder / "x.tmx"
    path.write_text(tmx)
    return read_files(Part(format="tmx"), {"pairs": [path]}, "ro")


def test_segments_that_share_a_line_or_go_on_over_lines(tmp_path: Path) -> None:
    german = '<SEG id="1">eins</SEG> <seg\nid="2">zwei\nund mehr</seg><seg>drei</seg>\n'
    english = "<segment>\n<seg>one</seg>\n<seg>two\n\nand more\n</seg>\n<seg>three</seg>"
    assert read(tmp_path, {"format": "segments"}, german, english) == [
        ("eins", "one"),
        ("zwei und mehr", "two and more"),
        ("drei", "three"),
    ]


def test_segments_may_be_empty(tmp_path: Path) -> None:
    german = '<seg id="1">eins</seg>\n<seg/>\n<seg id="3"></seg>\n<seg>vier</seg>'
    english = '<seg>one</seg><seg id="2"/><SEG id="3" /><segs/>\n<seg>four</seg>'
    assert read(tmp_path, {"format": "segments"}, german, english) == [
        ("eins", "one"),
        ("", ""),
        ("", ""),
        ("vier", "four"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<doc>\n<seg", 2),
        ('<doc>\n<seg id="1" <seg>one</seg>', 2),
        ("<seg>one\n<seg>two</seg>", 2),
        ("a\n<seg>one\n", 2),
        ("<seg>one\n<seg/>", 1),
        ("<seg>one <seg\nid", 1),
    ],
)
def test_a_segment_without_an_end_is_told(tmp_path: Path, text: str, line: int) -> None:
    with told("1", f"line {line}", "<seg>", "</seg>"):
        read(tmp_path, {"format": "segments"}, "<seg>eins</seg>", text)


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_is_told_before_it_fills_the_memory(
    tmp_path: Path, packed: bool
) -> None:
    with told("line 2", "4,194,304 bytes"):
        read(tmp_path, {}, "eins\nzwei", "one\n" + "a" * (1 << 23), packed=packed)
