"""Methods of another package, which a system names by their module."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nat import registry
from nat.configuration import Configuration, fingerprint, load
from nat.configuration.models import Training
from nat.data.vocabulary import VocabularySizes
from nat.registry import Method
from nat.training.model_file import build_model
from tests.messages import told
from tests.repository import ROOT
from tests.tiny import make_batch, make_objective

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
    model = build_model(own, VocabularySizes(29))
    assert "others_share.embedding.weight" in model.state_dict()
    objective = make_objective(model.train(), own.input.as_json(), {"method": "cross_entropy"})
    objective(model, make_batch(), 0).value.sum().backward()
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
