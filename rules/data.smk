# From text to numbers. What trainings read is in the folders of results/corpora/{corpus}, and a
# test set, after the same steps, in those of its folder tests/{split}: so trainings do not depend
# on test sets, and one more test set makes none of them run again.
#
# All steps after the text share one fingerprint, that of the whole `preprocessing`.


rule generate_text:
    output:
        text=directory("results/corpora/{corpus}/text"),
        references=directory("results/corpora/{corpus}/references"),
    log:
        "results/corpora/{corpus}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/text.tsv"
    wildcard_constraints:
        corpus=one_of(GENERATED),
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.origin_of_text(
            wildcards.corpus, wildcards.get("split")
        ),
        test=of_test_set,
    message:
        "generate {wildcards.corpus}"
    shell:
        "python workflow_scripts/make_text.py --corpus {wildcards.corpus}{params.test}"
        " --output {output.text} 2> {log}"


rule fetch_text:
    input:
        unpack(reads(artifacts.CorpusStep, step="text")),
    output:
        text=directory("results/corpora/{corpus}/text"),
    log:
        "results/corpora/{corpus}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/text.tsv"
    wildcard_constraints:
        corpus=one_of(FETCHED),
    priority: BEFORE_TRAININGS
    # It runs where Snakemake runs, since the nodes of many clusters have no network.
    localrule: True
    conda:
        ENVIRONMENT
    params:
        configuration=lambda wildcards: graph.origin_of_text(
            wildcards.corpus, wildcards.get("split")
        ),
        test=of_test_set,
    message:
        "fetch {wildcards.corpus}"
    shell:
        "python workflow_scripts/make_text.py --corpus {wildcards.corpus}{params.test}"
        " --output {output.text} 2> {log}"


use rule generate_text as generate_test_text with:
    output:
        text=directory("results/corpora/{corpus}/tests/{split}/text"),
        references=directory("results/corpora/{corpus}/tests/{split}/references"),
    log:
        "results/corpora/{corpus}/tests/{split}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/tests/{split}/benchmarks/text.tsv"
    priority: 0
    message:
        "generate {wildcards.split} of {wildcards.corpus}"


use rule fetch_text as fetch_test_text with:
    input:
        unpack(reads(artifacts.CorpusStep, step="text")),
    output:
        text=directory("results/corpora/{corpus}/tests/{split}/text"),
    log:
        "results/corpora/{corpus}/tests/{split}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/tests/{split}/benchmarks/text.tsv"
    priority: 0
    localrule: True  # is not inherited
    message:
        "fetch {wildcards.split} of {wildcards.corpus}"


rule fetch_references:
    input:
        unpack(reads(artifacts.CorpusStep, step="references")),
    output:
        references=directory("results/corpora/{corpus}/references"),
    log:
        "results/corpora/{corpus}/logs/references.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/references.tsv"
    wildcard_constraints:
        corpus=one_of(FETCHED),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        configuration=lambda wildcards: graph.origin_of_references(
            wildcards.corpus, graph.splits_with_references(wildcards.corpus)
        ),
        splits=lambda wildcards: graph.splits_with_references(wildcards.corpus),
        text="results/corpora/{corpus}/text",
    message:
        "fetch references of {wildcards.corpus}"
    shell:
        "python workflow_scripts/make_references.py --corpus {wildcards.corpus}"
        " --splits {params.splits} --text {params.text} --output {output.references} 2> {log}"


use rule fetch_references as fetch_test_references with:
    input:
        unpack(reads(artifacts.CorpusStep, step="references")),
    output:
        references=directory("results/corpora/{corpus}/tests/{split}/references"),
    log:
        "results/corpora/{corpus}/tests/{split}/logs/references.log",
    benchmark:
        "results/corpora/{corpus}/tests/{split}/benchmarks/references.tsv"
    localrule: True  # is not inherited
    params:
        configuration=lambda wildcards: graph.origin_of_references(
            wildcards.corpus, [wildcards.split]
        ),
        splits="{split}",
        text="results/corpora/{corpus}/tests/{split}/text",
    message:
        "fetch references of {wildcards.corpus}, {wildcards.split}"


rule prepare_test_set:
    input:
        unpack(reads(artifacts.CorpusStep, step="binarised")),
    output:
        clean=directory("results/corpora/{corpus}/tests/{split}/clean"),
        tokens=directory("results/corpora/{corpus}/tests/{split}/tokens"),
        bpe=directory("results/corpora/{corpus}/tests/{split}/bpe"),
        binarised=directory("results/corpora/{corpus}/tests/{split}/binarised"),
    log:
        "results/corpora/{corpus}/tests/{split}/logs/prepare.log",
    benchmark:
        "results/corpora/{corpus}/tests/{split}/benchmarks/prepare.tsv"
    group:
        "corpus"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.preprocessing(wildcards.corpus),
        folder="results/corpora/{corpus}/tests/{split}",
        learned="results/corpora/{corpus}/bpe",
    message:
        "prepare {wildcards.split} of {wildcards.corpus}"
    shell:
        "python workflow_scripts/prepare_test_set.py --corpus {wildcards.corpus}"
        " --split {wildcards.split} --folder {params.folder} --learned {params.learned} 2> {log}"


rule clean:
    input:
        text="results/corpora/{corpus}/text",
    output:
        clean=directory("results/corpora/{corpus}/clean"),
    log:
        "results/corpora/{corpus}/logs/clean.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/clean.tsv"
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    threads: threads_of_text
    resources:
        **RESOURCES["prepare"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.preprocessing(wildcards.corpus),
    message:
        "clean {wildcards.corpus}"
    shell:
        "python workflow_scripts/clean.py --corpus {wildcards.corpus}"
        " --text {input.text} --output {output.clean} --threads {threads} 2> {log}"


rule tokenise:
    input:
        clean="results/corpora/{corpus}/clean",
    output:
        tokens=directory("results/corpora/{corpus}/tokens"),
    log:
        "results/corpora/{corpus}/logs/tokenise.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/tokenise.tsv"
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    threads: threads_of_text
    resources:
        **RESOURCES["prepare"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.preprocessing(wildcards.corpus),
    message:
        "tokenise {wildcards.corpus}"
    shell:
        "python workflow_scripts/tokenise.py --corpus {wildcards.corpus}"
        " --clean {input.clean} --output {output.tokens} --threads {threads} 2> {log}"


rule apply_bpe:
    input:
        tokens="results/corpora/{corpus}/tokens",
        given=lambda wildcards: graph.subwords_given(wildcards.corpus),
    output:
        bpe=directory("results/corpora/{corpus}/bpe"),
    log:
        "results/corpora/{corpus}/logs/bpe.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/bpe.tsv"
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    threads: threads_of_text
    resources:
        **RESOURCES["prepare"],
        steps=1,
    params:
        configuration=lambda wildcards: graph.preprocessing(wildcards.corpus),
    message:
        "learn and apply BPE of {wildcards.corpus}"
    shell:
        "python workflow_scripts/apply_bpe.py --corpus {wildcards.corpus}"
        " --tokens {input.tokens} --output {output.bpe} --threads {threads} 2> {log}"


rule binarise:
    input:
        bpe="results/corpora/{corpus}/bpe",
    output:
        binarised=directory("results/corpora/{corpus}/binarised"),
    log:
        "results/corpora/{corpus}/logs/binarise.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/binarise.tsv"
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
        steps=1,
    message:
        "binarise {wildcards.corpus}"
    shell:
        "python workflow_scripts/binarise.py --corpus {wildcards.corpus}"
        " --bpe {input.bpe} --output {output.binarised} 2> {log}"


rule summarise_corpus:
    input:
        unpack(reads(artifacts.CorpusStep, step="corpus.json")),
    output:
        summary="results/corpora/{corpus}/corpus.json",
    log:
        "results/corpora/{corpus}/logs/summary.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/summary.tsv"
    group:
        "corpus"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
        steps=1,
    message:
        "summarise {wildcards.corpus}"
    shell:
        "python workflow_scripts/summarise_corpus.py --corpus {wildcards.corpus}"
        " --output {output.summary} 2> {log}"
