"""Analyses of made-up models and pairs, in the place of those of a run."""

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from nat.analyses import analysis
from nat.analyses.analysis import Pairs, Subject
from nat.artifacts import Analysis
from nat.data.vocabulary import SPECIALS, Vocabulary
from tests.repository import configured, job
from tests.tiny import VOCABULARY

Analyse = Callable[..., dict[str, Any]]
SYMBOLS = {
    side: Vocabulary(f"{side[0]}{number}" for number in range(VOCABULARY - len(SPECIALS)))
    for side in ("source", "target")
}


@pytest.fixture
def analyse(monkeypatch: pytest.MonkeyPatch) -> Analyse:
    """Run an analysis of a system; the name of the pairs is that of their split."""

    def run(name: str, system: str, pairs: Pairs, scale: str = "demo") -> dict[str, Any]:
        corpus = {"demo": "toy-ka-lu", "micro": "toy-micro"}[scale]
        asked = job(configured(scale), Analysis(scale, corpus, system, 1, name))
        symbols: Any = SimpleNamespace(sizes=None, **SYMBOLS)
        subject = Subject(asked, asked.configuration.systems[system], pairs.model, symbols, [pairs])
        monkeypatch.setattr(analysis, "subject", lambda *_: subject)
        found: dict[str, Any] = importlib.import_module(f"nat.analyses.{name}").analyse(asked)
        return found[pairs.name]

    return run
