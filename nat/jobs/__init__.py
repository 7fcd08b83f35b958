"""The work of the programs of `workflow_scripts/`, from files to files."""
