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
        split=one_of(SHARDED),
    group:
        "score"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
        steps=1,
    message:
        "score {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed})"
    shell:
        f"python workflow_scripts/score.py {CONFIGURATION_ARGUMENTS}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --decoding {wildcards.decoding} --split {wildcards.split} 2> {log}"


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
    threads: configuration.threads
    resources:
        **RESOURCES["translate"],
    params:
        configuration=lambda wildcards: graph.analysis(
            wildcards.corpus, wildcards.system, wildcards.analysis
        ),
    message:
        "analyse {wildcards.analysis} of {wildcards.system} on {wildcards.corpus} "
        "(seed {wildcards.seed})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/analyse.py {CONFIGURATION_ARGUMENTS}"
        " --analysis {wildcards.analysis} --corpus {wildcards.corpus}"
        " --system {wildcards.system} --seed {wildcards.seed} 2> {log}"


rule estimate_total_correlation:
    input:
        unpack(reads(artifacts.TotalCorrelation)),
    output:
        estimate="<run>/total_correlation/{corpus}/{system}/{other}/seed{seed}.json",
    log:
        "<run>/logs/total_correlation/{corpus}/{system}/{other}/seed{seed}.log",
    benchmark:
        "<run>/benchmarks/total_correlation/{corpus}/{system}/{other}/seed{seed}.tsv"
    wildcard_constraints:
        other=one_of(configuration.systems),
    group:
        "score"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
        steps=1,
    message:
        "estimate the total correlation of {wildcards.corpus} by {wildcards.system} and "
        "{wildcards.other} (seed {wildcards.seed})"
    shell:
        f"python workflow_scripts/estimate_total_correlation.py {CONFIGURATION_ARGUMENTS}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --other {wildcards.other}"
        " --seed {wildcards.seed} 2> {log}"
