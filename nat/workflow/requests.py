"""Explanations for requested targets and paths that no rule makes."""

import difflib
import re
from collections.abc import Collection, Mapping

from nat.configuration import Configuration
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
                _check(configuration, name, match.groupdict())
            except UserError as error:
                return str(error)
        parts = pattern.split("/")
        if len(parts) == len(own):
            both = zip(own, parts, strict=True)
            alike.add("/".join(mine if "{" in part else part for mine, part in both))
    near = difflib.get_close_matches(name, alike - {name}, 1)
    advice = f"did you mean {near[0]}?" if near else "docs/results.md lists what can be asked for"
    return f"no rule makes {name}; {advice}"


def _check(configuration: Configuration, path: str, names: Mapping[str, str]) -> None:
    """Refuse the first name that does not exist, with the nearest one."""
    run = names.get("run", configuration.run)
    scale, _, own = run.partition("@")
    known: dict[str, Collection[str]] = {
        "scale": configuration.files["scales"],
        "analysis": ANALYSES,
        "split": configuration.shards,
    }
    for key, allowed in known.items():
        name = {**names, "scale": scale}.get(key)
        if name is not None and name not in allowed:
            raise UserError(f"unknown {key} '{name}' in {path}; {hint(name, allowed)}")
    if run != configuration.run:
        chosen = f"scale={scale}" + (f" name={own} override=..." if own else "")
        raise UserError(
            f"{path} is a result of '--config {chosen}', but this run is of "
            f"results/{configuration.run}"
        )
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
    if not re.fullmatch(NUMBER, names.get("seed", "1")):
        raise UserError(f"unknown seed '{names['seed']}' in {path}; give a number such as 1")
    if "group" in names:
        seed = int(names["seed"])
        latency(configuration, names["corpus"], names["group"], seed, names["setting"])
