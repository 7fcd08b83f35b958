"""Ask every address of every corpus for one byte, to find those that are dead; needs a network."""

import argparse

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.data.download import probe
from nat.data.sources import addresses
from nat.errors import UserError


def main() -> None:
    """Parse the command line, and print a line for each address."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    configuration = configuration_from(parser.parse_args())
    places: dict[str, list[str]] = {}
    for name in configuration.corpora:
        for key, url in addresses(configuration.corpus(name)).items():
            places.setdefault(url, []).append(f"config/corpora/{name}.yaml: {key}")
    dead = 0
    for url, keys in places.items():
        fault = probe(url)
        dead += fault is not None
        print(f"{'ok' if fault is None else 'DEAD'}  {url}  ({fault or keys[0]})", flush=True)
        if fault is not None:
            for key in keys:
                print(f"      {key}")
    if dead:
        raise UserError(
            f"{dead} of {len(places)} addresses do not answer; correct them, or put their files "
            "into the mirror"
        )


if __name__ == "__main__":
    program.run(main)
