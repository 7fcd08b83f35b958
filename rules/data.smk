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
        corpus=one_of(wiring.generated),
    priority: BEFORE_TRAININGS
    group:
        "corpus"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
    params:
        **handed("make_text", artifacts.CorpusStep, step="text"),
    message:
        named("generate {corpus}")
    shell:
        COMMAND


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
        corpus=one_of(wiring.fetched),
    priority: BEFORE_TRAININGS
    # It runs where Snakemake runs, since the nodes of many clusters have no network.
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **handed("make_text", artifacts.CorpusStep, step="text"),
    message:
        named("fetch {corpus}")
    shell:
        COMMAND


use rule generate_text as generate_test_text with:
    output:
        text=directory("results/corpora/{corpus}/tests/{split}/text"),
        references=directory("results/corpora/{corpus}/tests/{split}/references"),
    log:
        "results/corpora/{corpus}/tests/{split}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/tests/{split}/benchmarks/text.tsv"
    priority: 0
    group:
        "test_set"
    message:
        named("generate {split} of {corpus}")


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
        named("fetch {split} of {corpus}")


use rule fetch_text as fetch_references with:
    input:
        unpack(reads(artifacts.CorpusStep, step="references")),
    output:
        references=directory("results/corpora/{corpus}/references"),
    log:
        "results/corpora/{corpus}/logs/references.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/references.tsv"
    priority: 0
    localrule: True
    params:
        **handed("make_references", artifacts.CorpusStep, step="references"),
    message:
        named("fetch references of {corpus}")


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
    message:
        named("fetch references of {corpus}, {split}")


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
        "test_set"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
    params:
        **handed("prepare_test_set", artifacts.CorpusStep, step="binarised"),
    message:
        named("prepare {split} of {corpus}")
    shell:
        COMMAND


use rule fetch_text as fetch_monolingual with:
    input:
        unpack(reads(artifacts.CorpusStep, step="text", split="monolingual")),
    output:
        text=directory("results/corpora/{corpus}/monolingual/text"),
    log:
        "results/corpora/{corpus}/monolingual/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/monolingual/benchmarks/text.tsv"
    wildcard_constraints:
        corpus=one_of([*wiring.generated, *wiring.fetched]),
    localrule: True  # is not inherited
    params:
        **handed("make_text", artifacts.CorpusStep, step="text", split="monolingual"),
    message:
        named("get monolingual text of {corpus}")


rule clean:
    input:
        unpack(reads(artifacts.CorpusStep, step="clean")),
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
    threads: wiring.threads_of_text
    resources:
        **RESOURCES["prepare"],
    params:
        **handed("clean", artifacts.CorpusStep, step="clean"),
    message:
        named("clean {corpus}")
    shell:
        COMMAND


use rule clean as tokenise with:
    input:
        unpack(reads(artifacts.CorpusStep, step="tokens")),
    output:
        tokens=directory("results/corpora/{corpus}/tokens"),
    log:
        "results/corpora/{corpus}/logs/tokenise.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/tokenise.tsv"
    params:
        **handed("tokenise", artifacts.CorpusStep, step="tokens"),
    message:
        named("tokenise {corpus}")


use rule clean as apply_bpe with:
    input:
        unpack(reads(artifacts.CorpusStep, step="bpe")),
    output:
        bpe=directory("results/corpora/{corpus}/bpe"),
    log:
        "results/corpora/{corpus}/logs/bpe.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/bpe.tsv"
    params:
        **handed("apply_bpe", artifacts.CorpusStep, step="bpe"),
    message:
        named("learn and apply BPE of {corpus}")


use rule clean as binarise with:
    input:
        unpack(reads(artifacts.CorpusStep, step="binarised")),
    output:
        binarised=directory("results/corpora/{corpus}/binarised"),
    log:
        "results/corpora/{corpus}/logs/binarise.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/binarise.tsv"
    threads: 1
    params:
        **handed("binarise", artifacts.CorpusStep, step="binarised"),
    message:
        named("binarise {corpus}")


use rule clean as prepare_monolingual with:
    input:
        unpack(reads(artifacts.CorpusStep, step="binarised", split="monolingual")),
    output:
        binarised=directory("results/corpora/{corpus}/monolingual/binarised"),
    log:
        "results/corpora/{corpus}/monolingual/logs/prepare.log",
    benchmark:
        "results/corpora/{corpus}/monolingual/benchmarks/prepare.tsv"
    # not that of the training text, whose five steps share the minutes of a Slurm job
    group:
        "monolingual_text"
    params:
        **handed(
            "prepare_monolingual",
            artifacts.CorpusStep,
            step="binarised",
            split="monolingual",
        ),
    message:
        named("prepare monolingual text of {corpus}")


use rule prepare_test_set as summarise_corpus with:
    input:
        unpack(reads(artifacts.CorpusStep, step="corpus.json")),
    output:
        summary="results/corpora/{corpus}/corpus.json",
    log:
        "results/corpora/{corpus}/logs/summary.log",
    benchmark:
        "results/corpora/{corpus}/benchmarks/summary.tsv"
    group:
        "summary"
    params:
        **handed("summarise_corpus", artifacts.CorpusStep, step="corpus.json"),
    message:
        named("summarise {corpus}")
