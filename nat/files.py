"""Files that appear whole or not at all."""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nat.errors import UserError


def refusal(error: OSError) -> str:
    """Why the file system refused a write, and what helps where that is known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space there and run again"
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{reason}; make that folder writable"
    return reason


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that replaces it when the block ends well.

    When the block fails, the temporary file is removed and `path` is left as it was.

    Raises:
        UserError: if the file system refuses the write (disk full, permission).
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        if error.filename is not None and Path(error.filename) != temporary:
            raise
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path | str) -> Iterator[Path]:
    """Yield an empty temporary sibling of the directory `path` that takes its place at the end.

    When the block fails, the temporary directory is removed and `path` is left as it was. The
    sibling has a fixed name, so that what a killed run left behind goes away with the next one.

    Raises:
        UserError: if the file system refuses a write inside the directory (disk full, permission).
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.partial"
    replaced = path.parent / f".{path.name}.replaced"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in (temporary, replaced):
            shutil.rmtree(leftover, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        if path.exists():
            path.rename(replaced)
        temporary.rename(path)
        shutil.rmtree(replaced, ignore_errors=True)
    except OSError as error:
        inside = error.filename is None or Path(error.filename).is_relative_to(path.parent)
        if not inside:
            raise
        raise UserError(f"cannot write {path}: {refusal(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def atomic_write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8 to `path`, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON to `path`, whole or not at all."""
    atomic_write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file.

    Raises:
        UserError: if the file is missing or is not JSON.
    """
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid JSON ({error}); remove it and run again") from error
