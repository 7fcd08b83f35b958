# The pages of a run, of which results/{run}/report/index.html is the first.
#
# `snakemake report` shows what exists and makes nothing else: what the pages are made of is no
# input of the rule, so the results that they lack, or that a changed configuration would make
# anew, stay as they are. `snakemake all` makes the pages last, after everything that they show;
# `snakemake traces report` after the steps that the sentence browser shows.
def comes_last():
    """Whether everything is made in this run."""
    targets = workflow.dag_settings.targets
    return not targets or "all" in targets


def made_before():
    """What the pages wait for, of what is made in this run."""
    traces = graph.traces_among(workflow.dag_settings.targets)
    return traces + (graph.all_reports() if comes_last() else [])


rule make_report:
    input:
        lambda wildcards: made_before(),
    output:
        "results/{run}/report/index.html",
    log:
        "results/{run}/logs/make_report.log",
    localrule: True
    params:
        made_of=lambda wildcards: "all" if comes_last() else graph.existing(),
    message:
        "report of {wildcards.run}"
    shell:
        f"python workflow_scripts/make_report.py {CHOSEN} 2> {{log}}"
