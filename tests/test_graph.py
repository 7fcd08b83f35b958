"""The graph as a user meets it: dry runs, targets, errors, and one run of everything, tiny."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock
from prepared import run_snakemake
from repository import configured

from nat.configuration import load
from nat.data.splits import folder_of
from nat.papers import reports
from nat.workflow.graph import TARGETS, Graph
from tests.messages import must_name, told

ROOT = Path(__file__).resolve().parents[1]
PARTS = ["Snakefile", "config", "envs", "nat", "profiles", "rules", "workflow_scripts"]
PARTS.append("snakemake_logger_plugin_nat")
# The whole graph takes a minute on two idle cores; on a busy machine, many.
pytestmark = pytest.mark.timeout(1000)

TEACHERS = {"at-base", "nat-kd", "nat-raw", "cmlm-kd", "cmlmc-kd", "imputer-kd"}
STUDENTS = {"dims-cmlm-kd", "dims-cmlmc-kd", "dims-imputer-kd"}
SYSTEMS = TEACHERS | STUDENTS

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
    # what was found of the methods, where this folder has started Snakemake, as `make test` does
    for known in (ROOT / ".snakemake").glob("*methods.json*"):
        (folder / ".snakemake").mkdir(exist_ok=True)
        shutil.copy(known, folder / ".snakemake")
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
    given = [*arguments, "--cores", "2"]
    if scale:
        given += ["--config", f"scale={scale}"]
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return run_snakemake(given, folder, inherited | environment)


def write_yaml(path: Path, value: Any) -> None:
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


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


@pytest.fixture(scope="module")
def small_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with one paper."""
    return copy_repository(tmp_path_factory.mktemp("repository"), OVERVIEW)


@pytest.mark.parametrize(
    "scale", ["demo", *(pytest.param(name, marks=pytest.mark.long) for name in ("small", "paper"))]
)
def test_the_whole_graph_of_each_scale_builds(tmp_path: Path, scale: str) -> None:
    status, screen = snakemake(copy_repository(tmp_path), "-n", scale=scale)
    assert status == 0, screen
    found = counts(screen)
    assert found["train"] + found.get("train_and_keep", 0) >= len(SYSTEMS)
    assert found["distil"] >= 1
    wanted = Counter(kind for _, kind, _ in reports.targets(configured(scale)))
    assert {kind: found[kind] for kind in wanted} == wanted


def test_every_public_target_is_there(repository: Path) -> None:
    papers = ["dims", "dims_figure_3", "dims_claims", "overview", "overview_table_1"]
    status, screen = snakemake(repository, "-n", *TARGETS, *papers)
    assert status == 0, screen


def test_all_texts_are_had_at_once(tmp_path: Path) -> None:
    """On a cluster they are fetched before anything else, where there is a network."""
    repository = copy_repository(tmp_path, OVERVIEW)
    path = own_corpus(repository, "test", "test_mine")
    own = yaml.safe_load(path.read_text())
    for split in ("valid", "test"):
        own["splits"][split]["references"] = [{"files": {"de": f"here/{split}.de"}}]
    write_yaml(path, own)
    scale = repository / "config/scales/micro.yaml"
    scale.write_text(scale.read_text().replace("\ntasks:\n", "\ntasks:\n  own: own\n"))
    status, screen = snakemake(repository, "texts")
    assert status == 0, screen
    made = repository / "results/corpora/own"
    for folder in (made, made / "tests/test"):
        assert (folder / "text").is_dir() and (folder / "references").is_dir()
    assert (made / "tests/test_mine/text").is_dir()
    assert not (made / "tests/test_mine/references").exists() and not (made / "bpe").exists()
    _, screen = snakemake(repository, "-n", "results/corpora/own/corpus.json")
    assert not any("fetch" in rule for rule in counts(screen))


def test_every_public_target_is_listed_with_a_line(repository: Path) -> None:
    status, screen = snakemake(repository, "--list-target-rules")
    assert status == 0
    listed = [line for line in screen.splitlines() if not line.startswith("Using")]
    assert all(re.fullmatch(r"[\w-]+ \(.+\)", line) for line in listed), listed
    assert {"demo", "scores", "dims", "dims_table_1", "plan", "verify"} <= {
        each.split()[0] for each in listed
    }


def test_the_page_on_results_has_every_path() -> None:
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    rules = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    made = re.findall(r'=(?:directory\(|update\(\s*)?"((?:results|<run>)/[^"]+)"', rules)
    made = [path.replace("<run>", "results/{run}") for path in made]
    made = [path for path in made if not path.endswith(("/bpe", "/text")) or "tests" in path]
    assert len(made) > 30
    for path in made:
        stem = re.sub(r"(table_\{number\}|figure_\{number\}|claims)\.\w+$", r"\1", path)
        assert f"`{stem}" in page, path


def test_only_what_changes_a_text_makes_it_again() -> None:
    configuration = configured("micro")
    name, text = "multi30k-en-de", {"files": {"en": "a", "de": "b"}}

    def origins(**changes: Any) -> list[str]:
        corpora = configuration.files["corpora"]
        changed = {**corpora, name: {**corpora[name], **changes}}
        files = {**configuration.files, "corpora": changed, "papers": {}}  # these take longest
        graph = Graph(replace(configuration, files=files, checked=False))
        return [graph.origin_of_text(name, test) for test in (None, "test")]

    def splits(**keys: Any) -> dict[str, Any]:
        return dict.fromkeys(("train", "valid", "test"), {**text, **keys})

    train, test = origins(splits=splits())
    assert origins(splits=splits(pairs=7)) == [train, test]
    assert origins(splits=splits(references=[text])) == [train, test]
    assert origins(splits=splits(), licensed_by="me", description="mine") == [train, test]
    preprocessing = {**configuration.files["corpora"][name]["preprocessing"], "max_tokens": 9}
    assert origins(splits=splits(), preprocessing=preprocessing) == [train, test]
    for other in ({"segmented": True}, {"files": {"en": "a", "de": "c"}}):
        found = origins(splits=splits(**other))
        assert found[0] != train and found[1] != test


def test_stages_hold_what_they_say(tmp_path: Path) -> None:
    """With the papers that `SYSTEMS` are of."""
    repository = copy_repository(tmp_path, PAPERS)
    _, teachers = snakemake(repository, "-n", "teachers")
    assert jobs(teachers, "train") == {f"{name} on toy-micro (seed 1)" for name in TEACHERS}
    _, distilled = snakemake(repository, "-n", "distilled")
    assert jobs(distilled, "train") == {"at-base on toy-micro (seed 1)"}
    assert counts(distilled)["translate"] == 2  # shards of train at this scale
    _, corpora = snakemake(repository, "-n", "corpora")
    assert counts(corpora)["summarise_corpus"] == 1
    assert "train" not in counts(corpora)


def test_the_figure_needs_only_its_own_systems(repository: Path) -> None:
    _, screen = snakemake(repository, "-n", "dims_figure_3")
    assert {job.split(" ")[0] for job in jobs(screen, "train")} == {
        "at-base",
        "cmlm-kd",
        "dims-cmlm-kd",
        "cmlmc-kd",
        "dims-cmlmc-kd",
    }


def test_starts_from_kept_checkpoints_share_one_training(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    recipe = yaml.safe_load((repository / "config/recipes/student.yaml").read_text())
    recipe |= {"updates": 20, "warmup_updates": 5, "keep": {"early": 10, "late": 15}}
    write_yaml(repository / "config/recipes/keeping.yaml", recipe)
    systems = {"keeping": {"like": "nat-kd", "recipe": "keeping"}}
    for name in ("early", "late"):
        start = {"system": "keeping", "kept": name}
        systems[f"from-{name}"] = {"like": "oaxe-kd", "init_from": start}
    for name, system in systems.items():
        write_yaml(repository / f"config/systems/{name}.yaml", system | {"description": "a test"})
    folder = "results/micro/models/toy-micro"
    models = [f"{folder}/from-{name}/seed1/model.pt" for name in ("early", "late")]
    _, screen = snakemake(repository, "-n", *models)
    trained = {job.split(" ")[0] for job in jobs(screen, "train")}
    assert trained == {"at-base", "keeping", "from-early", "from-late"}
    assert (counts(screen)["train"], counts(screen)["train_and_keep"]) == (3, 1)


@pytest.mark.parametrize(
    ("arguments", "scale", "expected"),
    [
        (["overveiw"], "micro", "'overview'"),
        (["results/micro/models/toy-micro/nat-kdd/seed1/model.pt"], "micro", "'nat-kd'"),
        ([], "smal", "'small'"),
        (["--config", "thread=2"], "", "'thread'"),
        (
            ["results/micro/scores/toy-micro/imputer-kd/seed1/one-pass/test.json"],
            "micro",
            "'one-pass'",
        ),
    ],
)
def test_wrong_targets_end_in_one_sentence(
    small_repository: Path, arguments: list[str], scale: str, expected: str
) -> None:
    status, screen = snakemake(small_repository, "-n", *arguments, scale=scale)
    assert status == 1
    must_name(screen, expected)
    assert "Traceback" not in screen
    assert len([line for line in screen.splitlines() if "error" in line.lower()]) == 1


def test_an_unknown_system_ends_before_any_job(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    paper = repository / "config/papers/overview.yaml"
    paper.write_text(paper.read_text().replace("system: nat-raw", "system: nat-rwa", 1))
    status, screen = snakemake(repository)
    assert status == 1
    must_name(screen, "nat-rwa", "'nat-raw'")
    assert "Traceback" not in screen
    assert not (repository / "results").exists()


@pytest.mark.parametrize("name", ["train", "scores", "overview_table_1"])
def test_a_paper_is_not_named_like_another_target(tmp_path: Path, name: str) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    papers = repository / "config/papers"
    shutil.copy(papers / "overview.yaml", papers / f"{name}.yaml")
    with told(f"'{name}'", "rename the file"):
        Graph(load("micro", repository))


@pytest.mark.parametrize("name", ["corpora", "downloads", "bench", "logs"])
def test_a_scale_is_not_named_like_a_folder_of_all_scales(name: str) -> None:
    found = configured("micro")
    scales = {**found.files["scales"], name: found.files["scales"]["micro"]}
    changed = replace(found, scale=name, files={**found.files, "scales": scales})
    with told(f"config/scales/{name}.yaml"):
        Graph(changed)


def test_a_paper_without_a_corpus_is_told() -> None:
    graph = Graph(configured("micro"))
    for target in ("methods", "methods_table_1"):
        (note,) = graph.nothing_to_run(["demo", target, "mple_table_1"])
        must_name(note, "config/scales/micro.yaml", "'methods'")
    assert graph.nothing_to_run(["demo", "results/micro/report/index.html"]) == []


def test_only_decodings_that_are_traced_are_shown_step_by_step(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW | {"deployment"})
    scale = repository / "config/scales/micro.yaml"
    steps = "steps: [mask-predict-4-lb5, beam5]"
    assert steps in scale.read_text()
    scale.write_text(scale.read_text().replace(steps, "steps: [ctranslate2-float32-beam5-tuned]"))
    with told("browser.steps", "ctranslate2-float32-beam5-tuned"):
        Graph(load("micro", repository)).traces()


def test_a_scale_can_leave_out_an_inherited_task(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    own = {"like": "micro", "description": "a test", "tasks": {"wmt14-en-de": None, "mine": "own"}}
    own_corpus(repository, "test")
    write_yaml(repository / "config/scales/own.yaml", own)
    tasks = load("own", repository).tasks
    assert tasks["mine"] == "own" and "wmt14-en-de" not in tasks
    assert set(load("micro", repository).tasks) - set(tasks) == {"wmt14-en-de"}


def own_corpus(repository: Path, *tests: str) -> Path:
    """A corpus of the user's files in the folder `here`, with these test sets; its description."""
    splits = {
        name: {"files": {side: f"here/{name}.{side}" for side in ("en", "de")}}
        for name in ("train", "valid", *tests)
    }
    preprocessing = {
        "lowercase": False,
        "normalise_punctuation": False,
        "tokeniser": "none",
        "max_tokens": 100,
        "max_ratio": 2.0,
        "bpe_merges": 5,
    }
    own = {"source": "en", "target": "de", "splits": splits, "preprocessing": preprocessing}
    (repository / "here").mkdir(exist_ok=True)
    for split in splits:
        for side in ("en", "de"):
            path = repository / f"here/{split}.{side}"
            if not path.exists():
                path.write_text("".join(f"low lower {split} {n}\n" for n in range(9)))
    path = repository / "config/corpora/own.yaml"
    write_yaml(path, own)
    return path


ASKS_ONLY_WHEN_A_JOB_ENDS = """
from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler

def asked(scheduler, delay):
    raise SystemExit("asks again after a while")

JobScheduler._schedule_reevalutation = asked
main()
"""


@pytest.mark.long
def test_waiting_jobs_cost_nothing(tmp_path: Path) -> None:
    """Else Snakemake looks at them every second, once more for each job that has ended."""
    repository = copy_repository(tmp_path, OVERVIEW)
    program = [sys.executable, "-c", ASKS_ONLY_WHEN_A_JOB_ENDS]
    ended = subprocess.run(
        [*program, "corpora", "--cores", "1", "--config", "scale=micro"],
        cwd=repository,
        text=True,
        capture_output=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "done" in ended.stdout + ended.stderr


def test_a_failed_job_tells_its_error_and_leaves_nothing(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    own_corpus(repository, "test")
    with (repository / "here/valid.de").open("a") as file:
        file.write("one more\n")
    status, screen = snakemake(repository, "results/corpora/own/text")
    assert status == 1
    must_name(screen, "FAILED fetch own", "here/valid.en", "9 lines", "here/valid.de", "10")
    assert "Traceback" not in screen
    assert not (repository / "results/corpora/own/text").exists()


@pytest.mark.parametrize("made_before", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_missing_text_is_told_before_any_job(tmp_path: Path, made_before: bool) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    own_corpus(repository, "test")
    if made_before:
        texts = ("results/corpora/own/text", "results/corpora/own/tests/test/text")
        status, screen = snakemake(repository, *texts)
        assert status == 0, screen
    (repository / "here/valid.de").unlink()
    (repository / "here/test.en").unlink()
    for target, key in (
        ("results/corpora/own/text", "splits.valid.files.de"),
        ("results/corpora/own/tests/test/text", "splits.test.files.en"),
    ):
        status, screen = snakemake(repository, "-n", target)
        assert status == 1
        must_name(screen, "config/corpora/own.yaml", f"'{key}'", "here/")
        assert "Traceback" not in screen
    _, screen = snakemake(repository, "-n", "results/corpora/own/tests/tset/text")
    assert "Traceback" not in screen


@pytest.mark.graph
@pytest.mark.long
def test_one_more_test_set_trains_nothing(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    own_corpus(repository, "test")
    scale = repository / "config/scales/micro.yaml"
    scale.write_text(scale.read_text().replace("\ntasks:\n", "\ntasks:\n  own: own\n"))
    model, test = "micro/models/own/nat-raw/seed1/model.pt", "corpora/own/tests/{}/binarised"
    targets = [f"results/{model}", f"results/{test.format('test')}"]
    status, screen = snakemake(repository, *targets)
    assert status == 0, screen
    _, screen = snakemake(repository, "-n", *targets)
    assert "Nothing to be done" in screen
    own_corpus(repository, "test", "test_mine")
    _, screen = snakemake(repository, "-n", *targets, f"results/{test.format('test_mine')}")
    assert counts(screen) == {"fetch_test_text": 1, "prepare_test_set": 1}


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
    assert "Warning" not in screen
    assert "no_progress_bar" not in (results / "logs/train/toy-micro/at-base/seed1.log").read_text()


@pytest.mark.graph
def test_run_keeps_every_sentence(run: tuple[Path, str]) -> None:
    repository, _ = run
    outputs = repository / "results/micro/translations/toy-micro"
    found = list(outputs.glob("*/seed1/*/*.jsonl"))
    assert len(found) == 11
    for path in found:
        folder = folder_of("toy-micro", path.stem, repository / "results/corpora")
        sentences = len((folder / f"bpe/{path.stem}.ka").read_text().splitlines())
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["id"] for line in lines] == list(range(sentences))
    test = repository / "results/corpora/toy-micro/tests/test"
    assert len((test / "bpe/test.ka").read_text().splitlines()) == 20


TRANSLATE = """
import json, sys
from nat.deploy.translator import load
asked, lines = json.load(sys.stdin)
print(json.dumps([load(folder, decoding).translate(lines) for folder, decoding in asked]))
"""


@pytest.mark.graph
def test_what_is_deployed_translates_as_the_run(run: tuple[Path, str]) -> None:
    """All decodings in one process, since it takes longest to start, and one by the command."""
    repository, _ = run
    raw = (repository / "results/corpora/toy-micro/tests/test/text/test.ka").read_text()
    found = list((repository / "results/micro/translations").glob("*/*/seed1/*/test.jsonl"))
    assert len(found) == 10
    asked = [
        (f"results/micro/models/{'/'.join(path.parts[-5:-2])}", path.parent.name) for path in found
    ]
    expected = [
        [json.loads(line)["text"] for line in path.read_text().splitlines()] for path in found
    ]

    def output(program: list[str], given: str) -> str:
        ended = subprocess.run(
            [sys.executable, *program], cwd=repository, input=given, capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    translated = output(["-c", TRANSLATE], json.dumps([asked, raw.splitlines()]))
    assert json.loads(translated) == expected
    folder, decoding = asked[0]
    command = ["-m", "nat.deploy.command", "translate", folder, "--decoding", decoding]
    assert output(command, raw).split("\n")[:-1] == expected[0]


@pytest.mark.graph
def test_run_shows_jobs_and_progress(run: tuple[Path, str]) -> None:
    _, screen = run
    lines = screen.splitlines()
    started = [line.split("start  ")[1] for line in lines if "] start  " in line]
    done = [line.split("done   ")[1].rsplit(" in ", 1)[0] for line in lines if "] done   " in line]
    assert sorted(started) == sorted(done)
    assert len([name for name in started if name.startswith("train ")]) == len(OF_RUN)
    assert any("updates" in line and "tokens/s" in line for line in lines)
    assert any(line.startswith("finished ") for line in lines)
    assert len(lines) < 3.5 * len(started)


@pytest.mark.graph
def test_second_run_does_nothing(run: tuple[Path, str]) -> None:
    repository, _ = run
    status, screen = snakemake(repository, *RUN)
    assert status == 0
    assert "Nothing to be done" in screen


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
def test_a_changed_system_runs_again_with_what_depends_on_it(run: tuple[Path, str]) -> None:
    repository, _ = run
    system = repository / "config/systems/cmlm.yaml"
    before = system.read_text()
    try:
        system.write_text(before.replace("label_smoothing: 0.1", "label_smoothing: 0.2"))
        _, screen = snakemake(repository, "-n", *RUN)
        names = {"cmlm-kd", "dims-cmlm-kd"}
        assert {job.split(" ")[0] for job in jobs(screen, "train")} == names
        translated = {job.split("with ")[1].split(",")[0] for job in jobs(screen, "translate and")}
        assert translated == names
        assert not {"distil", "clean", "binarise"} & counts(screen).keys()

        system.write_text(before.replace("description: ", "description: Really a "))
        _, screen = snakemake(repository, "-n", *RUN)
        assert "Nothing to be done" in screen
    finally:
        system.write_text(before)


@pytest.mark.graph
def test_a_changed_learning_rate_touches_one_recipe(run: tuple[Path, str]) -> None:
    repository, _ = run
    scale, system = (
        repository / "config/scales/micro.yaml",
        repository / "config/systems/nat.yaml",
    )
    before = scale.read_text(), system.read_text()
    try:
        shutil.copy(
            repository / "config/recipes/student.yaml", repository / "config/recipes/fast.yaml"
        )
        scale.write_text(
            before[0].replace(
                "  student: *recipe",
                "  student: *recipe\n  fast: {<<: *recipe, learning_rate: 0.1}",
            )
        )
        system.write_text(before[1].replace("  nat-kd:\n", "  nat-kd:\n    recipe: fast\n"))
        _, screen = snakemake(repository, "-n", *RUN)
        assert counts(screen) == {"train": 1, "translate_and_score": 1, "table": 1, "demo": 1}
        assert jobs(screen, "train") == {"nat-kd on toy-micro (seed 1)"}
    finally:
        scale.write_text(before[0])
        system.write_text(before[1])
        (repository / "config/recipes/fast.yaml").unlink()


@pytest.mark.graph
def test_one_more_decoding_is_one_job(run: tuple[Path, str]) -> None:
    repository, _ = run
    paper = repository / "config/papers/overview.yaml"
    before = paper.read_text()
    try:
        row = "{system: CMLM, steps: [1, 2, 4, 10]}"
        assert before.count(row) == 1
        paper.write_text(before.replace(row, row.replace("4,", "4, 7,")))
        _, screen = snakemake(repository, "-n", *RUN)
        assert counts(screen)["translate_and_score"] == 1
        assert not {"train", "translate", "distil"} & counts(screen).keys()
    finally:
        paper.write_text(before)


@pytest.mark.graph
def test_results_without_their_records_are_refused(run: tuple[Path, str]) -> None:
    repository, _ = run
    records, away = repository / ".snakemake", repository / "away"
    records.rename(away)
    try:
        status, screen = snakemake(repository, "-n", *RUN)
        assert status == 1
        must_name(screen, ".snakemake", "no record")
        assert len([line for line in screen.splitlines() if "error" in line]) == 1
        status, screen = snakemake(repository, "--unlock", *RUN)
        assert status == 0, screen
    finally:
        shutil.rmtree(records, ignore_errors=True)
        away.rename(records)
    status, screen = snakemake(repository, "-n", *RUN)
    assert "Nothing to be done" in screen


@pytest.mark.graph
def test_results_are_shown(run: tuple[Path, str]) -> None:
    repository, _ = run
    shown = subprocess.run(
        [sys.executable, "workflow_scripts/show_results.py", "--scale", "micro"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository)},
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert shown.returncode == 0, shown.stderr
    assert "AT, beam 5" in shown.stdout
    assert "figure_1" in shown.stdout


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
    measure: sacrebleu, compare: [distilled, above, raw]}
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
    f"{MADE.format('analyses')}/cmlm-kd/seed1/decoding_steps.json",
    f"{MADE.format('traces')}/cmlm-kd/seed1/mask-predict-4-lb5/test.jsonl",
    f"{MADE.format('total_correlation')}/nat-raw/at-base/seed1.json",
    f"{MADE.format('scores')}/ctc-kd/seed1/ctc-beam20-lm4-tuned/test.json",  # with n-grams
    f"{MADE.format('scores')}/nat-kd/seed1/one-pass/valid.json",  # of translations in shards
    f"{MADE.format('models')}/choosing/seed1/model.pt",  # of texts that are compared and weighted
    f"{MADE.format('models')}/oaxe-10k-kd/seed1/model.pt",  # from a model that was kept
    "claimed_claims",
    "claimed_table_2",  # with an assistant, and with a model that was converted
]
"""What uses the programs and inputs that `RUN` does not."""

NOT_OPENED = {
    "merge_comparisons": ("bpe", "text"),  # its shards were made from them
    # joins shards, which are gone afterwards: what they were made of stands for them
    "merge_shards": {"model.pt", ".npz", "-tuned.json"},
}
"""Endings of declared inputs that a program need not open, by rule, with the reason."""


@pytest.mark.graph
def test_another_scale_replaces_nothing(run: tuple[Path, str]) -> None:
    repository, _ = run
    model = "results/micro/models/toy-micro/nat-kd/seed1/model.pt"
    status, screen = snakemake(repository, "-n", model, scale="")  # the scale was forgotten
    assert status == 1 and "--config scale=micro" in screen
    _, screen = snakemake(repository, "-n", "overview", scale="")
    assert "on toy-micro" not in screen
    shown = subprocess.run(
        [sys.executable, "workflow_scripts/show_results.py", "--scale", "demo"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository)},
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert shown.returncode == 1 and "below results/demo/papers" in shown.stderr


def _is_checksum(path: Path) -> bool:
    """Whether it is the record of a result's checksum, or one in the making."""
    return path.name.startswith(".") and ".sha256" in path.name


@pytest.mark.long
@pytest.mark.graph
def test_programs_open_what_their_rules_declare(run: tuple[Path, str]) -> None:
    repository, _ = run
    (repository / "config/papers/claimed.yaml").write_text(CLAIM)
    (repository / "config/systems/choosing.yaml").write_text(CHOOSING)
    status, screen = snakemake(repository, *OTHERS, **recorder(repository))
    assert status == 0, screen
    opened: dict[str, set[Path]] = {}
    for file in (repository / "opened").iterdir():
        for line in file.read_text().splitlines():
            found = json.loads(line)
            opened.setdefault(" ".join(found["program"]), set()).add(Path(found["path"]))
    listed = subprocess.run(
        [sys.executable, "-c", LIST, *RUN, *OTHERS],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository)},
        text=True,
        capture_output=True,
        check=True,
    )
    wrong = []
    programs = set()
    for rule, command, inputs, outputs in json.loads(listed.stdout):
        read = [paths for program, paths in opened.items() if f"python {program} 2>" in command]
        if not command:
            continue
        programs.add(rule)
        [found_] = read or [set()]
        made = [Path(path) for path in outputs]
        declared = [Path(path) for path in inputs if path.startswith("results/")]
        own = list(made)
        in_the_making = tuple(str(path.with_name(f".{path.name}.")) for path in made)
        if rule.startswith("train"):
            own.append(made[0].with_name("checkpoints"))
        for path in found_:
            known = _is_checksum(path) or str(path).startswith(in_the_making)
            known = known or path.parent.name.endswith(".finished")  # of decodings of one job
            if not known and not any(path.is_relative_to(each) for each in (*declared, *own)):
                wrong.append(f"{rule} opens {path}, which it does not declare: {command}")
        for each in declared:
            allowed = any(each.name.endswith(name) for name in NOT_OPENED.get(rule, ()))
            if not allowed and not any(path.is_relative_to(each) for path in found_):
                wrong.append(f"{rule} declares {each}, which it does not open: {command}")
    assert wrong == [], "\n".join(sorted({each[:200] for each in wrong})[:20])
    rules = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    named = re.findall(r"^ *(?:use rule \w+ as (\w+) with|rule (\w+)):$", rules, re.MULTILINE)
    assert programs == {each for names in named for each in names if each} - {
        "make_report",  # opens whatever exists
        "plan",
        "verify",
        "import_checkpoint",
        "fetch_text",
        "fetch_test_text",
        "fetch_references",
        "fetch_test_references",
    }


LIST = """
import json, sys
from nat.workflow.dry_run import pending
jobs = pending(sys.argv[1:], ["--forceall", "--config", "scale=micro"])
print(json.dumps([[job.rule, job.command, job.inputs, job.outputs] for job in jobs]))
"""
