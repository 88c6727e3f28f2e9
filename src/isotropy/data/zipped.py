"""Single files of a zip archive, read when they are needed, by any thread or process."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from isotropy.data.npy import LOCAL_HEADER, reading
from isotropy.errors import FileFormatError


@dataclass(frozen=True)
class ZipMember:
    """A file of a zip archive; calling it gives its bytes.

    It finds its place by itself, so the archive's list, long for many files, is read once only.

    Args:
        archive: the archive.
        name: the file's name in it.
        start: where its header begins.
        packed: how many bytes it takes there.
        deflated: whether these are compressed.
        crc: what its content is checked by.
    """

    archive: Path
    name: str
    start: int
    packed: int
    deflated: bool
    crc: int

    def __call__(self) -> bytes:
        with reading(self.archive), open(self.archive, "rb") as file:
            file.seek(self.start)
            name, extras = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
            file.seek(name + extras, 1)
            content = file.read(self.packed)
            if self.deflated:
                content = zlib.decompress(content, -zlib.MAX_WBITS)
        if zlib.crc32(content) != self.crc:
            raise FileFormatError(f"{self.archive}: {self.name} in it is damaged")
        return content


def zip_members(archive: Path) -> dict[str, ZipMember]:
    """All files of a zip archive by name."""
    with reading(archive), zipfile.ZipFile(archive) as opened:
        infos = [info for info in opened.infolist() if not info.is_dir()]
    found = {}
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{archive}: {info.filename} is compressed in an unusual way")
        deflated = info.compress_type == zipfile.ZIP_DEFLATED
        found[info.filename] = ZipMember(
            archive, info.filename, info.header_offset, info.compress_size, deflated, info.CRC
        )
    return found
