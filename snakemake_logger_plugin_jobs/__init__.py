"""The jobs of a run as lines of JSON on standard output: `snakemake -n --logger nat jobs`."""

import json
import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

KEYS = ("rule_name", "wildcards", "input", "output", "benchmark")


class LogHandler(LogHandlerBase):
    """Writes what Snakemake says of each job before it starts, or would start."""

    # the display of the plugin `nat` goes on beside it
    writes_to_stream = writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line for a job."""
        said = vars(record)
        if said.get("event") == LogEvent.JOB_INFO:
            sys.stdout.write(f"{json.dumps({key: said[key] for key in KEYS}, default=dict)}\n")
