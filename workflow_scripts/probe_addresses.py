"""Ask each address of a corpus or checkpoint for a byte, to find dead ones; needs a network."""

import argparse

from nat import program
from nat.configuration import read
from nat.data.sources import probe
from nat.errors import UserError, without_passwords
from nat.jobs.fetch import addresses


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
