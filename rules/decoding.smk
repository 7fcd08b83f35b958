# Translations: results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl.
#
# A split is translated in shards that need not run on one machine, and put together in order.


rule translate:
    input:
        unpack(reads(artifacts.Shard)),
    output:
        shard=temp(
            "results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/"
            "shards/{split}.{shard}of{shards}.jsonl"
        ),
    log:
        "results/{run}/logs/translate/{corpus}/{system}/seed{seed}/{decoding}/"
        "{split}.{shard}of{shards}.log",
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system, wildcards.split)
    conda:
        ENVIRONMENT
    threads: configuration.threads
    resources:
        **ASKS["translate"],
    params:
        configuration=lambda wildcards: graph.decoding(
            wildcards.corpus, wildcards.decoding
        ),
    message:
        "translate {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed}, part {wildcards.shard}/{wildcards.shards})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/translate.py {CHOSEN}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --decoding {wildcards.decoding} --split {wildcards.split}"
        " --shard {wildcards.shard} --shards {wildcards.shards} 2> {log}"


rule merge_shards:
    input:
        unpack(reads(artifacts.Translations)),
    output:
        translations="results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
        summary="results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
    log:
        "results/{run}/logs/merge_shards/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system, wildcards.split)
    # A part of what needs it: of a distilled text, or of a score.
    group:
        lambda wildcards: "distil" if wildcards.split == "train" else "score"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["score"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.decoding(
            wildcards.corpus, wildcards.decoding
        ),
    message:
        "merge shards of {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed})"
    shell:
        f"python workflow_scripts/merge_shards.py {CHOSEN}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --decoding {wildcards.decoding} --split {wildcards.split} 2> {log}"
