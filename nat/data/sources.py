"""The files that text comes from: downloads, archives, test sets of sacreBLEU, local files."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nat.data.archive import unpack
from nat.data.corpus import Corpus, PairSource, Source
from nat.data.formats import PAIRS
from nat.data.splits import sources_of
from nat.errors import UserError, told_of
from nat.options import hint


@dataclass(frozen=True)
class Place:
    """The places that files of a corpus are searched in."""

    name: str
    """Of the corpus."""
    root: Path
    """The folder that local files are relative to."""
    mirror: Path | None
    """Folder MIRROR/HOST/PATH that is searched before the network."""
    downloads: Path
    """Folder that keeps downloads, also incomplete ones to be resumed."""

    def key(self, key: str) -> str:
        """A key of the corpus with its file, for messages."""
        return f"config/corpora/{self.name}.yaml, {key}"


@dataclass(frozen=True)
class FetchedSource:
    """Files of a source that are available here.

    Attributes:
        description: as in the corpus file; a test set of sacreBLEU by its archive.
        key: file and key of the configuration, for messages.
        files: by label, such as a language or `pairs`; of an archive only itself, under `archive`.
        downloaded: files by the address they came from.
    """

    description: Source
    key: str
    files: Mapping[str, Sequence[Path]]
    downloaded: Mapping[str, Path] = field(default_factory=dict)

    def read_from(self, label: str) -> list[str]:
        """The files that hold a language or other label, for the record."""
        members = self.description.members
        if "archive" in self.files:
            names = members[label if label in members else PAIRS]
            return [f"{self.files['archive'][0]}: {name}" for name in _listed(names)]
        return [str(path) for path in self.files.get(label, self.files.get(PAIRS, ()))]

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Mapping[str, Sequence[Path]]]:
        """All files by label; members of an archive are unpacked below `folder` for the while.

        An error within names the key.
        """
        wanted = {label: _listed(names) for label, names in self.description.members.items()}
        with told_of(f"{self.key}: "):
            if "archive" not in self.files:
                yield self.files
                return
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                yield unpack(self.files["archive"][0], wanted, Path(members))


def fetch(source: Source, corpus: Corpus, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a source of a corpus, by download if needed.

    Raises:
        UserError: if a file cannot be obtained; names the key and the remedy.
    """
    # it imports requests, which most corpora that programs prepare do not need
    from nat.data.download import download

    key = place.key(key)
    if isinstance(source, PairSource) and source.sacrebleu is not None:
        source = test_set(source.sacrebleu, corpus.source, corpus.target)
    files: dict[str, list[Path]] = {}
    for label, names in source.files.items():
        files[label] = [place.root / name for name in _listed(names)]
        for path in files[label]:
            if not path.is_file():
                raise UserError(f"{key}.files.{label}: {path} is not there; correct one of them")
    urls = {f"urls.{label}": url for label, url in source.urls.items()}
    if source.archive is not None:
        urls = {"archive": source.archive}
    downloaded = {}
    for of_url, url in urls.items():
        label = of_url.removeprefix("urls.")
        path = download(url, source.checksum_of(label), place, f"{key}.{of_url}")
        downloaded[url], files[label] = path, [path]
    return FetchedSource(source, key, files, downloaded)


def test_set(name: str, source: str, target: str) -> PairSource:
    """The part described by a test set of sacreBLEU: its archive, checksum and members.

    Raises:
        UserError: if sacreBLEU has no such test set, or not for this pair of languages.
    """
    from sacrebleu.dataset import DATASETS  # takes half a second

    known = DATASETS.get(name)
    if known is None or not (known.data and known.md5):
        raise UserError(f"sacreBLEU has no test set '{name}'; {hint(name, DATASETS)}")
    pair = f"{source}-{target}"
    if pair not in known.langpairs:
        pairs = ", ".join(sorted(known.langpairs))
        raise UserError(f"sacreBLEU's test set '{name}' is not for {pair}; it has {pairs}")
    return PairSource(
        archive=known.data[0],
        md5=known.md5[0],
        members=dict(zip((source, target), known.langpairs[pair][:2], strict=True)),
        format="segments",
    )


def addresses(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    urls: dict[str, str] = {}
    for key, source in sources_of(corpus).items():
        if isinstance(source, PairSource) and source.sacrebleu is not None:
            source = test_set(source.sacrebleu, corpus.source, corpus.target)
            key = f"{key}.sacrebleu"
        if source.archive is not None:
            urls[f"{key}.archive"] = source.archive
        urls |= {f"{key}.urls.{label}": url for label, url in source.urls.items()}
    return urls


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
