"""The tables of docs/methods.md: every system with its most important keys."""

from collections.abc import Mapping
from typing import Any

from nat.configuration import Configuration

BEGIN = "<!-- written by workflow_scripts/write_methods_page.py -->\n"
END = "<!-- end of the generated tables -->\n"
_HEADINGS = {
    "autoregressive": "Autoregressive",
    "parallel": "Non-autoregressive",
    "hybrid": "Hybrid-regressive",
    "semi-autoregressive": "Semi-autoregressive",
    "fairseq": "Of fairseq's own",
}
_COLUMNS = ("system", "description", "file", "input", "target", "text", "other keys")


def tables(configuration: Configuration) -> str:
    """A heading and a table for each order of predicting tokens, in Markdown."""
    parts = []
    for order, heading in _HEADINGS.items():
        names = [
            name for name in configuration.systems if configuration.decoding_order(name) == order
        ]
        lines = [_line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
        lines += [row(configuration, name) for name in names]
        parts.append(f"## {heading}\n\n" + "".join(lines))
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
            ", ".join(dict.fromkeys(f"`{text.name}`" for text in texts)),
            ", ".join(others),
        ]
    )


def with_tables(page: str, configuration: Configuration) -> str:
    """The page with current tables between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(configuration)}\n{END}{after}"


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


def _line(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"
