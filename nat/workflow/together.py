"""Which decodings of a model one job translates a split with.

The outputs of a rule of Snakemake are fixed, but papers ask for different decodings of different
systems. So each system and split for which several decodings are asked for has a rule of its own.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nat.artifacts import Score, is_sharded
from nat.configuration import Configuration

RULE = "translate_and_score"
"""The rule that translates by one decoding; names of rules for several decodings begin with it."""


@dataclass(frozen=True)
class Together:
    """Decodings of a system on a split that the same papers ask for with the same seeds.

    Attributes:
        decodings: several, in the order of their names.
        consulted: names of the other models that each of them consults, in order, and `tuned` if
            each of them has options that are tuned.
    """

    corpus: str
    system: str
    split: str
    papers: tuple[str, ...]
    seeds: tuple[int, ...]
    decodings: tuple[str, ...]
    consulted: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The name of its rule."""
        names = self.corpus, self.system, self.split, *self.papers, *map(str, self.seeds)
        return "_".join([RULE, *names, *self.consulted])

    @property
    def place(self) -> str:
        """Path of its log below that of the rule; other papers may ask for other decodings."""
        file = ".".join([self.split, *self.papers, *self.consulted])
        return f"{self.corpus}/{self.system}/seed{{seed}}/{file}"

    def outputs(self, run: str) -> list[str]:
        """Paths of what its job makes, with a wildcard for the seed.

        The other names stand in the paths: with wildcards in their places, Snakemake would try
        every such rule for every file.
        """
        names: Any = {"run": run, "corpus": self.corpus, "system": self.system, "seed": "{seed}"}
        found = []
        for decoding in self.decodings:
            score = Score(**names, decoding=decoding, split=self.split)
            translations = score.translations
            found += [translations.path, translations.summary, score.path, score.statistics.path]
        return found

    def scores(self, run: str, seed: int) -> list[Score]:
        """The scores that its job makes for one of the seeds."""
        names = run, self.corpus, self.system, seed
        return [Score(*names, decoding, self.split) for decoding in self.decodings]


def rule_kind(rule: str) -> str:
    """The name of a rule; `RULE` stands for those that translate by several decodings, too."""
    return RULE if rule.startswith(f"{RULE}_") else rule


_Alike = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
"""Corpus, system and split of decodings, the papers that ask for them, and whom they consult."""


def together(
    configuration: Configuration, asked: Mapping[Score, Collection[str]]
) -> list[Together]:
    """The jobs that make scores, where several are of one model and split, for the same papers.

    A run of one paper thus translates and scores nothing that only other papers show. Decodings
    that consult another model share a job with those that consult the same one, and decodings that
    are tuned share one with each other: a run that asks for other decodings need not train that
    model, or tune anything.

    Args:
        configuration: of the run.
        asked: scores, and the papers that each is for.
    """
    decodings: dict[_Alike, dict[int, set[str]]] = {}
    for score, papers in asked.items():
        there = configuration.on(score.corpus)
        if not is_sharded(configuration, score.split):
            consulted = _consulted(there, score.decoding)
            alike = score.corpus, score.system, score.split, tuple(sorted(papers)), consulted
            decodings.setdefault(alike, {}).setdefault(score.seed, set()).add(score.decoding)
    found = []
    for (corpus, system, split, whose, others), by_seed in sorted(decodings.items()):
        seeds: dict[tuple[str, ...], list[int]] = {}
        for seed, names in sorted(by_seed.items()):
            if len(names) > 1:
                seeds.setdefault(tuple(sorted(names)), []).append(seed)
        found += [
            Together(corpus, system, split, whose, tuple(numbers), names, others)
            for names, numbers in seeds.items()
        ]
    return found


def _consulted(configuration: Configuration, decoding: str) -> tuple[str, ...]:
    """Names of the models that a decoding consults besides the one that translates, see above."""
    assistant, ngrams = configuration.assistant(decoding), configuration.language_model(decoding)
    of_ngrams = (
        [] if ngrams is None else [f"{ngrams.system}.{ngrams.decoding}-{ngrams.order}-grams"]
    )
    tuned = ["tuned"] if configuration.is_tuned(decoding) else []
    return (*([] if assistant is None else [assistant]), *of_ngrams, *tuned)
