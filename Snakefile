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
    corpus=one_of(configuration.corpora),
    system=one_of(configuration.systems),
    decoding=configuration.decoding_pattern,
    paper=one_of(configuration.papers),
    split=one_of(configuration.shards),
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
    input:
        graph.all_reports(),
        graph.site,
    localrule: True


rule report:
    input:
        graph.site,
    localrule: True


rule demo:
    input:
        graph.reports_of("overview"),
    localrule: True


rule texts:
    input:
        or_end(lambda wildcards: graph.texts()),
    localrule: True


rule corpora:
    input:
        or_end(lambda wildcards: graph.corpora()),
    localrule: True


rule teachers:
    input:
        or_end(lambda wildcards: graph.models(of_teachers=True)),
    localrule: True


rule distilled:
    input:
        or_end(lambda wildcards: graph.distilled()),
    localrule: True


rule students:
    input:
        or_end(lambda wildcards: graph.models(of_teachers=False)),
    localrule: True


rule scores:
    input:
        or_end(lambda wildcards: graph.scores()),
    localrule: True


# Only translations that exist already are traced; this target trains and translates nothing.
rule traces:
    input:
        or_end(lambda wildcards: graph.traces()),
    localrule: True


# Each paper, its claims, each table and each figure is a target: dims, dims_claims, dims_figure_3.
for paper in configuration.papers:

    rule:
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


# `snakemake --list-target-rules` shows these lines beside the names of the targets.
for name, line in graph.described().items():
    workflow.get_rule(name).docstring = line


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


# Snakemake does not tell the workflow that it was called with `--unlock`.
if workflow.is_main_process and "--unlock" not in sys.argv:
    try:
        keep_finished_trainings(lambda report: is_current(configuration, report))
        refuse_unknown_results(outputs(workflow, RUN, RUN))
    except UserError as error:
        sys.exit(f"error: {error}")
