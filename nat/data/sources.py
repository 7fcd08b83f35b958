"""Origins of the text of a split: one part or several, each from separate files.

A part is a download per file (`urls`), members of a downloaded archive (`archive`, `members`), a
test set that sacreBLEU knows (`sacrebleu`), or local files (`files`). A split without the key
`parts` is its only part; with `every` it is cut out of the training text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nat.data.archive import unpack
from nat.data.corpus import Corpus, Part, Source, Split
from nat.data.formats import PAIRS, read_format
from nat.errors import UserError
from nat.options import hint


def parts_of(split: Split) -> list[Part]:
    """The parts of a split, in order; none if it is cut out of the training text."""
    if split.every is not None:
        return []
    return split.parts or [split]


def test_set(name: str, source: str, target: str) -> Part:
    """The part described by a test set of sacreBLEU: its archive, checksum and members.

    Raises:
        UserError: if sacreBLEU has no such test set, or not for this pair of languages.
    """
    from sacrebleu.dataset import DATASETS  # takes half a second

    found = DATASETS.get(name)
    if found is None or not (found.data and found.md5):
        raise UserError(f"sacreBLEU has no test set '{name}'; {hint(name, DATASETS)}")
    sides = found.langpairs.get(f"{source}-{target}")
    if sides is None:
        pairs = ", ".join(sorted(found.langpairs))
        raise UserError(
            f"sacreBLEU's test set '{name}' is not for {source}-{target}; it has {pairs}"
        )
    return Part(
        archive=found.data[0],
        md5=found.md5[0],
        members=dict(zip((source, target), sides[:2], strict=True)),
        format="segments",
    )


@dataclass(frozen=True)
class Place:
    """The places that files are searched in.

    Attributes:
        name: of the corpus, for messages.
        root: repository root, to which local files are relative.
        mirror: folder MIRROR/HOST/PATH that is searched before the network.
        downloads: folder that keeps downloads.
    """

    name: str
    root: Path
    mirror: Path | None
    downloads: Path


@dataclass(frozen=True)
class FetchedSource:
    """Files of a part of a split, or of further references, that are available here.

    Attributes:
        description: as in the corpus file; a test set of sacreBLEU by its archive.
        key: file and key of the configuration, for messages.
        files: local files per language (or under `pairs`), except of an archive.
        archive: the archive that holds the files.
        downloaded: files by the address they came from.
    """

    description: Source
    key: str
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    archive: Path | None = None
    downloaded: Mapping[str, Path] = field(default_factory=dict)

    def read_from(self, language: str) -> list[str]:
        """The files that hold a language, for the record."""
        if self.archive is not None:
            members = self.description.members
            names = _listed(members[language if language in members else PAIRS])
            return [f"{self.archive}: {name}" for name in names]
        return [str(path) for path in self.files.get(language, self.files.get(PAIRS, ()))]

    def paths(self, folder: Path) -> Mapping[str, Sequence[Path]]:
        """All files by label. Members of an archive are unpacked to the empty `folder`."""
        if self.archive is None:
            return self.files
        wanted = {label: _listed(names) for label, names in self.description.members.items()}
        return unpack(self.archive, wanted, folder, self.key)

    def pairs(
        self, source: str, target: str, folder: Path, all_columns: bool
    ) -> Iterator[tuple[str, str]]:
        """Yield the sentence pairs. Members of an archive are unpacked to the empty `folder`.

        `all_columns`: see `read_format`.

        Raises:
            UserError: as `read_format`, and if a file is not in the format.
        """
        assert isinstance(self.description, Part)
        files = self.paths(folder)
        try:
            yield from read_format(self.description, files, source, target, all_columns)
        except (UserError, ValueError) as error:
            raise UserError(f"{self.key}: {error}") from error


def parts_by_key(split: str, description: Split) -> dict[str, Part]:
    """The parts of a split by their key in the corpus file."""
    parts = parts_of(description)
    if not description.parts:
        return {f"splits.{split}": part for part in parts}
    return {f"splits.{split}.parts[{number}]": part for number, part in enumerate(parts)}


def sources_of(corpus: Corpus) -> dict[str, Source]:
    """All descriptions of files of a corpus by their key in the corpus file."""
    found: dict[str, Source] = {} if corpus.subwords is None else {"subwords": corpus.subwords}
    found |= {f"distilled.{teacher}": text for teacher, text in corpus.distilled.items()}
    for split, description in corpus.splits.items():
        found |= parts_by_key(split, description)
        for number, part in enumerate(description.references):
            found[f"splits.{split}.references[{number}]"] = part
    return found


def addresses(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    found: dict[str, str] = {}
    for key, part in sources_of(corpus).items():
        if isinstance(part, Part) and part.sacrebleu is not None:
            part = test_set(part.sacrebleu, corpus.source, corpus.target)
            key = f"{key}.sacrebleu"
        if part.archive is not None:
            found[f"{key}.archive"] = part.archive
        found |= {f"{key}.urls.{label}": url for label, url in part.urls.items()}
    return found


def fetch(part: Source, source: str, target: str, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a part or of references, by download if needed.

    Raises:
        UserError: if a file cannot be obtained; names the key and the remedy.
    """
    if isinstance(part, Part) and part.sacrebleu is not None:
        part = test_set(part.sacrebleu, source, target)
    if part.archive is not None:
        path = _download(part, part.archive, None, f"{key}.archive", place)
        return FetchedSource(part, key, archive=path, downloaded={part.archive: path})
    files = {
        label: [_local(place.root / name, f"{key}.files.{label}") for name in _listed(names)]
        for label, names in part.files.items()
    }
    downloaded = {
        label: _download(part, url, label, f"{key}.urls.{label}", place)
        for label, url in part.urls.items()
    }
    files |= {label: [path] for label, path in downloaded.items()}
    urls = {part.urls[label]: path for label, path in downloaded.items()}
    return FetchedSource(part, key, files, downloaded=urls)


def _download(part: Source, url: str, label: str | None, key: str, place: Place) -> Path:
    # it imports requests, which most corpora that programs prepare do not need
    from nat.data.download import download

    return download(
        url,
        part.checksum_of(label),
        key=key,
        mirror=place.mirror,
        downloads=place.downloads,
        owner=place.name,
    )


def _local(path: Path, key: str) -> Path:
    if not path.is_file():
        raise UserError(f"{key}: {path} is not a file; put the file there or correct the key")
    return path


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
