"""Methods by name: of this project, of a file beside its own, and of another package."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nat import inputs, registry
from nat.configuration import Configuration, fingerprint, load
from nat.configuration.families import example
from nat.configuration.models import Training
from nat.data.vocabulary import MASK, VocabularySizes
from nat.registry import Method
from nat.training.model_file import build_model
from tests.messages import told
from tests.repository import ROOT, configured
from tests.tiny import make_batch, make_objective


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
        configuration.decoding(example(name, content))
        for name, content in configuration.files["decodings"].items()
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


# Another package, whose methods a system names by their module

INPUT = """
from nat.inputs.masks import mask_at_random
from nat.traits import ProxyInput

class METHOD(ProxyInput):
    shown: int = 1
    trains_on_partial_targets = True
    upsampled = False

    def __call__(self, context):
        return mask_at_random(context, (context.batch.target_lengths - self.shown).clamp(min=1))
"""
SYSTEM = """
like: cmlm-kd
description: with methods of another package
input: {method: others.nearly_all, shown: 2}
parts: {others.share: {levels: 3}}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package with an input, and with the part that the docs show."""
    folder = tmp_path / "site/others"
    folder.mkdir(parents=True)
    page = (ROOT / "docs/adding-a-method.md").read_text(encoding="utf-8")
    part = page.split("`nat/parts/mask_share.py`:\n\n```python\n")[1].split("```")[0]
    for name, text in {"__init__": "", "nearly_all": INPUT, "share": part}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "site")
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "config/systems/own.yaml").write_text(SYSTEM)
    yield folder
    forget()


def forget() -> None:
    """Forget the package, as a new process would."""
    for name in [name for name in sys.modules if name.split(".")[0] == "others"]:
        del sys.modules[name]
    registry.version_of.cache_clear()
    registry._described.cache_clear()


def configuration(package: Path) -> Configuration:
    forget()
    return load("micro", package.parents[1])


def training(package: Path) -> Training:
    return configuration(package).training("toy-micro", "own")


def test_a_system_uses_methods_of_another_package(package: Path) -> None:
    own = training(package)
    assert Training.of(own.as_json()) == own
    like = configuration(package).training("toy-micro", "cmlm-kd")
    model, plain = (build_model(each, VocabularySizes(29)).eval() for each in (own, like))
    names = {*model.state_dict()} - {*plain.state_dict()}
    assert names == {"others_share.embedding.weight"}
    model.load_state_dict(plain.state_dict(), strict=False)
    # it begins without effect, and is learned
    batch = make_batch()
    masks = batch.target.masked_fill(~batch.target_padding, MASK)
    states, others = (
        each.decode(masks, batch.target_padding, each.encode(batch.source), causal=False)
        for each in (model, plain)
    )
    assert torch.equal(states, others)
    objective = make_objective(model.train(), own.input.as_json(), {"method": "cross_entropy"})
    objective(model, batch, 0).value.sum().backward()
    assert model.others_share.embedding.weight.grad.abs().sum() > 0


def test_another_version_of_the_package_is_another_training(package: Path) -> None:
    of_file = fingerprint(training(package).as_json())
    assert fingerprint(training(package).as_json()) == of_file
    (package / "nearly_all.py").write_text(INPUT + "\n")
    changed = fingerprint(training(package).as_json())
    described = package.parent / "others-1.0.dist-info"
    described.mkdir()
    (described / "top_level.txt").write_text("others\n")
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    own = training(package)
    assert own.input.options["package"] == own.parts["others.share"]["package"] == "others 1.0"
    assert len({of_file, changed, fingerprint(own.as_json())}) == 3


def test_what_cannot_be_imported_is_told(package: Path) -> None:
    with told("others_.nearly", "'others_'", "install"):
        registry.build("inputs", Method(method="others_.nearly"))
    with told("others.nearly", "'others.nearly'", "install"):
        registry.build("inputs", Method(method="others.nearly"))
    with told("'METHOD'", "'ProxyTarget'"):
        registry.build("targets", Method(method="others.nearly_all"))
    (package / "share.py").write_text("import others.missing\n")
    with told("config/systems/own.yaml", "parts", "share.py, line 1", "others.missing"):
        configuration(package).methods("own")
