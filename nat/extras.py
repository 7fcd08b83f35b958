"""Packages that only some tasks need: the extras of pyproject.toml."""

from collections.abc import Iterator
from contextlib import contextmanager

from nat.errors import UserError

DISTRIBUTION = "nat-reproduced"
"""Name of this project as a package, since `nat` is another one's."""

EXTRAS = {
    "completion": ("shtab",),
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("safetensors", "transformers"),
    "jieba": ("jieba",),
    "mlflow": ("mlflow",),
    "onnx": ("onnx", "onnxruntime"),
    "report": ("adjustText", "jinja2", "matplotlib", "pandas", "tabulate"),
    "tensorboard": ("tensorboard",),
    "training": ("fairseq", "fairseq_cli", "omegaconf"),
    "wandb": ("wandb",),
    "workflow": (
        *("psutil", "requests", "rich", "sacrebleu", "scipy", "urllib3"),
        *("snakemake", "snakemake_executor_plugin_slurm"),
    ),
}
"""Modules that each extra brings, and this project imports."""


@contextmanager
def extras_named() -> Iterator[None]:
    """Name the extra that brings what cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        extra = next((extra for extra, modules in EXTRAS.items() if missing in modules), None)
        if extra is None:
            raise
        raise UserError(
            f"this needs the package '{missing}', which is not installed; install the extra that "
            f"brings it: pip install '{DISTRIBUTION}[{extra}]'"
        ) from error
