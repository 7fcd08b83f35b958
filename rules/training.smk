# Every training, of teachers and students alike: results/{run}/models/{corpus}/{system}/seed{seed}.
#
# Checkpoints lie in checkpoints/ beside the model and are no output, so that a training that was
# stopped resumes from the last of them when the rule runs again. The few that a recipe keeps for
# others to start from are an output, the folder kept/.


rule train:
    input:
        unpack(reads(artifacts.Model)),
    output:
        model="<run>/models/{corpus}/{system}/seed{seed}/model.pt",
        report="<run>/models/{corpus}/{system}/seed{seed}/training.json",
        curve="<run>/models/{corpus}/{system}/seed{seed}/training.csv",
    log:
        "<run>/logs/train/{corpus}/{system}/seed{seed}.log",
    benchmark:
        "<run>/benchmarks/train/{corpus}/{system}/seed{seed}.tsv"
    wildcard_constraints:
        system=one_of({*configuration.systems} - {*graph.keeping, *graph.imported}),
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system)
    conda:
        ENVIRONMENT
    threads: wiring.threads_of_training
    resources:
        **RESOURCES["train"],
    params:
        **handed("train", artifacts.Model),
    message:
        named("train {system} on {corpus} (seed {seed})")
    shell:
        FAST


if graph.keeping:

    use rule train as train_and_keep with:
        output:
            model="<run>/models/{corpus}/{system}/seed{seed}/model.pt",
            report="<run>/models/{corpus}/{system}/seed{seed}/training.json",
            curve="<run>/models/{corpus}/{system}/seed{seed}/training.csv",
            kept=directory("<run>/models/{corpus}/{system}/seed{seed}/kept"),
        wildcard_constraints:
            system=one_of({*graph.keeping} - {*graph.imported}),


# Models that are taken over from published checkpoints instead of being trained.
if graph.imported:

    use rule train as import_checkpoint with:
        log:
            "<run>/logs/import_checkpoint/{corpus}/{system}/seed{seed}.log",
        benchmark:
            "<run>/benchmarks/import_checkpoint/{corpus}/{system}/seed{seed}.tsv"
        wildcard_constraints:
            system=one_of(graph.imported),
        threads: 1
        resources:
            **RESOURCES["score"],
        params:
            **handed("import_checkpoint", artifacts.Model),
        message:
            named("import {system} on {corpus} (seed {seed})")

    # It runs where Snakemake runs, since the nodes of many clusters have no network.
    rule fetch_checkpoint:
        output:
            checkpoint="results/checkpoints/{address}",
        log:
            "<run>/logs/fetch_checkpoint/{address}.log",
        benchmark:
            "<run>/benchmarks/fetch_checkpoint/{address}.tsv"
        wildcard_constraints:
            address=".+",
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **handed("fetch_checkpoint", artifacts.PublishedCheckpoint),
        message:
            named("fetch {address}")
        shell:
            COMMAND
