# The training text as a teacher translates it:
# results/{run}/distilled/{corpus}/{system}/seed{seed}/{decoding}.
#
# The same with monolingual sentences and their translations after it, where a system learns from
# them, is the folder `with_monolingual` there.
#
# Pairwise sentence BLEU of several such texts, and beside it, in gamma.json, weights of the texts
# that are tuned on several references:
# results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}.
#
# The n-gram language model of such a text:
# results/{run}/ngram/{corpus}/{system}/seed{seed}/{decoding}.


rule distil:
    input:
        unpack(reads(artifacts.Distilled)),
    output:
        text=directory("<run>/distilled/{corpus}/{system}/seed{seed}/{decoding}/text"),
        binarised=directory(
            "<run>/distilled/{corpus}/{system}/seed{seed}/{decoding}/binarised"
        ),
        report="<run>/distilled/{corpus}/{system}/seed{seed}/{decoding}/distillation.json",
    log:
        "<run>/logs/distil/{corpus}/{system}/seed{seed}/{decoding}.log",
    benchmark:
        "<run>/benchmarks/distil/{corpus}/{system}/seed{seed}/{decoding}.tsv"
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system)
    group:
        "distil"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["distil"],
    params:
        **handed("distil", artifacts.Distilled),
    message:
        named("distil {corpus} from {system} by {decoding} (seed {seed})")
    shell:
        COMMAND


use rule distil as add_monolingual with:
    input:
        unpack(reads(artifacts.WithMonolingual)),
    output:
        directory(
            "<run>/distilled/{corpus}/{system}/seed{seed}/{decoding}/with_monolingual"
        ),
    log:
        "<run>/logs/add_monolingual/{corpus}/{system}/seed{seed}/{decoding}.log",
    benchmark:
        "<run>/benchmarks/add_monolingual/{corpus}/{system}/seed{seed}/{decoding}.tsv"
    group:
        "monolingual"
    params:
        **handed("add_monolingual", artifacts.WithMonolingual),
    message:
        named(
            "add monolingual sentences to {corpus} by {system}, {decoding} (seed {seed})"
        )


rule compare_texts:
    input:
        unpack(reads(artifacts.ComparisonShard)),
    output:
        shard=temp(
            "<run>/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/"
            "shards/{shard}of{shards}.npy"
        ),
    log:
        "<run>/logs/compare_texts/{corpus}/{candidates}/seed{seed}/{shard}of{shards}.log",
    benchmark:
        "<run>/benchmarks/compare_texts/{corpus}/{candidates}/seed{seed}/{shard}of{shards}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["compare"],
    params:
        **handed("compare_texts", artifacts.ComparisonShard),
    message:
        named("compare {candidates} of {corpus} (seed {seed}, part {shard}/{shards})")
    shell:
        COMMAND


use rule compare_texts as merge_comparisons with:
    input:
        unpack(reads(artifacts.Comparison)),
    output:
        pairwise_bleu="<run>/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/bleu.npy",
        report="<run>/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/pairwise_bleu.json",
    log:
        "<run>/logs/merge_comparisons/{corpus}/{candidates}/seed{seed}.log",
    benchmark:
        "<run>/benchmarks/merge_comparisons/{corpus}/{candidates}/seed{seed}.tsv"
    params:
        **handed("merge_comparisons", artifacts.Comparison),
    message:
        named("merge comparisons of {candidates} of {corpus} (seed {seed})")


rule tune_gamma:
    input:
        unpack(reads(artifacts.TunedGamma)),
    output:
        gamma="<run>/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/gamma.json",
    log:
        "<run>/logs/tune_gamma/{corpus}/{candidates}/seed{seed}.log",
    benchmark:
        "<run>/benchmarks/tune_gamma/{corpus}/{candidates}/seed{seed}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
    params:
        **handed("tune_gamma", artifacts.TunedGamma),
    message:
        named("tune the weights of {candidates} on {corpus} (seed {seed})")
    shell:
        COMMAND


rule estimate_ngrams:
    input:
        unpack(reads(artifacts.Ngrams)),
    output:
        ngrams="<run>/ngram/{corpus}/{system}/seed{seed}/{decoding}/order{order}.npz",
        report="<run>/ngram/{corpus}/{system}/seed{seed}/{decoding}/order{order}.json",
    log:
        "<run>/logs/estimate_ngrams/{corpus}/{system}/seed{seed}/{decoding}/order{order}.log",
    benchmark:
        "<run>/benchmarks/estimate_ngrams/{corpus}/{system}/seed{seed}/{decoding}/order{order}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["ngrams"],
    params:
        **handed("estimate_ngrams", artifacts.Ngrams),
    message:
        named("{order}-grams of {corpus} by {system}, {decoding} (seed {seed})")
    shell:
        COMMAND
