"""The graph as a user meets it: dry runs, targets, errors, and one run of everything, tiny."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from nat.files import read_json
from snakemake_logger_plugin_jobs import pending
from tests.made_up_corpus import PREPROCESSING
from tests.messages import must_name
from tests.prepared import run_snakemake
from tests.repository import ROOT, python, variables, write_yaml

PARTS = ["Snakefile", "config", "envs", "nat", "profiles", "rules", "workflow_scripts"]
PARTS += ["snakemake_logger_plugin_jobs", "snakemake_logger_plugin_nat"]
# The whole graph takes a minute on two idle cores; on a busy machine, many.
pytestmark = pytest.mark.timeout(1000)

TEACHERS = {"at-base", "nat-kd", "nat-raw", "cmlm-kd", "cmlmc-kd", "imputer-kd"}
"""Of the systems of `PAPERS`."""

RUN = ["demo", "corpora", "dims_table_8"]
"""What is really run: every rule but those of claims and analyses."""

PAPERS = {"dims", "overview"}
"""What `RUN` is of."""

OVERVIEW = {"overview"}
"""A paper that is enough where it does not matter which; with one less, a graph takes less time."""

OF_RUN = {"at-base", "nat-raw", "nat-kd", "cmlm-kd", "dims-cmlm-kd"}


def copy_repository(folder: Path, papers: Collection[str] | None = None) -> Path:
    """A copy without results; with these papers only, a graph takes less time."""
    for name in PARTS:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns(".*")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    if papers is not None:
        described = (folder / "config/papers").glob("*.yaml")
        for path in (*described, *(folder / "config/published").glob("*.csv")):
            if path.stem not in (*papers, "settings"):
                path.unlink()
    return folder


def snakemake(
    folder: Path, *arguments: str, scale: str = "micro", **environment: str
) -> tuple[int, str]:
    """Exit status, and what is on the screen; `environment`: more variables."""
    given = [*arguments, "--cores", "2", "--max-jobs-per-timespan", "100/1s"]
    if scale:
        given += ["--config", f"scale={scale}"]
    return run_snakemake(given, folder, variables(None) | environment)


def start(folder: Path, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """A process of its own, which others stop or look at."""
    given = [*arguments, "--cores", "2", "--config", "scale=micro"]
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", *given],
        cwd=folder,
        env=variables(None),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )


def counts(screen: str) -> dict[str, int]:
    """Jobs by rule, from the line that sums up a dry run."""
    line = next(line for line in screen.splitlines() if " to do: " in line)
    pairs = (part.split(" ") for part in line.split(": ", 1)[1].split(", "))
    return {rule: int(count) for count, rule in pairs}


def jobs(screen: str, what: str) -> set[str]:
    """The jobs of a dry run that begin with a word."""
    return {
        line.split(": ")[0].removeprefix(f"{what} ")
        for line in screen.splitlines()
        if line.startswith(f"{what} ")
    }


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository without results, with few papers."""
    return copy_repository(tmp_path_factory.mktemp("repository"), PAPERS)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy with the task and the corpus `own`, of the user's files in the folder `here`."""
    repository = copy_repository(tmp_path, OVERVIEW)
    write_own(repository, "test")
    replace_in(repository / "config/scales/micro.yaml", "\ntasks:\n", "\ntasks:\n  own: own\n")
    return repository


def write_own(repository: Path, *tests: str, references: Collection[str] = ()) -> None:
    """The description of the corpus `own` with these test sets, and what it lacks of its files."""
    splits: dict[str, Any] = {}
    for name in ("train", "valid", *tests):
        files = {side: f"here/{name}.{side}" for side in ("en", "de")}
        splits[name] = {"files": files}
        if name in references:
            splits[name]["references"] = [{"files": {"de": files["de"]}}]
        for path in map(repository.joinpath, files.values()):
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_text("".join(f"low lower {name} {n}\n" for n in range(9)))
    own = {"source": "en", "target": "de", "splits": splits}
    own["preprocessing"] = {**PREPROCESSING, "bpe_merges": 5}
    own["least_perfect_score"] = 0  # few words of nine pairs are known
    write_yaml(repository / "config/corpora/own.yaml", own)


def replace_in(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


TARGETS = (
    *("all", "report", "demo", "texts", "corpora"),
    *("teachers", "distilled", "students", "scores", "traces"),
)


def test_every_public_target_is_there_and_listed(repository: Path) -> None:
    papers = ["dims", "dims_figure_3", "dims_claims", "overview", "overview_table_1"]
    status, screen = snakemake(repository, "-n", *TARGETS, *papers)
    assert status == 0, screen
    _, screen = snakemake(repository, "--list-target-rules")
    listed = dict(re.findall(r"^([\w-]+)(?: \((.+)\))?$", screen, re.MULTILINE))
    assert all(listed[name] for name in (*TARGETS, "dims", "plan", "verify")), listed
    assert "dims_table_1" in listed


def test_all_texts_are_had_at_once(own: Path) -> None:
    """On a cluster they are fetched before anything else, where there is a network."""
    write_own(own, "test", "test_mine", references=("valid", "test"))
    status, screen = snakemake(own, "texts")
    assert status == 0, screen
    made = own / "results/corpora/own"
    for folder in (made / "train", made / "test"):
        assert (folder / "text").is_dir() and (folder / "references").is_dir()
    assert (made / "test_mine/text").is_dir() and not (made / "train/bpe").exists()
    assert not (made / "test_mine/references").exists()
    _, screen = snakemake(own, "-n", "results/corpora/own/corpus.json")
    assert not any("fetch" in rule for rule in counts(screen))
    # a file is what it holds: it is made again for no date, and is no input of Snakemake
    file, times = own / "here/train.en", (time.time() + 9000, time.time() + 9000)
    os.utime(file, times)
    _, screen = snakemake(own, "-n", "texts")
    assert "Nothing to be done" in screen
    file.write_text(file.read_text().upper())
    os.utime(file, times)
    status, screen = snakemake(own, "texts")
    assert (
        status == 0 and "fetch" in screen and (made / "train/text/train.en").read_text().isupper()
    )


@pytest.mark.parametrize(
    ("target", "trained", "others"),
    [
        ("corpora", set(), {"summarise_corpus": 1, "translate": 0}),
        ("distilled", {"at-base"}, {"translate": 2}),  # shards of train at this scale
        ("teachers", TEACHERS, {}),
        ("dims_figure_3", {"at-base", "cmlm-kd", "dims-cmlm-kd", "cmlmc-kd", "dims-cmlmc-kd"}, {}),
    ],
)
def test_targets_train_what_they_need(
    repository: Path, target: str, trained: set[str], others: dict[str, int]
) -> None:
    _, screen = snakemake(repository, "-n", target)
    assert jobs(screen, "train") == {f"{name} on toy-micro (seed 1)" for name in trained}
    found = counts(screen)
    assert {rule: found.get(rule, 0) for rule in others} == others


@pytest.mark.parametrize(
    ("arguments", "scale", "expected"),
    [
        (["overveiw"], "micro", "'overview'"),
        (["results/micro/models/toy-micro/nat-kdd/seed1/model.pt"], "micro", "/nat-kd/seed1"),
        ([], "smal", "'small'"),
        (["--config", "thread=2"], "", "'thread'"),
    ],
)
def test_wrong_targets_end_in_one_sentence(
    repository: Path, arguments: list[str], scale: str, expected: str
) -> None:
    status, screen = snakemake(repository, "-n", *arguments, scale=scale)
    assert status == 1
    must_name(screen, expected)
    assert "Traceback" not in screen
    assert len([line for line in screen.splitlines() if "error" in line.lower()]) == 1


def test_a_failed_job_tells_its_error_and_leaves_nothing(own: Path) -> None:
    with (own / "here/valid.de").open("a") as file:
        file.write("one more\n")
    status, screen = snakemake(own, "results/corpora/own/train/text")
    assert status == 1
    must_name(
        screen, "FAILED fetch train of own", "here/valid.en", "9 lines", "here/valid.de", "10"
    )
    assert "Traceback" not in screen
    assert not (own / "results/corpora/own/train/text").exists()


@pytest.mark.parametrize("made_before", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_missing_text_is_told_before_any_job(own: Path, made_before: bool) -> None:
    keys = {
        "results/corpora/own/train/text": "splits.valid.files.de",
        "results/corpora/own/test/text": "splits.test.files.en",
    }
    if made_before:
        status, screen = snakemake(own, *keys)
        assert status == 0, screen
    (own / "here/valid.de").unlink()
    (own / "here/test.en").unlink()
    for target, key in keys.items():
        status, screen = snakemake(own, "-n", target)
        assert status == 1
        must_name(screen, "config/corpora/own.yaml", f"'{key}'", "here/")
        assert "Traceback" not in screen


@pytest.mark.graph
@pytest.mark.long
def test_one_more_test_set_trains_nothing(own: Path) -> None:
    model, test = "micro/models/own/nat-raw/seed1/model.pt", "corpora/own/{}/binarised"
    targets = [f"results/{model}", f"results/{test.format('test')}"]
    status, screen = snakemake(own, *targets)
    assert status == 0, screen
    write_own(own, "test", "test_mine")
    _, screen = snakemake(own, "-n", *targets, f"results/{test.format('test_mine')}")
    assert counts(screen) == {"fetch_text": 1, "prepare_test_set": 1}


def finished_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy of a copy of the repository in which `RUN` has ended at the scale `micro`.

    It runs once for all files of tests, which several processes can share.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    finished, shown = base / "finished", base / "finished.txt"
    with FileLock(f"{finished}.lock"):
        if not shown.exists():
            shutil.rmtree(finished, ignore_errors=True)
            finished.mkdir()
            copy_repository(finished, PAPERS)
            status, screen = snakemake(finished, *RUN, **recorder(finished))
            assert status == 0, screen
            shown.write_text(screen)
    repository = tmp_path_factory.mktemp("run") / "repository"
    shutil.copytree(finished, repository, symlinks=True)
    return repository, shown.read_text()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy of the repository in which the demo has run, and what was on the screen."""
    return finished_run(tmp_path_factory)


def recorder(repository: Path) -> dict[str, str]:
    """Variables by which programs write down what they open, below the folder `opened`."""
    (repository / "opened").mkdir(exist_ok=True)
    return {"PYTHONPATH": str(ROOT / "tests/recorder"), "NAT_OPENED": str(repository / "opened")}


@pytest.mark.graph
def test_run_makes_every_result(run: tuple[Path, str]) -> None:
    repository, screen = run
    results = repository / "results/micro"
    models = results / "models/toy-micro"
    assert {path.parent.parent.name for path in models.glob("*/seed1/model.pt")} == OF_RUN
    for name in ("training.json", "training.csv"):
        assert len(list(models.glob(f"*/seed1/{name}"))) == len(OF_RUN)
    assert (results / "papers/overview/figure_1.png").stat().st_size > 10_000
    assert "sacreBLEU" in (results / "papers/overview/table_1.md").read_text()
    assert not list(results.rglob("*of?.jsonl")), "shards stay behind"
    logs = results.glob("logs/train/toy-micro/*/seed1.log")
    assert {path.parent.name for path in logs} == OF_RUN
    lines = screen.splitlines()
    started, done = ([one for one in lines if f"] {word} " in one] for word in ("start ", "done  "))
    assert len(started) == len(done) > len(OF_RUN)
    assert any("updates" in line and "tokens/s" in line for line in lines)
    assert "Warning" not in screen
    assert "no_progress_bar" not in (results / "logs/train/toy-micro/at-base/seed1.log").read_text()


@pytest.mark.graph
def test_a_table_is_there_in_all_formats_or_made_again(run: tuple[Path, str]) -> None:
    repository, _ = run
    latex = repository / "results/micro/papers/overview/table_1.tex"
    latex.rename(repository / "table_1.tex")
    try:
        _, screen = snakemake(repository, *RUN, "--dry-run")
        assert "1 table" in screen and "figure" not in screen
    finally:
        (repository / "table_1.tex").rename(latex)


@pytest.mark.graph
def test_results_without_their_records_are_used_but_for_models_of_another_configuration(
    run: tuple[Path, str],
) -> None:
    repository, _ = run
    system = repository / "config/systems/cmlm.yaml"
    records, away, before = repository / ".snakemake", repository / "away", system.read_text()
    records.rename(away)
    try:
        _, screen = snakemake(repository, "-n", *RUN)
        assert "Nothing to be done" in screen
        replace_in(system, "label_smoothing: 0.1", "label_smoothing: 0.2")
        made = "results/micro/{}/toy-micro/cmlm-kd/seed1/{}"
        status, screen = snakemake(
            repository, made.format("scores", "mask-predict-3-lb5/test.json")
        )
        assert status == 1
        model = made.format("models", "model.pt")
        must_name(screen, f"{model} was trained with another configuration", "label_smoothing")
        must_name(screen, f"run 'snakemake --force {model} --config scale=micro'")
    finally:
        system.write_text(before)
        shutil.rmtree(records, ignore_errors=True)
        away.rename(records)
    _, screen = snakemake(repository, "-n", *RUN)
    assert "Nothing to be done" in screen


CLAIM = """
title: one claim
description: for this test
cells: {task: wmt14-en-de, split: test, decoding: one-pass}
tables:
  1:
    title: two systems
    columns: [sacrebleu]
    rows: [{label: raw, system: nat-raw}, {label: distilled, system: nat-kd}]
  2:
    title: latencies
    columns: [{measure: latency, setting: cpu-1}]
    rows:
      - {label: teacher, system: at-base, decoding: ctranslate2-int8-beam5}
      - {label: student, system: nat-kd, decoding: npd9}
claims:
  distillation: {claim: Distilled text is better than raw text., from: nobody, in: table 1,
    measure: sacrebleu, compare: distilled > raw}
"""

CHOOSING = """
description: a choice between two texts
like: dynamic-kd
text:
  dynamic:
    candidates: [{system: at-base, decoding: beam5}, raw]
    regulariser: {beta: 0.2, gamma: tuned}
"""

MADE = "results/micro/{}/toy-micro"
ANALYSED = ("confidence", "length_accuracy", "likelihood", "mple", "state_similarity")
OTHERS = [
    *(f"{MADE.format('analyses')}/nat-kd/seed1/{analysis}.json" for analysis in ANALYSED),
    f"{MADE.format('analyses')}/cmlm-kd-predicted/seed1/confidence.json",  # with a teacher
    f"{MADE.format('analyses')}/cmlm-kd-predicted/seed1/mple.json",
    f"{MADE.format('analyses')}/vae-kd/seed1/latent_components.json",
    f"{MADE.format('analyses')}/vae-kd/seed1/latent_assignment.json",
    f"{MADE.format('analyses')}/cmlm-kd/seed1/shown_tokens.json",
    f"{MADE.format('traces')}/cmlm-kd/seed1/mask-predict-4-lb5/test.jsonl",
    f"{MADE.format('total_correlation')}/nat-raw/at-base/seed1.json",
    f"{MADE.format('scores')}/ctc-kd/seed1/ctc-beam20-lm4-tuned/test.json",  # with n-grams
    f"{MADE.format('scores')}/nat-kd/seed1/one-pass/valid.json",  # of translations in shards
    f"{MADE.format('models')}/choosing/seed1/model.pt",  # of texts that are compared and weighted
    f"{MADE.format('models')}/oaxe-10k-kd/seed1/model.pt",  # from a model that was kept
    f"{MADE.format('models')}/u-dims-cmlm-kd-monolingual/seed1/model.pt",
    "claimed_claims",
    "claimed_table_2",  # with an assistant, and with a model that was converted
]
"""What uses the programs and inputs that `RUN` does not."""

NOT_OPENED = {
    "merge_comparisons": ("bpe", "text"),  # its shards were made from them
    # joins shards, which are gone afterwards: what they were made of stands for them
    "merge_shards": ("model.pt", ".npz", "-tuned.json"),
}
"""Endings of declared inputs that a program need not open, by rule, with the reason."""


@pytest.mark.graph
def test_a_student_learns_from_monolingual_text_as_well(run: tuple[Path, str]) -> None:
    """Its pairs are those of the training text and as many more as have translations."""
    repository, _ = run
    model = f"{MADE.format('models')}/u-dims-cmlm-kd-monolingual/seed1/model.pt"
    status, screen = snakemake(repository, model, **recorder(repository))
    assert status == 0, screen
    assert "toy-micro, monolingual: " in screen and "sentences are kept" in screen
    (made,) = repository.glob("results/micro/distilled/*/cmlm-kd/seed1/*/with_monolingual")
    report = read_json(made / "monolingual.json")
    assert 0 < report["monolingual"] <= 60
    trained, alone = (
        read_json(repository / MADE.format("models") / f"{system}/seed1/training.json")["pairs"]
        for system in ("u-dims-cmlm-kd-monolingual", "cmlm-kd")
    )
    assert trained["train"]["used"] == report["pairs"]
    assert report["pairs"] == alone["train"]["used"] + report["monolingual"]
    replace_in(repository / "config/corpora/toy-micro.yaml", "sentences: 60", "sentences: 50")
    _, screen = snakemake(repository, "-n", model, *RUN)
    assert counts(screen) == {
        **{"fetch_text": 1, "prepare_monolingual": 1, "translate": 2, "merge_shards": 1},
        **{"add_monolingual": 1, "train": 1},
    }
    replace_in(repository / "config/corpora/toy-micro.yaml", "sentences: 50", "sentences: 60")


@pytest.mark.graph
def test_another_scale_shows_and_replaces_nothing_of_this_one(run: tuple[Path, str]) -> None:
    repository, _ = run
    program, here = "workflow_scripts/show_results.py", {"folder": repository, "path": repository}
    status, shown, errors = python(program, "--scale", "micro", **here)
    assert status == 0, errors
    assert "AT, beam 5" in shown and "figure_1" in shown
    status, _, errors = python(program, "--scale", "demo", **here)
    assert status == 1
    must_name(errors, "results/demo/papers")
    model = "results/micro/models/toy-micro/nat-kd/seed1/model.pt"
    status, screen = snakemake(repository, "-n", model, scale="")  # the scale was forgotten
    assert status == 1
    must_name(screen, "--config scale=micro")
    _, screen = snakemake(repository, "-n", "overview", scale="")
    assert "on toy-micro" not in screen


@pytest.mark.long
@pytest.mark.graph
def test_programs_open_what_their_rules_declare(
    run: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, _ = run
    (repository / "config/papers/claimed.yaml").write_text(CLAIM)
    (repository / "config/systems/choosing.yaml").write_text(CHOOSING)
    status, screen = snakemake(repository, *OTHERS, **recorder(repository))
    assert status == 0, screen
    opened: dict[str, set[Path]] = {}
    for file in (repository / "opened").iterdir():
        for line in file.read_text().splitlines():
            one = json.loads(line)
            opened.setdefault(" ".join(one["program"]), set()).add(Path(one["path"]))
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PYTHONPATH", str(repository))
    wrong, programs = [], set()
    for job in pending([*RUN, *OTHERS], ["--forceall", "--config", "scale=micro"]):
        if not job.benchmark:
            continue
        rule = job.rule
        programs.add(rule)
        log = Path(job.benchmark.replace("/benchmarks/", "/logs/")).with_suffix(".log")
        found = opened.get(log.read_text().splitlines()[0].removeprefix("python "), set())
        made = [Path(path) for path in job.outputs]
        in_the_making = tuple(str(path.with_name(f".{path.name}.")) for path in made)
        if rule.startswith("train"):
            made += [made[0].with_name(name) for name in ("checkpoints", ".ended")]
        declared = [Path(path) for path in job.inputs if path.startswith("results/")]
        for path in found:
            is_record = path.name.startswith(".") and ".identity" in path.name
            of_one_job = path.parent.name.endswith(".finished")
            is_specification = path.is_relative_to("results/jobs")
            known = is_record or of_one_job or is_specification
            known = known or str(path).startswith(in_the_making)
            if not known and not any(map(path.is_relative_to, (*declared, *made))):
                wrong.append(f"{rule} opens {path}, which it does not declare: {log}")
        for each in declared:
            allowed = each.name.endswith(NOT_OPENED.get(rule, ()))
            if not allowed and not any(path.is_relative_to(each) for path in found):
                wrong.append(f"{rule} declares {each}, which it does not open: {log}")
    assert wrong == [], "\n".join(sorted({each[:200] for each in wrong})[:20])
    rules = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    named = re.findall(r"^ *(?:use rule \w+ as (\w+) with|rule (\w+)):$", rules, re.MULTILINE)
    assert programs == {each for names in named for each in names if each} - {
        *("take_over", "take_over_folder"),  # make links
        "make_report",  # opens whatever exists
        "plan",
        "verify",
        "import_checkpoint",
        "fetch_checkpoint",
        "measure_latency",  # of GPUs
        "fetch_references",
    }
