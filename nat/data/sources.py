"""The files that text comes from: downloads, archives, test sets of sacreBLEU, local files."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nat.data.archive import unpack
from nat.data.corpus import Corpus, Source
from nat.data.download import Place, download
from nat.data.formats import PAIRS
from nat.data.splits import with_archive
from nat.errors import UserError, told_of, without_passwords


@dataclass(frozen=True)
class FetchedSource:
    """Files of a source that are available here."""

    origin: str  # as in `Source.origins`
    description: Source  # as in the corpus file; a test set of sacreBLEU by its archive
    key: str  # file and key of the configuration, for messages
    # by label, such as a language or `pairs`; of an archive only itself, under `archive`
    files: dict[str, list[Path]] = field(default_factory=dict)
    downloaded: dict[str, Path] = field(default_factory=dict)  # by the address

    def read_from(self, label: str) -> list[str]:
        """The files that hold a language or other label, for the record."""
        names = self.description.labelled
        label = label if label in names else PAIRS
        if "archive" in self.files:
            return [f"{self.files['archive'][0]}: {name}" for name in names[label]]
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
            with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                yield unpack(self.files["archive"][0], self.description.labelled, Path(members))


def fetch(source: Source, corpus: Corpus, key: str, place: Place) -> FetchedSource:
    """Obtain all files of a source of a corpus, by download if needed, or raise a `UserError`."""
    [origin] = source.origins
    fetched = FetchedSource(origin, with_archive(source, corpus), place.key(key))
    source, key = fetched.description, fetched.key
    for label, names in source.labelled.items() if source.files else ():
        fetched.files[label] = [place.root / name for name in names]
        for path in fetched.files[label]:
            if not path.is_file():
                raise UserError(f"{key}.files.{label}: {path} is not there; correct one of them")
    for of_url, url in source.addresses.items():
        label = of_url.removeprefix("urls.")
        path = download(url, source.checksum_of(label), place, f"{key}.{of_url}")
        fetched.files[label] = [path]
        fetched.downloaded[without_passwords(url)] = path
    return fetched
