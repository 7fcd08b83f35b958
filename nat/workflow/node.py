"""What is to be seen from a node of a cluster; `nat doctor` runs this as a small job.

python -m nat.workflow.node FOLDER/ANSWER.json ADDRESS ...
"""

import fcntl
import http.client
import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nat.configuration.corpora import check_corpus, resolved
from nat.configuration.models import CorpusFile, read_model
from nat.configuration.yaml_file import read_yaml
from nat.data import sources
from nat.data.corpus import Corpus
from nat.files import write_json
from nat.locks import lock_of

SECONDS_FOR_A_HOST = 10


def addresses(root: Path) -> list[str]:
    """Schemes and hosts that the files of all corpora in `config/corpora` come from, in order.

    Raises:
        UserError: for anything wrong in one of these files.
    """
    files: dict[str, dict[str, Any]] = {}
    for path in sorted((root / "config/corpora").glob("*.yaml")):
        name = f"config/corpora/{path.name}"
        files[path.stem] = read_yaml(root, name)
        read_model(CorpusFile, files[path.stem], name)
    found: set[str] = set()
    for name, content in resolved(files).items():
        corpus = read_model(Corpus, content, f"config/corpora/{name}.yaml")
        check_corpus(name, corpus)
        found.update("/".join(url.split("/")[:3]) for url in sources.addresses(corpus).values())
    return sorted(found)


def reached(addresses: Sequence[str]) -> list[str]:
    """Those of some addresses that answer, whatever they say."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        answers = list(pool.map(_answers, addresses))
    return [address for address, answers in zip(addresses, answers, strict=True) if answers]


def _answers(address: str) -> bool:
    try:
        asked = urllib.request.Request(address, method="HEAD")
        with urllib.request.urlopen(asked, timeout=SECONDS_FOR_A_HOST):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, http.client.HTTPException, ValueError):  # no answer of HTTP, no name of a host
        return False


def is_locked(folder: Path) -> bool:
    """Whether a lock that another process, perhaps on another node, holds is seen here."""
    try:
        handle = os.open(lock_of(folder), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no locks at all
        return False
    finally:
        os.close(handle)
    return False


def main() -> None:
    """Write what is to be seen from here to the file that is named first."""
    import torch

    answer = Path(sys.argv[1])
    seen = {
        "node": socket.gethostname(),
        "locked": is_locked(answer.parent),
        "torch": torch.__version__,
        "gpus": torch.cuda.device_count(),
        "reached": reached(sys.argv[2:]),
    }
    write_json(answer, seen)


if __name__ == "__main__":
    main()
