"""JSON Schemas of the files of `config/`, for editors that complete and check YAML."""

import re
from typing import Any

from pydantic import TypeAdapter

from nat.configuration.models import MODELS

_ATTRIBUTES = "\n\nAttributes:\n"


def json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind of file, a key of `MODELS`.

    What docstrings say of attributes describes the keys.
    """
    schema = TypeAdapter(MODELS[kind]).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        _describe(part)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _describe(part: dict[str, Any]) -> None:
    """Move what a docstring says of the attributes to the keys that they stand for."""
    text, _, attributes = part.get("description", "").partition(_ATTRIBUTES)
    if not attributes:
        return
    part["description"] = text
    for found in re.finditer(r"^    (\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE):
        if found[1] in part["properties"]:
            part["properties"][found[1]]["description"] = " ".join(found[2].split())
