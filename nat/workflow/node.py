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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nat.configuration.yaml_file import read_yaml
from nat.files import write_json

SECONDS_FOR_A_HOST = 10


def addresses(root: Path) -> list[str]:
    """Schemes and hosts of all addresses in `config/corpora`, in order."""
    found = set()
    for path in (root / "config/corpora").glob("*.yaml"):
        for url in _texts(read_yaml(root, str(path.relative_to(root)))):
            if url.startswith(("http://", "https://")):
                found.add("/".join(url.split("/")[:3]))
    return sorted(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


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
    handle = os.open(folder, os.O_RDONLY)
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
