"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from nat.job import Job, run_job
from nat.papers import claim_formats, judgements
from nat.papers.reports import Claims
from nat.program import Progress
from nat.workflow.specification import whole


def main(job: Job[Claims]) -> None:
    """Judge what a paper claims on the results of this run."""
    configuration, paper = whole(job), job.artifact.paper
    records = judgements.judge(configuration, paper)
    claim_formats.write(configuration, paper, records, job.path)
    each = Progress(f"claim of {paper}", len(records), "claims")
    for record in records:
        texts = claim_formats.lines(record)
        case = f" ({texts['case']})" if texts["case"] else ""
        each.say(f"{texts['verdict']}: {record['text']}{case}")
    Progress(f"claims of {paper}", len(records), "claims").say(claim_formats.summary(records))


if __name__ == "__main__":
    run_job(main)
