"""Explanations for requested paths that no rule makes."""

import difflib
import re
from collections.abc import Iterable, Mapping

from snakemake.io import regex_from_filepattern, strip_wildcard_constraints

from nat.configuration import Configuration
from nat.errors import UserError
from nat.measures.known import ANALYSES
from nat.measures.latency_setting import parse_setting
from nat.papers.relation import latency
from nat.spelling import hint

NUMBER = r"0|[1-9]\d*"
"""A wildcard constraint: a number without leading zeros, so that no result has two paths."""

_MOST_LISTED = 16


def why_no_rule(configuration: Configuration, path: str, outputs: Iterable[str]) -> str:
    """One sentence about a path: a name in it that does not exist, or what could be meant instead.

    Args:
        configuration: of the run.
        path: requested, but not the output of a rule.
        outputs: of the rules, with wildcards in braces.
    """
    path = path.rstrip("/")
    patterns = list(dict.fromkeys(outputs))
    for pattern in patterns:
        names = names_in(path, pattern)
        if names is not None:
            try:
                _check(configuration, path, names)
            except UserError as error:
                return str(error)
    try:
        inside = _outputs_in(configuration, path, patterns)
    except UserError as error:
        return str(error)
    if inside:
        if len(inside) > _MOST_LISTED:
            return f"{path} is a folder; docs/results.md lists the outputs in it"
        return f"{path} is a folder; request an output in it: {', '.join(inside)}"
    near = difflib.get_close_matches(path, _with_names(configuration, path, patterns), 1)
    if near:
        return f"no rule makes {path}; did you mean {near[0]}?"
    return f"no rule makes {path}; see docs/results.md"


def _outputs_in(configuration: Configuration, path: str, patterns: Iterable[str]) -> list[str]:
    """The outputs in a folder, as patterns relative to it; none if no rule writes there.

    Raises:
        UserError: if every folder that the path could be has a name that does not exist.
    """
    depth = path.count("/") + 1
    found, problem = dict[str, None](), None
    for pattern in patterns:
        parts = strip_wildcard_constraints(pattern).split("/")
        names = names_in(path, "/".join(parts[:depth]))
        if len(parts) > depth and names is not None:
            try:
                _check(configuration, path, names)
            except UserError as error:
                problem = problem or error
            else:
                found["/".join(parts[depth:])] = None
    if problem and not found:
        raise problem
    return list(found)


def _with_names(configuration: Configuration, path: str, patterns: Iterable[str]) -> list[str]:
    """Outputs of rules with the names of a path; what a wildcard does not allow stays in braces."""
    parts = path.split("/")
    filled = set()
    for pattern in patterns:
        its = pattern.split("/")
        if len(its) != len(parts):
            continue
        found = [
            re.fullmatch(regex_from_filepattern(part), own)
            for own, part in zip(parts, its, strict=True)
        ]
        names = {name: value for each in found if each for name, value in each.groupdict().items()}
        try:
            _check(configuration, path, names)
        except UserError:
            continue
        filled.add(
            "/".join(
                own if each else strip_wildcard_constraints(part)
                for own, part, each in zip(parts, its, found, strict=True)
            )
        )
    return sorted(filled)


def names_in(path: str, pattern: str) -> Mapping[str, str] | None:
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
