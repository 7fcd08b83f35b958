import sys
from dataclasses import fields
from pathlib import Path

import pytest
from repository import configured

from nat import inputs, registry
from nat.checksums import record_of
from nat.inputs.random_mask import RandomMask
from nat.registry import Method
from nat.targets.cross_entropy import CrossEntropy
from tests.messages import told


def test_a_method_is_built_from_its_options() -> None:
    built = registry.build("targets", Method(**{"method": "cross_entropy", "label_smoothing": 0.1}))
    assert built == CrossEntropy(label_smoothing=0.1)
    assert registry.build("inputs", Method(**{"method": "random_mask"})) == RandomMask()


def test_methods_are_found_without_a_list_of_them() -> None:
    assert {"full_mask", "previous_tokens", "random_mask"} <= set(registry.names("inputs"))
    assert {"cross_entropy", "dims"} <= set(registry.names("targets"))


@pytest.mark.parametrize("family", registry.FAMILIES)
def test_a_method_declares_only_what_something_reads(family: str) -> None:
    # a misspelled trait would be without effect, and silent
    for name in registry.names(family):
        kind = registry.find(family, name)
        plain = (bool, str, tuple, type(None))
        values = {key for key, value in vars(kind).items() if isinstance(value, plain)}
        declared = {key for key in values if not key.startswith("_")}
        declared -= set(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        assert declared <= {each.name for each in fields(registry.TRAITS[family])}, name


def test_every_method_is_configured_and_so_enters_the_tests_of_all() -> None:
    configuration = configured()
    systems = [configuration.system(name) for name in configuration.systems]
    decodings = [
        configuration.decoding(configuration.example_of(name)) for name in configuration.decodings
    ]
    assert {system.input.method for system in systems} == set(registry.names("inputs"))
    assert {system.target.method for system in systems} == set(registry.names("targets"))
    texts = [system.text.choice for system in systems]
    assert {text.method for text in texts if text is not None} == set(
        registry.names("distillation")
    )
    assert {decoding.method for decoding in decodings} == set(registry.names("decoding"))


def test_a_module_without_a_method_is_none() -> None:
    # nat/decoding/canvas.py is what several methods share
    assert "canvas" not in registry.names("decoding")
    with told("nat/decoding/canvas.py"):
        registry.build("decoding", Method(**{"method": "canvas"}))


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("METHOD = dict(\n", ["line 1", "SyntaxError"]),
        ("\nfrom nat.errors import Wrong\nMETHOD = 1", ["line 2", "ImportError", "'Wrong'"]),
        (
            "from nat.inputs import deep\nMETHOD = 1",
            ["'own'", "nat/inputs/deep.py, line 1", "ZeroDivisionError"],
        ),
    ],
)
def test_an_own_method_that_cannot_be_imported_ends_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, parts: list[str]
) -> None:
    folder = tmp_path / "nat/inputs"
    folder.mkdir(parents=True)
    (folder / "own.py").write_text(source)
    (folder / "deep.py").write_text("1 / 0\n")
    monkeypatch.setattr(inputs, "__path__", [str(folder)])
    monkeypatch.setattr(registry, "_PACKAGE", tmp_path / "nat")
    try:
        with told(*parts):
            registry.build("inputs", Method(method="own"))
    finally:
        sys.modules.pop("nat.inputs.own", None)


@pytest.mark.parametrize(
    ("family", "options", "words"),
    [
        ("inputs", {"method": "random_maks"}, ["random_maks", "random_mask"]),
        ("targets", {"method": "cross-entropy"}, ["cross-entropy", "cross_entropy"]),
        (
            "targets",
            {"method": "dims", "teacher_step": 2},
            ["dims", "teacher_step", "teacher_steps"],
        ),
        ("inputs", {"method": "full_mask", "ratio": 1}, ["full_mask", "ratio"]),
        ("inputs", {"method": "../inputs/full_mask"}, ["../inputs/full_mask"]),
        ("inputs", {"method": "__init__"}, ["__init__"]),
    ],
)
def test_unknown_names_are_told_with_the_nearest(
    family: str, options: dict[str, object], words: list[str]
) -> None:
    with told(*words):
        registry.build(family, Method(**options))


@pytest.mark.parametrize(
    "options",
    [
        {"method": "cross_entropy", "label_smoothing": 1.5},
        {"method": "cross_entropy", "label_smoothing": "0.1"},
        {"method": "cross_entropy", "label_smoothing": True},
        {"method": "dims", "teacher_steps": 0},
        {"method": "dims", "teacher_steps": 1.5},
        {"method": "dims", "temperature": 0},
        {"method": "dims", "ema_decay": 1.01},
    ],
)
def test_wrong_values_name_method_and_key(options: dict[str, object]) -> None:
    with told(*(options.keys() - {"method"}), options["method"]):
        registry.build("targets", Method(**options))


def test_what_methods_are_is_remembered_while_the_code_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget() -> None:
        registry._remembered.cache_clear()
        registry._described.cache_clear()

    def refused(*_: object) -> None:
        raise AssertionError("imported")

    monkeypatch.chdir(tmp_path)
    forget()
    method = Method(method="mask_predict", steps=4, length_beam=5)
    found = registry.describe("decoding", method)
    registry.remember()  # not a folder that Snakemake runs in
    assert list(tmp_path.iterdir()) == []
    Path(".snakemake").mkdir()
    registry.remember()
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(registry, "build", refused)
        assert registry.describe("decoding", method) == found
        with pytest.raises(AssertionError):
            registry.describe("decoding", Method(method="mask_predict", steps=5, length_beam=5))
        forget()
        patched.setattr(registry, "_code", lambda: "of another version")
        with pytest.raises(AssertionError):
            registry.describe("decoding", method)
    for content in ("[]", "no JSON"):
        registry.REMEMBERED.write_text(content)
        record_of(registry.REMEMBERED).unlink(missing_ok=True)
        forget()
        assert registry.describe("decoding", method) == found
    forget()
