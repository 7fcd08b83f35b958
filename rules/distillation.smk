# The training text as a teacher translates it: results/distilled/{corpus}/{system}/seed{seed}.


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
    conda:
        "../envs/cpu.yaml"
    message:
        "distil {wildcards.corpus} from {wildcards.system} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/distil.py --corpus {wildcards.corpus}"
        " --translations {input.translations} --output-text {output.text}"
        " --output-binarised {output.binarised} --report {output.report} 2> {log}"
