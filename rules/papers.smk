# Tables, figures and judged claims: results/{run}/papers/{paper}. `snakemake --report` has them,
# by paper, with the captions of the folder `captions`.


rule table:
    input:
        unpack(reads(reports.Table)),
    output:
        csv=report(
            "results/{run}/papers/{paper}/table_{number}.csv",
            caption="captions/table.rst",
            category="{paper}",
            subcategory="tables",
            labels={"table": "{number}", "run": "{run}"},
        ),
        markdown="results/{run}/papers/{paper}/table_{number}.md",
        latex="results/{run}/papers/{paper}/table_{number}.tex",
    log:
        "results/{run}/logs/papers/{paper}/table_{number}.log",
    group:
        "report"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["report"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.report(reports.Table.of(wildcards)),
        code=lambda wildcards: graph.code_of_report(reports.Table.of(wildcards)),
    message:
        "table {wildcards.number} of {wildcards.paper}"
    shell:
        f"python workflow_scripts/make_table.py {CHOSEN}"
        " --paper {wildcards.paper} --number {wildcards.number} 2> {log}"


rule figure:
    input:
        unpack(reads(reports.Figure)),
    output:
        pdf="results/{run}/papers/{paper}/figure_{number}.pdf",
        png=report(
            "results/{run}/papers/{paper}/figure_{number}.png",
            caption="captions/figure.rst",
            category="{paper}",
            subcategory="figures",
            labels={"figure": "{number}", "run": "{run}"},
        ),
        csv="results/{run}/papers/{paper}/figure_{number}.csv",
    log:
        "results/{run}/logs/papers/{paper}/figure_{number}.log",
    group:
        "report"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["report"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.report(reports.Figure.of(wildcards)),
        code=lambda wildcards: graph.code_of_report(reports.Figure.of(wildcards)),
    message:
        "figure {wildcards.number} of {wildcards.paper}"
    shell:
        f"python workflow_scripts/make_figure.py {CHOSEN}"
        " --paper {wildcards.paper} --number {wildcards.number} 2> {log}"


rule claims:
    input:
        unpack(reads(reports.Claims)),
    output:
        csv=report(
            "results/{run}/papers/{paper}/claims.csv",
            caption="captions/claims.rst",
            category="{paper}",
            subcategory="claims",
            labels={"claims": "judged", "run": "{run}"},
        ),
        markdown="results/{run}/papers/{paper}/claims.md",
    log:
        "results/{run}/logs/papers/{paper}/claims.log",
    group:
        "report"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["report"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.report(reports.Claims.of(wildcards)),
        code=lambda wildcards: graph.code_of_report(reports.Claims.of(wildcards)),
    message:
        "claims of {wildcards.paper}"
    shell:
        f"python workflow_scripts/judge_claims.py {CHOSEN}"
        " --paper {wildcards.paper} 2> {log}"
