# Translations: results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl,
# and their scores: results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json.
#
# One job translates a split with a model by every decoding that a paper asks for, and scores each.
# The program keeps translations that were made of the same files with the same options in a folder
# that Snakemake does not know, `.{split}.finished`; so where one more decoding is asked for, only
# that one runs. Decodings that consult another model share a job of their own, and a decoding that
# no paper asks for is a job by itself: see nat/workflow/together.py.
#
# The training text and large test sets are translated in shards, whose jobs need not run on one
# machine; then the shards are put together in order.
#
# Options of decodings that are tuned on the validation set:
# results/{run}/tuning/{corpus}/{system}/seed{seed}/{decoding}.json.
#
# The models that CTranslate2 and ONNX Runtime translate with are converted before:
# results/{run}/models/{corpus}/{system}/seed{seed}/{engine}.


rule convert:
    input:
        unpack(reads(artifacts.Converted)),
    output:
        converted=directory("<run>/models/{corpus}/{system}/seed{seed}/{engine}"),
    log:
        "<run>/logs/convert/{corpus}/{system}/seed{seed}/{engine}.log",
    benchmark:
        "<run>/benchmarks/convert/{corpus}/{system}/seed{seed}/{engine}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["convert"],
    params:
        **handed("convert", artifacts.Converted),
    message:
        named("convert {system} on {corpus} for {engine} (seed {seed})")
    shell:
        COMMAND


rule translate_and_score:
    input:
        unpack(reads(artifacts.Score)),
    output:
        translations="<run>/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
        summary="<run>/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
        score="<run>/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
        statistics="<run>/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.npz",
    log:
        "<run>/logs/translate_and_score/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    benchmark:
        "<run>/benchmarks/translate_and_score/{corpus}/{system}/seed{seed}/{decoding}/{split}.tsv"
    wildcard_constraints:
        split=one_of(wiring.whole),
    conda:
        ENVIRONMENT
    threads: configuration.settings.threads
    resources:
        **RESOURCES["translate"],
    params:
        **handed("translate_and_score", artifacts.Score),
    message:
        named("translate {split} of {corpus} with {system}, {decoding} (seed {seed})")
    shell:
        FAST


for several in graph.together:

    rule:
        name:
            several.rule
        input:
            unpack(reads(several)),
        output:
            several.outputs(configuration.run),
        log:
            f"<run>/logs/translate_and_score/{several.place}.log",
        benchmark:
            f"<run>/benchmarks/translate_and_score/{several.place}.tsv"
        wildcard_constraints:
            seed=one_of(map(str, several.seeds)),
        conda:
            ENVIRONMENT
        threads: configuration.settings.threads
        resources:
            **resources(
                configuration,
                cluster,
                "translate",
                in_shards(
                    configuration,
                    several.corpus,
                    several.split,
                    len(several.decodings),
                ),
            ),
        params:
            **handed("translate_and_score", several),
        message:
            f"translate {several.split} of {several.corpus} with {several.system}, "
            f"{len(several.decodings)} decodings (seed {{wildcards.seed}})"
        shell:
            FAST

    workflow.ruleorder(several.rule, "translate_and_score")


rule translate:
    input:
        unpack(reads(artifacts.Shard)),
    output:
        shard=temp(
            "<run>/translations/{corpus}/{system}/seed{seed}/{decoding}/"
            "shards/{split}.{shard}of{shards}.jsonl"
        ),
    log:
        "<run>/logs/translate/{corpus}/{system}/seed{seed}/{decoding}/"
        "{split}.{shard}of{shards}.log",
    benchmark:
        "<run>/benchmarks/translate/{corpus}/{system}/seed{seed}/{decoding}/"
        "{split}.{shard}of{shards}.tsv"
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system, wildcards.split)
    conda:
        ENVIRONMENT
    threads: configuration.settings.threads
    resources:
        **RESOURCES["translate"],
    params:
        **handed("translate", artifacts.Shard),
    message:
        named(
            "translate {split} of {corpus} with {system}, {decoding} "
            "(seed {seed}, part {shard}/{shards})"
        )
    shell:
        FAST


rule merge_shards:
    input:
        unpack(reads(artifacts.Translations)),
    output:
        translations="<run>/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
        summary="<run>/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
    log:
        "<run>/logs/merge_shards/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    benchmark:
        "<run>/benchmarks/merge_shards/{corpus}/{system}/seed{seed}/{decoding}/{split}.tsv"
    wildcard_constraints:
        split=one_of(wiring.sharded),
    priority: lambda wildcards: graph.priority(wildcards.corpus, wildcards.system, wildcards.split)
    # It shares a Slurm job with the step that reads its output: distilling, or scoring.
    group:
        lambda wildcards: {"train": "distil", "monolingual": "monolingual"}.get(
            wildcards.split, "score"
        )
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES["score"],
    params:
        **handed("merge_shards", artifacts.Translations),
    message:
        named("join {split} of {corpus} with {system}, {decoding} (seed {seed})")
    shell:
        COMMAND


use rule translate as tune_decoding with:
    input:
        unpack(reads(artifacts.TunedOptions)),
    output:
        tuned="<run>/tuning/{corpus}/{system}/seed{seed}/{decoding}.json",
    log:
        "<run>/logs/tune_decoding/{corpus}/{system}/seed{seed}/{decoding}.log",
    benchmark:
        "<run>/benchmarks/tune_decoding/{corpus}/{system}/seed{seed}/{decoding}.tsv"
    priority: 0
    params:
        **handed("tune_decoding", artifacts.TunedOptions),
    message:
        named("tune {decoding} of {system} on {corpus} (seed {seed})")


# Traces: what each pass of a decoding did to the first sentences of a split, for the sentence
# browser of the report:
# results/{run}/traces/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl.
use rule translate as trace_decoding with:
    input:
        unpack(reads(artifacts.Trace)),
    output:
        trace="<run>/traces/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
    log:
        "<run>/logs/trace/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    benchmark:
        "<run>/benchmarks/trace/{corpus}/{system}/seed{seed}/{decoding}/{split}.tsv"
    priority: 0
    params:
        **handed("trace_decoding", artifacts.Trace),
    message:
        named("trace {decoding} of {system} on {corpus}, {split} (seed {seed})")
