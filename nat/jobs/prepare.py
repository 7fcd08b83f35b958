"""Jobs that make text: the steps of a corpus, and what is made of the translations of teachers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nat.artifacts import CorpusStep, Distilled
from nat.data.binarised import binarise_folder
from nat.data.clean import filter_folder
from nat.data.corpus import Corpus
from nat.data.corpus_parts import part_of
from nat.data.distilled import distil, of_published, of_teacher
from nat.data.flags import Flag, read_flags, sentence
from nat.data.likeness import REPORT
from nat.data.splits import GIVEN, TRAIN, together_with
from nat.data.subwords import apply_bpe as apply_learned
from nat.data.subwords import bpe_folder
from nat.job import Job
from nat.measures import perfect
from nat.program import Progress
from nat.registry import describe


def _tell(corpus: str, flags: Iterable[Flag]) -> None:
    """Say what a step has noticed."""
    for flag in flags:
        Progress(corpus, 0, "lines").say(sentence(flag))


def prepare_step(job: Job[CorpusStep]) -> None:
    """Clean or tokenise the training text, learn and apply its subwords, or binarise it."""
    step: Any = job.artifact.step
    part = part_of(job.corpus, together_with(TRAIN))
    before = Path(job.inputs.before[-1].path)
    if step == "bpe":
        bpe_folder(part, before, job.path, job.processes)
        _tell(job.artifact.corpus, read_flags(job.path / REPORT))
    elif step == "binarised":
        binarise_folder(part, before, job.path)
    else:
        filter_folder(step, part, before, job.path, job.processes)


def prepare_test_set(job: Job[CorpusStep]) -> None:
    """Make all steps of a test set, with the subwords learned from the training text."""
    folder, learned = job.path.parent, Path(job.inputs.before[-1].path)
    prepare_split(job.corpus, job.artifact.split, folder, learned)
    _tell(job.artifact.corpus, read_flags(folder / "bpe" / REPORT))


def prepare_split(corpus: Corpus, split: str, folder: Path, learned: Path) -> None:
    """Write the folders `clean`, `tokens`, `bpe` and `binarised` beside the `text` of a test set.

    `learned` is the folder `bpe` of the training text. Raises as `nat.measures.perfect.measure`.
    """
    part = part_of(corpus, [split])
    filter_folder("clean", part, folder / "text", folder / "clean")
    filter_folder("tokens", part, folder / "clean", folder / "tokens")
    apply_learned(part, folder / "tokens", learned, folder / "bpe")
    binarise_folder(part, folder / "bpe", folder / "binarised")
    perfect.measure(corpus, split, folder)


def distil_text(job: Job[Distilled]) -> None:
    """Make distilled text of a teacher's translations, or of translations from elsewhere."""
    inputs, corpus, teacher = job.inputs, job.corpus, job.configuration.published
    bpe = Path(inputs.corpus.path)
    if teacher is None:
        decoding, origin = inputs.translations.decoding, Path(inputs.translations.path)
        method = job.configuration.decodings[decoding].method
        engine = describe("decoding", method).converted or "pytorch"
        made_by = {"decoding": decoding, "engine": engine}
        distil(corpus, bpe, of_teacher(origin), origin, job.path.parent, made_by)
        return
    origin = Path(inputs.text.path) / GIVEN / f"{teacher}.{corpus.target}"
    published = of_published(origin, corpus, bpe, corpus.distilled[teacher].segmented)
    report = distil(corpus, bpe, published, origin, job.path.parent)
    _tell(job.artifact.corpus, report.get("flags", []))
