"""Ask each address of a corpus or checkpoint for a byte, to find dead ones; needs a network."""

import argparse

from nat import program
from nat.configuration import read
from nat.data.download import probe
from nat.data.sources import addresses
from nat.errors import UserError, without_passwords


def main() -> None:
    """Parse the command line, and print a line for each address, of a dead one with its keys."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    configuration = read()
    keys: dict[str, list[str]] = {}
    for name in configuration.corpora:
        file = configuration.file_of("corpora", name)
        for key, url in addresses(configuration.corpus(name)).items():
            keys.setdefault(url, []).append(f"{file}: key '{key}'")
    for system, content in configuration.files["systems"].items():
        file = configuration.file_of("systems", system)
        for task, its in content.get("tasks", {}).items():
            if (url := its.get("imported", {}).get("checkpoint", "")).startswith("https://"):
                keys.setdefault(url, []).append(f"{file}: key 'tasks.{task}.imported.checkpoint'")
    dead = 0
    for url, named_by in keys.items():
        fault = probe(url)
        dead += fault is not None
        shown = without_passwords(url)
        print(f"DEAD  {shown}  ({fault}; {', '.join(named_by)})" if fault else f"ok  {shown}")
    if dead:
        raise UserError(f"{dead} of {len(keys)} addresses do not answer; correct them")


if __name__ == "__main__":
    program.run(main)
