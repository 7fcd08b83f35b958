"""The one exception that a user may see, where it comes from, and refusals of a file system."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

_PASSWORD = re.compile(r"(?<=://)[^\s/?#]*@")


class UserError(Exception):
    """A mistake that the user can mend, told in one sentence with file, key and remedy.

    Names and passwords are cut out of URLs.
    """

    def __init__(self, message: str) -> None:
        super().__init__(without_passwords(message))


def without_passwords(text: str) -> str:
    """A text without the names and passwords that its URLs have before the host."""
    return _PASSWORD.sub("", text)


@contextmanager
def told_of(origin: str) -> Iterator[None]:
    """Name the origin in the error that a user may see."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{origin}{error}") from error


def refusal(error: OSError) -> str:
    """Reason why the file system refused a write, and the remedy where one is known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space there and run again"
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{reason}; make that folder writable"
    if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
        kind = "folder" if error.errno == errno.EISDIR else "file"
        return f"{reason}; move the {kind} that is there away, or name another place"
    return reason
