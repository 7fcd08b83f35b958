"""Tables of the pages in docs/: systems, decodings, measures, the keys of recipes and scales."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from nat import registry
from nat.configuration import Configuration
from nat.configuration.json_schema import json_schema
from nat.data.candidates import RAW
from nat.measures.known import MEASURES

BEGIN = "<!-- written by workflow_scripts/write_pages.py -->\n"
END = "<!-- end of the generated tables -->\n"
_HEADINGS = {
    "autoregressive": "Autoregressive",
    "parallel": "Non-autoregressive",
    "hybrid": "Hybrid-regressive",
    "semi-autoregressive": "Semi-autoregressive",
    "fairseq": "fairseq's own systems",
}
_COLUMNS = ("system", "description", "file", "input", "target", "text", "other keys")
_MOST_LISTED = 4


def _systems(configuration: Configuration) -> str:
    """A heading and a table for each order of predicting tokens, in Markdown."""
    parts = []
    for order, heading in _HEADINGS.items():
        names = [
            name for name in configuration.systems if configuration.decoding_order(name) == order
        ]
        lines = "".join(row(configuration, name) for name in names)
        parts.append(f"## {heading}\n\n{_head(_COLUMNS)}{lines}")
    return "\n".join(parts)


def row(configuration: Configuration, name: str) -> str:
    """The line of a system, as its file gives it, without what differs from task to task."""
    system = configuration.files["systems"][name]
    texts = configuration.system(name).text.candidates
    file = configuration.file_of("systems", name).partition(":")[0]
    others = [
        f"`{key}: {_flow(system[key])}`"
        for key in ("size", "decoder", "latent", "init_from", "teacher", "recipe")
        if system.get(key)
    ]
    return _line(
        [
            f"`{name}`",
            system["description"],
            f"`{file.rpartition('/')[2]}`",
            f"`{_method(system['input'])}`",
            f"`{_method(system['target'])}`",
            ", ".join(dict.fromkeys(f"`{text.system or RAW}`" for text in texts)),
            ", ".join(others),
        ]
    )


def decodings(configuration: Configuration) -> str:
    """A line for each method of decoding, with the names that files of config/decodings give it."""
    names: dict[str, list[str]] = {}
    for name, content in configuration.files["decodings"].items():
        names.setdefault(content["method"], []).append(name)
    lines = []
    for method, known in sorted(names.items()):
        found = registry.find("decoding", method)
        does = str(sys.modules[found.__module__].__doc__).partition("\n")[0].removesuffix(".")
        options = TypeAdapter(found).json_schema()["properties"]
        shown = [
            f"`{key}: {_flow(value['default'])}`" if "default" in value else f"`{key}`"
            for key, value in options.items()
        ]
        known = [f"`{name}`" for name in known]
        lines.append(_line([f"`{method}`", does, ", ".join(known), ", ".join(shown)]))
    return _head(("method", "what it does", "decodings", "options")) + "".join(lines)


def _methods(configuration: Configuration) -> str:
    return f"{_systems(configuration)}\n## Decodings\n\n{decodings(configuration)}"


def _measures(_: Configuration) -> str:
    """A line for each measure; those that differ only in numbers in their names share one."""
    families: dict[str, list[str]] = {}
    for name in MEASURES:
        families.setdefault(re.sub(r"(?<=_)\d[\d.]*", "N", name), []).append(name)
    lines = []
    for names in families.values():
        measures = [MEASURES[name] for name in names]
        known = [f"`{name}`" for name in names]
        lines.append(
            _line(
                [
                    ", ".join(known) if len(known) <= _MOST_LISTED else f"{known[0]} … {known[-1]}",
                    _together([each.label for each in measures]),
                    measures[0].unit,
                    _together([each.definition for each in measures]),
                    measures[0].source,
                ]
            )
        )
    return _head(("measure", "label", "unit", "definition", "source")) + "".join(lines)


def _together(texts: Sequence[str]) -> str:
    """Several texts in one, in which a word that is not the same in all has all its values."""
    words = zip(*(re.split(r"([\w.]+)", text) for text in texts), strict=True)
    values = [list(dict.fromkeys(each)) for each in words]
    return "".join(
        "/".join(each) if len(texts) <= _MOST_LISTED or len(each) == 1 else f"{each[0]}…{each[-1]}"
        for each in values
    )


def _keys(_: Configuration) -> str:
    """A heading and a table for each kind of file whose keys other pages do not list."""
    recipe, scale = json_schema("recipes"), json_schema("scales")
    schemas = {
        "Keys of a recipe": recipe,
        "Keys of a scale": scale,
        "Keys of a size": {**scale["$defs"]["Architecture"], "$defs": {}},
    }
    return "\n".join(
        f"### {heading}\n\n{_head(('key', 'meaning', 'default'))}" + "".join(_of_keys(schema))
        for heading, schema in schemas.items()
    )


def _of_keys(schema: Mapping[str, Any], outer: str = "") -> Iterator[str]:
    """A line for each key, followed by those inside it."""
    for key, value in schema["properties"].items():
        meaning = value.get("description", "").removesuffix(".")
        if "enum" in value:
            meaning += f" ({', '.join(f'`{each}`' for each in value['enum'])})"
        default = value.get("default")
        shown = "" if default in (None, "", {}, []) else f"`{_flow(default)}`"
        inner = value.get("$ref", "").rpartition("/")[2]
        yield _line([f"`{outer}{key}`", meaning, "" if inner else shown])
        if inner:
            yield from _of_keys({**schema["$defs"][inner], "$defs": {}}, f"{outer}{key}.")


PAGES: Mapping[str, Callable[[Configuration], str]] = {
    "methods": _methods,
    "measures": _measures,
    "configuration": _keys,
}
"""What makes the tables of each page."""


def with_tables(page: str, tables: str) -> str:
    """The page with these tables between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def _method(options: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in options.items() if key != "method"}
    return f"{options['method']} {_flow(rest)}" if rest else str(options["method"])


def _flow(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def _head(columns: Sequence[str]) -> str:
    return _line(columns) + _line(["---"] * len(columns))


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"
