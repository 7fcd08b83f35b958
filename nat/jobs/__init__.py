"""The work of the programs of `workflow_scripts/`, from files to files.

A function that takes jobs raises a `UserError` if a file is missing or damaged, or files do not
belong together; then it has written nothing of the result that failed.
"""
