"""JSON Schemas of the files of `config/`, for editors that complete and check YAML."""

import re
from typing import Any

from pydantic import BaseModel, TypeAdapter

from nat.configuration.families import WITH_VARIANTS
from nat.configuration.file_names import FOLDERS
from nat.configuration.models import MODELS
from nat.papers.description import Paper

KINDS: dict[str, type[BaseModel]] = {**MODELS, "papers": Paper}
"""The model of every kind of file."""

_ATTRIBUTES = "\n\nAttributes:\n"


def json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind of file, a key of `KINDS`.

    Keys are described by the docstrings of their attributes. No key is required in files that may
    be like another one, since they may inherit it.
    """
    schema = TypeAdapter(KINDS[kind]).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        _describe(part)
        if kind in FOLDERS and kind in MODELS:
            part.pop("required", None)
    _share(schema, kind)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _describe(part: dict[str, Any]) -> None:
    """Move the descriptions of attributes in docstrings to the keys."""
    text, _, attributes = part.get("description", "").partition(_ATTRIBUTES)
    if not attributes:
        return
    part["description"] = text
    for found in re.finditer(r"^    (\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE):
        if found[1] in part["properties"]:
            part["properties"][found[1]]["description"] = " ".join(found[2].split())


def _share(schema: dict[str, Any], kind: str) -> None:
    """Complete the keys that `nat.configuration.families` resolves."""
    own = schema["properties"]
    if kind in WITH_VARIANTS:
        own["variants"]["additionalProperties"] = {
            "type": "object",
            "properties": {key: own[key] for key in own if key != "variants"},
            "additionalProperties": schema["additionalProperties"],
        }
    if kind == "scales":
        schema["$defs"]["Architecture"]["properties"]["like"] = own["like"]
    if kind == "decodings":
        own["name"] = {
            "description": "with placeholders such as {steps} for options",
            "type": "string",
        }
