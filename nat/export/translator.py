"""Raw text to raw text with a trained model.

from nat.export.translator import load
translator = load("results/demo/models/toy-ka-lu/nat-kd/seed1")
print(translator.translate(["wara foh delis"]))
"""

import logging
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch

from nat import registry
from nat.data.lines import decoded, unpacked
from nat.data.raw_text import RawText, untied
from nat.data.subwords import merge, splitter_at
from nat.data.translations import EMPTY_SOURCE, OK
from nat.decoding.captured import captured
from nat.decoding.corpus import translate
from nat.errors import UserError
from nat.export.package import MODEL, open_folder
from nat.extras import extras_named
from nat.jobs.translate import Methods
from nat.training.model_file import load_model

ENDS = frozenset(".!?;:。！？；")
"""Tokens after which a long line is preferably cut."""

BLOCK = 10_000
"""Lines that are read, sorted by length and translated at a time, unless it is said otherwise."""

_LOG = logging.getLogger(__name__)


class TextTranslator:
    """A model on a device, and a decoding that translate raw text.

    Source lines are prepared as those of the corpus on which the model was trained: diacritics,
    punctuation, tokens, case and subwords. Translations are detokenised.

    Attributes:
        package: what describes them.
        decoding: its name.
        method: the decoding itself, with all that it consults.
    """

    def __init__(
        self,
        folder: Path | str,
        decoding: str | None = None,
        batch_tokens: int | None = None,
        device: str | None = None,
        precision: str = "float32",
    ) -> None:
        """Load a trained model.

        Args:
            folder: that `nat pack` made, or `results/RUN/models/CORPUS/SYSTEM/seedN` of a run.
            decoding: a name as in config/decodings; None for the usual one of the system, or the
                first of a package.
            batch_tokens: most source tokens of a batch, with padding; None for those of the run.
            device: cpu or cuda, where one pass and beam search are captured graphs; None for a GPU,
                if there is one, without graphs.
            precision: float32, float16 or bfloat16, of such graphs.

        Raises a `UserError` if something is missing, damaged or does not belong together.
        """
        opened = open_folder(Path(folder), [decoding] if decoding else ())
        self.decoding, chosen = opened.decoding(decoding)
        self.package, files = opened.package, opened.files
        self.batch_tokens = batch_tokens or self.package.batch_tokens
        self.vocabularies = opened.vocabularies
        sizes = self.vocabularies.sizes
        there = torch.cuda.is_available()
        if device == "cuda" and not there:
            raise UserError("--device cuda: PyTorch finds no GPU here; leave it out or choose cpu")
        place = torch.device(device or ("cuda" if there else "cpu"))
        mapped = chosen.converted is not None
        self.model = load_model(files[MODEL], place, sizes=sizes, mapped=mapped).model
        assistant, *paths = (
            None if name is None else files[name]
            for name in (chosen.assistant, chosen.language_model, chosen.converted)
        )
        second = None if assistant is None else load_model(assistant, place, sizes=sizes).model
        method = registry.build("decoding", chosen.method)
        if device == "cuda":
            method = captured(method, precision)
        self.method = Methods(sizes, place).bind(method, second, *paths)
        splitter = splitter_at(files[self.package.subwords])
        self.raw_text = RawText(self.package.text.as_written(), splitter)

    def translate(self, lines: Iterable[str], first: int = 1) -> list[str]:
        """Translate lines of raw text, in batches of similar length.

        Args:
            lines: one sentence each, or more.
            first: number of the first of them in warnings.

        Returns:
            As many lines in the same order, without line feeds. A line with more subwords than the
            model has positions is translated in parts, see `in_parts`. A line for which the
            decoding finds no translation is empty. Both are logged as warnings.

        Raises a `UserError` if a batch does not fit the memory of the GPU, or an extra is missing.
        """
        if isinstance(lines, str):
            raise TypeError("translate() takes lines, not a string; pass a list: [line]")
        longest, source, target = self.model.longest_source, *self.vocabularies
        with extras_named():  # text in Chinese needs one
            cut = [in_parts(self.raw_text.subwords(line).split(), longest) for line in lines]
        encoded = (source.encode(" ".join(part)) for parts in cut for part in parts)
        sentences = [np.array(tokens, dtype=np.int64) for tokens in encoded]
        try:
            translations = translate(
                self.model, self.method, sentences, range(len(sentences)), self.batch_tokens
            )
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"the memory of the GPU does not suffice for batches of {self.batch_tokens} source "
                "tokens; choose fewer, with --batch-tokens of 'nat translate' or 'batch_tokens' of "
                "load()"
            ) from error
        left, texts = iter(translations), []
        for number, parts in enumerate(cut, start=first):
            if len(parts) > 1:
                message = "line %d is too long for the model and was cut in %d"
                _LOG.warning(message, number, len(parts))
            words = []
            for translation in islice(left, len(parts)):
                words.append(target.decode(translation.hypothesis.tokens))
                if translation.status != EMPTY_SOURCE and not merge(words[-1]).strip():
                    what = "line" if len(parts) == 1 else "a part of line"
                    why = "an empty translation" if translation.status == OK else translation.status
                    _LOG.warning("%s %d is not translated: %s", what, number, why)
            texts.append(self.raw_text.text(*words))
        return texts


load = TextTranslator  # loading a model is to make one


def in_parts(subwords: list[str], longest: int) -> list[list[str]]:
    """Cut a sentence into parts of at most `longest` subwords.

    A part ends at the end of a sentence if there is one in its second half, and otherwise between
    words.
    """
    parts, start = [], 0
    while len(subwords) - start > longest:
        between = [
            place
            for place in range(start + longest, start, -1)
            if " " in merge(f"{subwords[place - 1]} {subwords[place]}")
        ]
        ends = (
            at for at in between if at > start + longest // 2 and untied(subwords[at - 1]) in ENDS
        )
        cut = next(ends, next(iter(between), start + longest))
        parts.append(subwords[start:cut])
        start = cut
    return [*parts, subwords[start:]]


def translate_input(folder: Path, file: Path | None, lines: int | None, **options: Any) -> None:
    """Translate a file, or standard input, to standard output; options as for `TextTranslator`.

    So many `lines` are read and translated at a time; None for `BLOCK`, or 1 at a terminal.
    """
    by_hand = file is None and sys.stdin.buffer.isatty()
    at_once = lines or (1 if by_hand else BLOCK)
    opened: AbstractContextManager[BufferedIOBase | BinaryIO]
    opened = nullcontext(sys.stdin.buffer) if file is None else unpacked(file)
    with opened as given:
        translator = load(folder, **options)
        name = "standard input" if file is None else str(file)
        text = decoded(given, name, remedy="put each sentence on its own line")
        first = 1
        while block := list(islice(text, at_once)):
            translations = translator.translate(block, first)
            sys.stdout.buffer.writelines(line.encode() + b"\n" for line in translations)
            sys.stdout.buffer.flush()
            first += len(block)
