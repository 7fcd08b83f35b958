"""Models of this version load in later ones, and translate as they did.

The models of `stored/` were written by `save_model` at version 0.1.0, with random weights. Do
not write them anew when this test fails: models of users would fail as well. If a model cannot be
read any longer, `load_model` has to say so in one sentence.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from nat import registry
from nat.data.vocabulary import VocabularySizes
from nat.measures.memory import peak_of
from nat.options import added, options_of
from nat.registry import Method
from nat.training.model_file import build_model, load_model, save_model
from nat.transformer.architecture import Architecture, DecoderOptions

STORED = Path(__file__).parent / "stored"


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("name", ["cmlm", "ctc", "at"])
def test_a_stored_model_loads_and_translates_as_it_did(name: str, mapped: bool) -> None:
    found = load_model(STORED / f"{name}.pt", mapped=mapped)
    expected: dict[str, Any] = json.loads((STORED / "translations.json").read_text())[name]
    assert found.updates == expected["updates"]
    decoding = registry.build("decoding", Method(**expected["decoding"]))
    hypotheses = decoding(found.model, torch.tensor(expected["source"]))
    assert [list(each.tokens) for each in hypotheses] == expected["tokens"]
    scores = [each.score for each in hypotheses]
    assert scores == pytest.approx(expected["scores"], abs=1e-3)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_weights_of_a_mapped_model_stay_in_the_file(tmp_path: Path) -> None:
    training, sizes = load_model(STORED / "at.pt").training, VocabularySizes(2_000_000)
    weights = build_model(training, sizes).state_dict()
    file = tmp_path / "model.pt"
    save_model(file, weights, training, sizes, 1)
    assert file.stat().st_size > 60_000_000
    mapped = peak_of(lambda: load_model(file, mapped=True), ["torch"])
    copied = peak_of(lambda: load_model(file), ["torch"])
    assert mapped is not None
    assert copied is not None
    # both hold the pages of libraries that loading uses: how many depends on the process
    assert copied - mapped > file.stat().st_size


def stored_options() -> Iterator[tuple[str, dict[str, Any]]]:
    """Options of each class, with their defaults, as configurations beside models hold them."""
    classes: dict[str, type] = {each.__name__: each for each in (Architecture, DecoderOptions)}
    for family in registry.FAMILIES:
        for name in registry.names(family):
            classes[f"nat/{family}/{name}.py"] = registry.find(family, name)
    for place, kind in classes.items():
        options: dict[str, Any] = {}
        for name, field in kind.__pydantic_fields__.items():  # type: ignore[attr-defined]
            if field.exclude_if is None:
                default = "required" if field.is_required() else field.get_default()
                options[name] = TypeAdapter(Any).dump_python(default, mode="json")
        yield place, options


def test_an_update_trains_no_model_again() -> None:
    """A new option of a method that has models is declared with `nat.options.added`.

    Where its default changes what the method does, its models are to be trained again; then enter
    it in stored/options.json. A new method is entered there when it has models to keep.
    """
    expected: dict[str, Any] = json.loads((STORED / "options.json").read_text())
    found = dict(stored_options())
    assert {place: found.get(place) for place in expected} == expected


def test_an_added_option_is_stored_only_where_it_changes_something() -> None:
    @dataclass(frozen=True)
    class Searching:
        beam: int
        penalty: float = added(0.0)

    assert options_of(Searching(beam=5)) == {"beam": 5}
    assert options_of(Searching(beam=5, penalty=0.0)) == {"beam": 5}
    assert options_of(Searching(beam=5, penalty=0.5)) == {"beam": 5, "penalty": 0.5}
    before = registry.completed("decoding", Method(method="ctc")).as_json()
    assert before == {"method": "ctc"}
    written = Method(method="ctc", blank_penalty=0.0)
    assert registry.completed("decoding", written).as_json() == before
