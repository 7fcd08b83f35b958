# The pages of a run, of which results/{run}/report/index.html is the first.
#
# `snakemake report` shows what exists and makes nothing else: what the pages are made of is no
# input of the rule, so the results that they lack, or that a changed configuration would make
# anew, stay as they are. `snakemake all` makes the pages last, after everything that they show;
# `snakemake traces report` after the steps that the sentence browser shows.


rule make_report:
    input:
        lambda wildcards: graph.before_pages(workflow.dag_settings.targets),
    output:
        "<run>/report/index.html",
    log:
        "<run>/logs/make_report.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        made_of=lambda wildcards: graph.pages_made_of(workflow.dag_settings.targets),
    message:
        f"report of {configuration.run}"
    shell:
        f"python workflow_scripts/make_report.py {CHOSEN} 2> {{log}}"
