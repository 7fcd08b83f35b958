"""What is recorded of results, and results without a record."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from grouped_steps import NAMES
from prepared import run_snakemake
from stand_in_slurm import StandInSlurm

from nat.artifacts import Model
from nat.checksums import OF_FOLDER
from nat.configuration import load
from nat.files import write_json
from nat.workflow.records import is_current, refuse_unknown_results, require_no_survivors
from tests.messages import told

ROOT = Path(__file__).resolve().parents[1]
OUTPUTS = [
    "results/demo/models/{system}/seed{seed,[0-9]+}/model.pt",
    "results/corpora/{corpus}/text",
    "results/demo/models/{system}/seed{seed,[0-9]+}/{engine,ctranslate2|onnx}",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()


def record(kind: str, path: str, length: int = 254) -> None:
    """As Snakemake files a record: names of at most 255 characters."""
    name = urlsafe_b64encode(path.encode()).decode()
    *parents, last = (name[start : start + length] for start in range(0, len(name), length))
    file = Path(".snakemake", kind, *(f"@{part}" for part in parents), last)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def test_results_with_a_record_are_accepted() -> None:
    refuse_unknown_results(OUTPUTS)
    model, text = f"results/demo/models/{'long' * 50}/seed1/model.pt", "results/corpora/toy/text"
    beside = ("seed1/.model.pt.sha256", "seed1/checkpoints/run.json", "notes.txt")
    for path in (model, text, *(f"results/demo/models/at/{name}" for name in beside)):
        make(path)
    record("metadata", model)
    record("incomplete", text)  # a job is making it, or was killed: Snakemake makes it again
    refuse_unknown_results(OUTPUTS)


def test_results_without_a_record_are_refused() -> None:
    for path in ("results/demo/models/at/seed1/model.pt", "results/demo/models/nat/seed2/model.pt"):
        make(path)
    with told("models/at/seed1/model.pt", "1 more", "no record"):
        refuse_unknown_results(OUTPUTS)
    record("metadata", "results/demo/models/at/seed1/model.pt")
    with told("models/nat/seed2/model.pt", "no record"):
        refuse_unknown_results(OUTPUTS)


def test_a_folder_that_a_wildcard_stands_for_is_refused_without_a_record() -> None:
    make("results/demo/models/at/seed1/onnx/encoder.onnx")
    with told("models/at/seed1/onnx", "no record"):
        refuse_unknown_results(OUTPUTS)


def test_results_on_another_disk_are_refused_without_a_record() -> None:
    make("elsewhere/at/seed1/model.pt")
    Path("results/demo").mkdir(parents=True)
    Path("results/demo/models").symlink_to(Path("elsewhere").resolve())
    with told("models/at/seed1/model.pt", "no record"):
        refuse_unknown_results(OUTPUTS)


def test_damaged_records_are_told() -> None:
    make("results/corpora/toy/text")
    Path(".snakemake/metadata").mkdir(parents=True)
    Path(".snakemake/metadata/x").touch()
    with told("metadata", "damaged"):
        refuse_unknown_results(OUTPUTS)


SNAKEFILE = f"""{NAMES}

rule train:
    output:
        model="made/model.pt",
        report="made/training.json",
    params:
        configuration=config["updates"],
    shell:
        "echo >> begun; until test -e end; do sleep 0.1; done; touch {{output}}; echo >> ended"


include: "{ROOT}/rules/start.smk"

if workflow.is_main_process:
    keep_finished_trainings(lambda report: True)
    refuse_unknown_results(output for rule in workflow.rules for output in rule.output)
"""
RUN = ["--cores", "1", "--rerun-incomplete", "--rerun-triggers", "mtime", "params", "input"]


def until(what: Callable[[], object]) -> None:
    for _ in range(600):
        if what():
            return
        time.sleep(0.1)
    pytest.fail("it does not come")


@pytest.mark.graph
@pytest.mark.parametrize("slurm", [False, True], ids=["here", "slurm"])
def test_a_training_that_ends_after_snakemake_was_killed_is_not_made_again(
    folder: Path, slurm: bool
) -> None:
    (folder / "Snakefile").write_text(SNAKEFILE)
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    clients = StandInSlurm(folder / "clients")
    environment = {**clients.environment, "PYTHONPATH": str(ROOT)}
    profile = ["--profile", "slurm"] if slurm else []

    def given(*options: str, updates: int = 1) -> list[str]:
        return [*options, "--config", f"updates={updates}", *RUN, *profile]

    def again(*options: str, updates: int = 1) -> str:
        status, screen = run_snakemake(given(*options, updates=updates), folder, environment)
        assert status == 0, screen
        return screen

    command = [sys.executable, "-m", "snakemake", *given()]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as first:
        until(Path("begun").exists)
        until(lambda: list(Path(".snakemake/incomplete").iterdir()))
        os.kill(first.pid, signal.SIGKILL)
    Path("end").touch()
    until(Path("ended").exists)
    until(lambda: not slurm or list(clients.folder.glob("*.ended")))
    again("--unlock")
    assert "Nothing to be done" in again()
    assert "Params have changed" in again("-n", updates=2)
    assert Path("begun").read_text() == "\n"


def test_a_training_that_ended_is_that_of_the_configuration() -> None:
    configuration = load("micro", ROOT, checked=False)
    report = Path(Model("micro", "toy-micro", "at-base", 1).path).with_name("training.json")
    training = configuration.training("toy-micro", "at-base").as_json()
    report.parent.mkdir(parents=True)
    for changes, expected in (
        ({}, True),
        ({"recipe": {**training["recipe"], "learning_rate": 0.5}}, False),
        ({"system": "removed"}, False),
        ({"corpus": "toy-mi-so"}, False),
    ):
        write_json(report, {"seed": 1, "training": {**training, **changes}})
        assert is_current(configuration, report) == expected


@pytest.mark.parametrize(
    "content", ["", "{", "{}", "[]", "7", '{"seed": 1}', '{"seed": 1, "training": "at-base"}']
)
def test_a_damaged_report_of_a_training_is_not_current(content: str) -> None:
    report = Path(Model("micro", "toy-micro", "at-base", 1).path).with_name("training.json")
    make(str(report))
    report.write_text(content)
    assert not is_current(load("micro", ROOT, checked=False), report)


def test_a_training_without_its_corpus_or_size_is_not_current() -> None:
    configuration = load("micro", ROOT, checked=False)
    training = configuration.training("toy-micro", "at-base").as_json()

    gone = Path(Model("micro", "gone", "at-base", 1).path).with_name("training.json")
    make(str(gone))
    write_json(gone, {"seed": 1, "training": {**training, "corpus": "gone"}})
    assert not is_current(configuration, gone)

    report = Path(Model("micro", "toy-micro", "at-base", 1).path).with_name("training.json")
    make(str(report))
    write_json(report, {"seed": 1, "training": training})
    systems = configuration.files["systems"]
    systems = {**systems, "at-base": {**systems["at-base"], "size": "gone"}}
    files = {**configuration.files, "systems": systems}
    assert not is_current(dataclasses.replace(configuration, files=files), report)


def test_jobs_of_a_killed_run_are_named(folder: Path) -> None:
    programs = folder / "workflow_scripts"
    programs.mkdir()
    for name in ("train", "plan"):
        (programs / f"{name}.py").write_text("import time\ntime.sleep(100)\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "workflow_scripts").symlink_to(programs)

    def start(name: str, where: Path) -> subprocess.Popen[bytes]:
        words = [sys.executable, f"workflow_scripts/{name}.py", "--corpus", "toy"]
        return subprocess.Popen(words, cwd=where)

    others = [start("plan", folder), start("train", elsewhere)]
    job = start("train", folder)
    try:
        until(lambda: "train.py" in Path(f"/proc/{job.pid}/cmdline").read_text())
        with told("folder", f"process {job.pid}", "workflow_scripts/train.py --corpus toy"):
            require_no_survivors()
        job.kill()
        job.wait()
        require_no_survivors()
    finally:
        for each in (*others, job):
            each.kill()
            each.wait()


MAKING_FOLDERS = f"""{NAMES}
rule write:
    output: directory("results/text")
    params: word=config["word"]
    shell: "mkdir {{output}}; touch {{output}}/{{params.word}}"

include: "{ROOT}/rules/start.smk"
"""


@pytest.mark.graph
def test_snakemake_removes_no_file_of_the_user_with_a_folder(folder: Path) -> None:
    Path("Snakefile").write_text(MAKING_FOLDERS)

    def run(word: str) -> tuple[int, str]:
        return run_snakemake(["--cores", "1", "--config", f"word={word}"], folder, os.environ)

    assert run("first")[0] == 0
    text = Path("results/text")
    (text / OF_FOLDER).write_text("0  first\n")  # as of what is written as one
    mine = text / "mine"
    mine.touch()
    status, screen = run("second")
    assert status == 1 and "results/text" in screen and "mine" in screen, screen
    assert mine.exists() and (text / "first").exists()
    mine.unlink()
    assert run("second")[0] == 0
    assert (text / "second").exists() and not (text / "first").exists()


UPDATING = """
from nat.workflow.records import mark_failed

onstart:
    mark_failed(workflow)

rule write:
    output: OUTPUT
    params: word=config["word"]
    shell: "echo {params.word} > out.txt; test {params.word} != bad"
"""


@pytest.mark.parametrize(
    "output", ['update("out.txt")', pytest.param('"out.txt"', marks=pytest.mark.long)]
)
def test_what_a_failed_job_was_to_make_is_made_again(output: str) -> None:
    Path("Snakefile").write_text(UPDATING.replace("OUTPUT", output))

    def run(word: str, *more: str) -> tuple[int, str]:
        given = ["--cores", "1", "--rerun-incomplete", *more, "--config", f"word={word}"]
        return run_snakemake(given, Path.cwd(), os.environ)

    assert run("good")[0] == 0
    assert run("bad")[0] == 1
    if "update" not in output:
        assert not Path("out.txt").exists()
        Path("out.txt").write_text("good\n")  # by a job that was started before
    assert Path("out.txt").read_text() == "good\n"  # the earlier one, put back
    assert run("bad")[0] == 1  # not: nothing to be done
    assert "Nothing to be done" not in run("bad", "-n")[1]
    assert run("better")[0] == 0 and Path("out.txt").read_text() == "better\n"
    assert "Nothing to be done" in run("better", "-n")[1]
