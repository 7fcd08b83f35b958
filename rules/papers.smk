# Tables, figures and judged claims: results/{run}/papers/{paper}. `snakemake --report` shows them,
# by paper, with the captions of the folder `captions`.


rule table:
    input:
        unpack(reads(reports.Report, form="table")),
    output:
        csv=report(
            "<run>/papers/{paper}/table_{number}.csv",
            caption="captions/table.rst",
            category="{paper}",
            subcategory="tables",
            labels={"table": "{number}", "run": configuration.run},
        ),
        markdown="<run>/papers/{paper}/table_{number}.md",
        latex="<run>/papers/{paper}/table_{number}.tex",
    log:
        "<run>/logs/papers/{paper}/table_{number}.log",
    benchmark:
        "<run>/benchmarks/papers/{paper}/table_{number}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["report"],
    params:
        **handed("make_table", reports.Report, form="table"),
    message:
        named("table {number} of {paper}")
    shell:
        COMMAND


use rule table as figure with:
    input:
        unpack(reads(reports.Report, form="figure")),
    output:
        pdf="<run>/papers/{paper}/figure_{number}.pdf",
        png=report(
            "<run>/papers/{paper}/figure_{number}.png",
            caption="captions/figure.rst",
            category="{paper}",
            subcategory="figures",
            labels={"figure": "{number}", "run": configuration.run},
        ),
        csv="<run>/papers/{paper}/figure_{number}.csv",
    log:
        "<run>/logs/papers/{paper}/figure_{number}.log",
    benchmark:
        "<run>/benchmarks/papers/{paper}/figure_{number}.tsv"
    params:
        **handed("make_figure", reports.Report, form="figure"),
    message:
        named("figure {number} of {paper}")


use rule table as claims with:
    input:
        unpack(reads(reports.Report, form="claims")),
    output:
        csv=report(
            "<run>/papers/{paper}/claims.csv",
            caption="captions/claims.rst",
            category="{paper}",
            subcategory="claims",
            labels={"claims": "judged", "run": configuration.run},
        ),
        markdown="<run>/papers/{paper}/claims.md",
    log:
        "<run>/logs/papers/{paper}/claims.log",
    benchmark:
        "<run>/benchmarks/papers/{paper}/claims.tsv"
    params:
        **handed("judge_claims", reports.Report, form="claims"),
    message:
        named("claims of {paper}")
