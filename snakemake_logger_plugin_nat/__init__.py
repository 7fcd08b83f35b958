"""The name by which Snakemake finds its logger plugin `nat`."""

from nat.workflow_log import Screen as LogHandler

__all__ = ["LogHandler"]
