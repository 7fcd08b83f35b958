"""Tables of samples: translations of a teacher and its student in one step, chosen by rule.

Of each pair of systems the sentences with the largest gain, the median gain and the largest loss
in sentence BLEU are shown. Repeated words are marked; missing words are listed after the sentence.
"""

from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics import BLEU

from nat.cells import values
from nat.cells.cell import Cell
from nat.cells.entry import Entry
from nat.cells.paper import entries
from nat.cells.resolver import describe
from nat.configuration import Configuration
from nat.data.bpe import merge
from nat.data.lines import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.measures.repetition import missing_words, repeated_positions
from nat.measures.results import read_file
from nat.tables import tables

RULES = ("largest gain", "median gain", "largest loss")
NUMBERS = ("sentence", "teacher_bleu", "student_bleu", "gain")
OPENING, CLOSING = "[", "]"


@dataclass(frozen=True)
class Sentence:
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


def make(configuration: Configuration, paper: str, number: str) -> tables.Table:
    """Choose the samples from the translations below the root of the configuration.

    Raises:
        UserError: as `entries`, and for files that do not belong together.
    """
    places: dict[str, dict[str, Entry]] = {}
    for entry in entries(configuration, paper, "table", number):
        places.setdefault(entry.row, {})[entry.column] = entry
    records = []
    for pair, sides in places.items():
        found = _pair(configuration, sides)
        entry = sides["student"]
        base = {
            "paper": paper,
            "table": number,
            "pair": pair,
            "scale": configuration.scale,
            "task": entry.task,
            "stand_in": entry.stand_in if found else "",
        }
        if not found:
            empty = dict.fromkeys(("rule", "source", "reference", "teacher", "student"), "")
            status = {"status": values.NOT_RUN, "remark": entry.reason, **empty}
            records.append(base | dict.fromkeys(NUMBERS) | status)
        for rule, sentence in zip(RULES, choose(found), strict=False):
            records.append(
                base
                | {
                    "sentence": sentence.number,
                    "teacher_bleu": sentence.teacher_bleu,
                    "student_bleu": sentence.student_bleu,
                    "gain": round(sentence.gain, 6),
                    "status": "run",
                    "remark": "",
                    "rule": rule,
                    "source": sentence.source,
                    "reference": sentence.reference,
                    "teacher": marked(sentence.teacher, sentence.reference),
                    "student": marked(sentence.student, sentence.reference),
                }
            )
    return lay_out(configuration, paper, number, records)


def choose(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences of `RULES`, in order; empty without sentences.

    Of equal gains, and with an even number of sentences, the earlier one.
    """
    if not sentences:
        return []
    best = min(sentences, key=lambda sentence: (-sentence.gain, sentence.number))
    worst = min(sentences, key=lambda sentence: (sentence.gain, sentence.number))
    ordered = sorted(sentences, key=lambda sentence: (sentence.gain, sentence.number))
    return [best, ordered[(len(ordered) - 1) // 2], worst]


def marked(translation: str, reference: str) -> str:
    """A translation with repeated words in brackets, followed by missing words of the reference."""
    words = translation.split()
    repeated = set(repeated_positions(words))
    text = " ".join(
        f"{OPENING}{word}{CLOSING}" if at in repeated else word for at, word in enumerate(words)
    )
    missing = missing_words(words, reference.split())
    return f"{text} (missing: {' '.join(missing)})" if missing else text


def _pair(configuration: Configuration, sides: dict[str, Entry]) -> list[Sentence]:
    """All sentences of the first seed that both systems have; none if there is no such seed."""
    root = Path(configuration.root)
    others = {cell.seed: cell for cell in sides["teacher"].cells}
    for student in sides["student"].cells:
        teacher = others.get(student.seed)
        if teacher is None or (teacher.corpus, teacher.split) != (student.corpus, student.split):
            continue
        paths = [
            path
            for cell in (student, teacher)
            for path in (cell.score_path, cell.translations_path)
        ]
        if all((root / path).exists() for path in paths):
            return _sentences(configuration, teacher, student)
    return []


def _sentences(configuration: Configuration, teacher: Cell, student: Cell) -> list[Sentence]:
    root = Path(configuration.root)
    try:
        reference = root / read_file(root / student.score_path)["files"]["tokens"]["path"]
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{student.score_path} is not a score file; remove it and run again"
        ) from error
    language = configuration.corpus(student.corpus).source
    source = reference.with_name(f"{student.split}.{language}")
    columns = [
        list(read_lines(source)),
        list(read_lines(reference)),
        *(
            [merge(row["tokens"]) for row in read_in_order(root / cell.translations_path)]
            for cell in (teacher, student)
        ),
    ]
    if len({len(column) for column in columns}) > 1:
        raise UserError(
            f"{root / student.translations_path}, {root / teacher.translations_path}, {source} and "
            f"{reference} have {', '.join(str(len(column)) for column in columns)} sentences; "
            "remove the translations and decode again"
        )
    # Of a sentence without a common 4-gram plain BLEU is 0, so orders are smoothed (Chen and
    # Cherry, 2014, as in sacreBLEU) and shorter sentences are judged by the orders they have.
    metric = BLEU(tokenize="none", force=True, smooth_method="exp", effective_order=True)
    return [
        Sentence(
            number,
            line,
            truth,
            first,
            second,
            *(round(metric.sentence_score(text, [truth]).score, 6) for text in (first, second)),
        )
        for number, (line, truth, first, second) in enumerate(zip(*columns, strict=True))
    ]


def lay_out(
    configuration: Configuration, paper: str, number: str, records: tables.Records
) -> tables.Table:
    """Arrange samples for reading: source, reference, teacher and student below each other."""
    description = describe(configuration, paper, "table", number)
    cells: list[list[str]] = []
    for record in records:
        if record["status"] != "run":
            cells.append([record["pair"], values.NOT_RUN, record["remark"] or tables.NOTHING])
            continue
        cells += [
            [
                f"{record['pair']}: {record['rule']}, {tables.signed(record['gain'], 1)} "
                f"(sentence {int(record['sentence']) + 1})",
                "source",
                record["source"],
            ],
            ["", "reference", record["reference"]],
            ["", f"teacher, BLEU {record['teacher_bleu']:.1f}", record["teacher"]],
            ["", f"student, BLEU {record['student_bleu']:.1f}", record["student"]],
        ]
    notes = [
        "Chosen by rule from the whole test set: largest gain, median gain and largest loss in "
        "sentence BLEU (tokenised, exponential smoothing) of the student over its teacher.",
        f"{OPENING}word{CLOSING}: repeats the word before it. missing: words of the reference that "
        "the translation lacks.",
        *values.not_comparable(records),
        *description.notes,
    ]
    return tables.Table(
        headline=values.headline(configuration, paper, "table", number),
        records=records,
        columns=[("", ""), ("system", ""), ("text", "")],
        cells=cells,
        notes=notes,
        signatures=[],
        prose=True,
    )
