"""`like`, `variants` and names with placeholders."""

import re
from dataclasses import replace
from typing import Any

import pytest

from nat.configuration.entries import decoding_pattern
from nat.configuration.families import (
    example,
    expanded,
    expression,
    family_of,
    options_in,
)
from nat.configuration.merging import merged
from tests.configuration.test_configuration import DISTILLED, Folder, system
from tests.messages import must_name, told

FAMILY = "refine-{steps}-lb{length_beam}"


def systems(files: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return expanded(files, "systems")[0]


def test_a_variant_is_the_file_with_what_differs() -> None:
    target: dict[str, Any] = {"method": "axe", "skip_penalty": 5, "label_smoothing": 0.1}
    file = {
        "description": "all",
        "target": target,
        "text": "raw",
        "variants": {
            "plain": {},
            "light": {"description": "one", "target": {"skip_penalty": 1}},
            "other": {"target": {"method": "ctc"}},
            "light-kd": {"like": "light", "text": DISTILLED},
        },
    }
    found = systems({"axe": file})
    assert list(found) == ["plain", "light", "other", "light-kd"]
    assert found["plain"] == {"description": "all", "target": target, "text": "raw"}
    assert found["light"] == {
        "description": "one",
        "target": {**target, "skip_penalty": 1},
        "text": "raw",
    }
    assert found["other"]["target"] == {"method": "ctc"}
    assert found["light-kd"] == {**found["light"], "description": "all", "text": DISTILLED}


def test_a_text_of_another_kind_replaces_the_old_one() -> None:
    base = {"text": {"mixed": {"raw": 0.5, **DISTILLED}}}
    assert merged(base, {"text": DISTILLED})["text"] == DISTILLED
    changed = merged(base, {"text": {"mixed": {"raw": 0.2}}})
    assert changed["text"]["mixed"] == {"raw": 0.2, **DISTILLED}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": {"like": "bb"}, "bbb": {}}, ["a.yaml", "'like'", "'bb'", "'bbb'"]),
        ({"a": {"like": "b"}, "b": {"like": "a"}}, ["a.yaml", "a -> b -> a"]),
        ({"a": {}, "b": {"variants": {"a": {}}}}, ["b.yaml", "'a'", "config/systems/a.yaml"]),
        ({"a": {"like": 3}}, ["a.yaml", "'like'", "3"]),
        ({"a": {"variants": {"b c": {}}}}, ["a.yaml", "'b c'"]),
        ({"a": {"variants": {"b": "raw"}}}, ["a.yaml", "'variants'", "'b'", "'raw'"]),
    ],
)
def test_errors_name_file_and_key(files: dict[str, dict[str, Any]], words: list[str]) -> None:
    with told("config/systems", *words):
        systems(files)


def test_a_name_gives_the_options_of_its_family() -> None:
    family = "ctc-beam{beam}-lm{language_model.order}"
    assert options_in(family, "ctc-beam20-lm4") == {"beam": 20, "language_model": {"order": 4}}
    assert options_in("head-{share}", "head-0.5") == {"share": 0.5}
    for name in ("head-", "head-0.50", "head-05", "head-1.", "head-x", "head-1-2"):
        assert family_of(name, ["head-{share}"]) is None
    assert re.fullmatch(expression(family), "ctc-beam20-lm4")
    assert example(family, {"beam": 5}) == "ctc-beam5-lm3"
    for share, name in ((0.5, "head-0.5"), (2, "head-2"), (-1, "head-3")):
        assert example("head-{share}", {"share": share}) == name


def test_a_decoding_is_found_by_its_values(folder: Folder) -> None:
    del folder.files["decodings/refine-1"], folder.files["decodings/refine-4"]
    folder.files["decodings/refine"] = {"name": FAMILY, "method": "mask_predict"}
    folder.files["decodings/fast"] = {"like": "refine-4-lb5", "steps": 2}
    configuration = folder.load()
    assert configuration.decoding("refine-7-lb2").options["steps"] == 7
    assert configuration.decoding("refine-7-lb2").options["length_beam"] == 2
    assert configuration.decoding("fast") == configuration.decoding("refine-2-lb5")
    pattern = decoding_pattern(configuration)
    assert re.fullmatch(pattern, "refine-7-lb2") and re.fullmatch(pattern, "fast")
    assert not re.fullmatch(pattern, "refine-x-lb2")
    for name, words in (
        ("refine-0-lb5", ["config/decodings/refine.yaml", "'steps'"]),
        ("refin-4-lb5", ["'refine-4-lb5'"]),
        (FAMILY, []),
    ):
        with told(f"'{name}'", *words):
            configuration.decoding(name)


def test_a_placeholder_that_is_no_option_is_refused_when_read(folder: Folder) -> None:
    folder.files["decodings/own"] = {"name": "own-{steps}-{lenght_beam}", "method": "mask_predict"}
    must_name(folder.error(), "config/decodings/own.yaml", "'lenght_beam'", "'length_beam'")


def test_a_mistake_in_a_variant_names_file_and_variant(folder: Folder) -> None:
    variants: dict[str, Any] = {"one": {}, "two": {"text": "raw"}}
    folder.files["systems/group"] = {**system(text=DISTILLED), "variants": variants}
    assert folder.load().system("two").text.kind == "raw"
    for key, value in (("lenght", "offset"), ("target", {"method": "axi"}), ("recipe", "studen")):
        variants["two"] = {key: value}
        must_name(folder.error(), "config/systems/group.yaml", "'two'", f"'{key}'")


@pytest.mark.parametrize(
    ("changed", "heir", "mistake"),
    [
        ("recipes/teacher", "recipes/a", {"dropuot": 1}),
        ("recipes/student", "recipes/a", {"tasks": {"wmt": {"dropout": 0.1}}}),
        ("systems/nat", "systems/a", {"recipe": "studen"}),
        ("systems/nat", "systems/a", {"length": None}),
        ("decodings/refine-4", "decodings/a", {"tuning": {"stepps": [2]}}),
        ("scales/large", "scales/a", {"shards": {"train": 0, "valid": 1, "test": 1}}),
        ("corpora/own", "corpora/a", {"target": "en"}),
    ],
)
def test_a_mistake_is_told_of_the_file_that_others_are_like(
    folder: Folder, changed: str, heir: str, mistake: dict[str, Any]
) -> None:
    folder.files[changed] = merged(folder.files[changed], mistake)
    own = {} if changed.startswith(("decodings", "corpora")) else {"description": "like it"}
    folder.files[heir] = {"like": "m", **own}
    folder.files[heir.replace("/a", "/m")] = {"like": changed.partition("/")[2], **own}
    if changed.startswith("corpora"):
        folder.files[heir]["like"] = "own"
    assert folder.error("a" if heir == "scales/a" else None).startswith(f"config/{changed}.yaml: ")


def test_a_size_may_be_like_another(folder: Folder) -> None:
    sizes = folder.files["scales/tiny"]["sizes"]
    sizes["deep"] = {"like": "learned", "encoder_layers": 3}
    sizes["learned"] = {"like": "base", "positions": "learned"}
    configuration = folder.load()
    base = configuration.scale_settings.sizes["base"]
    expected = replace(base, encoder_layers=3, positions="learned")
    assert configuration.scale_settings.sizes["deep"] == expected
    for like, words in (("bass", ["'bass'", "'base'"]), ("deep", ["learned", "deep"])):
        sizes["learned"]["like"] = like
        must_name(folder.error(), "config/scales/tiny.yaml", "'like'", *words)


def test_a_scale_changes_parts_of_all_systems_and_targets_of_single_ones(folder: Folder) -> None:
    parts = {"latent": {"dim": 3}}
    folder.files["systems/latent"] = {"like": "nat", "description": "d", "parts": parts}
    folder.files["systems/copy"] = {"like": "dims", "description": "d", "recipe": "teacher"}
    scale = folder.files["scales/tiny"]
    scale["parts"] = {"latent": {"free_until": 0.1, "annealed_at": 0.2}}
    scale["targets"] = {"dims": {"teacher_steps": 4, "labels": "last"}}
    found, large = folder.load(), folder.load("large")
    latent = found.training("own", "latent").parts["latent"]
    assert (latent["dim"], latent["free_until"], latent["annealed_at"]) == (3, 0.1, 0.2)
    assert large.training("own", "latent").parts["latent"]["free_until"] == 0.4
    changed, copy = (found.system(name).target.as_json() for name in ("dims", "copy"))
    assert changed == copy | {"teacher_steps": 4, "labels": "last"}
    assert large.system("dims").target.as_json() == copy
    for key, change, meant in (
        ("parts", {"latent": {"free_untl": 0.1}}, "'latent'"),
        ("targets", {"dimz": {"labels": "last"}}, "'dims'"),
        ("targets", {"dims": {"labelz": "last"}}, "'labels'"),
    ):
        folder.files["scales/tiny"] = {**scale, key: change}
        must_name(folder.error(), "config/scales/tiny.yaml", meant)
