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
    benchmark:
        "results/{run}/benchmarks/make_report.tsv"
    wildcard_constraints:
        run=one_of([configuration.run]),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **handed("make_report", reports.Site),
        made_of=lambda wildcards: graph.pages_made_of(workflow.dag_settings.targets),
    message:
        named("report of {run}")
    shell:
        COMMAND


rule plan:
    """jobs, hours and disk that the other targets take, or all of it; nothing is run"""
    localrule: True


# The plan ends here: Snakemake would go on and make the other targets.
if workflow.is_main_process and "plan" in sys.argv[1:]:
    planned = get_argument_parser().parse_known_args(sys.argv[1:])[0].targets
    if "plan" in planned:
        program = [
            sys.executable,
            "workflow_scripts/plan.py",
            *configuration.choice.arguments,
        ]
        others = [target for target in planned if target != "plan"]
        sys.exit(subprocess.run([*program, *others]).returncode)
