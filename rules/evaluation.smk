# Scores: results/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json.


rule score:
    input:
        text="results/corpora/{corpus}/text",
        tokens="results/corpora/{corpus}/tokens",
        references=references,
        translations="results/outputs/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl",
    output:
        score="results/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json",
    log:
        "results/logs/score/{corpus}/{system}/seed{seed}/{decoding}/{split}.log",
    conda:
        "../envs/cpu.yaml"
    message:
        "score {wildcards.split} of {wildcards.corpus} with {wildcards.system}, "
        "{wildcards.decoding} (seed {wildcards.seed})"
    shell:
        "python workflow_scripts/score.py --corpus {wildcards.corpus}"
        " --hypotheses {input.translations} --output {output.score} 2> {log}"
