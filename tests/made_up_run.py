"""A run without any training: made-up translations below a temporary root, really scored."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from nat.artifacts import Latency, Score, TrainingRecord
from nat.checksums import OF_FOLDER
from nat.configuration.configuration import Configuration
from nat.configuration.reading import read
from nat.files import atomic_write_text, read_json, write_json
from nat.measures import score
from nat.measures import training_curve as curve
from nat.measures.latency_setting import numbers as latency_numbers
from nat.papers import judgements, reports
from nat.papers.cells import Cell
from nat.papers.coordinates import Resolver
from nat.papers.relation import relation
from nat.papers.table_formats import TableText
from tests.made_up_corpus import as_corpus, corpus_file
from tests.repository import ROOT

CORPUS, SENTENCES = "made-up", 60
TASK, OTHER_TASK = "wmt14-en-de", "wmt14-de-en"
WORDS = [f"{first}{second}a" for first in "bdfgklmnprst" for second in "aeiou"]

PAPER: dict[str, Any] = yaml.safe_load(f"""
title: Paper
tables:
  '1':
    title: rows against tasks
    cells: {{measure: sacrebleu, split: test}}
    columns: [{{label: En-De, task: {TASK}}}, {{label: De-En, task: {OTHER_TASK}}}]
    rows:
    - {{label: NAT, system: nat-kd, decoding: one-pass}}
    - label: DiMS
      system: dims-cmlm-kd
      decoding: mask-predict-1-lb5
      baseline: NAT
      ours_only: true
figures:
  '2':
    title: steps
    kind: lines
    cells: {{measure: sacrebleu, split: test}}
    x: {{label: steps}}
    panels: [{{label: En-De, task: {TASK}}}]
    series:
    - label: CMLM
      system: cmlm-kd
      points: [{{x: 1, decoding: mask-predict-1-lb5}}, {{x: 4, decoding: mask-predict-4-lb5}}]
""")
"""A paper with one table and one figure; a published row is only quoted, another is ours too."""
TABLE = reports.Report("demo", "paper", "table", "1")
FIGURE = reports.Report("demo", "paper", "figure", "2")

HEADER = "table,row,column,row_group,system,variant,task,metric,value,unit,note,use\n"
PUBLISHED = f"""{HEADER}table1,quoted,En-De,,GLAT,,{TASK},bleu,25.2,BLEU,source=cited,quoted
table1,quoted,De-En,,GLAT,,{OTHER_TASK},bleu,29.8,BLEU,source=cited,quoted
table1,NAT,En-De,,NAT,,{TASK},bleu,20.5,BLEU,source=authors,ours
text,,,,NAT,,all,dropout,0.3,,source=authors,none
"""

ONE_COLUMN = "".join(line for line in PUBLISHED.splitlines(True) if "De-En" not in line)
"""The published values for a table with the column En-De alone."""


def publish(root: Path, text: str = PUBLISHED) -> Path:
    """Write the published values of the paper `paper`; returns their file."""
    path = root / "config/published/paper.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def configuration(
    root: Path,
    papers: dict[str, Any],
    seeds: list[int] | None = None,
    scale: str = "demo",
    corpus: str = CORPUS,
) -> Configuration:
    """The repository's systems and decodings, one corpus, and these papers."""
    found = read(scale, ROOT)
    scales = {name: dict(content) for name, content in found.files["scales"].items()}
    scales["paper"] |= {"tasks": {TASK: corpus}}
    scales[scale] |= {"seeds": seeds or [1], "tasks": {TASK: corpus}}
    scales["elsewhere"] = {**scales[scale], "tasks": {OTHER_TASK: CORPUS}}
    corpora = {corpus: corpus_file("xx", "yy")}
    files = {**found.files, "scales": scales, "corpora": corpora, "papers": papers}
    return replace(found, root=root, files=files)


def paper(root: Path, seeds: list[int] | None = None, **content: Any) -> Configuration:
    """The same with one paper, called `paper`."""
    return configuration(root, {"paper": {"title": "Paper", **content}}, seeds)


def make_table(plain: Configuration, paper: str = "paper", number: str = "1") -> TableText:
    return reports.make_table(
        reports.resolve_part(plain, paper, f"table {number}"), Path(plain.root)
    )


def judge(plain: Configuration) -> list[dict[str, Any]]:
    return judgements.judge(reports.resolve_claims(plain, "paper"), Path(plain.root))


def as_the_paper(root: Path, papers: dict[str, Any]) -> Configuration:
    """The same run, as if it had been at the paper's scale and on its corpus."""
    (root / "results/demo").rename(root / "results/paper")
    for folder in (
        *root.glob(f"results/corpora/{CORPUS}"),
        *root.glob(f"results/paper/*/{CORPUS}"),
    ):
        moved = folder.rename(folder.with_name(TASK))
        for each in moved.rglob(OF_FOLDER):  # which says where files were written
            each.unlink()
    return configuration(root, papers, scale="paper", corpus=TASK)


def reference() -> list[list[str]]:
    numbers = random.Random(0)
    return [numbers.choices(WORDS, k=numbers.randint(5, 12)) for _ in range(SENTENCES)]


def write_corpus(root: Path, several: bool = True, complete: bool = False) -> None:
    """Write text, tokens and, if wanted, several references, of half or all sentences."""
    folder = root / "results/corpora" / CORPUS / "test"
    lines = "".join(" ".join(words) + "\n" for words in reference())
    for name in ("text", "tokens"):
        (folder / name).mkdir(parents=True)
        (folder / name / "test.yy").write_text(lines)
        (folder / name / "test.xx").write_text(lines.upper())
    if several:
        rows = [
            {"id": number, "references": [" ".join(words), WORDS[number]][: number % 2 + 1]}
            for number, words in enumerate(reference())
        ]
        kept = rows if complete else rows[: SENTENCES // 2]
        write_lines(folder / "references/test.yy.jsonl", kept)


def write_lines(path: Path, rows: Sequence[Any]) -> None:
    atomic_write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def write_translations_to(path: Path, errors: float, seed: int = 1, not_decoded: int = 0) -> None:
    """Translations in which this share of words is wrong."""
    numbers = random.Random(seed)
    rows = []
    for number, words in enumerate(reference()):
        made = [word if numbers.random() > errors else numbers.choice(WORDS) for word in words]
        text = "" if number < not_decoded else " ".join(made)
        row = {"id": number, "tokens": text.replace("a ", "@@ a "), "text": text, "score": -1.0}
        rows.append(row | {"steps": 1, "status": "ok" if text else "failed"})
    write_lines(path, rows)


def write_numbers(path: Path, part: str, numbers: Mapping[str, Any], **facts: Any) -> None:
    """Write the numbers of a part, values or what else is known of them; other parts stay."""
    written = {
        name: each if isinstance(each, dict) else {"value": each} for name, each in numbers.items()
    }
    before = read_json(path) if path.exists() else {"measures": {}}
    write_json(path, {**before, "measures": {**before["measures"], part: written}, **facts})


def write_latencies(root: Path, found: Mapping[Cell, Sequence[float] | str], **facts: Any) -> None:
    """Latencies of cells by their repeats in milliseconds, or the state of one that has none."""
    for cell, repeats in found.items():
        numbers = latency_numbers(repeats, 3003, 12, {})
        known = {"sentences_of_split": 3003, "systems": {cell.part: {}}, **facts}
        write_numbers(root / cell.path, cell.part, numbers, **known)


def collapse(path: Path) -> str:
    """Let a score be of translations that are all the same; returns the flag that says so."""
    content = read_json(path)
    [flag] = score.flags(["ba"] * SENTENCES, [" ".join(words) for words in reference()])
    write_json(path, content | {"flags": [flag]})
    return flag


SCORED: dict[tuple[bytes | None, ...], tuple[dict[str, Any], dict[str, Any]]] = {}
"""Scores, which take longest, by the content of the files that they are of."""


def run(root: Path, system: str, decoding: str, errors: float, **options: Any) -> Path:
    """Write and score the translations of one system; returns the score file."""
    artifact = Score("demo", CORPUS, system, options.get("seed", 1), decoding, "test")
    translations, path = root / artifact.translations.path, root / artifact.path
    write_translations_to(translations, errors, **options)
    folder = root / "results/corpora" / CORPUS / "test"
    several = folder / "references/test.yy.jsonl"
    files = {"reference": folder / "text/test.yy", "tokens": folder / "tokens/test.yy"}
    references = files | ({"references": several} if several.exists() else {})
    files |= {"hypotheses": translations, "references": several}
    content = tuple(path.exists() and path.read_bytes() or None for path in files.values())
    if content not in SCORED:
        SCORED[content] = score.score(translations, references, as_corpus(corpus_file("xx", "yy")))
    report_, counts = SCORED[content]
    of_these = {name: {**each, "path": str(files[name])} for name, each in report_["files"].items()}
    score.write(path, {**report_, "files": of_these}, counts)
    return path


def write_training(
    root: Path, system: str, validated: Sequence[tuple[int, float]], seed: int = 1, **facts: Any
) -> Path:
    """Write the record of a training of 40 updates and its curve; returns the record."""
    path = root / TrainingRecord("demo", CORPUS, system, seed).path
    rows = "".join(f"{update},valid,1.0,{bleu}\n" for update, bleu in validated)
    lines = f"update,split,loss,bleu\n5,train,2.0,\n{rows}"
    atomic_write_text(path.with_suffix(".csv"), lines)
    write_json(path, curve.with_measures({"updates": 40, **facts}, lines.splitlines()))
    return path


def report(configuration: Configuration, paper: str, name: str) -> list[Cell]:
    """The cells of a table or figure such as `table 2`, row by row."""
    return relation(configuration, paper)[name].cells


def cells(
    configuration: Configuration, measure: str, system: str, **coordinates: Any
) -> list[Cell]:
    """The cells of a measure of a system, one for each seed, as table 1 of the paper has them."""
    chosen = {"measure": measure, "system": system, "task": TASK, **coordinates}
    at = {"row": system, "column": measure}
    found = []
    for cell in Resolver(configuration, "paper").numbers(chosen, **at):
        source = cell.source
        if isinstance(source, Latency):
            source = replace(source, group="paper_table_1")
        found.append(cell._replace(source=source))
    return found
