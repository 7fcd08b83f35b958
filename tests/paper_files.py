"""What the tests of single papers ask of their files."""

from nat.cells.paper import entries
from nat.claims import claim_checks
from nat.configuration import Configuration
from nat.papers import reports


def assert_targets_resolve(configuration: Configuration, paper: str, names: set[str]) -> None:
    """A paper has these targets, each shows something and declares what it shows as an input."""
    targets = [each for each in reports.targets(configuration) if each[0] == paper]
    assert {reports.name(each) for each in targets} == names
    for target in targets:
        cells = reports.cells(configuration, target)
        licensed = target == ("hrt", "table", "4") and configuration.cannot_prepare("nist-zh-en")
        assert cells or configuration.scale in ("micro", "small") or licensed, target
        assert {cell.result for cell in cells} <= set(reports.files(configuration, target))


def published_in_tables(configuration: Configuration, paper: str) -> list[str]:
    """Where the published values that the tables show come from, in order."""
    return sorted(
        place.published.source
        for number in configuration.paper(paper).tables
        for place in entries(configuration, paper, "table", number)
        if place.published is not None
    )


def printed_differences(configuration: Configuration, paper: str) -> dict[str, list[float | None]]:
    """The differences that a paper prints, by claim; None where it prints none."""
    by_claim: dict[str, list[float | None]] = {}
    for check in claim_checks.checks(configuration, paper):
        assert check.text and check.source
        by_claim.setdefault(check.claim, []).append(claim_checks.published_difference(check))
    return by_claim
