"""Ask each address of a corpus or checkpoint for a byte, to find dead ones; needs a network."""

import argparse
from collections.abc import Iterator

from nat import program
from nat.configuration import Configuration, read
from nat.data.corpus_parts import addresses_of
from nat.data.sources import probe
from nat.errors import UserError, without_passwords


def addresses(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Each address of a corpus or of a checkpoint, and a file and key that name it."""
    for name in configuration.files["corpora"]:
        file = configuration.file_of("corpora", name)
        for key, url in addresses_of(configuration.corpus(name)).items():
            yield url, f"{file}: key '{key}'"
    for name, content in configuration.files["systems"].items():
        file = configuration.file_of("systems", name)
        for task, its in content.get("tasks", {}).items():
            url = its.get("imported", {}).get("checkpoint", "")
            if url.startswith("https://"):
                yield url, f"{file}: key 'tasks.{task}.imported.checkpoint'"


def main() -> None:
    """Parse the command line, and print a line for each address, of a dead one with its keys."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    keys: dict[str, list[str]] = {}
    for url, named_by in addresses(read()):
        keys.setdefault(url, []).append(named_by)
    dead = 0
    for url, several in keys.items():
        fault = probe(url)
        dead += fault is not None
        shown = without_passwords(url)
        print(f"DEAD  {shown}  ({fault}; {', '.join(several)})" if fault else f"ok  {shown}")
    if dead:
        raise UserError(f"{dead} of {len(keys)} addresses do not answer; correct them")


if __name__ == "__main__":
    program.run(main)
