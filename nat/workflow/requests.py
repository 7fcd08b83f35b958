"""Explanations for requested paths that no rule makes."""

import difflib
import re
from collections.abc import Iterable, Mapping

from snakemake.io import regex_from_filepattern, strip_wildcard_constraints

from nat.configuration import Configuration
from nat.errors import UserError
from nat.measures.latency_setting import parse_setting
from nat.reporting import timing
from nat.reporting.cells import ANALYSES
from nat.spelling import hint


def why_no_rule(configuration: Configuration, path: str, outputs: Iterable[str]) -> str:
    """One sentence about a path: the first name in it that does not exist, and the nearest one.

    Args:
        configuration: of the run.
        path: requested, but not the output of a rule.
        outputs: of the rules, with wildcards in braces.
    """
    patterns = list(dict.fromkeys(outputs))
    for pattern in patterns:
        names = _names(path, pattern)
        if names is not None:
            try:
                _check(configuration, path, names)
            except UserError as error:
                return str(error)
    # what differs only in a name that a wildcard does not allow would be the path itself
    named = {_with_names(path, each) for each in patterns} - {path}
    near = difflib.get_close_matches(path, sorted(named), 1)
    if near and "{" not in near[0]:
        return f"no rule makes {path}; did you mean {near[0]}?"
    return f"no rule makes {path}; see docs/results.md"


def _with_names(path: str, pattern: str) -> str:
    """A pattern of a path in which each wildcard has the values that it allows."""
    parts, its = path.split("/"), strip_wildcard_constraints(pattern).split("/")
    if len(parts) != len(its):
        return pattern
    return "/".join(
        own if "{" in part and _names(own, part) is not None else part
        for own, part in zip(parts, its, strict=True)
    )


def _names(path: str, pattern: str) -> Mapping[str, str] | None:
    """What stands in a path for the wildcards of a pattern, whatever these allow."""
    open_pattern = re.sub(r"\{(\w+)\}", r"{\1,[^/]+}", strip_wildcard_constraints(pattern))
    found = re.fullmatch(regex_from_filepattern(open_pattern), path)
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
    if "group" in names:
        corpus, group, seed, setting = (
            names[each] for each in ("corpus", "group", "seed", "setting")
        )
        timing.find(configuration, corpus, group, int(seed), setting)
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
