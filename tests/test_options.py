"""How a wrong value is told, whatever class it is for."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

from nat.errors import UserError
from nat.options import options_of, validated
from nat.spelling import hint


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
    ("value", "message"),
    [
        ({}, "missing key 'name'"),
        # a misspelt key is told before the one that is missing for it
        ({"nam": "a"}, "unknown key 'nam'; did you mean 'name'?"),
        ({"name": 1}, "key 'name': found 1, expected text in quotes"),
        ({"name": "a", "flag": 1}, "key 'flag': found 1, expected true or false"),
        ({"name": "a", "inner": {}}, "missing key 'count' at 'inner'"),
        ({"name": "a", "inner": {"count": 0}}, "key 'inner.count': found 0, expected at least 1"),
        (
            {"name": "a", "inner": {"count": 1e5}},
            "key 'inner.count': found 100000.0, expected a whole number",
        ),
        (
            {"name": "a", "inner": {"count": "3"}},
            "key 'inner.count': found the text '3', expected a whole number",
        ),
        (
            {"name": "a", "inner": {"count": 1, "rate": True}},
            "key 'inner.rate': found true, expected a number",
        ),
        (
            {"name": "a", "inner": {"count": 1, "kind": "tow"}},
            "key 'inner.kind': found the text 'tow', expected one of one, two, null",
        ),
        ({"name": "a", "inner": 3}, "key 'inner': found 3, expected keys and values or null"),
        (
            {"name": "a", "several": {"x": [{"count": 1}, {"cuont": 1}]}},
            "unknown key 'cuont' at 'several.x.1'; did you mean 'count'?",
        ),
        ({"name": "a", "names": 3}, "key 'names': found 3, expected text in quotes or a list"),
        ({"name": "a", "names": ["x", 3]}, "key 'names.1': found 3, expected text in quotes"),
        ([], "found the list [], expected keys and values"),
    ],
)
def test_one_sentence_names_key_and_both_values(value: object, message: str) -> None:
    with pytest.raises(UserError, match="the outer one"):
        validated(Outer, value, "the outer one")
    with pytest.raises(UserError) as caught:
        validated(Outer, value)
    assert str(caught.value) == message


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    parts: dict[Annotated[str, Field(pattern="^[a-z]+$", examples=["a", "bc"])], int] = {}
    others: dict[Annotated[str, Field(pattern="^[a-z]+$")], int] = {}
    one: Annotated[Inner, Tag("<one>")] | Annotated[Outer, Tag("<other>")] = Field(
        Inner(1), discriminator=Discriminator(lambda value: "<one>")
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"parts": {"A 1": 1}},
            "key 'parts': 'A 1' is no possible name there, expected one such as a, bc",
        ),
        (
            {"others": {"A": 1}},
            "key 'others': 'A' is no possible name there, expected text that matches ^[a-z]+$",
        ),
        (
            {"one": {"count": 1, "flag": True}},
            "key 'flag' at 'one': it does not go with the other keys there; remove it",
        ),
    ],
)
def test_a_key_that_is_no_misspelling_gets_no_hint(value: object, message: str) -> None:
    with pytest.raises(UserError) as caught:
        validated(Named, value)
    assert str(caught.value) == message


def test_whole_numbers_are_numbers_and_defaults_are_filled_in() -> None:
    built = validated(Outer, {"name": "a", "inner": {"count": 2, "rate": 1}})
    assert built.inner == Inner(2, 1.0)
    assert options_of(Inner(2)) == {"count": 2, "rate": 0.5, "kind": None}


def test_a_hint_lists_few_names_or_the_nearest() -> None:
    assert hint("blue", ["bleu", "chrf"]) == "did you mean 'bleu'?"
    assert hint("x", ["bleu", "chrf"]) == "known: bleu, chrf"
    assert hint("x", ["CMLM, 1 step", "AT"]) == "known: 'CMLM, 1 step', 'AT'"
    assert hint("x", ["AT", "AT"]) == "known: AT"
    assert hint("x", []) == "none is known"
    many = [f"measure_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"] + ["latency"]
    found = hint("lat", many)
    assert "latency" in found
    assert len(found) < 200
    assert "measure_z" not in found
