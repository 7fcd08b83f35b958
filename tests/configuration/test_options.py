"""How a wrong value is told, whatever class it is for."""

from typing import Annotated, Any, Literal, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.options import hint, options_of, validated
from tests.messages import must_name, told


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Inner:
    count: int = Field(ge=1)
    rate: float = 0.5
    kind: Literal["one", "two"] | None = None


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    inner: Inner | None = None
    several: dict[str, list[Inner]] = {}
    flag: bool = False
    names: str | list[str] = ""


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ({}, ["'name'"]),
        # a misspelt key is told before the one that is missing for it
        ({"nam": "a"}, ["'nam'", "'name'"]),
        ({"name": 1}, ["'name'", "1", "string"]),
        ({"name": "a", "flag": 1}, ["'flag'", "1", "boolean"]),
        ({"name": "a", "inner": {"count": 0}}, ["'inner.count'", "0", "1"]),
        ({"name": "a", "inner": {"count": 1e5}}, ["'inner.count'", "100000.0"]),
        ({"name": "a", "inner": {"count": "3"}}, ["'inner.count'", "'3'"]),
        ({"name": "a", "inner": {"count": 1, "rate": True}}, ["'inner.rate'", "true"]),
        (
            {"name": "a", "inner": {"count": 1, "kind": "tow"}},
            ["'inner.kind'", "'tow'", "'one'", "'two'"],
        ),
        ({"name": "a", "inner": 3}, ["'inner'", "3"]),
        (
            {"name": "a", "several": {"x": [{"count": 1}, {"cuont": 1}]}},
            ["'several.x.1.cuont'", "'count'"],
        ),
        ({"name": "a", "names": 3}, ["'names'", "3"]),
        ({"name": "a", "names": ["x", 3]}, ["'names.1'", "3"]),
        ([], ["[]"]),
    ],
)
def test_one_sentence_names_key_and_both_values(value: object, parts: list[str]) -> None:
    with told("the outer one", *parts):
        validated(Outer, value, "the outer one")


def test_a_key_of_another_form_is_told() -> None:
    with told("'A 1'", "^[a-z]+$"):
        validated(cast(type[Any], dict[Annotated[str, Field(pattern="^[a-z]+$")], int]), {"A 1": 1})


def test_whole_numbers_are_numbers_and_defaults_are_filled_in() -> None:
    built = validated(Outer, {"name": "a", "inner": {"count": 2, "rate": 1}})
    assert built.inner == Inner(2, 1.0)
    assert options_of(Inner(2)) == {"count": 2, "rate": 0.5, "kind": None}


def test_a_hint_lists_few_names_or_the_nearest() -> None:
    must_name(hint("blue", ["bleu", "chrf"]), "'bleu'")
    must_name(hint("x", ["CMLM, 1 step", "AT", "AT"]), "'CMLM, 1 step', AT")
    many = [f"measure_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"] + ["latency"]
    found = hint("lat", many)
    assert "latency" in found
    assert len(found) < 200
    assert "measure_z" not in found
