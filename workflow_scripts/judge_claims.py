"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from pathlib import Path

from nat.claims import claim_reports, claims
from nat.configuration import Configuration
from nat.papers.reports import Claims
from nat.program import Progress
from nat.workflow.program import makes


@makes(Claims)
def main(configuration: Configuration, wanted: Claims) -> None:
    """Judge what a paper claims on the results of this run."""
    records = claims.judge(configuration, wanted.paper)
    claim_reports.write(configuration, wanted.paper, records, Path(wanted.path))
    each = Progress(f"claim of {wanted.paper}", len(records), "claims")
    for record in records:
        texts = claim_reports.lines(record)
        case = f" ({texts['case']})" if texts["case"] else ""
        each.say(f"{texts['verdict']}: {record['text']}{case}")
    Progress(f"claims of {wanted.paper}", len(records), "claims").say(
        claim_reports.summary(records)
    )


if __name__ == "__main__":
    main()
