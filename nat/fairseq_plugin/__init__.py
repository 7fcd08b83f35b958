"""Training by fairseq: one task, one model, one criterion, all named `nat`."""

from nat.fairseq_plugin import criterion, model, task

__all__ = ["criterion", "model", "task"]
