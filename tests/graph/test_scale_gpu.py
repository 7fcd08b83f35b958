"""The scale for one GPU: its six targets as a graph, and the first of them run on a processor."""

import random
import re
from pathlib import Path

import pytest

from benchmarks import on_a_gpu
from nat.data.corpus_parts import local_files
from nat.files import read_json
from tests.graph.test_graph import copy_repository, counts, snakemake
from tests.made_up_corpus import corpus_file
from tests.messages import must_name
from tests.repository import configured, write_yaml

TARGETS = ["one_pass", "dims", "fully_nat", "hrt", "mple", "hints"]
CORPUS = "multi30k-en-de"
WORDS = ["dog", "ball", "child", "house", "water"]
OF_RECIPE = "updates=3 batch_tokens=512 warmup_updates=1 save_every=1 validate_every=1"
SHORT = " ".join(
    f"recipes.{recipe}.{change}"
    for recipe in ("teacher", "cmlm", "dims", "ctc")
    for change in (*OF_RECIPE.split(), "validation.sentences=4")
)


def write_local_text(repository: Path) -> None:
    """Put a tiny text of a user's own in the place of Multi30k."""
    drawn = random.Random(1)
    for split, pairs in {"train": 250, "valid": 8, "test": 6}.items():
        sentences = [drawn.choices(WORDS, k=drawn.randint(3, 9)) for _ in range(pairs)]
        for side, step in (("en", 1), ("de", -1)):
            lines = (" ".join(each[::step]) for each in sentences)
            (repository / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines))
    described = corpus_file("en", "de")
    described["preprocessing"]["bpe_merges"] = 20
    write_yaml(repository / f"config/corpora/{CORPUS}.yaml", described)


@pytest.mark.graph
@pytest.mark.timeout(1000)
def test_six_papers_can_be_asked_for_and_the_plan_says_what_they_take(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    for _, file in local_files(configured("gpu").corpus("tatoeba-en-de")):
        (repository / file).parent.mkdir(parents=True, exist_ok=True)
        (repository / file).touch()
    status, screen = snakemake(repository, "-n", *TARGETS, scale="gpu")
    assert status == 0, screen
    asked = counts(screen)
    assert {target: asked[target] for target in TARGETS} == dict.fromkeys(TARGETS, 1)
    for corpus in ("multi30k-en-de", "multi30k-de-en", "tatoeba-en-de", "iwslt14-de-en"):
        assert f" on {corpus} " in screen, corpus
    chain = on_a_gpu.commands(Path(), rehearse=True)["chain"][2:]
    status, screen = snakemake(repository, *chain, scale="")
    assert status == 0 and "train dims-cmlm-kd on multi30k-en-de" in screen, screen
    status, screen = snakemake(repository, "plan", *TARGETS, scale="gpu", COLUMNS="200")
    assert status == 0, screen
    must_name(screen, "on 1 GPU", "the size of tatoeba-en-de is not known")
    rows = re.findall(rf"^ *({'|'.join(TARGETS)}) +\S+ +(\S+) ", screen, re.MULTILINE)
    assert {name for name, _ in rows} == {*TARGETS}
    assert all(0 < float(hours) < 24 for _, hours in rows), rows


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_one_pass_runs_on_a_processor(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    write_local_text(repository)
    given = ["--config", "scale=gpu", "name=short", f"override={SHORT}"]
    status, screen = snakemake(repository, "one_pass", "--resources", "gpu=2", *given, scale="")
    assert status == 0, screen[-3000:]
    made = repository / "results/gpu@short"
    table = (made / "papers/one_pass/table_1.md").read_text()
    must_name(table, "AT, beam 5", "CMLM + DiMS, 1 step", "CTC + GLAT, tuned", CORPUS)
    assert "is not there" in (made / "papers/one_pass/table_2.md").read_text()  # Tatoeba
    trained = read_json(made / f"models/{CORPUS}/dims-cmlm-kd/seed1/training.json")
    target = trained["training"]["target"]
    assert (target["hidden_weight"], target["teacher_steps"], target["labels"]) == (0, 4, "last")


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_speed_run_ends_with_a_score(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    write_local_text(repository)
    changes = f"override={SHORT} config.distillation_engine=ctranslate2"
    status, screen = snakemake(
        repository, "speedrun", "--config", "scale=speedrun", "name=short", changes, scale=""
    )
    assert status == 0, screen[-3000:]
    table = (repository / "results/speedrun@short/papers/speedrun/table_1.md").read_text()
    must_name(table, "AT, beam 5", "CTC, one pass")
