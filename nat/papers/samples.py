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
from nat.papers.resolved import ResolvedPart
from nat.papers.table_formats import NOTHING, TableText, signed
from nat.papers.values import Record

RULES = ("largest gain", "median gain", "largest loss")
OPENING, CLOSING = "[", "]"
NOTES = [
    "Chosen by rule from the whole test set: largest gain, median gain and largest loss in "
    "sentence BLEU (tokenised, exponential smoothing) of the student over its teacher.",
    f"{OPENING}word{CLOSING}: repeats the word before it. missing: words of the reference that the "
    "translation lacks.",
]


class Sentence(NamedTuple):
    """A sentence of a test set and two translations of it, tokenised, with sentence BLEU."""

    sentence: int
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


def make(table: ResolvedPart, root: Path) -> TableText:
    """Make a table of samples: source, reference, teacher and student below each other.

    Raises:
        UserError: for files that do not belong together.
    """
    pairs: dict[str, dict[str, list[Cell]]] = {}
    for cell in table.cells:
        pairs.setdefault(cell.row, {}).setdefault(cell.column, []).append(cell)
    records: list[Record] = []
    rows: list[list[str]] = []
    for pair, sides in pairs.items():
        cell = sides[STUDENT][0]
        base = {"paper": table.paper, "table": table.number, "pair": pair, "scale": table.scale}
        base |= {"task": cell.task, "stand_in": cell.stand_in}
        sentences = _pair(sides, table.keys.get(pair, {}), root)
        if not sentences:
            records.append(base | {"stand_in": "", "status": NOT_RUN, "remark": cell.reason})
            rows.append([pair, NOT_RUN, cell.reason or NOTHING])
        for rule, each in zip(RULES, choose(sentences), strict=False):
            texts = {
                side: marked(getattr(each, side), each.reference) for side in (TEACHER, STUDENT)
            }
            chosen = {**each._asdict(), "gain": round(each.gain, 6), **texts}
            records.append({**base, "status": "run", "remark": "", "rule": rule, **chosen})
            head = f"{pair}: {rule}, {signed(each.gain, 1)} (sentence {each.sentence + 1})"
            rows.append([head, "source", each.source])
            rows.append(["", "reference", each.reference])
            for side, text in texts.items():
                rows.append(["", f"{side}, BLEU {chosen[f'{side}_bleu']:.1f}", text])
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[("", ""), ("system", ""), ("text", "")],
        rows=rows,
        notes=[*NOTES, *values.not_comparable(records), *table.described.notes],
        prose=True,
    )


def choose(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Choose the sentences of `RULES`, in order; none without sentences.

    Of equal gains, and with an even number of sentences, the earlier one.
    """
    if not sentences:
        return []
    best = min(sentences, key=lambda sentence: (-sentence.gain, sentence.sentence))
    ordered = sorted(sentences, key=lambda sentence: (sentence.gain, sentence.sentence))
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
        scores = [each and each.source for each in (teachers.get(student.seed), student)]
        paths = [root / each.translations.path for each in scores if isinstance(each, Score)]
        if len(paths) < 2 or not all(path.exists() for path in paths):
            continue
        columns = [
            *(list(read_lines(root / texts[name])) for name in ("source", "reference")),
            *([merge(row["tokens"]) for row in read_in_order(path)] for path in paths),
        ]
        if len({len(column) for column in columns}) > 1:
            raise UserError(
                f"{', '.join(map(str, paths))} and {root / texts['source']} have different numbers "
                "of sentences; remove the translations and decode again"
            )
        # Of a sentence without a common 4-gram plain BLEU is 0, so orders are smoothed (Chen and
        # Cherry, 2014, as in sacreBLEU) and shorter sentences are judged by the orders they have.
        metric = BLEU(tokenize="none", force=True, smooth_method="exp", effective_order=True)

        def bleu(text: str, reference: str, metric: BLEU = metric) -> float:
            return round(metric.sentence_score(text, [reference]).score, 6)

        return [
            Sentence(
                number, *of_sentence, *(bleu(text, of_sentence[1]) for text in of_sentence[2:])
            )
            for number, of_sentence in enumerate(zip(*columns, strict=True))
        ]
    return []
