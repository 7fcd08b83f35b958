"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from pathlib import Path

from nat.job import Job, run_job
from nat.options import validated
from nat.papers import claim_formats, judgements
from nat.papers.reports import Report
from nat.papers.resolved import ResolvedClaims
from nat.program import Progress


def main(job: Job[Report]) -> None:
    """Judge what a paper claims on the results of this run."""
    paper = job.artifact.paper
    claims = validated(ResolvedClaims, job.configuration.report)
    records = judgements.judge(claims, Path())
    claim_formats.write(claims, records, job.path)
    each = Progress(f"claim of {paper}", len(records), "claims")
    for record in records:
        texts = claim_formats.lines(record)
        case = f" ({texts['case']})" if texts["case"] else ""
        each.say(f"{texts['verdict']}: {record['text']}{case}")
    Progress(f"claims of {paper}", len(records), "claims").say(claim_formats.summary(records))


if __name__ == "__main__":
    run_job(main)
