# Scores of translations: results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json,
# and beside each, as {split}.npz, the counts of each sentence that it is computed from. Here are
# those of splits that are translated in shards; see decoding.smk for the others.
#
# Analyses: results/{run}/analyses/{corpus}/{system}/seed{seed}/{analysis}.json, of models.
#
# Conditional total correlation of the raw text, by a parallel system and an autoregressive one:
# results/{run}/total_correlation/{corpus}/{system}/{other}/seed{seed}.json.


rule score:
    input:
        unpack(reads(artifacts.Score)),
    output:
        score="<run>/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
        statistics="<run>/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.npz",
    log:
        "<run>/logs/score/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    benchmark:
        "<run>/benchmarks/score/{corpus}/{system}/seed{seed}/{decoding}/{split}.tsv"
    wildcard_constraints:
        split=one_of(wiring.sharded),
    group:
        "score"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
    params:
        **handed("score", artifacts.Score),
    message:
        named("score {split} of {corpus} with {system}, {decoding} (seed {seed})")
    shell:
        COMMAND


rule analyse:
    input:
        unpack(reads(artifacts.Analysis)),
    output:
        analysis="<run>/analyses/{corpus}/{system}/seed{seed}/{analysis}.json",
    log:
        "<run>/logs/analyse/{corpus}/{system}/seed{seed}/{analysis}.log",
    benchmark:
        "<run>/benchmarks/analyse/{corpus}/{system}/seed{seed}/{analysis}.tsv"
    conda:
        ENVIRONMENT
    threads: configuration.settings.threads
    resources:
        **RESOURCES["translate"],
    params:
        **handed("analyse", artifacts.Analysis),
    message:
        named("analyse {analysis} of {system} on {corpus} (seed {seed})")
    shell:
        FAST


rule estimate_total_correlation:
    input:
        unpack(reads(artifacts.TotalCorrelation)),
    output:
        estimate="<run>/total_correlation/{corpus}/{system}/{other}/seed{seed}.json",
    log:
        "<run>/logs/total_correlation/{corpus}/{system}/{other}/seed{seed}.log",
    benchmark:
        "<run>/benchmarks/total_correlation/{corpus}/{system}/{other}/seed{seed}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
    params:
        **handed("estimate_total_correlation", artifacts.TotalCorrelation),
    message:
        named("total correlation of {corpus} by {system} and {other} (seed {seed})")
    shell:
        COMMAND
