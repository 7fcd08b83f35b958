# Scores: results/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json, of translations, and
# beside each, as {split}.npz, the counts of each sentence that it is computed from.
#
# Analyses: results/analyses/{corpus}/{system}/seed{seed}/{analysis}.json, of models.
#
# Conditional total correlation, results/total_correlation/{corpus}/{system}/{other}/seed{seed}.json,
# of the raw text, by a parallel system and an autoregressive one, as in nat-raw/at-base/seed1.json.


rule score:
    input:
        text="results/corpora/{corpus}/text",
        tokens="results/corpora/{corpus}/tokens",
        references=references,
        translations="results/outputs/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
    output:
        score="results/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
        statistics="results/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.npz",
    log:
        "results/logs/score/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    group:
        "score"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["score"],
        steps=1,
    message:
        "score {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/score.py --corpus {wildcards.corpus}"
        " --hypotheses {input.translations} --output {output.score} 2> {log}"


rule analyse:
    input:
        corpus="results/corpora/{corpus}/binarised",
        model="results/models/{corpus}/{system}/seed{seed}/model.pt",
        others=read_by_analysis,
    output:
        analysis="results/analyses/{corpus}/{system}/seed{seed}/{analysis}.json",
    log:
        "results/logs/analyse/{corpus}/{system}/seed{seed}/{analysis}.log",
    conda:
        ENVIRONMENT
    threads: configuration.threads
    resources:
        **ASKS["translate"],
    message:
        "analyse {wildcards.analysis} of {wildcards.system} on {wildcards.corpus} "
        "(seed {wildcards.seed})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/analyse.py --scale {configuration.scale}"
        " --analysis {wildcards.analysis} --corpus {wildcards.corpus}"
        " --system {wildcards.system} --seed {wildcards.seed} --output {output.analysis} 2> {log}"


rule estimate_total_correlation:
    input:
        parallel="results/analyses/{corpus}/{system}/seed{seed}/likelihood.json",
        autoregressive="results/analyses/{corpus}/{other}/seed{seed}/likelihood.json",
        summary="results/corpora/{corpus}/corpus.json",
    output:
        estimate="results/total_correlation/{corpus}/{system}/{other}/seed{seed}.json",
    log:
        "results/logs/total_correlation/{corpus}/{system}/{other}/seed{seed}.log",
    wildcard_constraints:
        other=one_of(configuration.systems),
    group:
        "score"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["score"],
        steps=1,
    message:
        "estimate the total correlation of {wildcards.corpus} by {wildcards.system} and "
        "{wildcards.other} (seed {wildcards.seed})"
    shell:
        f"python workflow_scripts/estimate_total_correlation.py --scale {configuration.scale}"
        " --corpus {wildcards.corpus} --parallel {input.parallel}"
        " --autoregressive {input.autoregressive} --summary {input.summary}"
        " --output {output.estimate} 2> {log}"
