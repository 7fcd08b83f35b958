# The pages of a run, of which results/{run}/report/index.html is the first.
#
# `snakemake report` shows what exists and makes nothing else: what the pages are made of is no
# input of the rule, so the results that they lack, or that a changed configuration would make
# anew, stay as they are. `snakemake all` makes the pages last, after everything that they show;
# `snakemake traces report` makes them after the steps that the sentence browser shows. Since its
# output has the wildcard {run}, the rule is not a second public target beside `report`.


rule make_report:
    input:
        lambda wildcards: graph.before_pages(workflow.dag_settings.targets),
    output:
        "results/{run}/report/index.html",
    log:
        "results/{run}/logs/make_report.log",
    wildcard_constraints:
        run=one_of([configuration.run]),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        made_of=lambda wildcards: graph.pages_made_of(workflow.dag_settings.targets),
    message:
        "report of {wildcards.run}"
    shell:
        f"python workflow_scripts/make_report.py {CONFIGURATION_ARGUMENTS} 2> {{log}}"


# An estimate of what `all` takes, to look at before submitting it; workflow_scripts/plan.py makes
# one for other targets.
rule plan:
    """jobs, hours and disk that all of it takes; nothing is run"""
    log:
        f"results/{configuration.run}/logs/plan.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        f"python workflow_scripts/plan.py {CONFIGURATION_ARGUMENTS} 2> {{log}}"
