"""Training by fairseq: one task, one model, one criterion, all named `nat`; and translation."""

from nat.fairseq_plugin import criterion, model, task, translation

__all__ = ["criterion", "model", "task", "translation"]
