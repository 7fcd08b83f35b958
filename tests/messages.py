"""What a message must name: a file, a key, a value. Never the sentence around them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nat.errors import UserError


def must_name(message: str, *parts: object) -> None:
    """Check that a message names all parts: literally, and not inside of longer names."""
    for part in map(str, parts):
        before = r"(?<![\w-])" if re.match(r"\w", part) else ""
        after = r"(?![\w-])" if re.search(r"\w$", part) else ""
        assert re.search(before + re.escape(part) + after, message), (part, message)


@contextmanager
def told(
    *parts: object,
    error: type[BaseException] | tuple[type[BaseException], ...] = UserError,
    one_line: bool = True,
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error whose message, of one line, names all parts.

    Parts are the file, the key, a wrong name and the one that was meant, a number, a command that
    helps: what must stay in the message however it is worded.
    """
    with pytest.raises(error) as caught:
        yield caught
    message = str(caught.value)
    assert not one_line or "\n" not in message, message
    must_name(message, *parts)
