# What a run does before its first job, and how many steps that share a job of a cluster run in
# parallel.


resource_scopes:
    steps="local",  # of each job, not of the whole run


# In a job of a cluster Snakemake runs again, without the profile, so the limit is set here.
if workflow.remote_exec:
    workflow.register_resource("steps", AT_ONCE)


onstart:
    # A dry run never comes this far.
    gc.enable()
    mark_failed(workflow)  # also in the Snakemake of a job
    try:
        makes_files = workflow.is_main_process and hold_folder(workflow)
    except UserError as error:
        sys.exit(f"error: {error}")
    if makes_files:
        try:
            if workflow.non_local_exec:
                require_clients()
                settings = workflow.executor_settings
                settings.status_command = status_command(
                    settings.status_command,
                    settings.init_seconds_before_status_checks,
                )
            done = stop_left_behind()
            require_no_survivors()
            require_replaceable(workflow)
        except UserError as error:
            sys.exit(f"error: {error}")
        if done:
            print(done, file=sys.stderr)
        record_from_the_start(workflow)
        if workflow.non_local_exec:
            wiring.tell_jobs()
            # A job requests what its steps need if they run in parallel. Without these two
            # settings they would run one after the other, each in a Snakemake of its own.
            workflow.register_resource("steps", AT_ONCE)
            workflow.executor_plugin.common_settings.pass_group_args = True
            report_failed_submissions(workflow.scheduler._executor)
            Watch().start()
        else:
            # Snakemake starts at most 100 jobs a second. While jobs wait for a core, it asks every
            # second whether it may start more, and once more for each job that has ended: after
            # 80 jobs, this took a fifth of a core from those that compute.
            workflow.scheduler.job_rate_limiter = None
