"""Peak memory of reading large data, each in a fresh process; ratios are not of time.

The figure after × is the peak resident memory as a part of the limit: of 2 GiB for a folder of
20,000 pictures of 256×256 (3.7 GiB decoded as bytes, 15 GiB as floats), loaded and a tenth of it
trained on for an epoch; of the file's own 4 GiB for an .npz that is read from end to end. Of the
second, pages of the mapped file count too, which the system takes back when it needs them; the
third row is what the process holds beside them, so a second copy would be 1 there.

Limit written down first: a batch of 64 pictures is 48 MiB of floats, and up to 6 of them are under
way, beside 0.4 GiB for torch itself and the network's activations.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.timing import Timing

TARGETS = {"folder of 20,000": 1.0, "npz of 4 GiB": 1.1, "the same, without its pages": 0.1}

PICTURES, SIDE = 20_000, 256
GIB = 2**30


def run() -> list[Timing]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        draw_pictures(Path(folder), PICTURES)
        seconds, total, _ = measured("train", folder)
        found.append(_timing("folder of 20,000", seconds, total / (2 * GIB)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.npz"
        write_large(path, 4 * GIB)
        seconds, total, own = measured("read", str(path))
        found.append(_timing("npz of 4 GiB", seconds, total / (4 * GIB)))
        found.append(_timing("the same, without its pages", seconds, own / (4 * GIB)))
    return found


def _timing(name: str, seconds: float, share: float) -> Timing:
    return Timing(name, seconds, share, share, share)


# -- what is read -------------------------------------------------------------------------------


def draw_pictures(folder: Path, count: int) -> None:
    """A folder of class folders with JPEGs: stripes one way, or the other."""
    from PIL import Image

    draws = np.random.default_rng(0)
    for kind in ("across", "down"):
        (folder / kind).mkdir()
    for number in range(count):
        stripes = np.broadcast_to(draws.integers(0, 256, (SIDE // 16, 1, 3)), (SIDE // 16, 16, 3))
        small = stripes.astype(np.uint8) if number % 2 else stripes.transpose(1, 0, 2)
        picture = Image.fromarray(np.ascontiguousarray(small, np.uint8)).resize((SIDE, SIDE))
        picture.save(folder / ("across", "down")[number % 2] / f"{number:05}.jpg", quality=60)


def write_large(path: Path, size: int) -> None:
    """An .npz of pictures, not compressed, all black but for the first few."""
    count = size // (SIDE * SIDE)
    piece = bytes(2**24)
    first = np.random.default_rng(0).bytes(2**24)
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("X.npy", "w", force_zip64=True) as member:
            header = {"descr": "|u1", "fortran_order": False, "shape": (count, SIDE, SIDE)}
            np.lib.format.write_array_header_1_0(member, header)
            for start in range(0, size, len(piece)):
                member.write(piece if start else first)
        with archive.open("y.npy", "w") as member:
            np.lib.format.write_array(member, np.arange(count) % 2)


# -- what is measured ---------------------------------------------------------------------------


def measured(work: str, source: str) -> tuple[float, int, int]:
    """Seconds, peak of all resident memory, and of the part that is no file's, in a process."""
    command = [sys.executable, "-m", "benchmarks.bench_memory", work, source]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return found["seconds"], found["total"], found["own"]


def train(source: str) -> None:
    """Train on every tenth picture of a folder that is loaded as a whole."""
    import isotropy as iso
    from isotropy.training import Settings, fit

    data = iso.data.load(source).train
    model = iso.models.make("cnn", data.shape, data.outputs, 4)
    fit(model, data.subset(np.arange(0, len(data), 10)), settings=Settings(epochs=1))


def read(source: str) -> None:
    """Read all samples of a file."""
    import isotropy as iso

    data = iso.data.load(source).train
    for start in range(0, len(data), 256):
        data.batch(np.arange(start, min(start + 256, len(data))))


def watched(work: Callable[[str], None], source: str) -> dict[str, float]:
    """Do some work, and see how much memory it holds meanwhile."""
    done, own = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(0.01):
            own[0] = max(own[0], memory("RssAnon"))

    watcher = threading.Thread(target=watch)
    start = time.perf_counter()
    watcher.start()
    work(source)
    done.set()
    watcher.join()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "total": memory("VmHWM"), "own": own[0]}


def memory(kind: str) -> int:
    """Bytes of a kind that Linux counts for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"{kind}:"))
    return 1024 * int(found)


if __name__ == "__main__":
    name, where = sys.argv[1:]
    print(json.dumps(watched({"train": train, "read": read}[name], where)))
