"""Token ids of a corpus in two numpy files, read by memory map.

`PREFIX.tokens.npy` holds the ids of all sentences one after the other (without BOS and EOS), in
the smallest unsigned type that fits the vocabulary; `PREFIX.offsets.npy` holds n + 1 positions
(int64): sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from nat.checksums import remedy
from nat.data.arrays import mapped_array
from nat.data.corpus import Corpus
from nat.data.lines import read_lines
from nat.data.vocabulary import Vocabularies, Vocabulary
from nat.errors import UserError
from nat.files import atomic_directory, atomic_path


def files_of(prefix: Path | str) -> tuple[Path, Path]:
    """The two files of a binarised text."""
    return Path(f"{prefix}.tokens.npy"), Path(f"{prefix}.offsets.npy")


def write_binarised(lines: Iterable[str], vocabulary: Vocabulary, prefix: Path | str) -> int:
    """Write sentences of space-separated subwords, or of none, as ids; return their number."""
    return write_ids(map(vocabulary.encode, lines), len(vocabulary), prefix)


def write_ids(sentences: Iterable[Iterable[int]], symbols: int, prefix: Path | str) -> int:
    """Write sentences of ids of a vocabulary with so many symbols; return their number."""
    tokens = array(np.min_scalar_type(symbols - 1).char)
    offsets = array("q", [0])
    for ids in sentences:
        tokens.extend(ids)
        offsets.append(len(tokens))
    for path, values in zip(files_of(prefix), (tokens, offsets), strict=True):
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.save(file, np.asarray(values), allow_pickle=False)
    return len(offsets) - 1


class BinarisedText:
    """Sentences as arrays of ids, read from disk where they are asked for.

    Attributes:
        path: the file of the ids.
        tokens: ids of all sentences, one after the other.
        lengths: tokens per sentence, int64 [n].
        starts: places of their first tokens in `tokens`, int64 [n].
    """

    def __init__(self, prefix: Path | str) -> None:
        """Open what `write_binarised` wrote to `prefix`; raises a `UserError` for damage."""
        self.path, of_offsets = files_of(prefix)
        self.tokens, self._offsets = mapped_array(self.path), mapped_array(of_offsets)
        self.lengths: np.ndarray = np.diff(self._offsets)
        self.starts: np.ndarray = self._offsets[:-1]
        if (
            self.tokens.ndim != 1
            or self.tokens.dtype.kind != "u"
            or self._offsets.ndim != 1
            or self._offsets.dtype != np.int64
            or [*self._offsets[:1], *self._offsets[-1:]] != [0, len(self.tokens)]
            or (self.lengths < 0).any()
        ):
            raise UserError(
                f"{self.path} ({len(self.tokens)} tokens) and {of_offsets} do not belong together; "
                f"{remedy(self.path)}"
            )

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> np.ndarray:
        """Ids of sentence `index` (0 to n - 1), [T], in the type of the file."""
        if not 0 <= index < len(self):
            raise IndexError(f"sentence {index} of {len(self)}")
        return self.tokens[self._offsets[index] : self._offsets[index + 1]]


def binarise_folder(corpus: Corpus, bpe: Path, output: Path) -> None:
    """Write the ids of all splits and copies of the vocabularies to the folder `output`."""
    vocabularies = Vocabularies.load(bpe)
    with atomic_directory(output) as folder:
        for split in corpus.split_names:
            for vocabulary, language in zip(vocabularies, corpus.sides, strict=True):
                name = f"{split}.{language}"
                write_binarised(read_lines(bpe / name), vocabulary, folder / name)
        vocabularies.save(folder)
