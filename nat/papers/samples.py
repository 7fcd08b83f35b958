"""Tables of samples: translations of a teacher and its student in one step, chosen by rule.

Of each pair of systems the sentences with the largest gain, the median gain and the largest loss
in sentence BLEU are shown. Repeated words are marked; missing words are listed after the sentence.
"""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nat.artifacts import Score
from nat.data.lines import read_lines
from nat.data.subwords import merge
from nat.data.translations import read_in_order
from nat.measures import bleu
from nat.measures.statistics import lacking
from nat.papers import values
from nat.papers.cells import STUDENT, TEACHER, ResolvedPart, Shown
from nat.papers.reader import NOT_RUN
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


def make(table: ResolvedPart, root: Path) -> TableText:
    """Make a table of samples: source, reference, teacher and student below each other."""
    records: list[Record] = []
    rows: list[list[str]] = []
    for teacher, student in zip(table.numbers[::2], table.numbers[1::2], strict=True):
        pair, cell = student.label, student.first
        sentences = _sentences(teacher, student, table.keys.get(pair, {}), root)
        base = {"paper": table.paper, "table": table.number, "pair": pair, "scale": table.scale}
        base |= {"task": cell.task, "stand_in": cell.stand_in if sentences else ""}
        if not sentences:
            records.append(base | {"status": NOT_RUN, "remark": cell.reason})
            rows.append([pair, NOT_RUN, cell.reason or NOTHING])
            continue
        for rule, at in zip(RULES, chosen([each["gain"] for each in sentences]), strict=True):
            each = sentences[at]
            texts = {side: marked(each[side], each["reference"]) for side in (TEACHER, STUDENT)}
            records.append({**base, "status": "run", "remark": "", "rule": rule, **each, **texts})
            head = f"{pair}: {rule}, {signed(each['gain'], 1)} (sentence {at + 1})"
            rows.append([head, "source", each["source"]])
            rows.append(["", "reference", each["reference"]])
            for side, text in texts.items():
                rows.append(["", f"{side}, BLEU {each[f'{side}_bleu']:.1f}", text])
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[("", ""), ("system", ""), ("text", "")],
        rows=rows,
        notes=[*NOTES, *values.not_comparable(records), *table.described.notes],
        prose=True,
    )


def chosen(gains: Sequence[float]) -> list[int]:
    """Choose the sentences of `RULES`, in order; of equal gains the earlier one."""
    in_order = sorted(range(len(gains)), key=lambda at: gains[at])
    return [gains.index(max(gains)), in_order[(len(gains) - 1) // 2], in_order[0]]


def marked(translation: str, reference: str) -> str:
    """Put words that equal the one before in brackets, and missing words behind a translation.

    Of a word that the reference has more often, the last occurrences are the missing ones.
    """
    words = translation.split()
    text = " ".join(
        f"{OPENING}{word}{CLOSING}" if at and words[at - 1] == word else word
        for at, word in enumerate(words)
    )
    due = reference.split()
    missing = [*itertools.compress(due, lacking(due, words))]
    return f"{text} (missing: {' '.join(missing)})" if missing else text


def _sentences(
    teacher: Shown, student: Shown, texts: Mapping[str, str], root: Path
) -> list[Record]:
    """All sentences of the first seed that both systems have, with sentence BLEU; none without."""
    for pair in itertools.product(teacher.own, student.own):
        scores = [cell.source for cell in pair if pair[0].seed == pair[1].seed]
        paths = [root / each.translations.path for each in scores if isinstance(each, Score)]
        if len(paths) == 2 and all(path.exists() for path in paths):
            break
    else:
        return []
    unit = texts["unit"]
    columns: Record = {"source": list(read_lines(root / texts["source"]))}
    columns["reference"] = bleu.split(read_lines(root / texts["reference"]), unit)
    for side, path in zip((TEACHER, STUDENT), paths, strict=True):
        columns[side] = bleu.split([merge(row["tokens"]) for row in read_in_order(path)], unit)
    references = [[line] for line in columns["reference"]]
    for side in (TEACHER, STUDENT):
        counts = bleu.tokenised_bleu(columns[side], references).sentences
        columns[f"{side}_bleu"] = [round(each, 6) for each in bleu.of_sentences(counts).tolist()]
    frame = pd.DataFrame(columns)
    gain = (frame[f"{STUDENT}_bleu"] - frame[f"{TEACHER}_bleu"]).round(6)
    rows: list[Any] = frame.assign(sentence=range(len(frame)), gain=gain).to_dict("records")
    return rows
