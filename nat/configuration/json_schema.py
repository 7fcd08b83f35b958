"""JSON Schemas of the files of `config/`, for editors that complete and check YAML."""

import inspect
import re
from typing import Any

from pydantic import BaseModel, TypeAdapter

from nat.configuration.files import FOLDERS
from nat.configuration.models import MODELS
from nat.transformer.architecture import Architecture

_BESIDE = re.compile(r"((?:^    # .*\n)*)^    (\w+): .*?(?:  (# .*))?$", re.MULTILINE)
_IN_DOCSTRING = re.compile(r"^        (\w+): (.*(?:\n {12}.*)*)", re.MULTILINE)


def json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind of file, a key of `MODELS`.

    Keys are described by the comments or docstrings of their models. No key is required in files
    that may be like another one, since they may inherit it.
    """
    schema = TypeAdapter(MODELS[kind]).json_schema()
    models = {each.__name__: each.__mro__ for each in (*_all(BaseModel), Architecture)}
    for part in (schema, *schema.get("$defs", {}).values()):
        own = [each for each in models.get(part.get("title"), ()) if each.__module__[:4] == "nat."]
        source = "\n".join(map(inspect.getsource, own))
        texts = {key: f"{above} {beside}" for above, key, beside in _BESIDE.findall(source)}
        texts |= dict(_IN_DOCSTRING.findall(source))
        for key, described in part.get("properties", {}).items():
            described["description"] = " ".join(texts.get(key, "").replace("# ", "").split())
        if kind in FOLDERS and kind != "papers":
            part.pop("required", None)
    if kind == "scales":
        like = schema["properties"]["like"]
        schema["$defs"]["Architecture"]["properties"]["like"] = like
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _all(model: type[BaseModel]) -> list[type[BaseModel]]:
    return [model, *(each for own in model.__subclasses__() for each in _all(own))]
