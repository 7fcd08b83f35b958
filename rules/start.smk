# What a run does before its first job, and in the end. A dry run does neither.


onstart:
    gc.enable()
    try:
        require_no_survivors()
        if workflow.non_local_exec:
            require_clients()
            require_account(cluster.account)
        if done := stop_slurm_jobs(of_slurm=workflow.non_local_exec):
            print(done, file=sys.stderr)
    except UserError as error:
        sys.exit(f"error: {error}")
    if workflow.non_local_exec:
        wiring.tell_jobs()
        watch_the_queue()


# Snakemake has recorded which trainings have ended.
onsuccess:
    forget_ended(configuration.run)


onerror:
    forget_ended(configuration.run)
