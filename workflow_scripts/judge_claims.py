"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from pathlib import Path

from nat.configuration import Configuration
from nat.papers import claim_formats, judgements
from nat.papers.reports import Claims
from nat.program import Progress
from nat.workflow.program import makes


@makes(Claims)
def main(configuration: Configuration, wanted: Claims) -> None:
    """Judge what a paper claims on the results of this run."""
    records = judgements.judge(configuration, wanted.paper)
    claim_formats.write(configuration, wanted.paper, records, Path(wanted.path))
    each = Progress(f"claim of {wanted.paper}", len(records), "claims")
    for record in records:
        texts = claim_formats.lines(record)
        case = f" ({texts['case']})" if texts["case"] else ""
        each.say(f"{texts['verdict']}: {record['text']}{case}")
    Progress(f"claims of {wanted.paper}", len(records), "claims").say(
        claim_formats.summary(records)
    )


if __name__ == "__main__":
    main()
