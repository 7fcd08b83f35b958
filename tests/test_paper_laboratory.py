"""The laboratory as it is configured: it resolves at every scale, or says why it has no numbers."""

import pytest

from nat.analyses import known_law, revealing, schedule_bounds, step_errors
from nat.analyses.needs.step_errors import check
from nat.cells.known_measures import LAW_STEPS, MEASURES
from nat.cells.paper import entries
from nat.configuration.reading import read
from nat.errors import UserError
from nat.papers import reports
from tests.made_up_run import REPOSITORY

PAPER = "laboratory"


@pytest.mark.parametrize("scale", ["micro", "demo", "small", "paper"])
def test_all_reports_resolve(scale: str) -> None:
    configuration = read(scale, REPOSITORY)
    targets = [target for target in reports.targets(configuration) if target[0] == PAPER]
    assert {target[1:] for target in targets} >= {
        (kind, number) for kind in ("table", "figure") for number in ("1", "2")
    }
    for _, kind, number in targets:
        if kind not in ("table", "figure"):
            continue
        places = entries(configuration, PAPER, kind, number)
        assert places and not any(place.stand_in for place in places)
        reasons = {place.reason for place in places}
        if scale in ("micro", "demo"):
            assert reasons == {""} and all(place.cells for place in places)
        else:
            [corpus] = {configuration.task(place.task) for place in places}
            assert reasons == {f"the law of {corpus} is not known"}


@pytest.mark.parametrize("number", ["1", "2"])
def test_every_system_has_a_law(number: str) -> None:
    configuration = read("demo", REPOSITORY)
    systems = {
        cell.system
        for place in entries(configuration, PAPER, "figure", number)
        for cell in place.cells
    }
    assert len(systems) == 8
    for system in systems:
        check(configuration, system)


@pytest.mark.parametrize(
    "system", ["axe-kd", "imputer-kd", "sat-kd", "ctc-vae-kd", "hints-kd", "inat-kd"]
)
def test_a_system_without_a_law_is_refused(system: str) -> None:
    with pytest.raises(UserError, match=r"config/systems/.*: key '.*the law of the outputs"):
        check(read("demo", REPOSITORY), system)


def test_measures_are_of_the_steps_that_are_analysed() -> None:
    assert LAW_STEPS == known_law.STEPS == step_errors.STEPS == schedule_bounds.STEPS
    named = {name for name in MEASURES if name.startswith("bound_factorisation_")}
    assert named == {f"bound_factorisation_{steps}" for steps in known_law.STEPS}


def test_the_notes_say_what_the_bound_leaves_out() -> None:
    notes = " ".join(read("demo", REPOSITORY).paper(PAPER).figures["1"].notes)
    assert f"more than {schedule_bounds.CLASSES} classes" in notes
    assert f"a probability below {revealing.SMALLEST:g}," in notes
