# The whole graph, from text to tables. What is run is configuration: see config/.
#
#   snakemake                             all that is configured, at the scale of config/config.yaml
#   snakemake dims_figure_3               one figure and what it still needs
#   snakemake dims --config scale=small   one paper at another scale
#   snakemake -n                          what would run, and why
#   snakemake --list-target-rules         everything that can be asked for by name
from snakemake.utils import min_version

min_version("9.27")


include: "rules/common.smk"


container: IMAGE


# `<run>` in paths is the folder of the run; with a wildcard in its place, Snakemake would try every
# rule for every file
pathvars:
    run=f"results/{configuration.run}",


wildcard_constraints:
    corpus=one_of(configuration.files["corpora"]),
    system=one_of(configuration.systems),
    decoding=decoding_pattern(configuration),
    paper=one_of(configuration.files["papers"]),
    split=one_of(all_splits(configuration)),
    number=r"\w+",
    seed=NUMBER,
    shard=NUMBER,
    shards=NUMBER,
    analysis=one_of(ANALYSES),
    engine=one_of(ENGINES),
    other=one_of(configuration.systems),
    group=one_of(graph.reports),
    setting=r"(cpu|thread|cores)-[1-9]\d*|cuda-([1-9]\d*|largest)",
    candidates=r"[^/]+",
    order=r"[1-9]",


rule all:
    """every table, figure and claim, but those of papers that are apart, and the report"""
    input:
        graph.reports_of(),
        graph.site,
    localrule: True


rule report:
    """pages to look at, of whatever exists; nothing else is made"""
    input:
        graph.site,
    localrule: True


rule demo:
    """the tables and figures of config/papers/overview.yaml"""
    input:
        graph.reports_of("overview"),
    localrule: True


rule texts:
    """every text and its references that come from elsewhere; nothing else needs a network"""
    input:
        or_end(lambda wildcards: graph.texts()),
    localrule: True


rule corpora:
    """every corpus of the scale, prepared"""
    input:
        or_end(lambda wildcards: graph.corpora()),
    localrule: True


rule teachers:
    """every model that others learn from"""
    input:
        or_end(lambda wildcards: graph.models(of_teachers=True)),
    localrule: True


rule distilled:
    """every text made of a teacher's translations"""
    input:
        or_end(lambda wildcards: graph.distilled()),
    localrule: True


rule students:
    """every other model"""
    input:
        or_end(lambda wildcards: graph.models(of_teachers=False)),
    localrule: True


rule scores:
    """every number that a report shows, without the reports"""
    input:
        or_end(lambda wildcards: graph.scores()),
    localrule: True


# Only translations that exist already are traced; this target trains and translates nothing.
rule traces:
    """the steps of decodings that have run, for the sentence browser of the report"""
    input:
        or_end(lambda wildcards: graph.traces()),
    localrule: True


# Each paper, its claims, each table and each figure is a target: dims, dims_claims, dims_figure_3.
for paper in configuration.files["papers"]:

    rule:
        """the tables, figures and claims of a paper"""
        name:
            paper
        input:
            graph.reports_of(paper),
        localrule: True


for name, shown in graph.reports.items():

    rule:
        name:
            name
        input:
            shown.files,
        localrule: True


include: "rules/data.smk"
include: "rules/training.smk"
include: "rules/distillation.smk"
include: "rules/decoding.smk"
include: "rules/evaluation.smk"
include: "rules/latency.smk"
include: "rules/papers.smk"
include: "rules/report.smk"
include: "rules/start.smk"
include: "rules/verify.smk"
include: "rules/reuse.smk"
