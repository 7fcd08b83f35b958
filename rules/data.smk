# From text to numbers: what trainings read, `train` and `valid`, in results/corpora/{corpus}/train.
# A test set has the same steps in a folder of its own, so that trainings do not depend on test sets
# and one more makes none of them run again. The folder `monolingual` has some of them.
#
# All steps after the text share one fingerprint, that of the whole `preprocessing`.


rule generate_text:
    output:
        text=directory("results/corpora/{corpus}/{split}/text"),
        references=directory("results/corpora/{corpus}/{split}/references"),
    log:
        "results/corpora/{corpus}/{split}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/{split}/benchmarks/text.tsv"
    wildcard_constraints:
        corpus=one_of(wiring.generated),
        split=one_of(["train", *wiring.tests]),
    priority: lambda wildcards: priority_of_text(wildcards.split)
    group:
        lambda wildcards: "corpus" if wildcards.split == "train" else "test_set"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["prepare"],
    params:
        **handed("make_text", artifacts.CorpusStep, step="text"),
    message:
        named("generate {split} of {corpus}")
    shell:
        COMMAND


rule fetch_text:
    input:
        unpack(reads(artifacts.CorpusStep, step="text")),
    output:
        text=directory("results/corpora/{corpus}/{split}/text"),
    log:
        "results/corpora/{corpus}/{split}/logs/text.log",
    benchmark:
        "results/corpora/{corpus}/{split}/benchmarks/text.tsv"
    wildcard_constraints:
        # a generator draws monolingual text without references
        corpus=f"{one_of(wiring.fetched)}|({one_of(wiring.generated)})(?=/monolingual/)",
    priority: lambda wildcards: priority_of_text(wildcards.split)
    # It runs where Snakemake runs, since the nodes of many clusters have no network.
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **handed("make_text", artifacts.CorpusStep, step="text"),
    message:
        named("fetch {split} of {corpus}")
    shell:
        COMMAND


use rule fetch_text as fetch_references with:
    input:
        unpack(reads(artifacts.CorpusStep, step="references")),
    output:
        references=directory("results/corpora/{corpus}/{split}/references"),
    log:
        "results/corpora/{corpus}/{split}/logs/references.log",
    benchmark:
        "results/corpora/{corpus}/{split}/benchmarks/references.tsv"
    priority: 0
    localrule: True
    params:
        **handed("make_references", artifacts.CorpusStep, step="references"),
    message:
        named("fetch references of {corpus}, {split}")


rule prepare_test_set:
    input:
        unpack(reads(artifacts.CorpusStep, step="binarised")),
    output:
        clean=directory("results/corpora/{corpus}/{split}/clean"),
        tokens=directory("results/corpora/{corpus}/{split}/tokens"),
        bpe=directory("results/corpora/{corpus}/{split}/bpe"),
        binarised=directory("results/corpora/{corpus}/{split}/binarised"),
    log:
        "results/corpora/{corpus}/{split}/logs/prepare.log",
    benchmark:
        "results/corpora/{corpus}/{split}/benchmarks/prepare.tsv"
    wildcard_constraints:
        split=one_of(wiring.tests),
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


rule clean:
    input:
        unpack(reads(artifacts.CorpusStep, step="clean")),
    output:
        clean=directory("results/corpora/{corpus}/train/clean"),
    log:
        "results/corpora/{corpus}/train/logs/clean.log",
    benchmark:
        "results/corpora/{corpus}/train/benchmarks/clean.tsv"
    priority: priority_of_text("train")
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
        tokens=directory("results/corpora/{corpus}/train/tokens"),
    log:
        "results/corpora/{corpus}/train/logs/tokenise.log",
    benchmark:
        "results/corpora/{corpus}/train/benchmarks/tokenise.tsv"
    params:
        **handed("tokenise", artifacts.CorpusStep, step="tokens"),
    message:
        named("tokenise {corpus}")


use rule clean as apply_bpe with:
    input:
        unpack(reads(artifacts.CorpusStep, step="bpe")),
    output:
        bpe=directory("results/corpora/{corpus}/train/bpe"),
    log:
        "results/corpora/{corpus}/train/logs/bpe.log",
    benchmark:
        "results/corpora/{corpus}/train/benchmarks/bpe.tsv"
    params:
        **handed("apply_bpe", artifacts.CorpusStep, step="bpe"),
    message:
        named("learn and apply BPE of {corpus}")


use rule clean as binarise with:
    input:
        unpack(reads(artifacts.CorpusStep, step="binarised")),
    output:
        binarised=directory("results/corpora/{corpus}/train/binarised"),
    log:
        "results/corpora/{corpus}/train/logs/binarise.log",
    benchmark:
        "results/corpora/{corpus}/train/benchmarks/binarise.tsv"
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
