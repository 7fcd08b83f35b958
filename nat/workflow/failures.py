"""Why jobs failed, and why Snakemake did, for the progress display."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nat.workflow.slurm import how_it_ended

KILLED = "it was killed by a signal, want of memory or a full disk; a training resumes if run again"
NOT_TAKEN = "it was not submitted, since Slurm refused it; run 'nat doctor' to see why"
RECORDS = Path(".snakemake/metadata")  # of Snakemake, how each result was made: JSON


def reasons(said: Mapping[str, Any]) -> list[str]:
    """Say why a job, or a group of them, has failed, by its end in Slurm and the end of its log.

    First what to add to its name, as of `how_it_ended`.
    """
    number, *why = how_it_ended(said.get("rule_msg"), said.get("external_jobid"))
    why += [NOT_TAKEN] if "groupid" in said and not number else []
    logs = [log for log in said.get("log") or said.get("aux_logs", ()) if Path(log).exists()]
    texts = [Path(log).read_text("utf-8", "replace") for log in logs]
    said_by = sorted(zip(logs, texts, strict=True), key=lambda each: not each[1].strip())
    for log, text in said_by[:1]:  # else that of Slurm
        errors = re.findall(r"^(?:error: .*|interrupted)$", text, re.MULTILINE)
        killed = [] if errors or number or "Traceback" in text else [KILLED]
        why += [*(dict.fromkeys(errors) or text.splitlines()[-10:]), *killed, f"log: {log}"]
    return [number, *why]


def damaged_records() -> dict[Path, str]:
    """Records of Snakemake that end it, and the results that they are of.

    It takes one that is empty or cut off for none.
    """
    damaged = {}
    for path in sorted(each for each in RECORDS.rglob("*") if each.is_file()):
        with suppress(json.JSONDecodeError):
            try:
                is_record = isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
            except UnicodeDecodeError:
                is_record = False
            if not is_record:
                # parts of a long name are folders that begin with @
                name = "".join(path.relative_to(RECORDS).parts).replace("@", "")
                damaged[path] = urlsafe_b64decode(name).decode(errors="replace")
    return damaged
