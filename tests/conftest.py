"""What all tests have in common."""

import compileall
import gc
import importlib.util
import os
import pickle
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Before anything imports torch; programs that a test starts inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Hundreds of programs are started; none should have to compile what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if importlib.util.find_spec("ctranslate2") is None:  # others skip what needs it
    of_engine = ["decoding/test_ctranslate2_beam", "decoding/test_encoder_only"]
    of_engine += ["export/test_ctranslate2_export", "measures/test_latency"]
    collect_ignore = [f"{each}.py" for each in of_engine]

LONGEST = ["graph", "changes", "report_graph", "launch", "known_law"]
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
    from nat.configuration import files

    read_value = files.read_value

    @cache
    def parsed(text: str, origin: str) -> bytes:
        return pickle.dumps(read_value(text, origin))

    def remembered(text: str, origin: str) -> Any:
        return pickle.loads(parsed(text, origin))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "read_value", remembered)
        yield
