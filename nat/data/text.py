"""The `text` folder of a corpus: one raw file per split and language, all counts checked.

A corpus comes from downloads (`urls`), from local files (`files`) or from a generator. Lines end
at a line feed and nowhere else: the Unicode line separators that some text holds inside a sentence
become spaces, since a tool that breaks there would shift all pairs behind. The text is otherwise
kept as it is.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nat.data.download import download
from nat.data.synthetic import write_corpus
from nat.errors import UserError
from nat.files import atomic_directory, write_json

TRAIN = "train"

# What str.splitlines would break at, without the line feed itself.
_SEPARATORS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def sides(corpus: Mapping[str, Any]) -> tuple[str, str]:
    """Source and target language codes of a corpus."""
    return corpus["source"], corpus["target"]


def split_names(corpus: Mapping[str, Any]) -> list[str]:
    """Names of the splits of a corpus, in the order of its file."""
    generator = corpus.get("generator")
    return list(generator["pairs"] if generator else corpus["splits"])


def local_files(corpus: Mapping[str, Any], root: Path) -> list[Path]:
    """The user's own files that a corpus is made of (none for downloads and generators)."""
    return [
        root / name
        for split in (corpus.get("splits") or {}).values()
        for name in (split.get("files") or {}).values()
    ]


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a plain or gzip-compressed UTF-8 file, without line ends.

    Raises:
        UserError: if the file is missing, is not valid UTF-8 (with the line number), or is
            damaged as a gzip file.
    """
    path = Path(path)
    number = 0
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if compressed else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                yield line.decode("utf-8").rstrip("\r\n").translate(_SEPARATORS)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, line {number} is not valid UTF-8 (byte {error.start + 1} of the line); "
            "convert the file to UTF-8"
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path} is a damaged gzip file ({error}); fetch it again") from error
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def read_pairs(folder: Path, split: str, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of a split.

    Raises:
        UserError: if one side has more lines than the other.
    """
    paths = folder / f"{split}.{source}", folder / f"{split}.{target}"
    try:
        yield from zip(read_lines(paths[0]), read_lines(paths[1]), strict=True)
    except ValueError as error:
        counts = [count_lines(path) for path in paths]
        raise UserError(
            f"{paths[0]} has {counts[0]} lines but {paths[1]} has {counts[1]}; make {folder} again"
        ) from error


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines` with line feeds to a file of a folder in the making; return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


def count_lines(path: Path) -> int:
    """Number of lines of an uncompressed file, its text unread."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def check_count(path: Path, expected: int) -> None:
    """Stop if a file that a step just wrote has not the `expected` number of lines."""
    found = count_lines(path)
    if found != expected:
        raise UserError(f"{path} has {found} lines where {expected} are due; nothing is kept of it")


def make_text(
    name: str,
    corpus: Mapping[str, Any],
    output: Path,
    *,
    root: Path,
    mirror: Path | None,
    downloads: Path,
) -> None:
    """Write `{split}.{lang}` and `text.json` to the folder `output`.

    A generated corpus also gets its references, in the folder `references` beside `output`.

    Args:
        name: name of the corpus, for messages and `text.json`.
        corpus: the corpus as its configuration file gives it.
        output: folder to make; it appears whole or not at all.
        root: repository root, to which local files are relative.
        mirror: folder MIRROR/HOST/PATH that is asked before the network.
        downloads: folder that keeps downloads, so that a cut one goes on.

    Raises:
        UserError: if a file cannot be had, is not UTF-8, or the counts do not agree.
    """
    if corpus.get("generator"):
        with (
            atomic_directory(output) as folder,
            atomic_directory(output.parent / "references") as references,
        ):
            facts = write_corpus(corpus["generator"], *sides(corpus), folder, references)
            for split, pairs in facts["pairs"].items():
                for language in sides(corpus):
                    check_count(folder / f"{split}.{language}", pairs)
            write_json(folder / "text.json", {"corpus": name, **facts})
        return
    # Everything is fetched before anything is read, so that a missing file is told at once.
    files = {
        split: {
            language: _find(name, corpus, split, language, root, mirror, downloads)
            for language in sides(corpus)
        }
        for split in split_names(corpus)
    }
    with atomic_directory(output) as folder:
        pairs = {
            split: _copy_split(name, corpus, split, found, folder) for split, found in files.items()
        }
        written = {
            f"{split}.{language}": path
            for split, found in files.items()
            for language, path in found.items()
        }
        described = corpus["splits"].values()
        origins = [key for key in ("urls", "files") if any(split.get(key) for split in described)]
        facts = {
            "corpus": name,
            "origin": " and ".join(origins),
            "source": corpus["source"],
            "target": corpus["target"],
            "pairs": pairs,
            "sha256": {file: _sha256(folder / file) for file in written},
            "read_from": {file: str(path) for file, path in written.items()},
        }
        write_json(folder / "text.json", facts)


def _find(
    name: str,
    corpus: Mapping[str, Any],
    split: str,
    language: str,
    root: Path,
    mirror: Path | None,
    downloads: Path,
) -> Path:
    """The local file of one side of a split, downloaded if need be."""
    description = corpus["splits"][split]
    key = f"config/corpora/{name}.yaml, splits.{split}"
    if description.get("files"):
        path = root / description["files"][language]
        if not path.is_file():
            raise UserError(
                f"{key}.files.{language}: {path} does not exist; put the file there or correct "
                "the key"
            )
        return path
    return download(
        description["urls"][language],
        description["sha256"][language],
        key=f"{key}.urls.{language}",
        mirror=mirror,
        downloads=downloads,
        owner=name,
    )


def _copy_split(
    name: str, corpus: Mapping[str, Any], split: str, files: Mapping[str, Path], folder: Path
) -> int:
    """Write both sides of a split into `folder`; return the number of pairs, which is checked."""
    key = f"config/corpora/{name}.yaml, splits.{split}"
    source, target = (
        (path, write_lines(folder / f"{split}.{language}", read_lines(path)))
        for language, path in files.items()
    )
    if source[1] != target[1]:
        raise UserError(
            f"{key}: {source[0]} has {source[1]} lines but {target[0]} has {target[1]}; line n of "
            "one side must translate line n of the other"
        )
    expected = corpus["splits"][split].get("pairs")
    if expected not in (None, source[1]):
        raise UserError(
            f"{key}.pairs is {expected}, but {source[0]} has {source[1]} lines; correct the key or "
            "the file"
        )
    if source[1] == 0:
        raise UserError(f"{key}: {source[0]} holds no line; give a file with text")
    return source[1]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
