# Latencies: results/{run}/latency/{corpus}/{system}/seed{seed}/{decoding}/{setting}.json.
#
# A setting is a device and a batch: cpu-1, cpu-32, cuda-1, cuda-largest. Where there is no GPU, or
# its memory is too small, the file says so; remove it to measure again. Nothing else that this
# workflow runs on the machine disturbs the clock: a measurement takes all cores that it was given.
# Slurm gives it a node of its own, see `resources` of nat/workflow/cluster.py.


rule measure_latency:
    input:
        unpack(reads(artifacts.Latency)),
    output:
        latency="results/{run}/latency/{corpus}/{system}/seed{seed}/{decoding}/{setting}.json",
    log:
        "results/{run}/logs/latency/{corpus}/{system}/seed{seed}/{decoding}/{setting}.log",
    wildcard_constraints:
        setting=r"cpu-[1-9]\d*|cuda-([1-9]\d*|largest)",
    conda:
        ENVIRONMENT
    threads: workflow.cores
    resources:
        **ASKS["latency"],
    params:
        configuration=lambda wildcards: graph.latency(
            wildcards.corpus, wildcards.decoding
        ),
    message:
        "measure the latency of {wildcards.system}, {wildcards.decoding}, on {wildcards.corpus} "
        "({wildcards.setting}, seed {wildcards.seed})"
    shell:
        f"{FAST_MEMORY} python workflow_scripts/measure_latency.py {CHOSEN}"
        " --corpus {wildcards.corpus} --system {wildcards.system} --seed {wildcards.seed}"
        " --decoding {wildcards.decoding} --setting {wildcards.setting}"
        " 2> {log}"
