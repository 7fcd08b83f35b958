"""The formats of published text, and text files as lines."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from nat.data.formats import read_format
from nat.data.lines import count_lines, read_lines, read_pairs, write_lines
from nat.data.origins import PairSource
from nat.files import atomic_directory
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
    folder: Path,
    part: dict[str, Any],
    *contents: str | bytes,
    packed: bool = False,
    all_columns: bool = False,
    source: str = "de",
) -> list[tuple[str, str]]:
    paths = []
    for number, content in enumerate(contents):
        data = content.encode() if isinstance(content, str) else content
        paths.append(folder / str(number))
        paths[-1].write_bytes(gzip.compress(data) if packed else data)
    together = part.get("format") in ("tsv", "tmx")
    files = {"pairs": paths} if together else {"de": paths[:1], "en": paths[1:]}
    return list(read_format(validated(PairSource, part), files, source, "en", all_columns))


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("\ufeffone\u2028two\r\nthree\x85\x0cfour\rfive\n\n\tsix  ".encode())
    lines = ["one two", "three  four five", "", "\tsix  "]
    assert list(read_lines(path)) == lines and count_lines(path) == 4
    assert write_lines(path, [*lines, "Größe 東京"]) == 5
    assert list(read_lines(path)) == [*lines, "Größe 東京"]
    path.write_bytes(gzip.compress(path.read_bytes()))  # the content tells, not the name
    assert list(read_lines(path)) == [*lines, "Größe 東京"]
    path.write_bytes(path.read_bytes()[:-9])
    with told(path, "gzip"):
        list(read_lines(path))


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_is_told_before_it_fills_the_memory(
    tmp_path: Path, packed: bool
) -> None:
    with told("line 2", "4,194,304 bytes"):
        read(tmp_path, {}, "eins\nzwei", "one\n" + "a" * (1 << 23), packed=packed)


def test_lines(tmp_path: Path) -> None:
    assert read(tmp_path, {}, "eins\n\n", "one\ntwo\n") == [("eins", "one"), ("", "two")]
    with told("1 line", "2", "line n"):
        read(tmp_path, {}, "eins\n", "one\ntwo\n")
    with told("1 files", "de", "2", "en"):
        read(tmp_path, {}, "eins\n", "one\n", "two\n")
    with told("1", "line 2", "UTF-8", "byte 4"):
        read(tmp_path, {}, "eins\nzwei\n", b"one\ntwo\xf6\n")


def test_pairs_of_a_step_whose_sides_differ(tmp_path: Path) -> None:
    folder = tmp_path / "results/corpora/toy/train/text"
    with atomic_directory(folder) as partial:
        write_lines(partial / "train.en", ["a", "b"])
        write_lines(partial / "train.de", ["a"])
    with told("train.en", "2 lines", "train.de", "1", "results/corpora/toy/train/text"):
        list(read_pairs(folder, "train", ("en", "de")))


@pytest.mark.parametrize("packed", [False, True])
def test_tsv_takes_columns_and_leaves_out_low_scores(tmp_path: Path, packed: bool) -> None:
    part = {"format": "tsv", "columns": {"en": 1, "de": 2}, "minimum": {"column": 0, "value": 0.5}}
    text = '0.7\tone "\teins\n0.4\ttwo\tzwei\tmore\n0.5\tthree\tdrei\tmore\n0.9\tcut\n'
    pairs = read(tmp_path, part, text, packed=packed)
    assert pairs == [("eins", 'one "'), ("drei", "three"), ("", "")]
    with told("line 1", "minimum.column", "'x'"):
        read(tmp_path, part, "x\tone\teins\n")


def test_lines_of_a_tsv_that_are_no_pairs(tmp_path: Path) -> None:
    part: dict[str, Any] = {"format": "tsv", "columns": {"en": 0, "de": 1}}
    text = b"one\teins\nt\xffwo\tzwei\n"
    with told("line 2", "UTF-8"):
        read(tmp_path, part, text)
    lenient = {**part, "undecodable": "empty"}
    for all_columns in (False, True):
        pairs = read(tmp_path, lenient, text, all_columns=all_columns)
        assert pairs == [("eins", "one"), ("", "")]
    text = b"one\teins\none,eins\n"
    assert read(tmp_path, part, text) == [("eins", "one"), ("", "")]
    with told("line 2", "columns.de"):
        read(tmp_path, part, text, all_columns=True)
    with told("line 1", "columns.de"):
        read(tmp_path, {**part, "columns": {"en": 0, "de": 2}}, text)


def tmx(folder: Path, text: str, packed: bool = False) -> list[tuple[str, str]]:
    return read(folder, {"format": "tmx"}, text, packed=packed, source="ro")


@pytest.mark.parametrize("packed", [False, True])
def test_tmx(tmp_path: Path, packed: bool) -> None:
    pairs = tmx(tmp_path, TMX, packed)
    assert pairs == [("din nou", "AT&T again"), ("doi", "two"), ("", "alone")]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("Press <ph/>the red <b>button</b> now", "Press the red button now"),
        ('a <bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept> word', "a bold word"),
        ("<hi>all</hi> of <it>code</it>it", "all of it"),
        ("a<hi>b<hi>c<ph>d<sub>e</sub></ph>f</hi>g<hi/>h</hi>i", "abcfghi"),
        ("all " + 50000 * "<hi>" + "of" + 50000 * "</hi>" + " it", "all of it"),
    ],
    ids=range(5),
)
def test_formatting_inside_a_segment_of_tmx(tmp_path: Path, segment: str, text: str) -> None:
    assert tmx(tmp_path, TMX.replace("AT&amp;T\nagain", segment))[0] == ("din nou", text)


def test_languages_of_tmx_may_have_a_region(tmp_path: Path) -> None:
    regions = TMX.replace('"en"><seg>', '"EN-US"><seg>').replace('"ro"><seg>', '"ro_RO"><seg>')
    assert tmx(tmp_path, regions)[:2] == [("din nou", "AT&T again"), ("doi", "two")]
    both = '<tuv xml:lang="en-GB"><seg>British</seg></tuv><tuv xml:lang="en"><seg>plain</seg></tuv>'
    british = TMX.replace('<tuv xml:lang="en"><seg>two</seg></tuv>', both)
    assert tmx(tmp_path, british)[1] == ("doi", "plain")
    with told("'ro'", "'en'", "'xx'"):
        tmx(tmp_path, TMX.replace('"en"><seg>', '"xx"><seg>'))


def test_tmx_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    of_encodings = [TMX.replace("UTF-8", name) for name in ("klingon", "utf-7")]
    for text in (TMX[:-40], "<html><p>not found</html>", *of_encodings):
        with told(tmp_path / "0", "TMX"):
            tmx(tmp_path, text)


def test_ted_talks_lose_their_headers_but_title_and_description(tmp_path: Path) -> None:
    head = "<url>http://x</url>\n<keywords>a</keywords>\n<talkid>1</talkid>\n<title>{}</title>\n"
    tail = '<reviewer href="x">R</reviewer>\n<description>{}</description>\n 1 < 2 {} \n'
    german = (head + tail).format("Titel", "Über", "ja")
    english = (head + tail).format("Title", "About", "yes")
    pairs = read(tmp_path, {"format": "ted"}, german, english)
    assert pairs == [("Titel", "Title"), ("Über", "About"), (" 1 < 2 ja ", " 1 < 2 yes ")]


def test_segments(tmp_path: Path) -> None:
    german = (
        '<seg id="1">eins</seg>\r\n<hl><seg id="2">zwei\nund mehr</seg></hl>\r\n'
        '<seg/><seg id="4"></seg><seg>fünf</seg>'
    )
    english = (
        '<doc docid="x">\n<p>\n<seg id="1"> It’s  AT&amp;T </seg>\n<seg id="2">two</seg>\n</doc>\n'
        '<seg id="3" /><SEG/><segs/><seg>five</SEG>'
    )
    pairs = [("eins", "It’s AT&amp;T"), ("zwei und mehr", "two"), ("", ""), ("", "")]
    assert read(tmp_path, {"format": "segments"}, german, english) == [*pairs, ("fünf", "five")]
    plain = read(tmp_path, {"format": "ted_segments"}, german, english)
    assert plain[0][1] == "It's AT&amp;T"


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
