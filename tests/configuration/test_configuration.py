import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nat.configuration import Configuration, RunChoice, choice, differences, fingerprint, load
from nat.configuration.checks import notes
from nat.configuration.command_line import (
    add_configuration_arguments,
    configuration_from,
    hold_to_overrides,
)
from nat.configuration.files import FOLDERS, read_yaml
from nat.configuration.json_schema import json_schema
from nat.configuration.models import MODELS, Training
from nat.errors import UserError
from tests.made_up_corpus import PREPROCESSING, corpus_file
from tests.messages import must_name, told
from tests.repository import ROOT, write_yaml

RECIPE = {
    "updates": 1000,
    "batch_tokens": 4096,
    "learning_rate": 5e-4,
    "warmup_updates": 100,
    "schedule": "inverse_sqrt",
    "betas": [0.9, 0.98],
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "clip_norm": 0.0,
    "dropout": 0.3,
    "length_loss_weight": 0.1,
    "save_every": 100,
    "validate_every": 100,
    "validation": {"decoding": None, "metric": "loss", "sentences": 50},
    "patience": None,
    "average": {"checkpoints": 5, "by": "best"},
}
DISTILLED = {"distilled": {"system": "at", "decoding": "beam"}}


def system(**keys: Any) -> dict[str, Any]:
    return {
        "description": "a system",
        "size": "base",
        "input": {"method": "random_mask"},
        "target": {"method": "cross_entropy", "label_smoothing": 0.1},
        "length": "target",
        "text": "raw",
        "init_from": None,
        "recipe": "student",
        **keys,
    }


SIZE = {"model_dim": 8, "ffn_dim": 16, "encoder_layers": 1, "decoder_layers": 1, "heads": 2}
FILES: dict[str, dict[str, Any]] = {
    "config": {"scale": "tiny", "mirror": "mirror", "precision": "fp32", "threads": 1},
    "scales/tiny": {
        "description": "for tests",
        "seeds": [7, 8],
        "tasks": {"wmt14-en-de": "own", "wmt14-de-en": "reverse"},
        "sizes": {"base": SIZE, "wide": {**SIZE, "model_dim": 16}},
        "recipes": {"student": {"updates": 300, "validation": {"sentences": 10}}},
        "shards": {"train": 3, "valid": 1, "test": 2},
        "decoding_tokens": 512,
    },
    "scales/large": {
        "description": "for tests",
        "seeds": [7],
        "tasks": {"wmt14-en-de": "own", "wmt16-en-ro": "own"},
        "sizes": {"base": {**SIZE, "model_dim": 32}, "wide": SIZE},
        "recipes": {},
        "shards": {"train": 3, "valid": 1, "test": 2},
        "decoding_tokens": 512,
    },
    "corpora/own": {
        **corpus_file("en", "no"),
        "preprocessing": {**PREPROCESSING, "bpe_merges": 100},
    },
    "corpora/reverse": {"like": "own", "source": "no", "target": "en"},
    "recipes/teacher": RECIPE,
    "recipes/student": RECIPE,
    "systems/at": system(input={"method": "previous_tokens"}, length=None, recipe="teacher"),
    "systems/nat": system(input={"method": "full_mask"}, text=DISTILLED),
    "systems/cmlm": system(text=DISTILLED),
    "systems/dims": system(target={"method": "dims"}, text=DISTILLED, init_from="cmlm"),
    "decodings/beam": {"method": "beam_search", "beam": 5},
    "decodings/one-pass": {"method": "one_pass"},
    "decodings/refine-1": {"method": "mask_predict", "steps": 1},
    "decodings/refine-4": {"method": "mask_predict", "steps": 4, "length_beam": 5},
}


class Folder:
    """A configuration folder that a test changes before loading it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = json.loads(json.dumps(FILES))

    def write(self) -> None:
        for folder in FOLDERS:
            (self.root / "config" / folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = self.root / "config" / f"{'config' if name == 'config' else name}.yaml"
            write_yaml(path, content)

    def write_text(self, name: str, text: str | bytes) -> None:
        path = self.root / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def load(self, choice: RunChoice | str | None = None) -> Configuration:
        self.write()
        return load(choice, self.root)

    def error(self, choice: RunChoice | str | None = None) -> str:
        with pytest.raises(UserError) as caught:
            self.load(choice)
        message = str(caught.value)
        assert "\n" not in message
        return message


def check_words(message: str, file: str, words: list[str]) -> None:
    """An error names its file first, then keys and names."""
    assert message.startswith(f"config/{file}.yaml")
    must_name(message, *words)


# What is handed out


def test_a_training_is_read_again_from_its_json(folder: Folder) -> None:
    folder.files["systems/dims"]["init_from"] = {"system": "cmlm", "kept": "early"}
    folder.files["recipes/student"]["keep"] = {"early": 20}
    folder.files["systems/latent"] = system(parts={"latent": {"dim": 3}})
    configuration = folder.load()
    assert configuration.scale_settings.latency.threads == 1  # as many as a training has
    for name in configuration.systems:
        training = configuration.training("own", name)
        assert Training.of(json.loads(json.dumps(training.as_json()))) == training
    content = configuration.training("own", "nat").as_json()
    content["recipe"]["droput"] = content["recipe"].pop("dropout")
    with told("droput", "recipe", "dropout"):
        Training.of(content)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda files: files["scales/tiny"].update(seeds=[7]), set()),
        (lambda files: files["decodings/beam"].update(beam=4), set()),
        (lambda files: files["systems/dims"]["target"].update(teacher_steps=2), set()),  # default
        # the scale has 300, but the lengths that it does not give are in proportion
        (lambda files: files["recipes/student"].update(updates=900), {"nat", "cmlm", "dims"}),
        (lambda files: files["scales/tiny"].update(seeds=[8]), {"nat", "cmlm", "dims"}),
    ],
)
def test_a_fingerprint_changes_only_with_its_own_system(
    folder: Folder, change: Callable[[dict[str, Any]], Any], changed: set[str]
) -> None:
    before = folder.load()
    change(folder.files)
    after = folder.load()
    assert changed == {
        name
        for name in before.systems
        if before.training("own", name).as_json() != after.training("own", name).as_json()
    }


def test_fingerprints_are_the_same_tomorrow() -> None:
    assert fingerprint({"b": [1, 0.5, None], "a": "ä"}) == "895647da2fba0db2"
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2.0, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": True})
    assert fingerprint(["1"]) != fingerprint([1])


def test_differences_name_keys_and_both_values() -> None:
    old = {"recipe": {"betas": [0.9, 0.98], "old": 1}, "length": None, "text": "raw", "same": 0}
    new = {"recipe": {"betas": [0.9, 0.99], "new": "x"}, "length": "target", "text": {"a": 1}}
    assert differences(old, {**new, "same": 0.0}) == [
        "recipe.betas: [0.9, 0.98] is now [0.9, 0.99]",
        "recipe.old: 1 is gone",
        "recipe.new: x is new",
        "length: null is now target",
        'text: raw is now {"a": 1}',
    ]


# Errors of files

misspelt = {"distilled": {"system": "at", "decoding": "bean"}}
unscored = {"decoding": None, "metric": "bleu", "sentences": None}


def test_an_unknown_scale(folder: Folder) -> None:
    must_name(folder.error("tinny"), "'tinny'", "'tiny'")
    folder.files["config"]["scale"] = "medium"
    check_words(folder.error(), "config", ["medium", "large, tiny"])


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("systems/cmlm", {"lik": "nat"}, ["'lik'", "'like'"]),
        ("systems/cmlm", {"text": {"distiled": {}}}, ["distiled", "text", "distilled"]),
        ("systems/cmlm", {"input": {"method": "random_maks"}}, ["random_maks", "random_mask"]),
        ("systems/cmlm", {"target": {"method": "axe", "skip": 1}}, ["target", "skip", "axe"]),
        ("systems/nat", {"text": misspelt}, ["text.distilled.decoding", "bean", "beam"]),
        ("systems/dims", {"init_from": "cmlmm"}, ["init_from", "cmlmm", "cmlm"]),
        ("systems/at", {"text": DISTILLED}, ["'at'", "at -(text)-> at"]),
        ("systems/nat", {"parts": {"latent": {"dims": 8}}}, ["dims", "latent", "dim"]),
        ("systems/nat", {"size": "wid"}, ["size", "wid", "wide"]),
        ("decodings/refine-4", {"step": 4}, ["step", "mask_predict", "steps"]),
        ("recipes/teacher", {"validation": unscored}, ["validation", "'decoding'", "bleu"]),
        ("scales/tiny", {"recipes": {"studnt": {"dropout": 0.1}}}, ["studnt", "student"]),
        ("scales/tiny", {"tasks": {"mine": "onw"}}, ["tasks.mine", "onw", "own"]),
        ("scales/tiny", {"seeds": [1, 1]}, ["seeds"]),
        ("scales/large", {"sizes": {"base": {**SIZE, "head": 2}}}, ["sizes.base.head", "heads"]),
        ("corpora/own", {"target": "en"}, ["source", "target", "en"]),
        # values of another form, where files are merged
        ("scales/large", {"sizes": 3}, ["sizes", "3"]),
        ("systems/cmlm", {"recipe": {"updates": 3, "keep": 3, "like": "student"}}, ["keep", "3"]),
        ("scales/tiny", {"recipes": {"student": {"as": 3}}}, ["recipes.student.as", "3"]),
        ("corpora/reverse", {"preprocessing": 3}, ["preprocessing", "3"]),
        ("systems/cmlm", {"recipe": {"like": "student", "updates": "3"}}, ["recipe", "updates"]),
        # keys of its recipe
        ("systems/cmlm", {"recipe": {"like": "studnt"}}, ["recipe.like", "studnt", "student"]),
        ("systems/cmlm", {"recipe": {"like": "student", "droput": 0}}, ["recipe", "dropout"]),
        ("systems/cmlm", {"recipe": {"like": "student", "warmup_updates": 300}}, ["recipe", "299"]),
        # of tasks
        ("systems/nat", {"tasks": {"wmt16-en-r": {}}}, ["'tasks'", "wmt16-en-r", "'wmt16-en-ro'"]),
        (
            "systems/nat",
            {"tasks": {"wmt14-en-de": {"recipe": "studen"}}},
            ["wmt14-en-de", "recipe"],
        ),
        (
            "recipes/student",
            {"tasks": {"wmt16-en-ro": {"dropout": 2}}},
            ["wmt16-en-ro", "'dropout'"],
        ),
        (
            "recipes/student",
            {"tasks": {"wmt14-en-de": {"warmup_updates": 999}}},
            ["wmt14-en-de", "scales/tiny.yaml"],
        ),
    ],
)
def test_errors_name_file_and_key(
    folder: Folder, name: str, change: dict[str, Any], words: list[str]
) -> None:
    folder.files[name].update(change)
    check_words(folder.error(), name, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("method: one_pass\n  steps: 4\n", ["line 2"]),
        ("a: {b: 1, b: 2}\n", ["line 1", "'b'", "twice"]),
        ("a: !python/object:os.system x\n", ["line 1", "tag"]),
        ("", ["nothing"]),
        ("method: one_pass\nb\u00a0:\n\u00a0c: {d\n", ["line 2", "NO-BREAK SPACE", "U+00A0"]),
        ("method: one_pass\u200b\n", ["line 1", "ZERO WIDTH SPACE", "U+200B"]),
        (b"method: \xff\n", ["UTF-8", "byte 8"]),
    ],
)
def test_what_is_not_yaml(folder: Folder, text: str | bytes, words: list[str]) -> None:
    folder.write_text("decodings/own.yaml", text)
    check_words(folder.error(), "decodings/own", words)


def test_scalars_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(
        "a: 5e-4\nb: 1E+3\nc: -.5\nd: 010\ng: no\nh: on\ni: 1_000\nj: 1:30\n"
        "k: 2024-01-01\nl: ~\nm:\nn: true\no: '5e-4'\np: .nan\nq: 1.\n3: x\nno: x\n",
        encoding="utf-8",
    )
    found = read_yaml(tmp_path, "values.yaml")
    assert found == {
        **{"a": 5e-4, "b": 1000.0, "c": -0.5, "d": 10, "g": "no", "h": "on"},
        **{"i": "1_000", "j": "1:30", "k": "2024-01-01", "l": None, "m": None, "n": True},
        **{"o": "5e-4", "p": ".nan", "q": 1.0, "3": "x", "no": "x"},
    }
    assert isinstance(found["b"], float)


@pytest.mark.parametrize("inner", ["x: {x}", "k: {{l: [{x}]}}"])
def test_a_mapping_takes_over_keys_of_another(tmp_path: Path, inner: str) -> None:
    """Also those that the other has taken over itself, and from further inside the file."""
    one = inner.format(x="&x {<<: *w, key: 2, c: 3}")
    text = f"w: &w {{a: 1, key: 1}}\n{one}\ny: {{d: 5, <<: *x, c: 4}}\n"
    (tmp_path / "values.yaml").write_text(text, encoding="utf-8")
    found = read_yaml(tmp_path, "values.yaml")
    x = found["x"] if "x" in found else found["k"]["l"][0]
    assert list(x.items()) == [("a", 1), ("key", 2), ("c", 3)]
    assert list(found["y"].items()) == [("a", 1), ("key", 2), ("c", 4), ("d", 5)]


def test_missing_and_misnamed_files(folder: Folder) -> None:
    for name in ("new.yml", "new.YAML", "my new.yaml"):
        folder.write_text(f"systems/{name}", "a: 1\n")
        must_name(folder.error(), f"config/systems/{name}")
        (folder.root / "config/systems" / name).unlink()
    folder.write_text("systems/.new.yaml.swp", "a")
    folder.write_text("systems/.new.yaml", "a")
    folder.write_text("systems/notes.txt", "a")
    folder.load()
    (folder.root / "config/config.yaml").unlink()
    with told("config/config.yaml"):
        load(None, folder.root)


# What files say of each other


def test_a_cycle_names_its_path(folder: Folder) -> None:
    folder.files["systems/at"]["init_from"] = "dims"
    circle = "at -(init_from)-> dims -(init_from)-> cmlm -(text)-> at"
    check_words(folder.error(), "systems/at", [circle])
    # entered from outside: only the cycle is shown
    folder.files["systems/at"]["init_from"] = None
    folder.files["systems/a"] = system(init_from="cmlm")
    folder.files["systems/cmlm"]["init_from"] = "dims"
    check_words(folder.error(), "systems/cmlm", ["cmlm -(init_from)-> dims -(init_from)-> cmlm"])


def test_only_an_inherited_task_can_be_left_out(folder: Folder) -> None:
    tasks = {"wmt14-en-de": None, "mine": "own"}
    folder.files["scales/wide"] = {"like": "tiny", "description": "d", "tasks": tasks}
    folder.files["scales/wider"] = {"like": "wide", "description": "d"}
    assert set(folder.load("wider").tasks) == {"wmt14-de-en", "mine"}
    tasks["wmt14-en-d"] = None
    check_words(folder.error(), "scales/wide", ["'tasks'", "'wmt14-en-d'", "'wmt14-en-de'"])


def test_names_in_systems_of_papers(folder: Folder) -> None:
    its: dict[str, Any] = {"system": "at", "decoding": "beam"}
    one = {**its, "tasks": {"wmt14-en-de": {"system": "nat"}}, "baseline": "B"}
    folder.files["papers/own"] = {"title": "a", "systems": {"A": one, "B": its}}
    folder.files["scales/paper"] = FILES["scales/tiny"]
    assert [*folder.load().files["papers"]] == ["own"]
    one["baseline"] = "BB"
    check_words(folder.error(), "papers/own", ["systems.A.baseline", "BB", "B"])
    one["tasks"] = {"wmt14-en-dd": {"system": "nat"}}
    check_words(folder.error(), "papers/own", ["systems.A.tasks", "wmt14-en-de"])


# Choices of the command line


def test_what_snakemake_config_chooses(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice({"scale": "small"}) == RunChoice("small")
    wrong = ("name", 7), ("name", "a/b"), ("name", 101 * "a"), ("override", " "), ("scal", "small")
    for key, value in wrong:
        with told("--config", f"'{key}'"):
            choice({key: value})
    must_name(folder.error(choice({"override": "config.threads=2"})), "'name'")
    text = " recipes.student.betas=[0.9, 0.98]  config.threads=2"
    changes = ("recipes.student.betas=[0.9, 0.98]", "config.threads=2")
    given = choice({"scale": "large", "name": "x3", "override": text})
    assert given == RunChoice("large", "x3", changes)
    configuration = folder.load(given)
    assert configuration.choice == given == choice(given.keys)
    monkeypatch.chdir(folder.root)  # a program reads the same
    parser = ArgumentParser()
    add_configuration_arguments(parser)
    by_program = configuration_from(parser.parse_args(given.arguments))
    assert by_program.training("own", "nat") == configuration.training("own", "nat")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("recipes.studnt.dropout=0.2", ["recipes.studnt", "studnt", "student"]),
        ("recipes.student.droput=0.2", ["recipes/student.yaml", "override", "droput", "dropout"]),
        ("recipes.student.warmup_updates=300", ["recipes/student.yaml", "override"]),
        ("config.threads=0", ["config.yaml", "override", "threads", "0"]),
        ("config.scale=large", ["config", "scale", "precision", "threads"]),
        ("system.cmlm.size=wide", ["system.cmlm.size", "systems"]),
        ("systems.cmlm.sizes=wide", ["systems/cmlm.yaml", "override", "sizes", "size"]),
        ("systems.cmlm.recipe.droput=0", ["systems/cmlm.yaml", "override", "recipe", "droput"]),
        ("decodings.beam.bem=4", ["decodings/beam.yaml", "override", "bem", "beam"]),
        ("sizes.bse.heads=4", ["sizes.bse", "bse", "base"]),
        ("sizes.base.hads=4", ["scales/tiny.yaml", "override", "hads", "heads"]),
        ("corpora.own.sorce=de", ["corpora/own.yaml", "override", "sorce", "source"]),
        ("scale.seds=[1]", ["scales/tiny.yaml", "override", "seds", "seeds"]),
        ("systems.cmlm=3", ["systems.cmlm", "KEY=VALUE"]),
        ("systems.cmlm.tasks=3", ["systems.cmlm.tasks", "'tasks'"]),
        ("scale.tasks=3", ["scales/tiny.yaml", "override", "tasks", "3"]),
    ],
)
def test_overrides_are_checked_like_files(folder: Folder, given: str, words: list[str]) -> None:
    must_name(folder.error(RunChoice(name="wide", override=(given,))), *words)


def test_a_name_keeps_its_overrides(folder: Folder) -> None:
    def run(keep: bool, *override: str) -> None:
        hold_to_overrides(folder.load(RunChoice(name="wide", override=override)), keep)

    record = folder.root / "results/tiny@wide/override.json"
    run(False, "recipes.student.dropout=0.1")
    assert not record.exists()
    run(True, "recipes.student.dropout=0.2", "config.threads=2")
    run(True, "config.threads=2", "recipes.student.dropout=0.20")
    for other in ((), ("recipes.student.dropout=0.2",), ("recipes.student.dropout=0.3",)):
        for keep in (False, True):
            with told("name", "results/tiny@wide", "config.threads"):
                run(keep, *other)
    record.unlink()
    run(True)
    hold_to_overrides(folder.load(), keep=True)
    assert [path.name for path in (folder.root / "results").iterdir()] == ["tiny@wide"]


# Scales


def test_a_scale_needs_only_the_sizes_that_are_used(folder: Folder) -> None:
    folder.files["systems/at"]["size"] = "wide"
    del folder.files["scales/tiny"]["sizes"]["wide"]
    configuration = folder.load()
    assert configuration.training("own", "cmlm").architecture.model_dim == 8
    with told("config/systems/at.yaml", "size", "tiny", "wide", "sizes"):
        configuration.training("own", "at")
    assert folder.load("large").training("own", "at")


def test_notes_are_about_recipes(folder: Folder) -> None:
    def noted(scale: str = "tiny", override: str = "") -> list[str]:
        choice = RunChoice(scale, "a" if override else None, (override,) if override else ())
        return [*notes(folder.load(choice), [("own", name) for name in ("at", "cmlm", "dims")])]

    folder.files["scales/paper"] = FILES["scales/tiny"]
    (note,) = noted()
    check_words(note, "scales/tiny", ["recipes", "teacher"])
    assert noted("paper") == noted(override="recipes.teacher.updates=200") == []
    # an override of a recipe that no report uses
    folder.files["recipes/other"] = folder.files["recipes/third"] = RECIPE
    folder.files["scales/tiny"]["recipes"] |= {"teacher": {"as": "third"}}
    for recipe in ("student", "teacher", "third"):
        assert not [
            note for note in noted(override=f"recipes.{recipe}.updates=9") if "other" in note
        ]
    must_name(noted(override="recipes.other.updates=200")[-1], "override", "'other'")


# The real folder


@pytest.mark.parametrize("kind", MODELS)
def test_json_schemas_accept_the_real_files_and_describe_their_keys(kind: str) -> None:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    one = kind in ("config", "cluster", "plan")
    pattern = f"config/{kind}.yaml" if one else f"config/{kind}/*.yaml"
    files = [path.relative_to(ROOT) for path in sorted(ROOT.glob(pattern))]
    assert files
    for file in files:
        content = read_yaml(ROOT, str(file))
        validator.validate(content)
        assert not validator.is_valid({**content, "scal": 1}) or kind == "decodings", file
    if kind == "scales":  # an inherited entry is left out
        validator.validate({**content, "tasks": {"wmt16-en-ro": None}})
    if kind == "recipes":
        assert schema["properties"]["patience"]["description"].endswith("null: never")
        assert schema["$defs"]["Average"]["properties"]["checkpoints"]["description"] == "how many"
