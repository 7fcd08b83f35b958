"""Tables of samples: translations of a teacher and its student in one step, chosen by rule.

Of each pair of systems the sentences with the largest gain, the median gain and the largest loss
in sentence BLEU are shown. Repeated words are marked; missing words are listed after the sentence.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sacrebleu.metrics import BLEU

from nat.artifacts import Score
from nat.data.lines import read_lines
from nat.data.subwords import merge
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.measures.repetition import missing_words, repeated_positions
from nat.papers import values
from nat.papers.cells import STUDENT, TEACHER, Cell
from nat.papers.reader import NOT_RUN
from nat.papers.resolved import ResolvedTable
from nat.papers.table_formats import NOTHING, TableText, signed
from nat.papers.values import Record

RULES = ("largest gain", "median gain", "largest loss")
TEXTS = ("source", "reference", "teacher", "student")
NUMBERS = ("sentence", "teacher_bleu", "student_bleu", "gain")
OPENING, CLOSING = "[", "]"


class Sentence(NamedTuple):
    """A sentence of a test set and two translations of it, tokenised, with sentence BLEU."""

    number: int
    source: str
    reference: str
    teacher: str
    student: str
    teacher_bleu: float
    student_bleu: float

    @property
    def gain(self) -> float:
        """Sentence BLEU of the student minus that of the teacher."""
        return self.student_bleu - self.teacher_bleu


def records(table: ResolvedTable, root: Path) -> list[Record]:
    """Choose the samples from the translations below a folder.

    Raises:
        UserError: for files that do not belong together.
    """
    pairs: dict[str, dict[str, list[Cell]]] = {}
    for cell in table.cells:
        pairs.setdefault(cell.row, {}).setdefault(cell.column, []).append(cell)
    found: list[Record] = []
    for pair, sides in pairs.items():
        sentences = _pair(sides, table.keys.get(pair, {}), root)
        cell = sides[STUDENT][0]
        base = {
            "paper": table.paper,
            "table": table.number,
            "pair": pair,
            "scale": table.scale,
            "task": cell.task,
            "stand_in": cell.stand_in if sentences else "",
        }
        if not sentences:
            empty = dict.fromkeys(("rule", *TEXTS), "")
            status = {"status": NOT_RUN, "remark": cell.reason, **empty}
            found.append(base | dict.fromkeys(NUMBERS) | status)
        for rule, each in zip(RULES, choose(sentences), strict=False):
            numbers = each.number, each.teacher_bleu, each.student_bleu, round(each.gain, 6)
            shown = [marked(text, each.reference) for text in (each.teacher, each.student)]
            texts = each.source, each.reference, *shown
            found.append(
                base
                | dict(zip(NUMBERS, numbers, strict=True))
                | {"status": "run", "remark": "", "rule": rule}
                | dict(zip(TEXTS, texts, strict=True))
            )
    return found


def choose(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Choose the sentences of `RULES`, in order; none without sentences.

    Of equal gains, and with an even number of sentences, the earlier one.
    """
    if not sentences:
        return []
    best = min(sentences, key=lambda sentence: (-sentence.gain, sentence.number))
    ordered = sorted(sentences, key=lambda sentence: (sentence.gain, sentence.number))
    return [best, ordered[(len(ordered) - 1) // 2], ordered[0]]


def marked(translation: str, reference: str) -> str:
    """Put repeated words of a translation in brackets, and missing words behind it."""
    words = translation.split()
    repeated = set(repeated_positions(words))
    text = " ".join(
        f"{OPENING}{word}{CLOSING}" if at in repeated else word for at, word in enumerate(words)
    )
    missing = missing_words(words, reference.split())
    return f"{text} (missing: {' '.join(missing)})" if missing else text


def _pair(
    sides: Mapping[str, Sequence[Cell]], texts: Mapping[str, str], root: Path
) -> list[Sentence]:
    """All sentences of the first seed that both systems have; none if there is no such seed."""
    teachers = {cell.seed: cell for cell in sides[TEACHER]}
    for student in sides[STUDENT]:
        both = [teachers.get(student.seed), student]
        paths = [
            root / cell.source.translations.path
            for cell in both
            if cell is not None and isinstance(cell.source, Score)
        ]
        if len(paths) == len(both) and all(path.exists() for path in paths):
            return _sentences(root / texts["source"], root / texts["reference"], paths)
    return []


def _sentences(source: Path, reference: Path, paths: Sequence[Path]) -> list[Sentence]:
    columns = [
        *(list(read_lines(path)) for path in (source, reference)),
        *([merge(row["tokens"]) for row in read_in_order(path)] for path in paths),
    ]
    if len({len(column) for column in columns}) > 1:
        raise UserError(
            f"{', '.join(map(str, paths))}, {source} and {reference} have "
            f"{', '.join(str(len(column)) for column in columns)} sentences; remove the "
            "translations and decode again"
        )
    # Of a sentence without a common 4-gram plain BLEU is 0, so orders are smoothed (Chen and
    # Cherry, 2014, as in sacreBLEU) and shorter sentences are judged by the orders they have.
    metric = BLEU(tokenize="none", force=True, smooth_method="exp", effective_order=True)
    return [
        Sentence(
            *(number, line, truth, first, second),
            *(round(metric.sentence_score(text, [truth]).score, 6) for text in (first, second)),
        )
        for number, (line, truth, first, second) in enumerate(zip(*columns, strict=True))
    ]


def lay_out(table: ResolvedTable, found: list[Record]) -> TableText:
    """Arrange samples for reading: source, reference, teacher and student below each other."""
    rows: list[list[str]] = []
    for each in found:
        if each["status"] != "run":
            rows.append([each["pair"], NOT_RUN, each["remark"] or NOTHING])
            continue
        first = f"{each['pair']}: {each['rule']}, {signed(each['gain'], 1)}"
        rows.append([f"{first} (sentence {int(each['sentence']) + 1})", "source", each["source"]])
        rows.append(["", "reference", each["reference"]])
        for side in (TEACHER, STUDENT):
            rows.append(["", f"{side}, BLEU {each[f'{side}_bleu']:.1f}", each[side]])
    return TableText(
        title=table.title,
        origin=table.origin,
        records=found,
        columns=[("", ""), ("system", ""), ("text", "")],
        rows=rows,
        notes=[
            "Chosen by rule from the whole test set: largest gain, median gain and largest loss in "
            "sentence BLEU (tokenised, exponential smoothing) of the student over its teacher.",
            f"{OPENING}word{CLOSING}: repeats the word before it. missing: words of the reference "
            "that the translation lacks.",
            *values.not_comparable(found),
            *table.notes,
        ],
        signatures=[],
        prose=True,
    )
