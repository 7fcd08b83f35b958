# Every training, of teachers and students alike: results/models/{corpus}/{system}/seed{seed}.
#
# Checkpoints lie in checkpoints/ beside the model and are no output, so that a training that was
# stopped goes on from the last of them when the rule runs again. The few that a recipe keeps for
# others to start from are an output, the folder kept/.


rule train:
    input:
        corpus="results/corpora/{corpus}/binarised",
        distilled=lambda wildcards: distilled_texts(wildcards.corpus, wildcards.system),
        start=start_model,
        teacher=teacher_model,
    output:
        model="results/models/{corpus}/{system}/seed{seed}/model.pt",
        report="results/models/{corpus}/{system}/seed{seed}/training.json",
        curve="results/models/{corpus}/{system}/seed{seed}/training.csv",
    log:
        "results/logs/train/{corpus}/{system}/seed{seed}.log",
    wildcard_constraints:
        system=one_of(set(configuration.systems) - set(KEEPING)),
    priority: lambda wildcards: generations(wildcards.system)
    conda:
        ENVIRONMENT
    threads: configuration.threads
    resources:
        **ASKS["train"],
    params:
        configuration=lambda wildcards: fingerprint(
            training_of(wildcards.corpus, wildcards.system)
        ),
    message:
        "train {wildcards.system} on {wildcards.corpus} (seed {wildcards.seed})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/train.py --scale {configuration.scale}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --output {output.model} 2> {log}"


if KEEPING:

    use rule train as train_and_keep with:
        output:
            model="results/models/{corpus}/{system}/seed{seed}/model.pt",
            report="results/models/{corpus}/{system}/seed{seed}/training.json",
            curve="results/models/{corpus}/{system}/seed{seed}/training.csv",
            kept=directory("results/models/{corpus}/{system}/seed{seed}/kept"),
        wildcard_constraints:
            system=one_of(KEEPING),
