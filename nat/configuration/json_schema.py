"""JSON Schemas of the files of `config/`, for editors that complete and check YAML."""

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from nat.configuration.files import FOLDERS
from nat.configuration.models import MODELS
from nat.papers.description import Paper

KINDS: dict[str, type[BaseModel]] = {**MODELS, "papers": Paper}
"""The model of every kind of file."""
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


def json_schema(kind: str, docs: Path = Path("docs/configuration.md")) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind of file, a key of `KINDS`.

    The tables of `docs` describe the keys of recipes and scales. No key is required in files that
    may be like another one, since they may inherit it.
    """
    schema = TypeAdapter(KINDS[kind]).json_schema()
    own, parts = schema["properties"], schema.get("$defs", {})
    if kind in FOLDERS and kind in MODELS:
        for part in (schema, *parts.values()):
            part.pop("required", None)
    if kind == "scales":
        parts["Architecture"]["properties"]["like"] = own["like"]
    _, _, table = docs.read_text("utf-8").partition(f"### Keys of a {kind.removesuffix('s')}\n")
    for key, meaning in _ROW.findall(table.partition("### ")[0]):
        own[key]["description"] = meaning
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
