import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nat.data.archive import is_whole_zip, unpack
from nat.errors import UserError
from tests.messages import told

FILES = {
    "corpus/b_cn.txt": "二\n",
    "corpus/a_ch.txt": "一\n",
    "corpus/a_en.txt": "one\n",
    "corpus/b_en.txt": "two\n",
    "corpus/readme": "hello\n",
}


def tar(path: Path, files: dict[str, str], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("corpus/", "")
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(params=["tgz", "tar", "zip"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "zip":
        return zipped(tmp_path / "corpus.zip", FILES)
    return tar(tmp_path / "corpus.x", FILES, "w:gz" if request.param == "tgz" else "w")


def test_members_come_in_the_order_of_patterns_then_names(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    wanted = {"zh": ["corpus/*_c[hn].txt"], "en": ["corpus/b_en.txt", "corpus/a_*.txt"]}
    found = unpack(archive, wanted, folder)
    text = {label: [path.read_text() for path in paths] for label, paths in found.items()}
    assert text == {"zh": ["一\n", "二\n"], "en": ["two\n", "一\n", "one\n"]}
    assert all(path.parent == folder for paths in found.values() for path in paths)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "corpus/../../outside"])
@pytest.mark.parametrize("pack", [tar, zipped])
def test_no_member_may_lie_outside(
    name: str, pack: Callable[[Path, dict[str, str]], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    archive = pack(tmp_path / "bad", {name: "evil"} | FILES)
    with told("bad", name.removeprefix("../")):
        unpack(archive, {"en": ["*"]}, folder)
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "out"]


def test_links_are_no_files(tmp_path: Path) -> None:
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("a_en.txt")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with zipfile.ZipFile(tmp_path / "links.zip", "w") as zip_file:
        link = zipfile.ZipInfo("a_en.txt")
        link.external_attr = 0o120777 << 16
        zip_file.writestr(link, "/etc/passwd")
    for links in (path, tmp_path / "links.zip"):
        with told(links, "a_en.txt", "members.en"):
            unpack(links, {"en": ["a_en.txt"]}, tmp_path)


def test_damaged_archives_and_missing_members(archive: Path, tmp_path: Path) -> None:
    with told("corpus/a_em.txt", "members.en", "corpus/a_en.txt"):
        unpack(archive, {"en": ["corpus/a_em.txt"]}, tmp_path)
    whole = archive.read_bytes()
    for content in (b"<html>not found</html>", whole[: len(whole) // 4], b""):
        archive.write_bytes(content)
        with told(archive):
            unpack(archive, {"en": ["corpus/readme"]}, tmp_path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_flipped_bit_of_a_compressed_tar_is_never_another_text(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    lines = "".join(f"{random.Random(n).getrandbits(64)}\n" for n in range(300))
    whole = pack(tar(tmp_path / "plain", {"a_en.txt": lines}, "w").read_bytes())
    archive, folder = tmp_path / "packed", tmp_path / "out"
    folder.mkdir()
    refused = 0
    for place in random.Random(1).sample(range(8 * len(whole)), 60):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        archive.write_bytes(damaged)
        try:
            [found] = unpack(archive, {"en": ["a_en.txt"]}, folder)["en"]
        except UserError:
            refused += 1
        else:  # a bit that does not matter, such as of the time of the archive
            assert found.read_text() == lines
    assert refused > 40


@pytest.mark.parametrize(
    ("offset", "value", "unknown"),
    [
        (8, struct.pack("<H", 0x801), True),  # encrypted, as a bit besides that of UTF-8
        (10, struct.pack("<H", 99), True),  # a compression that Python does not know
        (16, struct.pack("<L", 7), False),  # another checksum
        (42, struct.pack("<L", 0xFFFFFFF0), False),  # outside the file
        (46, b"\xff", False),  # a name that is not UTF-8
        (46, b"\0", False),  # nor begins with a letter
    ],
)
def test_any_damage_of_a_zip_is_found(
    tmp_path: Path, offset: int, value: bytes, unknown: bool
) -> None:
    path = zipped(tmp_path / "zip", {"a_én.txt": "one\n"})
    assert is_whole_zip(path)
    damaged = bytearray(path.read_bytes())
    entry = damaged.index(b"PK\x01\x02", damaged.index(b"PK\x01\x02") + 4)
    damaged[entry + offset : entry + offset + len(value)] = value
    path.write_bytes(damaged)
    assert not is_whole_zip(path)
    assert is_whole_zip(path, or_unknown=True) == unknown
    with told(path):
        unpack(path, {"en": ["a_én.txt"]}, tmp_path)
