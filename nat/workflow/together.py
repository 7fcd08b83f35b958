"""Which decodings of a model one job translates a split with.

The outputs of a rule of Snakemake are fixed, but papers ask for different decodings of different
systems. So each system and split for which several decodings are asked for has a rule of its own.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nat.artifacts import Score, is_sharded
from nat.configuration import Configuration

RULE = "translate_and_score"
"""The rule that translates by one decoding; names of rules for several decodings begin with it."""


@dataclass(frozen=True)
class Together:
    """Several decodings of a system on a split that the same papers ask for with the same seeds.

    Each of them consults the models whose names are in `consulted`, and has options that are tuned
    if `tuned` is there.
    """

    corpus: str
    system: str
    split: str
    papers: tuple[str, ...]
    consulted: tuple[str, ...]
    decodings: tuple[str, ...]
    seeds: tuple[int, ...]

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

    def scores(self, run: str, seed: Any) -> list[Score]:
        """The scores that its job makes for one of the seeds."""
        names = run, self.corpus, self.system, seed
        return [Score(*names, decoding, self.split) for decoding in self.decodings]

    def outputs(self, run: str) -> list[str]:
        """Paths of what its job makes, with a wildcard for the seed.

        With wildcards for other names, Snakemake would try every such rule for every file.
        """
        made = []
        for score in self.scores(run, "{seed}"):
            translations = score.translations
            made += [translations.path, translations.summary, score.path, score.statistics.path]
        return made


def rule_kind(rule: str) -> str:
    """The name of a rule; `RULE` stands for those that translate by several decodings, too."""
    return RULE if rule.startswith(f"{RULE}_") else rule


def together(
    configuration: Configuration, asked: Mapping[Score, Collection[str]]
) -> list[Together]:
    """The jobs that make scores, where several are of one model and split, for the same papers.

    A run of one paper thus makes nothing that only other papers show. Decodings that consult
    another model share a job with those that consult the same one, and so do those that are tuned:
    a run that asks for other decodings need not train that model, or tune anything. `asked` has
    the papers that each score is for.
    """
    alike: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for score, papers in asked.items():
        if not is_sharded(configuration, score.split):
            its = configuration.on(score.corpus).decoding_file(score.decoding)
            consulted = [] if its.assistant is None else [its.assistant]
            if (ngrams := its.language_model) is not None:
                consulted.append(f"{ngrams.system}.{ngrams.decoding}-{ngrams.order}-grams")
            consulted += ["tuned"] if its.tuning else []
            names = score.corpus, score.system, score.split, tuple(sorted(papers))
            alike[*names, tuple(consulted), score.seed].add(score.decoding)
    seeds: dict[Any, list[int]] = defaultdict(list)
    for key, decodings in sorted(alike.items()):
        if len(decodings) > 1:
            seeds[*key[:-1], tuple(sorted(decodings))].append(key[-1])
    return [Together(*(*shared, tuple(numbers))) for shared, numbers in seeds.items()]
