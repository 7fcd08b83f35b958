# Checks that the files of results are still as they were written.


rule verify:
    """every result compared with its checksum, and how what is damaged is made again"""
    log:
        "results/logs/verify.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        "python workflow_scripts/verify_results.py 2> {log}"
