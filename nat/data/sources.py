"""The files that text comes from, wherever they are: downloads, archives, test sets, local files.

A source is a download per file (`urls`), members of a downloaded archive (`archive`, `members`), a
test set that sacreBLEU knows (`sacrebleu`), or local files (`files`).
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nat.data.archive import unpack
from nat.data.corpus import Corpus, Part, Source
from nat.data.formats import PAIRS
from nat.data.splits import sources_of
from nat.errors import UserError, told_of
from nat.options import hint


@dataclass(frozen=True)
class Place:
    """The places that files are searched in.

    Attributes:
        name: of the corpus, for messages.
        root: repository root, to which local files are relative.
        mirror: folder MIRROR/HOST/PATH that is searched before the network.
        downloads: folder that keeps downloads, also incomplete ones to be resumed.
    """

    name: str
    root: Path
    mirror: Path | None
    downloads: Path

    def key(self, key: str) -> str:
        """A key of the corpus with its file, for messages."""
        return f"config/corpora/{self.name}.yaml, {key}"


@dataclass(frozen=True)
class FetchedSource:
    """Files of a source that are available here.

    Attributes:
        description: as in the corpus file; a test set of sacreBLEU by its archive.
        key: file and key of the configuration, for messages.
        files: local files per label, such as a language or `pairs`, except of an archive.
        archive: the archive that holds the files.
        downloaded: files by the address they came from.
    """

    description: Source
    key: str
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    archive: Path | None = None
    downloaded: Mapping[str, Path] = field(default_factory=dict)

    def read_from(self, label: str) -> list[str]:
        """The files that hold a language or other label, for the record."""
        if self.archive is not None:
            members = self.description.members
            names = _listed(members[label if label in members else PAIRS])
            return [f"{self.archive}: {name}" for name in names]
        return [str(path) for path in self.files.get(label, self.files.get(PAIRS, ()))]

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Mapping[str, Sequence[Path]]]:
        """All files by label; members of an archive are unpacked below `folder` for the while.

        An error within names the key.
        """
        with told_of(f"{self.key}: "):
            if self.archive is None:
                yield self.files
                return
            wanted = {label: _listed(names) for label, names in self.description.members.items()}
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                yield unpack(self.archive, wanted, Path(members))


def fetch(source: Source, corpus: Corpus, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a source of a corpus, by download if needed.

    Raises:
        UserError: if a file cannot be obtained; names the key and the remedy.
    """
    # it imports requests, which most corpora that programs prepare do not need
    from nat.data.download import download

    def downloaded(url: str, label: str | None, of_key: str) -> Path:
        return download(url, source.checksum_of(label), place, of_key)

    key = place.key(key)
    if isinstance(source, Part) and source.sacrebleu is not None:
        source = test_set(source.sacrebleu, corpus.source, corpus.target)
    if source.archive is not None:
        path = downloaded(source.archive, None, f"{key}.archive")
        return FetchedSource(source, key, archive=path, downloaded={source.archive: path})
    files: dict[str, list[Path]] = {}
    for label, names in source.files.items():
        files[label] = [place.root / name for name in _listed(names)]
        for path in files[label]:
            if not path.is_file():
                raise UserError(
                    f"{key}.files.{label}: {path} is not a file; put the file there or correct "
                    "the key"
                )
    urls = {}
    for label, url in source.urls.items():
        urls[url] = downloaded(url, label, f"{key}.urls.{label}")
        files[label] = [urls[url]]
    return FetchedSource(source, key, files, downloaded=urls)


def test_set(name: str, source: str, target: str) -> Part:
    """The part described by a test set of sacreBLEU: its archive, checksum and members.

    Raises:
        UserError: if sacreBLEU has no such test set, or not for this pair of languages.
    """
    from sacrebleu.dataset import DATASETS  # takes half a second

    known = DATASETS.get(name)
    if known is None or not (known.data and known.md5):
        raise UserError(f"sacreBLEU has no test set '{name}'; {hint(name, DATASETS)}")
    members = known.langpairs.get(f"{source}-{target}")
    if members is None:
        pairs = ", ".join(sorted(known.langpairs))
        raise UserError(
            f"sacreBLEU's test set '{name}' is not for {source}-{target}; it has {pairs}"
        )
    return Part(
        archive=known.data[0],
        md5=known.md5[0],
        members=dict(zip((source, target), members[:2], strict=True)),
        format="segments",
    )


def addresses(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    urls: dict[str, str] = {}
    for key, source in sources_of(corpus).items():
        if isinstance(source, Part) and source.sacrebleu is not None:
            source = test_set(source.sacrebleu, corpus.source, corpus.target)
            key = f"{key}.sacrebleu"
        if source.archive is not None:
            urls[f"{key}.archive"] = source.archive
        urls |= {f"{key}.urls.{label}": url for label, url in source.urls.items()}
    return urls


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
