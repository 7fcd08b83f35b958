# What a run does before its first job, and steps that share a job of a cluster.


resource_scopes:
    steps="local",  # of each job, not of the whole run


# In a job: Snakemake runs there again, and does not read the profile.
if workflow.remote_exec:
    workflow.register_resource("steps", AT_ONCE)


onstart:
    # Snakemake holds the lock of this folder here, and dry runs do not come this far.
    gc.enable()
    if workflow.is_main_process:
        try:
            if workflow.non_local_exec:
                require_clients()
                settings = workflow.executor_settings
                settings.status_command = status_command(
                    settings.status_command,
                    settings.init_seconds_before_status_checks,
                )
            done = stop_left_behind()
        except UserError as error:
            sys.exit(f"error: {error}")
        if done:
            print(done, file=sys.stderr)
        if workflow.non_local_exec:
            # The steps of a job are requested as if they ran in parallel. Without these two, they
            # run one after the other there, each in a Snakemake of its own.
            workflow.register_resource("steps", AT_ONCE)
            workflow.executor_plugin.common_settings.pass_group_args = True
            report_failed_submissions(workflow.scheduler._executor)
            Watch().start()
        else:
            # Snakemake starts at most 100 jobs a second. While jobs wait for a core, it asks every
            # second whether it may start more, and once more for each job that has ended: after
            # 80 jobs, this took a fifth of a core from those that compute.
            workflow.scheduler.job_rate_limiter = None


# What `all` takes, before anyone submits it. By hand, for other targets: workflow_scripts/plan.py.
rule plan:
    """jobs, hours and disk that all of it takes; nothing is run"""
    log:
        f"results/{configuration.run}/logs/plan.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        f"python workflow_scripts/plan.py {CHOSEN}" " 2> {log}"
