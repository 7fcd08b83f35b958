"""Explanations for requested targets and paths that no rule makes."""

import difflib
import re
from collections.abc import Collection, Mapping

from nat.configuration import Configuration
from nat.configuration.configuration import all_splits
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.measures.latency_setting import parse_setting
from nat.options import hint
from nat.papers.relation import latency

NUMBER = r"0|[1-9]\d*"
"""A wildcard constraint: a number without leading zeros, so that no result has two paths."""


def why_no_rule(
    configuration: Configuration, name: str, targets: Collection[str], outputs: Collection[str]
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
    own, alike = name.split("/"), set()
    for pattern in outputs:
        *texts, end = re.split(r"\{(\w+)[^{}]*\}", pattern)  # texts and wildcards by turns
        pairs = zip(texts[::2], texts[1::2], strict=True)
        expression = "".join(f"{re.escape(text)}(?P<{key}>[^/]+)" for text, key in pairs)
        if match := re.fullmatch(expression + re.escape(end), name):
            try:
                _check(configuration, match.groupdict())
            except UserError as error:
                return f"no rule makes {name}: {error}"
        parts = pattern.split("/")
        if len(parts) == len(own):
            both = zip(own, parts, strict=True)
            alike.add("/".join(mine if "{" in part else part for mine, part in both))
    near = difflib.get_close_matches(name, alike - {name}, 1)
    advice = f"did you mean {near[0]}?" if near else "docs/results.md lists what can be asked for"
    return f"no rule makes {name}; {advice}"


def _check(configuration: Configuration, names: Mapping[str, str]) -> None:
    """Refuse the first name that does not exist, with the nearest one."""
    scale, _, run = names.get("run", configuration.run).partition("@")
    known: dict[str, Collection[str]] = {
        "scale": configuration.files["scales"],
        "analysis": ANALYSES,
        "split": all_splits(configuration),
    }
    for key, name in {**names, "scale": scale}.items():
        if key in known and name not in known[key]:
            raise UserError(f"unknown {key} '{name}'; {hint(name, known[key])}")
    if names.get("run", configuration.run) != configuration.run:
        chosen = f"scale={scale}" + (f" name={run} override=..." if run else "")
        raise UserError(f"it is a result of '--config {chosen}', not of this run")
    if not re.fullmatch(NUMBER, names.get("seed", "1")):
        raise UserError(f"unknown seed '{names['seed']}'; give a number such as 1")
    checks = {
        "corpus": configuration.corpus,
        "system": configuration.system,
        "other": configuration.system,
        "decoding": configuration.decoding,
        "paper": configuration.paper,
        "setting": parse_setting,
    }
    for key in checks.keys() & names.keys():
        checks[key](names[key])
    if "group" in names:
        place = names["corpus"], names["group"], int(names["seed"]), names["setting"]
        latency(configuration, *place)
