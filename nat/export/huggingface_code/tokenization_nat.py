"""Raw text to ids and back, as the corpus of a model has it, for transformers."""

import json
import shutil
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizer

from nat.data.bpe import segments_at
from nat.data.corpus import Corpus
from nat.data.raw_text import RawText
from nat.data.vocabulary import BOS, EOS, MASK, PAD, SPECIALS, UNK, Vocabularies
from nat.options import validated


class NatTokenizer(PreTrainedTokenizer):
    """Prepares raw source text, and makes text of the ids of translations.

    Tokens become ids by the source vocabulary, and ids tokens by that of the target.
    """

    vocab_files_names = {  # noqa: RUF012
        "corpus_file": "corpus.json",
        "vocabulary_file": "vocabulary.txt",
        "source_vocabulary_file": "vocabulary.source.txt",
        "target_vocabulary_file": "vocabulary.target.txt",
        "codes_file": "codes",
        "source_codes_file": "codes.source",
        "pieces_file": "pieces.model",
    }
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012

    def __init__(
        self,
        corpus_file: str,
        vocabulary_file: str | None = None,
        source_vocabulary_file: str | None = None,
        target_vocabulary_file: str | None = None,
        codes_file: str | None = None,
        source_codes_file: str | None = None,
        pieces_file: str | None = None,
        **others: Any,
    ) -> None:
        corpus = validated(Corpus, json.loads(Path(corpus_file).read_text(encoding="utf-8")))
        subwords = source_codes_file or codes_file or pieces_file
        source = source_vocabulary_file or vocabulary_file
        target = target_vocabulary_file or vocabulary_file
        assert subwords is not None and source is not None and target is not None
        self._files = [*map(Path, dict.fromkeys((corpus_file, source, target, subwords)))]
        self.vocabularies = Vocabularies.read(Path(source), Path(target))
        self.raw_text = RawText(corpus, segments_at(Path(subwords)))
        # not UNK, which is a word of translations like any other: special symbols are left out
        names = {"pad": PAD, "bos": BOS, "eos": EOS, "mask": MASK}
        for name, token in names.items():
            others.setdefault(f"{name}_token", SPECIALS[token])
        others["clean_up_tokenization_spaces"] = False
        others.setdefault("padding_side", "right")
        super().__init__(**others)

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Copy the files of preprocessing, vocabularies and subwords; return their paths."""
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        paths = [Path(save_directory, f"{prefix}{file.name}") for file in self._files]
        for file, path in zip(self._files, paths, strict=True):
            if not (path.exists() and path.samefile(file)):
                shutil.copyfile(file, path)
        return tuple(map(str, paths))

    @property
    def vocab_size(self) -> int:
        """Number of source symbols."""
        return len(self.vocabularies.source)

    def get_vocab(self) -> dict[str, int]:
        """Ids of all source symbols."""
        return dict(self.vocabularies.source.ids)

    def tokenize(self, text: str, *_: Any, **__: Any) -> list[str]:
        """The subwords of raw text; nothing in it is a special symbol.

        transformers looks a special symbol up before it asks `_convert_token_to_id`, so one that
        is written in the text is replaced here.
        """
        subwords = self.raw_text.subwords(text).split()
        return [SPECIALS[UNK] if each in SPECIALS else each for each in subwords]

    def _convert_token_to_id(self, token: str) -> int:
        return self.vocabularies.source.ids.get(token, UNK)

    def _convert_id_to_token(self, index: int) -> str:
        return self.vocabularies.target.symbols[index]

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Ids and the end."""
        return [*token_ids_0, EOS]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of a translation."""
        return self.raw_text.text(" ".join(tokens))
