import yaml

from nat.configuration.shown import compared, effective
from tests.repository import configured


def test_the_settings_of_a_system_are_those_of_its_training() -> None:
    configuration = configured("paper")
    text = effective(configuration, "wmt16-en-ro", "hrt-kd")
    training = configuration.training("wmt16-en-ro", "hrt-kd").as_json()
    assert yaml.safe_load(text) == {
        key: value for key, value in training.items() if key not in ("corpus", "system")
    }
    assert training["recipe"]["updates"] == 100000  # of the task
    first, elsewhere, _ = text.split("\n", 2)
    assert first == "# hrt-kd on wmt16-en-ro, scale paper: config/systems/hrt.yaml: 'hrt-kd'"
    others = elsewhere.removeprefix("# differs on ").removesuffix(": see --corpus").split(", ")
    assert "wmt14-en-de" in others and "wmt16-ro-en" not in others


def test_only_what_differs_between_two_systems_is_shown() -> None:
    text = compared(configured("demo"), "toy-ka-lu", "dims-cmlm-kd", "cmlm-kd")
    found = yaml.safe_load(text)
    assert found["init_from"] == {"dims-cmlm-kd": "cmlm-kd", "cmlm-kd": None}
    assert found["target.label_smoothing"] == {"cmlm-kd": 0.1}  # the other has no such option
    assert not any(key.startswith("architecture") for key in found)
    groups = [key.partition(".")[0] for key in found]
    assert len(set(groups)) == sum(a != b for a, b in zip([None, *groups], groups, strict=False))


def test_the_same_system_under_two_names() -> None:
    configuration = configured("demo")
    names = [
        name
        for name in configuration.systems
        if configuration.canonical("toy-ka-lu", name) == "at-base" != name
    ]
    assert "under the name at-base" in effective(configuration, "toy-ka-lu", names[0])
    assert "# no setting differs" in compared(configuration, "toy-ka-lu", names[0], "at-base")
