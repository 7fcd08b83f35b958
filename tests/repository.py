"""The configuration of this repository, for tests that only read it, and its programs."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nat.artifact import Artifact
from nat.configuration import Configuration, load
from nat.job import Job
from nat.workflow.specification import jobs

ROOT = Path(__file__).resolve().parents[1]


@cache
def configured(scale: str | None = None) -> Configuration:
    """The configuration at a scale, by default that of config.yaml; read and checked once."""
    return load(scale, ROOT)


def changed(before: Configuration, folder: str, name: str, **keys: Any) -> Configuration:
    """A configuration with other keys in one of its files."""
    content = {**before.files[folder].get(name, {}), **keys}
    its = {**before.files[folder], name: content}
    return replace(before, files={**before.files, folder: its})


def write_yaml(path: Path | str, value: Any) -> None:
    """Write a file of a configuration."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(yaml.safe_dump(value), encoding="utf-8")


def job(configuration: Configuration, artifact: Artifact) -> Job[Any]:
    """The job that makes a result."""
    return jobs(configuration, [artifact])[0]


def program(path: Path, script: str, interpreter: str = "/bin/sh") -> None:
    """Write a program, a stand-in for one that is not installed here."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{interpreter}\n{script}\n")
    path.chmod(0o755)


def variables(path: Path | None = ROOT) -> dict[str, str]:
    """Variables of a program that imports this project from a folder, or as it is installed."""
    others = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return others if path is None else {**others, "PYTHONPATH": str(path)}


def python(
    *words: object, folder: Path = ROOT, path: Path | None = ROOT, given: str | None = None
) -> tuple[int, str, str]:
    """Run Python in a folder: its exit status, and what it writes to its two streams.

    What is `given` is its standard input.
    """
    ended = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=variables(path),
        input=given,
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout, ended.stderr
