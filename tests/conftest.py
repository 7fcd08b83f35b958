"""Fixtures that several test files share: tiny models, tiny batches, objectives."""

import compileall
import gc
import os
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Before anything imports torch; programs that a test starts inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Hundreds of programs are started; none should have to compile what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if TYPE_CHECKING:
    from nat.data.batch import Batch
    from nat.objective.objective import Objective
    from nat.transformer.model import Transformer

VOCABULARY = 29
"""Symbols of the tiny models, the six special ones included."""

ARCHITECTURE = {
    "model_dim": 16,
    "ffn_dim": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "heads": 4,
    "max_positions": 40,
}


LONGEST = [
    *("graph", "changes", "learning", "deploy", "report_graph", "group_jobs", "launch"),
    "known_law",
]
"""Files of tests that take longest, in order."""


def pytest_configure(config: pytest.Config) -> None:
    """Hide GPUs, on which numbers are others, from tests that are not about them."""
    expression = config.option.markexpr
    if not re.search(r"\bgpu\b", expression) or "not gpu" in expression:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile this project, once for all processes; copies of the repository have it compiled."""
    if not hasattr(session.config, "workerinput"):
        for package in ("nat", "workflow_scripts", "snakemake_logger_plugin_nat"):
            compileall.compile_dir(Path(__file__).parents[1] / package, quiet=2, workers=0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: at the end no process has to wait for another."""
    first = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda each: first.get(each.path.stem, len(first)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests were skipped for each reason."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, _, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"{number} skipped: {reason}")


@pytest.fixture(scope="module", autouse=True)
def what_is_there_is_no_garbage() -> None:
    """Each search for garbage leaves out what was there before this file of tests.

    A process with all tests has a million objects, and to look at them all takes a second; in a
    copy of the process, which must copy their memory for it, several.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def yaml_is_parsed_once() -> Iterator[None]:
    """Tests read the files of `config/` thousands of times; parsing takes most of that time."""
    from nat.configuration import yaml_file

    read_value = yaml_file.read_value

    @cache
    def parsed(text: str, origin: str) -> bytes:
        return pickle.dumps(read_value(text, origin))

    def remembered(text: str, origin: str) -> Any:
        return pickle.loads(parsed(text, origin))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_file, "read_value", remembered)
        yield


@pytest.fixture
def make_model() -> Callable[..., "Transformer"]:
    """Build a tiny model in float64 and evaluation mode; keywords change its architecture."""
    import torch

    from nat.transformer.architecture import Architecture
    from nat.transformer.decoder_options import DecoderOptions
    from nat.transformer.latent_options import LatentOptions
    from nat.transformer.model import Transformer

    def make(
        seed: int = 0,
        length: str | None = None,
        dropout: float = 0.0,
        vocabulary_size: int = VOCABULARY,
        dtype: torch.dtype = torch.float64,
        decoder: Mapping[str, Any] | None = None,
        latent: Mapping[str, Any] | None = None,
        source_vocabulary_size: int | None = None,
        **architecture: Any,
    ) -> Transformer:
        torch.manual_seed(seed)
        model = Transformer(
            Architecture(**{**ARCHITECTURE, **architecture}),
            vocabulary_size,
            length,
            dropout,
            DecoderOptions(**(decoder or {})),
            latent=None if latent is None else LatentOptions(**latent),
            source_vocabulary_size=source_vocabulary_size,
        )
        with torch.no_grad():  # so that no bias or normalisation is the identity
            for parameter in model.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        return model.to(dtype).eval()

    return make


@pytest.fixture
def make_texts() -> Callable[[Sequence[tuple[int, int]]], Any]:
    """Draw random sources and targets of the given (source, target) lengths, without specials."""
    import numpy as np

    def make(pairs: Sequence[tuple[int, int]]) -> tuple[list[Any], list[Any]]:
        numbers = np.random.default_rng(4)
        sources, targets = (
            [numbers.integers(6, 29, lengths[side]) for lengths in pairs] for side in (0, 1)
        )
        return sources, targets

    return make


@pytest.fixture
def make_batch() -> Callable[..., "Batch"]:
    """Build a batch of random sentences of the given (source, target) lengths."""
    import numpy as np

    from nat.data.batch import Batch
    from nat.data.vocabulary import SPECIALS

    def make(
        lengths: Sequence[tuple[int, int]] = ((3, 5), (7, 2), (1, 9), (4, 1)),
        seed: int = 0,
        first_id: int = 0,
        vocabulary_size: int = VOCABULARY,
    ) -> Batch:
        numbers = np.random.default_rng(seed)

        def sentence(length: int) -> Any:
            return numbers.integers(len(SPECIALS), vocabulary_size, length)

        return Batch.collate(
            range(first_id, first_id + len(lengths)),
            [sentence(source) for source, _ in lengths],
            [sentence(target) for _, target in lengths],
        )

    return make


@pytest.fixture
def one_sentence() -> Callable[["Batch", int], "Batch"]:
    """Cut one sentence out of a batch, without the padding that the others gave it."""
    from nat.data.batch import Batch
    from nat.data.vocabulary import EOS, PAD

    def cut(batch: Batch, row: int) -> Batch:
        source, target = batch.source[row], batch.target[row]
        source, target = source[source.ne(PAD) & source.ne(EOS)], target[target.ne(PAD)]
        return Batch.collate(batch.ids[row : row + 1].tolist(), [source.numpy()], [target.numpy()])

    return cut


@pytest.fixture
def make_objective() -> Callable[..., "Objective"]:
    """Build an objective from the configuration of its proxy input and target."""
    from nat.configuration.models import Recipe, Training
    from nat.data.candidates import Text
    from nat.objective.objective import Objective
    from nat.registry import Method
    from nat.transformer.model import Transformer

    def make(
        model: Transformer,
        input: str | Mapping[str, Any],
        target: Mapping[str, Any],
        length_loss_weight: float = 0.1,
        seed: int = 3,
        bfloat16: bool = False,
        teacher: Transformer | None = None,
        updates: int = 100,
        text: Any = "raw",
    ) -> Objective:
        training = Training.model_construct(
            input=Method(**({"method": input} if isinstance(input, str) else input)),
            target=Method(**target),
            text=Text.of(text),
            recipe=Recipe.model_construct(length_loss_weight=length_loss_weight),
        )
        return Objective(training, model, seed, bfloat16, teacher, updates).train()

    return make


@pytest.fixture
def make_context() -> Callable[..., Any]:
    """Build the step that a proxy input or target is called with."""
    from nat.objective.context import BatchContext

    def make(
        model: Any,
        batch: "Batch",
        update: int = 0,
        seed: int = 3,
        teacher: Any = None,
        progress: float = 1.0,
    ) -> Any:
        encoded = model.encode(batch.source)
        return BatchContext(model, batch, encoded, seed, update, progress, teacher)

    return make
