# Translations: results/outputs/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl.
#
# A split is translated in shards that need not run on one machine, and put together in order.


rule translate:
    input:
        corpus="results/corpora/{corpus}/binarised",
        model=decoded_model,
        partner=partner_model,
        language_model=language_model,
    output:
        shard=temp(
            "results/outputs/{corpus}/{system}/seed{seed}/{decoding}/"
            "shards/{split}.{shard}of{shards}.jsonl"
        ),
    log:
        "results/logs/translate/{corpus}/{system}/seed{seed}/{decoding}/"
        "{split}.{shard}of{shards}.log",
    priority: lambda wildcards: generations(wildcards.system) if wildcards.split == "train" else 0
    conda:
        ENVIRONMENT
    threads: configuration.threads
    resources:
        **ASKS["translate"],
    params:
        configuration=lambda wildcards: fingerprint(
            configuration.decoding(wildcards.decoding)
        ),
    message:
        "translate {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed}, part {wildcards.shard}/{wildcards.shards})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/translate.py --scale {configuration.scale}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --decoding {wildcards.decoding} --split {wildcards.split}"
        " --shard {wildcards.shard} --shards {wildcards.shards} --output {output.shard} 2> {log}"


rule gather:
    input:
        # The shards are gone afterwards, so what they were made of stands here too.
        corpus="results/corpora/{corpus}/binarised",
        model=decoded_model,
        partner=partner_model,
        language_model=language_model,
        shards=shards,
    output:
        translations="results/outputs/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
        summary="results/outputs/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
    log:
        "results/logs/gather/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    priority: lambda wildcards: generations(wildcards.system) if wildcards.split == "train" else 0
    # A part of what needs it: of a distilled text, or of a score.
    group:
        lambda wildcards: "distil" if wildcards.split == "train" else "score"
    conda:
        ENVIRONMENT
    resources:
        **ASKS["score"],
        steps=1,
    params:
        configuration=lambda wildcards: fingerprint(
            configuration.decoding(wildcards.decoding)
        ),
    message:
        "gather {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/gather.py --corpus {wildcards.corpus} --split {wildcards.split}"
        " --shards {input.shards} --output {output.translations} 2> {log}"
