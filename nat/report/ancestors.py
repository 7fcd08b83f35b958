"""The systems that a system learns or starts from, as a drawing with links."""

from dataclasses import dataclass

from markupsafe import Markup, escape

from nat.configuration import Configuration

WIDTH, HEIGHT, ACROSS, DOWN = 190, 44, 90, 20
"""Width and height of a box, and the distances between boxes across and down, in pixels."""
_EDGES = {"text": "text of", "init_from": "starts from", "teacher": "teacher"}


@dataclass(frozen=True)
class Drawing:
    """A drawing as SVG, and what it shows in words."""

    drawing: Markup
    alternative: str


def ancestors(configuration: Configuration, system: str) -> dict[str, list[tuple[str, str]]]:
    """A system and all that it depends on, each with its references (system, key)."""
    found: dict[str, list[tuple[str, str]]] = {}
    left = [system]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = list(dict.fromkeys(configuration.needed_systems(name)))
            left += [other for other, _ in found[name]]
    return found


def draw(configuration: Configuration, system: str, addresses: dict[str, str]) -> Drawing:
    """Draw the ancestors of a system, the oldest to the left.

    Args:
        configuration: as it holds on the corpus.
        system: to end with.
        addresses: of the pages of systems.
    """
    graph = ancestors(configuration, system)
    columns: dict[int, list[str]] = {}
    for name in sorted(graph):
        columns.setdefault(_depth(graph, name), []).append(name)
    places = {
        name: (depth * (WIDTH + ACROSS) + 2, at * (HEIGHT + DOWN) + 2)
        for depth, names in columns.items()
        for at, name in enumerate(names)
    }
    width = (max(columns) + 1) * (WIDTH + ACROSS) - ACROSS + 4
    rows = max(map(len, columns.values()))
    height = rows * (HEIGHT + DOWN) + DOWN
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'xmlns="http://www.w3.org/2000/svg">'
    ]
    for name, references in graph.items():
        for other in dict.fromkeys(other for other, _ in references):
            (x1, y1), (x2, y2) = places[other], places[name]
            keys = ", ".join(_EDGES[key] for its, key in references if its == other)
            start, end = x1 + WIDTH, x2
            middle = (start + end) / 2
            from_, to = y1 + HEIGHT / 2, y2 + HEIGHT / 2
            under = (from_ + to) / 2
            label = under - 4
            path = f"C{middle},{from_} {middle},{to} {end},{to}"
            if end - start > ACROSS:  # the line passes below the boxes between its ends
                under = rows * (HEIGHT + DOWN) - DOWN / 2
                label = under + 14
                turn = ACROSS / 2
                path = (
                    f"C{start + turn},{from_} {start},{under} {start + ACROSS},{under} "
                    f"L{end - ACROSS},{under} C{end},{under} {end - turn},{to} {end},{to}"
                )
            parts.append(
                f'<path d="M{start},{from_} {path}"/>'
                f'<text x="{middle}" y="{label}" text-anchor="middle" '
                f'style="font-size:11px">{escape(keys)}</text>'
            )
    for name, (x, y) in places.items():
        here = ' class="here"' if name == system else ""
        size = min(13.0, 1.6 * (WIDTH - 12) / max(len(name), 1))
        parts.append(
            f'<g{here}><a href="{escape(addresses.get(name, ""))}">'
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
            f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT / 2 + 5}" text-anchor="middle" '
            f'style="font-size:{size:.1f}px">{escape(name)}</text></a></g>'
        )
    parts.append("</svg>")
    words = [
        f"{name}: {', '.join(f'{_EDGES[key]} {other}' for other, key in references) or 'no other'}"
        for name, references in graph.items()
    ]
    return Drawing(Markup("".join(parts)), "; ".join(words))


def _depth(graph: dict[str, list[tuple[str, str]]], name: str) -> int:
    return max((_depth(graph, other) + 1 for other, _ in graph[name]), default=0)
