"""Picture files, decoded when they are needed: PNG, JPEG, TIFF and BMP, by Pillow."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data.resize import check_side, squared
from isotropy.data.samples import Hash, IntArray, Samples
from isotropy.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")

FORMS = {"1": "L", "L": "L", "F": "F", "I": "I", "LA": "RGBA", "RGBA": "RGBA", "PA": "RGBA"}
"""What Pillow's modes are read as: 8-bit grey, numbers, whole numbers, colour with opacity; all
others are colour."""

DTYPES = {"F": np.dtype(np.float32), "I": np.dtype(np.int32)}
CHANNELS = {"RGB": 3, "RGBA": 4}


@dataclass(frozen=True)
class Seen:
    """What a look at a picture file gives: its size as it is to be seen, form and content.

    Args:
        height: in pixels.
        width: in pixels.
        form: "L", "RGB", "RGBA", "I" or "F".
        sha256: of the file.
    """

    height: int
    width: int
    form: str
    sha256: bytes


Reader = Callable[[], bytes]
"""Gives a file's bytes."""


class PictureSamples(Samples):
    """Pictures in files, each decoded when it is asked for, all brought to one form.

    Args:
        readers: give the files' bytes.
        names: what to call them in messages.
        form: what all are converted to: "L", "RGB", "RGBA", "I" or "F".
        size: height and width of all, unless they are resized.
        side: if given, pictures become squares of this side.
        hashes: of the files' contents, where they are known.
    """

    costly = True

    def __init__(
        self,
        readers: Sequence[Reader],
        names: Sequence[str],
        form: str,
        size: tuple[int, int],
        side: int | None = None,
        hashes: Sequence[bytes] | None = None,
    ) -> None:
        if side is not None:
            check_side(side)
        self.readers = readers
        self.names = names
        self.form = form
        self.side = side
        self.hashes = hashes
        self.shape = (CHANNELS.get(form, 1), *((side, side) if side else size))
        exact = DTYPES.get(form, np.dtype(np.uint8))
        self.dtype = exact if side is None else np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.readers)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        x = torch.empty((len(indices), *self.shape))
        for place, i in enumerate(indices):
            x[place] = self._one(int(i))
        return x

    def _one(self, number: int) -> Tensor:
        pixels = decode(self.readers[number], self.names[number], self.form, self.side)
        x = torch.from_numpy(pixels).to(torch.float32)
        x = x.movedim(-1, 0) if x.ndim == 3 else x.unsqueeze(0)
        if self.side is not None:
            return squared(x.unsqueeze(0), self.side)[0]
        if tuple(x.shape) != self.shape:
            raise InputError(
                f"{self.names[number]}: is of another size than when it was first seen"
            )
        return x

    def digest(self, into: Hash) -> None:
        into.update(f"{self.form}{self.shape}".encode())
        for i, reader in enumerate(self.readers):
            known = self.hashes[i] if self.hashes is not None else None
            into.update(known or hashlib.sha256(reader()).digest())


def look(reader: Reader, name: str, *, whole: bool = True) -> Seen:
    """What a picture file is; by decoding all of it, so that a damaged one is found.

    Args:
        reader: gives its bytes.
        name: what to call it in messages.
        whole: decode all of it; otherwise only where it says what it is.
    """
    content = _content(reader, name)
    with _Opened(content, name) as picture:
        width, height = picture.size
        if _is_on_its_side(picture):
            width, height = height, width
        form = _form(picture)
        if whole:
            picture.load()
    return Seen(height, width, form, hashlib.sha256(content).digest())


def decode(reader: Reader, name: str, form: str, side: int | None = None) -> NDArray[Any]:
    """The pixels of a picture file: (height, width), or (height, width, channels).

    Args:
        reader: gives its bytes.
        name: what to call it in messages.
        form: what to convert it to.
        side: what it will be resized to: a JPEG may be decoded smaller, but no smaller than that.
    """
    from PIL import ImageOps

    with _Opened(_content(reader, name), name) as picture:
        if side is not None:
            picture.draft(None, (2 * side, 2 * side))
        upright = ImageOps.exif_transpose(picture)
        if form in DTYPES:
            return np.asarray(upright).astype(DTYPES[form])
        return np.array(upright.convert(form))


def common_form(forms: Sequence[str], names: Sequence[str]) -> str:
    """What all pictures can be converted to without loss.

    >>> common_form(["L", "RGB", "L"], ["a.png", "b.png", "c.png"])
    'RGB'
    """
    found = set(forms)
    for form in ("I", "F"):
        if form in found and len(found) > 1:
            other = next(i for i, f in enumerate(forms) if f != form)
            raise InputError(
                f"{names[forms.index(form)]} has numbers of more than 8 bits, but {names[other]} "
                "has not; bring all pictures to one form"
            )
    for form in ("RGBA", "RGB"):
        if form in found:
            return form
    return forms[0]


def _content(reader: Reader, name: str) -> bytes:
    try:
        return reader()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None


class _Opened:
    """A picture, with what is wrong with it in one line."""

    def __init__(self, content: bytes, name: str) -> None:
        self.content = content
        self.name = name
        self.picture: Image.Image | None = None

    def __enter__(self) -> Image.Image:
        from PIL import Image

        try:
            self.picture = Image.open(BytesIO(self.content))
        except Exception as error:
            raise self._bad(error) from None
        return self.picture

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if self.picture is not None:
            self.picture.close()
        if isinstance(error, Exception) and not isinstance(error, InputError):
            raise self._bad(error) from None

    def _bad(self, error: Exception) -> InputError:
        """Pillow raises whatever its parsers stumble upon: OSError, SyntaxError, ValueError, ..."""
        words = str(error) if not str(error).startswith("cannot identify") else "no known picture"
        return InputError(f"{self.name}: is damaged or no picture ({words})")


def _form(picture: Image.Image) -> str:
    mode = picture.mode
    if mode.startswith("I;16"):
        return "I"
    if mode == "P" and "transparency" in picture.info:
        return "RGBA"
    return FORMS.get(mode, "RGB")


def _is_on_its_side(picture: Image.Image) -> bool:
    """Whether its EXIF data say that it is to be turned by a quarter."""
    return int(picture.getexif().get(0x0112, 1)) in (5, 6, 7, 8)
