"""Where the pages of the report lie, below its folder."""

OVERVIEW = "index.html"
SYSTEMS = "systems/index.html"
SENTENCES = "sentences.html"


def paper(name: str) -> str:
    """The page of a paper."""
    return f"papers/{name}.html"


def section(kind: str, number: str) -> str:
    """The section of a table, figure or the claims on the page of its paper."""
    return f"{kind}-{number}" if number else kind


def system(corpus: str, name: str) -> str:
    """The page of a system on a corpus."""
    return f"systems/{corpus}/{name}.html"


def root_of(path: str) -> str:
    """The relative path from a page to the folder of the report."""
    return "../" * path.count("/")
