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
from nat.errors import UserError, told_of, without_passwords
from nat.options import hint


@dataclass(frozen=True)
class Place:
    """The places that files of a corpus are searched in."""

    name: str  # of the corpus
    root: Path  # folder that local files are relative to
    mirror: Path | None  # folder MIRROR/HOST/PATH that is searched before the network
    downloads: Path  # folder that keeps downloads, also incomplete ones to be resumed

    def key(self, key: str) -> str:
        """A key of the corpus with its file, for messages."""
        return f"config/corpora/{self.name}.yaml, {key}"


@dataclass(frozen=True)
class FetchedSource:
    """Files of a source that are available here."""

    description: Source  # as in the corpus file; a test set of sacreBLEU by its archive
    key: str  # file and key of the configuration, for messages
    # by label, such as a language or `pairs`; of an archive only itself, under `archive`
    files: dict[str, list[Path]] = field(default_factory=dict)
    downloaded: dict[str, Path] = field(default_factory=dict)  # by the address

    def read_from(self, label: str) -> list[str]:
        """The files that hold a language or other label, for the record."""
        label = label if label in self.description.labelled else PAIRS
        if "archive" in self.files:
            archive = self.files["archive"][0]
            return [f"{archive}: {name}" for name in _listed(self.description.members[label])]
        return [str(path) for path in self.files[label]]

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Mapping[str, Sequence[Path]]]:
        """All files by label; members of an archive are unpacked below `folder` for the while.

        An error within names the key.
        """
        with told_of(f"{self.key}: "):
            if "archive" not in self.files:
                yield self.files
                return
            wanted = {label: _listed(names) for label, names in self.description.members.items()}
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                yield unpack(self.files["archive"][0], wanted, Path(members))


def fetch(source: Source, corpus: Corpus, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a source of a corpus, by download if needed, or raise a `UserError`."""
    # it imports requests, which most corpora that programs prepare do not need
    from nat.data.download import download

    fetched = FetchedSource(_with_archive(source, corpus), place.key(key))
    source, key = fetched.description, fetched.key
    for label, names in source.files.items():
        fetched.files[label] = [place.root / name for name in _listed(names)]
        for path in fetched.files[label]:
            if not path.is_file():
                raise UserError(f"{key}.files.{label}: {path} is not there; correct one of them")
    for of_url, url in _urls(source).items():
        label = of_url.removeprefix("urls.")
        path = download(url, source.checksum_of(label), place, f"{key}.{of_url}")
        fetched.files[label] = [path]
        fetched.downloaded[without_passwords(url)] = path
    return fetched


def _with_archive(source: Source, corpus: Corpus) -> Source:
    """A source with a test set of sacreBLEU described by its archive."""
    if isinstance(source, PairSource) and source.sacrebleu is not None:
        return test_set(source.sacrebleu, corpus.source, corpus.target)
    return source


def test_set(name: str, source: str, target: str) -> PairSource:
    """A test set of sacreBLEU: archive, checksum and members; a `UserError` if there is none."""
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


def addresses_of_corpus(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    return {
        f"{key}.{of_url}": url
        for key, source in sources_of(corpus).items()
        for of_url, url in _urls(_with_archive(source, corpus)).items()
    }


def _urls(source: Source) -> dict[str, str]:
    """The addresses of a source by their keys in it."""
    urls = {f"urls.{label}": url for label, url in source.urls.items()}
    return urls | ({} if source.archive is None else {"archive": source.archive})


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
