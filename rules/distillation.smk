# The training text as a teacher translates it: results/distilled/{corpus}/{system}/seed{seed}.
# How alike several such texts are: results/distilled/{corpus}/similarity/{candidates}/seed{seed}.
# The n-gram language model of such a text: results/ngram/{corpus}/{system}/seed{seed}.


rule distil:
    input:
        corpus="results/corpora/{corpus}/bpe",
        translations=translations_to_distil,
    output:
        text=directory("results/distilled/{corpus}/{system}/seed{seed}/text"),
        binarised=directory("results/distilled/{corpus}/{system}/seed{seed}/binarised"),
        report="results/distilled/{corpus}/{system}/seed{seed}/distillation.json",
    log:
        "results/logs/distil/{corpus}/{system}/seed{seed}.log",
    priority: lambda wildcards: generations(wildcards.system)
    group:
        "distil"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["distil"],
        steps=1,
    message:
        "distil {wildcards.corpus} from {wildcards.system} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/distil.py --corpus {wildcards.corpus}"
        " --translations {input.translations} --output-text {output.text}"
        " --output-binarised {output.binarised} --report {output.report} 2> {log}"


rule compare_texts:
    input:
        texts=texts_to_compare,
    output:
        similarity="results/distilled/{corpus}/similarity/{candidates}/seed{seed}/bleu.npy",
        report="results/distilled/{corpus}/similarity/{candidates}/seed{seed}/similarity.json",
    log:
        "results/logs/compare_texts/{corpus}/{candidates}/seed{seed}.log",
    wildcard_constraints:
        candidates=one_of(comparisons()),
    conda:
        ENVIRONMENT
    threads: threads_of_text
    resources:
        **ASKS["compare"],
    message:
        "compare {wildcards.candidates} of {wildcards.corpus} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/compare_texts.py --corpus {wildcards.corpus}"
        " --names {wildcards.candidates} --texts {input.texts}"
        " --output {output.similarity} --report {output.report} --threads {threads} 2> {log}"


rule estimate_ngrams:
    input:
        text="results/distilled/{corpus}/{system}/seed{seed}/binarised",
    output:
        ngrams="results/ngram/{corpus}/{system}/seed{seed}/order{order}.npz",
        report="results/ngram/{corpus}/{system}/seed{seed}/order{order}.json",
    log:
        "results/logs/estimate_ngrams/{corpus}/{system}/seed{seed}/order{order}.log",
    wildcard_constraints:
        order=r"[1-9]",
    conda:
        ENVIRONMENT
    resources:
        **ASKS["ngrams"],
    message:
        "estimate {wildcards.order}-grams of {wildcards.corpus} as {wildcards.system} writes it "
        "(seed {wildcards.seed})"
    shell:
        "python workflow_scripts/estimate_ngrams.py --corpus {wildcards.corpus}"
        " --text {input.text} --order {wildcards.order} --output {output.ngrams}"
        " --report {output.report} 2> {log}"
