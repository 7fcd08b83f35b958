"""The name by which Snakemake finds its logger plugin `nat`."""

from nat.workflow.log import Screen as LogHandler

__all__ = ["LogHandler"]
