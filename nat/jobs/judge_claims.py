"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from pathlib import Path

from nat.job import Job
from nat.options import validated
from nat.papers import judgements, table_formats
from nat.papers.cells import ResolvedClaims
from nat.papers.reports import Report
from nat.program import Progress


def judge_claims(job: Job[Report]) -> None:
    """Judge what a paper claims on the results of this run."""
    paper = job.artifact.paper
    claims = validated(ResolvedClaims, job.configuration.report)
    records = judgements.judge(claims, Path())
    table_formats.write(judgements.make(claims, records), job.path, typeset=False)
    each = Progress(f"claim of {paper}", len(records), "claims")
    for record in records:
        texts = judgements.lines(record)
        case = f" ({texts['case']})" if texts["case"] else ""
        each.say(f"{texts['verdict']}: {record['text']}{case}")
    Progress(f"claims of {paper}", len(records), "claims").say(judgements.summary(records))
