"""Explanations for requested targets and paths that no rule makes."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping

from nat.configuration import Configuration
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.measures.latency_setting import parse_setting
from nat.options import hint
from nat.papers.relation import latency

NUMBER = r"0|[1-9]\d*"
"""A wildcard constraint: a number without leading zeros, so that no result has two paths."""

_WILDCARD = re.compile(r"\{(\w+)[^{}]*\}")  # with its constraint, if it has one


def why_no_rule(
    configuration: Configuration, name: str, targets: Iterable[str], outputs: Collection[str]
) -> str:
    """One sentence about a target or path: a name that does not exist, or the nearest that does.

    Args:
        configuration: of the run.
        name: requested, but neither a target nor the output of a rule.
        targets: that there are.
        outputs: of the rules, with wildcards in braces.
    """
    if "/" not in name:
        return f"there is no target '{name}'; {hint(name, targets)}"
    for pattern in outputs:
        names = names_in(name, pattern)
        if names is not None:
            try:
                _check(configuration, name, names)
            except UserError as error:
                return str(error)
    parts = name.split("/")
    alike = [pattern.split("/") for pattern in outputs if pattern.count("/") + 1 == len(parts)]
    filled = {
        "/".join(own if "{" in part else part for own, part in zip(parts, each, strict=True))
        for each in alike
    }
    near = difflib.get_close_matches(name, filled - {name}, 1)
    if near:
        return f"no rule makes {name}; did you mean {near[0]}?"
    return f"no rule makes {name}; docs/results.md lists what can be asked for"


def names_in(path: str, pattern: str) -> Mapping[str, str] | None:
    """What stands in a path for the wildcards of a pattern, whatever these allow."""
    *parts, end = _WILDCARD.split(pattern)  # text and names by turns
    seen = set[str]()
    expression = ""
    for text, name in zip(parts[::2], parts[1::2], strict=True):
        expression += re.escape(text)
        expression += f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+)"
        seen.add(name)
    found = re.fullmatch(expression + re.escape(end), path)
    return None if found is None else found.groupdict()


def _check(configuration: Configuration, path: str, names: Mapping[str, str]) -> None:
    """Refuse the first name that does not exist.

    Raises:
        UserError: with the nearest one.
    """
    if "run" in names and names["run"] != configuration.run:
        raise UserError(_of_another_run(configuration, path, names["run"]))
    checks = {
        "corpus": configuration.corpus,
        "system": configuration.system,
        "other": configuration.system,
        "decoding": configuration.decoding,
        "paper": configuration.paper,
        "setting": parse_setting,
    }
    for wildcard, check in checks.items():
        if wildcard in names:
            check(names[wildcard])
    if "seed" in names and not re.fullmatch(NUMBER, names["seed"]):
        raise UserError(f"unknown seed '{names['seed']}' in {path}; give a number such as 1")
    of_latency = ("corpus", "group", "seed", "setting")
    if names.keys() >= set(of_latency):
        corpus, group, seed, setting = (names[each] for each in of_latency)
        latency(configuration, corpus, group, int(seed), setting)
    known = {"analysis": ANALYSES, "split": list(configuration.shards)}
    for wildcard, allowed in known.items():
        if wildcard in names and names[wildcard] not in allowed:
            name = names[wildcard]
            raise UserError(f"unknown {wildcard} '{name}' in {path}; {hint(name, allowed)}")


def _of_another_run(configuration: Configuration, path: str, run: str) -> str:
    scale, _, name = run.partition("@")
    scales = configuration.files["scales"]
    if scale not in scales:
        return f"unknown scale '{scale}' in {path}; {hint(scale, scales)}"
    chosen = f"scale={scale}" + (f" name={name} override=..." if name else "")
    return (
        f"{path} is a result of '--config {chosen}', but this run is of results/{configuration.run}"
    )
