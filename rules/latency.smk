# Latencies: results/{run}/latency/{corpus}/{group}/seed{seed}/{setting}.json.
#
# A group is the systems whose latencies a table or figure shows; they are measured by turns in one
# job, and reports of the same paper that show some of them take them from there. A setting is a
# device and a batch: cpu-1, cpu-32, thread-1 (one thread), cores-1 (up to all cores), cuda-1,
# cuda-largest. Where there is no GPU, or its memory is too small, the file says so. No other job of
# this run disturbs a measurement: it takes all cores that Snakemake has, and Slurm gives it a node
# of its own, see `resources` of nat/workflow/cluster.py.


rule measure_latency:
    input:
        unpack(reads(artifacts.Latency)),
    output:
        latency="<run>/latency/{corpus}/{group}/seed{seed}/{setting}.json",
    log:
        "<run>/logs/latency/{corpus}/{group}/seed{seed}/{setting}.log",
    benchmark:
        "<run>/benchmarks/latency/{corpus}/{group}/seed{seed}/{setting}.tsv"
    wildcard_constraints:
        setting=r"cuda-([1-9]\d*|largest)",
    conda:
        ENVIRONMENT
    threads: workflow.cores
    resources:
        **RESOURCES["latency"],
    params:
        **handed("measure_latency", artifacts.Latency),
    message:
        named("measure the latencies of {group} on {corpus} ({setting}, seed {seed})")
    shell:
        FAST


use rule measure_latency as measure_cpu_latency with:
    wildcard_constraints:
        setting=r"(cpu|thread|cores)-[1-9]\d*",
    resources:
        **RESOURCES["cpu_latency"],
