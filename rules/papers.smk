# Tables and figures: results/papers/{paper}.


rule table:
    input:
        lambda wildcards: grid.files(
            configuration, wildcards.paper, "table", wildcards.number
        ),
        published=lambda wildcards: published(wildcards.paper),
    output:
        csv="results/papers/{paper}/table_{number}.csv",
        markdown="results/papers/{paper}/table_{number}.md",
        latex="results/papers/{paper}/table_{number}.tex",
    log:
        "results/logs/papers/{paper}/table_{number}.log",
    conda:
        "../envs/cpu.yaml"
    params:
        configuration=lambda wildcards: description(
            wildcards.paper, "table", wildcards.number
        ),
    message:
        "table {wildcards.number} of {wildcards.paper}"
    shell:
        f"python workflow_scripts/make_table.py --scale {configuration.scale}"
        " --paper {wildcards.paper} --table {wildcards.number} --output {output.csv} 2> {log}"


rule figure:
    input:
        lambda wildcards: grid.files(
            configuration, wildcards.paper, "figure", wildcards.number
        ),
        published=lambda wildcards: published(wildcards.paper),
    output:
        pdf="results/papers/{paper}/figure_{number}.pdf",
        png="results/papers/{paper}/figure_{number}.png",
        csv="results/papers/{paper}/figure_{number}.csv",
    log:
        "results/logs/papers/{paper}/figure_{number}.log",
    conda:
        "../envs/cpu.yaml"
    params:
        configuration=lambda wildcards: description(
            wildcards.paper, "figure", wildcards.number
        ),
    message:
        "figure {wildcards.number} of {wildcards.paper}"
    shell:
        f"python workflow_scripts/make_figure.py --scale {configuration.scale}"
        " --paper {wildcards.paper} --figure {wildcards.number} --output {output.pdf} 2> {log}"
