# The whole graph, from text to tables. What is run is configuration: see config/.
#
#   snakemake                             all that is configured, at the scale of config/config.yaml
#   snakemake dims_figure_3               one figure and what it still needs
#   snakemake dims --config scale=small   one paper at another scale
#   snakemake -n                          what would run, and why
from snakemake.utils import min_version

min_version("9.27")


include: "rules/common.smk"


container: IMAGE


wildcard_constraints:
    corpus=one_of(configuration.corpora),
    system=one_of(configuration.systems),
    decoding=configuration.decoding_pattern,
    paper=one_of(configuration.papers),
    split=one_of(configuration.shards),
    number=r"\w+",
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",
    analysis=one_of(ANALYSES),


rule all:
    input:
        reports(),
    localrule: True


rule demo:
    input:
        reports("overview"),
    localrule: True


rule corpora:
    input:
        corpora(),
    localrule: True


rule teachers:
    input:
        models(of_teachers=True),
    localrule: True


rule distilled:
    input:
        distilled(),
    localrule: True


rule students:
    input:
        models(of_teachers=False),
    localrule: True


rule scores:
    input:
        scores(),
    localrule: True


# Each paper, its claims, each table and each figure is a target: dims, dims_claims, dims_figure_3.
for paper in configuration.papers:

    rule:
        name:
            paper
        input:
            reports(paper),
        localrule: True


for target in CELLS:

    rule:
        name:
            reporting.name(target)
        input:
            reporting.path(target),
        localrule: True


include: "rules/data.smk"
include: "rules/training.smk"
include: "rules/distillation.smk"
include: "rules/decoding.smk"
include: "rules/evaluation.smk"
include: "rules/latency.smk"
include: "rules/papers.smk"
include: "rules/slurm.smk"


if workflow.is_main_process:
    try:
        refuse_unknown_results(
            output for rule in workflow.rules for output in rule.output
        )
    except UserError as error:
        sys.exit(f"error: {error}")
