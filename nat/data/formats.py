"""The formats in which parallel text is published, each read as a stream of sentence pairs.

- `lines`: one file per language, line n of one translating line n of the other;
- `tsv`: one file, its columns separated by tabs;
- `tmx`: one file of Translation Memory eXchange, as OPUS publishes it; formatting inside a segment
  is left out, and `en` is also what a file calls `en-US`;
- `ted`: one file per language with the headers of each talk between the lines (IWSLT's
  `train.tags`): title and description are text, the other headers are not;
- `segments`: one file per language with a `<seg>` per sentence (the sgm files of WMT). Entities
  such as `&amp;` are kept, as in the test sets of sacreBLEU;
- `ted_segments`: the same of IWSLT's xml files; a typographic apostrophe becomes a plain one, as in
  the test set that papers use;
- `extra_refs`: references only, one file for all of them (Ott et al. 2018).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from xml.etree import ElementTree

from nat.data.lines import SEPARATORS, OddLine, read_lines, read_parallel, unpacked
from nat.data.origins import FurtherReferences, PairSource
from nat.errors import UserError

PAIRS = "pairs"  # label of a file that holds both languages
EXTRA_REFERENCES = "extra_refs"
TOGETHER = ("tsv", "tmx")  # formats whose file holds both languages

_NUMBERED = re.compile(r"([STR])(\d*)-(\d+)")
_HEADER = re.compile(r"<(/?[a-z]+)\b[^>]*>")
_KEPT_HEADERS = ("title", "description")
_BEGIN = re.compile(r"<seg(?![\w:.-])", re.IGNORECASE)
_SEGMENT = re.compile(r"<seg(?:[^<>]*/>|[^<>]*>(.*?)</seg\s*>)", re.IGNORECASE | re.DOTALL)
_CODES = ("bpt", "ept", "it", "ph", "ut")
"""Elements inside a segment of TMX whose content is formatting, not text (TMX 1.4b, 2.4)."""
_FIRST_LINES = 100  # whose usual number of columns is that of a tsv
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"

MOVED = "lines with more columns than most, as by a tab inside a sentence, which count as empty"
NO_NUMBER = "lines whose score is no number, which are left out"

REMEDIES = {
    SEPARATORS: "correct the file if sentences end there",
    MOVED: "put spaces for the tabs inside sentences",
    NO_NUMBER: "correct the column of 'minimum' if they should stay",
}
"""What to do about lines that are odd, by their kinds."""


def read_format(
    part: PairSource | FurtherReferences,
    files: Mapping[str, Sequence[Path]],
    source: str,
    target: str,
    all_columns: bool = False,
    odd: OddLine = lambda *line: None,
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of one part of a split, from files by language, or `PAIRS` for both.

    With `all_columns`, every line of a `tsv` must have the columns, as in text that is not cleaned;
    otherwise one line must. Lines that are `odd` are told. Raises a `UserError` if a file cannot be
    read, lacks columns or is damaged, or if one language has more sentences than the other.
    """
    if part.format in (*TOGETHER, EXTRA_REFERENCES):
        for path in chain.from_iterable(files.values()):
            if part.format == "tsv":
                yield from _tsv(path, part, source, target, all_columns, odd)
            elif part.format == "tmx":
                yield from _tmx(path, source, target)
            else:
                yield from _extra_references(path)
    else:
        sides = files[source], files[target]
        if len(sides[0]) != len(sides[1]):
            raise UserError(
                f"there are {len(sides[0])} files of {source} but {len(sides[1])} of {target} "
                f"({', '.join(map(str, chain(*sides)))}); correct their names or patterns"
            )
        for paths in zip(*sides, strict=True):
            advice = "line n of one side must translate line n of the other"
            yield from read_parallel(paths, advice, partial(read_sentences, part.format, odd=odd))


def read_sentences(format: str, path: Path, odd: OddLine = lambda *line: None) -> Iterator[str]:
    """Yield the sentences of a file that holds one language."""
    return _READERS[format](path, odd)


def _tsv(
    path: Path, part: PairSource, source: str, target: str, all_columns: bool, odd: OddLine
) -> Iterator[tuple[str, str]]:
    """Columns are counted from 0.

    A line with too few columns, or with more than most have, is an empty pair for cleaning.
    """
    minimum = part.minimum
    of_keys = {column: f"columns.{language}" for language, column in part.columns.items()}
    if minimum:
        of_keys[minimum.column] = "minimum.column"
    last = max(of_keys)
    lines = read_lines(path, part.undecodable, odd)
    first = [*islice(lines, _FIRST_LINES)]
    counts = Counter(number for line in first if (number := line.count("\t") + 1) > last)
    usual = counts.most_common(1)[0][0] if counts else last + 1
    whole, short = False, ""
    for number, line in enumerate(chain(first, lines), start=1):
        fields = line.split("\t")
        if not last < len(fields) <= usual:
            is_short = len(fields) <= last
            due = f"'{of_keys[last]}' is {last}" if is_short else f"most lines have {usual} of them"
            short = short or f"{path}, line {number}: columns 0 to {len(fields) - 1}, but {due}"
            if all_columns and (line or part.undecodable == "refuse"):
                raise UserError(short)
            if not is_short:
                odd(MOVED, path, number, line)
            yield "", ""
            continue
        whole = True
        score = fields[minimum.column] if minimum else "inf"
        try:
            is_left_out = minimum and not float(score) >= minimum.value
        except ValueError as error:
            raise UserError(f"{path}, line {number}, 'minimum.column': {error}") from error
        if math.isnan(float(score)):
            odd(NO_NUMBER, path, number, line)
        if not is_left_out:
            yield fields[part.columns[source]], fields[part.columns[target]]
    if short and not whole:
        raise UserError(short)


def _tmx(path: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """A translation unit that lacks one of the languages is an empty pair for cleaning."""
    seen: dict[str, None] = {}
    whole = False
    for unit in _units(path):
        texts: dict[str, str] = {}
        for side in unit.iter("tuv"):
            language = str(side.get(_LANGUAGE, side.get("lang"))).lower().replace("_", "-")
            segment = side.find("seg")
            texts.setdefault(language, "" if segment is None else _text(segment))
        seen |= dict.fromkeys(texts)
        one, other = (_of_language(texts, language) for language in (source, target))
        whole = whole or bool(one and other)
        yield " ".join(one.split()), " ".join(other.split())
    if not whole:
        raise UserError(
            f"{path} has no unit with text of '{source}' and of '{target}', only of "
            f"{', '.join(map(repr, seen)) or 'no language'}; correct the languages or the file"
        )


def _units(path: Path) -> Iterator[ElementTree.Element]:
    """The translation units of a TMX file, each of which is freed afterwards."""
    body = None
    try:
        with unpacked(path) as file:
            for event, element in ElementTree.iterparse(file, events=("start", "end")):
                if event == "start":
                    body = element if element.tag == "body" else body
                elif element.tag == "tu":
                    yield element
                    if body is not None:
                        body.clear()  # frees the elements that have been read
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise UserError(f"{path} is not a valid TMX file ({error}); fetch it again") from error


def _text(segment: ElementTree.Element) -> str:
    """The text of a segment without the codes of its formatting."""
    for code in [element for element in segment.iter() if element.tag in _CODES]:
        tail = code.tail
        code.clear()
        code.tail = tail
    return "".join(segment.itertext())


def _of_language(texts: Mapping[str, str], language: str) -> str:
    """The text of a language, else that of the first of its regions, as `en-us` is of `en`."""
    wanted = language.lower().replace("_", "-")
    regions = (name for name in texts if name.startswith(f"{wanted}-"))
    return texts.get(wanted if wanted in texts else next(regions, ""), "")


def _extra_references(path: Path) -> Iterator[tuple[str, str]]:
    """Sources and references of lines `S-7<tab>source`, `T-7<tab>published reference`, `R1-7<tab>
    further reference` ...; only the further ones are references here."""
    sources: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        label, _, text = line.partition("\t")
        match = _NUMBERED.fullmatch(label)
        kind, _, sentence = match.groups() if match else ("", "", "")
        if kind == "S":
            sources[sentence] = text
        elif kind == "R" and sentence in sources:
            yield sources[sentence], text
        elif kind != "T":
            raise UserError(
                f"{path}, line {number}: expected a label such as S-1, T-1 or R1-1 before a tab, "
                f"and S-1 before R1-1; found '{label[:20]}'"
            )


def _ted(path: Path, odd: OddLine) -> Iterator[str]:
    for line in read_lines(path, odd=odd):
        header = _HEADER.match(line.strip())
        if header is None:
            yield line
        elif header[1] in _KEPT_HEADERS:
            yield _HEADER.sub("", line)


def _segments(path: Path, odd: OddLine) -> Iterator[str]:
    """Several segments may stand on one line, and one may go on over lines; `<seg/>` is empty."""
    text = "\n".join(read_lines(path, odd=odd))
    end = 0
    for begin in _BEGIN.finditer(text):
        segment = _SEGMENT.match(text, begin.start())
        if segment is None or begin.start() < end:
            line = text.count("\n", 0, begin.start()) + 1
            raise UserError(f"{path}, line {line}: a <seg> without its own </seg>")
        end = segment.end()
        yield " ".join((segment[1] or "").split())


_READERS: dict[str, Callable[[Path, OddLine], Iterator[str]]] = {
    "lines": lambda path, odd: read_lines(path, odd=odd),
    "ted": _ted,
    "segments": _segments,
    "ted_segments": lambda path, odd: (
        line.replace("\u2019", "'") for line in _segments(path, odd)
    ),
}
