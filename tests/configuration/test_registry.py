import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nat import inputs, registry
from nat.configuration.families import example
from nat.registry import Method
from tests.messages import told
from tests.repository import configured


@pytest.mark.parametrize("family", registry.FAMILIES)
def test_options_and_traits_are_described_without_the_method(family: str) -> None:
    # a name that does not fit, or a field of the method's own, would import torch at each start
    for name in registry.names(family):
        kind, options = registry.find(family, name), registry.options_class(family, name)
        if options is None:  # the method's own file may have them
            assert all(each.__module__ != f"nat.{family}.options" for each in kind.__mro__), name
            continue
        assert kind.model_fields.keys() == options.model_fields.keys(), name
        for trait in registry.FAMILIES[family].__annotations__:
            assert getattr(kind, trait) == getattr(options, trait), name
        if family == "decoding":
            assert kind.traced == hasattr(kind, "passes"), name


def test_every_method_is_configured_and_so_enters_the_tests_of_all() -> None:
    configuration = configured()
    systems = [configuration.system(name) for name in configuration.systems]
    decodings = [
        configuration.decoding(example(name, configuration.files["decodings"][name]))
        for name in configuration.decodings
    ]
    assert {system.input.method for system in systems} == set(registry.names("inputs"))
    assert {system.target.method for system in systems} == set(registry.names("targets"))
    texts = [system.text.choice for system in systems]
    assert {text.method for text in texts if text is not None} == set(
        registry.names("distillation")
    )
    assert {decoding.method for decoding in decodings} == set(registry.names("decoding"))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a new proxy input `own`, beside those of the repository."""
    folder = tmp_path / "nat/inputs"
    folder.mkdir(parents=True)
    monkeypatch.setattr(inputs, "__path__", [str(folder)])
    monkeypatch.setattr(registry, "_PACKAGE", tmp_path / "nat")
    yield folder / "own.py"
    sys.modules.pop("nat.inputs.own", None)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("METHOD = dict(\n", ["line 1", "SyntaxError"]),
        ("METHOD = dict", ["'METHOD'", "'ProxyInput'"]),
        (
            "from nat.inputs import deep\nMETHOD = 1",
            ["nat/inputs/own.py", "nat/inputs/deep.py, line 1", "ZeroDivisionError"],
        ),
    ],
)
def test_an_own_method_that_cannot_be_imported_ends_in_one_sentence(
    own: Path, source: str, parts: list[str]
) -> None:
    own.write_text(source)
    own.with_stem("deep").write_text("1 / 0\n")
    with told(*parts):
        registry.build("inputs", Method(method="own"))


def test_an_own_method_is_one_file(own: Path) -> None:
    own.write_text("""
from nat.traits import ProxyInput

class METHOD(ProxyInput):
    revealed: float = 0.5
    upsampled = True
""")
    assert registry.completed("inputs", Method(method="own")).options == {"revealed": 0.5}
    assert registry.describe("inputs", Method(method="own")).upsampled
    assert registry.build("inputs", Method(method="own", revealed=1)).revealed == 1
    test_options_and_traits_are_described_without_the_method("inputs")
    with told("'reveal'", "'own'", "'revealed'"):
        registry.describe("inputs", Method(method="own", reveal=1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "cross_entropi"}, ["cross_entropy"]),
        ({"method": "../targets/ctc"}, []),
        ({"method": "__init__"}, []),
        ({"method": "dims", "teacher_step": 2}, ["'teacher_step'", "'teacher_steps'"]),
        ({"method": "dims", "teacher_steps": 0}, ["'teacher_steps'"]),
        ({"method": "cross_entropy", "label_smoothing": "0.1"}, ["'label_smoothing'"]),
    ],
)
def test_wrong_names_and_values_are_told(options: dict[str, object], words: list[str]) -> None:
    with told(options["method"], *words):
        registry.build("targets", Method(**options))
