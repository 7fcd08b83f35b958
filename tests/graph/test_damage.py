"""Every file of a finished run, damaged or in the place of another: told, or of no effect.

`make test-endurance` prints how many cases were told, harmless or used in silence.
"""

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nat.papers.reports  # noqa: F401  (whose kind jobs of tables and figures make)
from nat.artifacts import Score, TrainingRecord
from nat.checksums import OF_FOLDER, manifest
from nat.data.arrays import mapped_array, read_arrays
from nat.data.lines import read_lines
from nat.data.subwords import splitter_at
from nat.data.vocabulary import Vocabulary
from nat.errors import UserError
from nat.files import atomic_path, read_json
from nat.job import read_jobs
from nat.measures.training_curve import validations
from nat.papers.cells import Cell
from nat.papers.reader import Reader
from nat.training.model_file import WEIGHTS, load_model
from tests.graph.test_endurance import (
    HARMLESS,
    OTHER,
    SEED,
    TOLD,
    TRACEBACK,
    WHOLE,
    faults,
    results_of,
    show,
)
from tests.graph.test_graph import finished_run
from tests.repository import python

pytestmark = [pytest.mark.graph, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory)[0]


def weights(path: Path) -> Any:
    loaded = load_model(path)
    return loaded.training, [value.tolist() for value in loaded.model.state_dict().values()]


def score_of(path: Path) -> Any:
    """A number of a score, as tables read it, and its counts."""
    run, _, corpus, system, seed, decoding = path.parts[1:7]
    score = Score(run, corpus, system, int(seed.removeprefix("seed")), decoding, path.stem)
    cell = Cell("row", "column", "sacrebleu", "task", source=score, part=path.stem)
    number = Reader(Path()).number(cell)
    if number.reason:  # what a table then says
        raise UserError(f"{path}: {number.reason}")
    return number


def training_of(path: Path) -> Any:
    run, _, corpus, system, seed = path.parts[1:6]
    record = TrainingRecord(run, corpus, system, int(seed.removeprefix("seed")))
    cell = Cell("row", "column", "million_parameters", "task", source=record)
    return Reader(Path()).number(cell._replace(part="training")), read_json(path)


READERS: dict[str, Callable[[Path], Any]] = {
    r"\.pt": weights,
    r"results/jobs/.*": read_jobs,
    r"scores/.*\.json": score_of,
    r"training\.json": training_of,
    r"\.json": read_json,
    r"\.npz": lambda path: {name: each.tolist() for name, each in read_arrays(path).items()},
    r"\.npy": lambda path: mapped_array(path).tolist(),
    r"training\.csv": validations,
    r"vocabulary\.txt": lambda path: Vocabulary.load(path).symbols,
    r"codes": lambda path: splitter_at(path)("gare nulo pir fosse"),
    r"": lambda path: list(read_lines(path)),
}
"""How a file is read, by the end of its path."""


def content(path: Path) -> Any:
    """What the program that reads a file makes of it."""
    return next(read for end, read in READERS.items() if re.search(f"{end}$", str(path)))(path)


def outcome(path: Path, whole: Any) -> str:
    try:
        found = content(path)
    except UserError as error:
        assert "\n" not in str(error) and str(path) in str(error), error
        return TOLD
    except Exception:  # noqa: BLE001 (any other is what is counted)
        return TRACEBACK
    return HARMLESS if found == whole else OTHER


def siblings(paths: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Each file with another one that has its name, or else its ending and folder."""
    for path in paths:
        kind = path.parts[2] if path.parts[1] != "corpora" else ""
        alike = [
            each for each in paths if each.name == path.name and (not kind or kind in each.parts)
        ]
        alike = alike if len(alike) > 1 else [e for e in paths if e.parent == path.parent]
        alike = [each for each in alike if each.suffix == path.suffix]
        other = alike[(alike.index(path) + 1) % len(alike)]
        if other.read_bytes() != path.read_bytes():
            yield path, other


def with_record(path: Path, other: Path) -> None:
    """Put a file in the place of another, with all that the manifest says of it."""
    listings = [each.parent / OF_FOLDER for each in (path, other)]
    digests = [(manifest(each.parent) or {})[each.name] for each in (path, other)]
    its = [line for line in listings[1].read_text().splitlines(True) if digests[1] in line]
    kept = [line for line in listings[0].read_text().splitlines(True) if digests[0] not in line]
    its = [line.replace(f"  {other.name}\n", f"  {path.name}\n") for line in its]
    shutil.copyfile(other, path)
    listings[0].write_text("".join(kept + its))


def test_no_reader_uses_a_damaged_file_in_silence(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run)
    numbers, found, silent = random.Random(SEED), Counter[str](), list[str]()
    # no program reads tables again
    paths = [
        path
        for path in results_of(run)
        if path.suffix != ".tex" and not (path.suffix == ".csv" and "papers" in path.parts)
    ]
    read = {path: content(path) for path in paths}

    def attack(path: Path, kind: str) -> None:
        result = outcome(path, read[path])
        found[result] += 1
        if result in (OTHER, TRACEBACK):
            silent.append(f"{kind}: {path}")

    for path in paths:
        whole, listing = path.read_bytes(), (path.parent / OF_FOLDER).read_bytes()
        for kind, damaged in faults(whole, numbers).items():
            path.write_bytes(damaged)
            attack(path, kind)
        path.unlink()
        attack(path, "missing")
        path.write_bytes(whole)
        for damaged in (b"", numbers.randbytes(100)):
            (path.parent / OF_FOLDER).write_bytes(damaged)
            attack(path, "damaged manifest")
        (path.parent / OF_FOLDER).write_bytes(listing)
    for path, other in siblings(paths):
        whole, listing = path.read_bytes(), (path.parent / OF_FOLDER).read_bytes()
        shutil.copyfile(other, path)
        attack(path, f"{other} without its record")
        path.write_bytes(whole)
        with_record(path, other)
        attack(path, f"{other} with its record")
        path.write_bytes(whole)
        (path.parent / OF_FOLDER).write_bytes(listing)
    show(f"damages of {len(paths)} files of a run", found)
    assert not silent, "\n".join(silent)


RUN = "results/micro"
NAT, OTHER_NAT, CMLM = (f"toy-micro/{name}/seed1" for name in ("nat-kd", "nat-raw", "cmlm-kd"))
SCORE, OTHER_SCORE = (f"{RUN}/scores/{name}/one-pass/test" for name in (NAT, OTHER_NAT))
OF_STEPS = f"{RUN}/scores/{CMLM}/mask-predict-{{}}-lb5/test.json"
LINES, OTHER_LINES = (f"{RUN}/translations/{name}/one-pass/test" for name in (NAT, OTHER_NAT))
MODEL, OTHER_MODEL, START = (f"{RUN}/models/{name}" for name in (NAT, OTHER_NAT, CMLM))
PAPER, STUDENT = f"{RUN}/papers/overview", f"{RUN}/models/toy-micro/dims-cmlm-kd/seed1/model.pt"

# a program and its specification by what it makes, and the file of it that is compared, if any
TABLE = ("make_table", f"{PAPER}/table_1.csv", f"{PAPER}/table_1.csv")
FIGURE = ("make_figure", f"{PAPER}/figure_1.pdf", f"{PAPER}/figure_1.csv")
ONE_PASS = ("translate_and_score", f"{SCORE}.json", f"{SCORE}.json")
TRAIN = ("train", STUDENT, STUDENT)
TRANSLATE = ("nat", MODEL, "")  # the command, whose output is compared
Program = tuple[str, str, str]

EXCHANGED: list[tuple[Program, dict[str, str]]] = [
    (TABLE, {f"{SCORE}.json": f"{OTHER_SCORE}.json"}),
    (TABLE, {f"{SCORE}.npz": f"{OTHER_SCORE}.npz"}),
    (TABLE, {f"{SCORE}.{end}": f"{OTHER_SCORE}.{end}" for end in ("json", "npz")}),
    (FIGURE, {OF_STEPS.format(1): OF_STEPS.format(4)}),
    (ONE_PASS, {f"{LINES}.jsonl": f"{OTHER_LINES}.jsonl"}),
    (ONE_PASS, {f"{LINES}.json": f"{OTHER_LINES}.json"}),
    (ONE_PASS, {f"{LINES}.{end}": f"{OTHER_LINES}.{end}" for end in ("json", "jsonl")}),
    (ONE_PASS, {f"{SCORE}.json": f"{OTHER_SCORE}.json"}),
    (ONE_PASS, {f"{SCORE}.npz": f"{OTHER_SCORE}.npz"}),
    (ONE_PASS, {f"{MODEL}/training.json": f"{OTHER_MODEL}/training.json"}),
    (ONE_PASS, {f"{MODEL}/model.pt": f"{OTHER_MODEL}/model.pt"}),
    (TRANSLATE, {f"{MODEL}/model.pt": f"{OTHER_MODEL}/model.pt"}),
    (TRANSLATE, {f"{MODEL}/model.pt": f"{MODEL}/kept/10k.pt"}),
    (TRANSLATE, {f"{MODEL}/training.json": f"{OTHER_MODEL}/training.json"}),
    (TRAIN, {f"{START}/model.pt": f"{MODEL}/model.pt"}),
    (TRAIN, {STUDENT: f"{START}/model.pt"}),
]
"""Files of a finished run, and what takes their places with its record."""

EARLIER: list[tuple[Program, str]] = [
    (TABLE, f"{SCORE}.npz"),
    (ONE_PASS, f"{LINES}.jsonl"),
    (ONE_PASS, f"{MODEL}/model.pt"),
    (TRANSLATE, f"{MODEL}/model.pt"),
    (TRANSLATE, f"{MODEL}/training.json"),
]
"""Files that are replaced by what was written there before, with its record."""


def put_back(path: Path) -> None:
    """Write a file as it may have been before: with a record of its own."""
    with atomic_path(path) as temporary:
        if path.suffix == ".npz":
            arrays = {name: np.roll(each, 1, 0) for name, each in read_arrays(path).items()}
            np.savez_compressed(temporary.open("wb"), **arrays)
        elif path.suffix == ".pt":
            saved = torch.load(path, weights_only=True)
            saved["weights"] = {name: -each for name, each in saved["weights"].items()}
            torch.save(saved, temporary)
        elif path.suffix == ".json":
            temporary.write_text(json.dumps(read_json(path) | {WEIGHTS: "0", "fingerprint": "0"}))
        else:
            temporary.write_text(path.read_text().replace('"text": "', '"text": "gare '))


def execute(program: Program) -> tuple[int, bytes, str]:
    """Run a program on its specification: status, what it made, and its errors."""
    name, result, made = program
    words: list[object] = ["-m", "nat.export.command", "translate", result]
    if name != "nat":
        jobs = Path("results/jobs", name).glob("*.json")
        own = next(path for path in jobs if result in [str(job.path) for job in read_jobs(path)])
        words = [f"workflow_scripts/{name}.py", own]
    status, printed, errors = python(*words, folder=Path(), path=Path.cwd(), given="gare nulo pir")
    return status, Path(made).read_bytes() if made else printed.encode(), errors


@pytest.mark.skipif(not WHOLE, reason="takes minutes; `make test-endurance`")
def test_no_program_uses_an_exchanged_file_in_silence(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, silent = Counter[str](), list[str]()

    def executed(program: Program, attack: Callable[[], None]) -> tuple[int, bytes, str]:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        shutil.copytree(run, tmp_path / "run", symlinks=True)
        monkeypatch.chdir(tmp_path / "run")
        attack()
        return execute(program)

    expected = {
        program: executed(program, lambda: None)
        for program in (TABLE, FIGURE, ONE_PASS, TRANSLATE, TRAIN)
    }
    assert not any(status for status, *_ in expected.values()), expected
    cases: list[tuple[Program, dict[str, str] | str]] = [*EXCHANGED, *EARLIER]
    for program, files in cases:

        def attack(files: dict[str, str] | str = files) -> None:
            if isinstance(files, str):
                put_back(Path(files))
            else:
                for path, other in files.items():
                    with_record(Path(path), Path(other))

        status, made, errors = executed(program, attack)
        result = HARMLESS if made == expected[program][1] else OTHER
        if status:
            result = TRACEBACK if "Traceback" in errors else TOLD
        found[result] += 1
        if result in (OTHER, TRACEBACK):
            silent.append(f"{result} of {program[0]}: {files} {errors[-300:]}")
    show("exchanged and earlier files for programs", found)
    assert not silent, "\n".join(silent)
