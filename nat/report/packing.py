"""A small copy of a report, to be published: the same pages, packed.

Pages, tables to download and the scripts that hold data are deflated; a page unpacks itself when it
is opened, by what every browser since 2023 has (`DecompressionStream`). The pictures of figures
become WebP without loss of what can be seen. Like the report itself, the copy opens from disk,
without a network or a server. What it lacks are the figures as PDF, which cannot be packed and
which the run has.
"""

import base64
import json
import re
import shutil
import zlib
from pathlib import Path

from PIL import Image

from nat.checksums import verified_folder
from nat.errors import UserError
from nat.files import atomic_directory
from nat.report.site import ASSETS

BUNDLE = "assets/pages.js"
LOADER = Path(__file__).parent / "templates/packed.js"
TEXTS = (".csv", ".md", ".tex")
"""Tables and points of figures, as they are downloaded."""

COLOURS = 256
"""Colours of a picture of a figure, which has flat areas and the shades at their edges."""

_PDF = re.compile(r'<a href="[^"]*\.pdf">PDF</a>, ')
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)


def pack(report: Path, copy: Path, limit: int) -> int:
    """Make the copy; it takes the place of the one before.

    Args:
        report: folder of a report.
        copy: folder to make.
        limit: bytes that it must stay below.

    Returns:
        Its size in bytes.

    Raises:
        UserError: if it would not, the report is damaged, or the folder to make holds something
            else; an earlier copy stays as it was.
    """
    verified_folder(report)
    with atomic_directory(copy) as folder:
        files: dict[str, str] = {}
        for path in sorted(each for each in report.rglob("[!.]*") if each.is_file()):
            name = path.relative_to(report).as_posix()
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".html":
                files[name] = _without_pdf(path.read_text(encoding="utf-8"))
                target.write_text(_stub(name, files[name]), encoding="utf-8")
            elif path.suffix in TEXTS:
                files[name] = path.read_text(encoding="utf-8")
            elif path.suffix == ".png":
                _pack_picture(path, target.with_suffix(".webp"))
            elif path.suffix == ".js" and path.name not in ASSETS:
                script = path.read_text(encoding="utf-8")
                target.write_text(f'unpackScript("{packed(script)}");\n', encoding="utf-8")
            elif path.suffix != ".pdf":
                shutil.copyfile(path, target)
        bundle = packed(json.dumps(files, ensure_ascii=False))
        loader = LOADER.read_text(encoding="utf-8")
        (folder / BUNDLE).write_text(f'{loader}openPacked("{bundle}");\n', encoding="utf-8")
        for empty in sorted(folder.rglob("*"), reverse=True):
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
        size = _size(folder)
        if size >= limit:
            raise UserError(
                f"{copy} would be of {size / 1e6:.1f} MB; a copy that is published must be below "
                f"{limit / 1e6:g} MB: show fewer sentences, by the key 'browser' of the scale's "
                "file in config/scales"
            )
    return _size(copy)  # with its records of checksums


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def packed(text: str) -> str:
    """A text deflated (RFC 1951), in base 64."""
    compressor = zlib.compressobj(level=9, wbits=-15)
    return base64.b64encode(compressor.compress(text.encode("utf-8")) + compressor.flush()).decode(
        "ascii"
    )


def _without_pdf(page: str) -> str:
    return _PDF.sub("", page).replace('.png"', '.webp"').replace(">PNG</a>", ">WebP</a>")


def _stub(name: str, page: str) -> str:
    """A page that opens the packed one of its name."""
    title = _TITLE.search(page)
    root = "../" * name.count("/")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"{title[0] if title else ''}"
        "<noscript>This page needs JavaScript.</noscript>"
        f'<script>const packedPage = "{name}";</script>'
        f'<script src="{root}{BUNDLE}"></script></html>\n'
    )


def _pack_picture(picture: Path, target: Path) -> None:
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.convert("RGB").save(target, "WEBP", lossless=True, quality=100, method=4)
