"""Downloads from a real server: whole, resumed, damaged, refused, unreachable."""

from __future__ import annotations

import hashlib
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import isotropy as iso
from isotropy.data.cache import Cache, platform_folder
from isotropy.data.download import Remote, checked_against, fetch, record_of
from isotropy.data.named.catalogue import find
from isotropy.data.options import Options
from isotropy.data.resume import PIECE
from tests.data.server import Answers, serving

CONTENT = np.random.default_rng(5).bytes(300_000)
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


@pytest.fixture
def server() -> Iterator[Answers]:
    with serving({"set/file.bin": CONTENT}) as answers:
        yield answers


def remote(server: Answers, checksum: str | None = MD5) -> Remote:
    """The file on the server, under its official address."""
    return Remote("set/file.bin", f"{server.address}/set/file.bin", checksum)


def left_behind(folder: Path) -> list[str]:
    """All files of a folder but the downloaded one."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.name != "file.bin")


@pytest.mark.parametrize("checksum", [MD5, SHA256])
def test_a_file_comes_once(checksum: str, server: Answers, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    file = remote(server, checksum)
    path = fetch(file, tmp_path, progress=lambda *what: told.append(what))
    assert path == tmp_path / "set" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert told[-1] == ("file.bin", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    fetch(file, tmp_path)
    assert server.asked == [("/set/file.bin", None)]
    assert left_behind(tmp_path) == []
    assert checked_against(path, file) == f"its {checksum.split(':')[0]} is the published one"


# --- checksums -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [CONTENT[:-1] + b"?", CONTENT[:1000], b"", b"<html>Sorry</html>"]
)
@pytest.mark.parametrize("checksum", [MD5, SHA256])
def test_a_wrong_file_is_removed_and_said(
    checksum: str, content: bytes, server: Answers, tmp_path: Path
) -> None:
    """Corrupted, truncated by its server, empty, or another file altogether."""
    server.files["set/file.bin"] = content
    with pytest.raises(iso.FileFormatError, match=f"another checksum than {checksum}; it was rem"):
        fetch(remote(server, checksum), tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    server.files["set/file.bin"] = CONTENT
    assert fetch(remote(server, checksum), tmp_path).read_bytes() == CONTENT


def test_a_file_that_was_damaged_later(server: Answers, tmp_path: Path) -> None:
    """What is in the cache is held against the checksum too, whenever it has changed."""
    path = fetch(remote(server), tmp_path)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(iso.FileFormatError, match="it was removed; run again to download it"):
        fetch(remote(server), tmp_path)
    assert not path.exists()
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


def test_the_first_download_is_recorded(server: Answers, tmp_path: Path) -> None:
    """Where no checksum is published; later ones are held against it, and it is said."""
    file = remote(server, None)
    path = fetch(file, tmp_path)
    assert record_of(path).read_text() == f"{SHA256.removeprefix('sha256:')}  file.bin\n"
    assert "no checksum is published for it; the sha256 of the first" in checked_against(path, file)
    path.unlink()
    server.files["set/file.bin"] = CONTENT[:-1]
    with pytest.raises(iso.FileFormatError, match=f"another checksum than {SHA256}"):
        fetch(file, tmp_path)
    server.files["set/file.bin"] = CONTENT
    fetch(file, tmp_path)


def test_a_file_put_there_by_hand_is_not_called_checked(server: Answers, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    path = tmp_path / "set" / "file.bin"
    path.write_bytes(b"by hand")
    file = remote(server, None)
    assert fetch(file, tmp_path) == path
    assert checked_against(path, file) == ("no checksum is published for it, and none was recorded")
    assert server.asked == []


# --- going on --------------------------------------------------------------------------------


def test_it_goes_on_where_it_was_cut_off(server: Answers, tmp_path: Path) -> None:
    """Within one call, as long as something comes each time."""
    server.cuts = [12 * PIECE, 6 * PIECE, PIECE]
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT
    starts = [0 if asked is None else int(asked[6:-1]) for _, asked in server.asked]
    assert starts == [0, 12 * PIECE, 18 * PIECE, 19 * PIECE]
    assert left_behind(tmp_path) == []


def test_a_later_call_goes_on(server: Answers, tmp_path: Path) -> None:
    """What has come stays; the next call asks for the rest alone."""
    server.cuts = [12 * PIECE + 5, 0, 0]
    with pytest.raises(
        iso.InputError, match=f"was cut off after {12 * PIECE} bytes; run again to go on"
    ):
        fetch(remote(server), tmp_path)
    assert left_behind(tmp_path) == ["file.bin.part", "file.bin.part.version"]
    server.cuts, server.asked = [], []
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [("/set/file.bin", f"bytes={12 * PIECE}-")]
    assert left_behind(tmp_path) == []


def test_a_server_that_cannot_go_on(server: Answers, tmp_path: Path) -> None:
    """One that ignores Range sends all again, and that is what is kept."""
    server.ranges, server.cuts = False, [100_000, 200_000]
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ["", "weak"])
def test_without_a_version_it_begins_again(etag: str, server: Answers, tmp_path: Path) -> None:
    """Two halves of different files would not be noticed before the end."""
    server.etag, server.cuts = etag, [100_000]
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, None]


def test_a_file_that_changes_between_tries(server: Answers, tmp_path: Path) -> None:
    """The rest of another version is not joined to the beginning of this one."""
    server.files["set/file.bin"] = bytes(len(CONTENT))
    server.cuts = [100_000, 0, 0]
    with pytest.raises(iso.InputError, match="cut off"):
        fetch(remote(server), tmp_path)
    server.files["set/file.bin"], server.etag = CONTENT, "v2"
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file(server: Answers, tmp_path: Path) -> None:
    """416: what is there is dropped, and all of it comes."""
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "file.bin.part").write_bytes(bytes(len(CONTENT)))
    (folder / "file.bin.part.version").write_text('"v1"')
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


def test_a_server_that_answers_another_range(server: Answers, tmp_path: Path) -> None:
    server.wrong_start, server.cuts = True, [100_000]
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


def test_a_download_that_is_interrupted_goes_on(server: Answers, tmp_path: Path) -> None:
    """Ctrl-C in the middle: what has come stays, and nothing else does."""

    def interrupt(_: str, done: int, __: int | None) -> None:
        if done >= 12 * PIECE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(remote(server), tmp_path, progress=interrupt)
    assert left_behind(tmp_path) == ["file.bin.part", "file.bin.part.version"]
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT
    assert server.asked[1] == ("/set/file.bin", f"bytes={12 * PIECE}-")


# --- what cannot be had ----------------------------------------------------------------------


def test_an_address_where_nothing_is(server: Answers, tmp_path: Path) -> None:
    server.files.clear()
    with pytest.raises(iso.InputError, match=r"/set/file\.bin answered 404 Not Found"):
        fetch(remote(server), tmp_path)


def test_an_address_that_cannot_be_reached(server: Answers, tmp_path: Path) -> None:
    with serving({}) as gone:
        nowhere = gone.address
    with pytest.raises(iso.InputError, match=r"cannot be reached .*[Rr]efused") as caught:
        fetch(remote(server), tmp_path, nowhere)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mirror", ["ftp://127.0.0.1", "nonsense", "http://"])
def test_mirrors_that_are_no_addresses(mirror: str, server: Answers, tmp_path: Path) -> None:
    with pytest.raises(iso.InputError, match="mirror: "):
        fetch(remote(server), tmp_path, mirror)


def test_a_folder_that_cannot_be_made(server: Answers, tmp_path: Path) -> None:
    (tmp_path / "set").write_text("a file is where the folder should be")
    with pytest.raises(iso.InputError, match=r"cannot write .*; set ISOTROPY_DATA to a folder"):
        fetch(remote(server), tmp_path)


def test_a_disk_that_is_full(server: Answers, tmp_path: Path) -> None:
    """A limit on the size of files stands for it; when there is room again it goes on."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(iso.InputError, match=r"cannot write .*file\.bin: File too large"):
            fetch(remote(server), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert fetch(remote(server), tmp_path).read_bytes() == CONTENT


def test_a_wrong_file_that_cannot_be_removed(
    server: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache for all to read and nobody to change: said, and not used."""
    path = fetch(remote(server), tmp_path)
    path.write_bytes(b"another file")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(iso.FileFormatError, match="it cannot be removed from here; replace it"):
        fetch(remote(server), tmp_path)


def test_several_at_once_download_once(server: Answers, tmp_path: Path) -> None:
    """Threads stand in for processes: each has a handle of the folder's lock of its own."""
    threads = [threading.Thread(target=fetch, args=(remote(server), tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.asked) == 1
    assert (tmp_path / "set" / "file.bin").read_bytes() == CONTENT


# --- where from, and where to ----------------------------------------------------------------


def test_a_mirror_by_option_and_by_environment(
    server: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror is laid out as the cache; the option goes before the environment."""
    file = Remote("set/file.bin", "http://127.0.0.1:9/official", MD5)
    Cache.of(Options(cache=tmp_path / "a", mirror=f"{server.address}/")).fetch(file)
    monkeypatch.setenv("ISOTROPY_MIRROR", server.address)
    Cache.of(Options(cache=tmp_path / "b")).fetch(file)
    monkeypatch.setenv("ISOTROPY_MIRROR", "http://127.0.0.1:9")
    Cache.of(Options(cache=tmp_path / "c", mirror=server.address)).fetch(file)
    assert [path for path, _ in server.asked] == ["/set/file.bin"] * 3


def test_the_cache_by_option_environment_and_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOTROPY_DATA", str(tmp_path / "set"))
    assert Cache.of(Options()).folder == tmp_path / "set"
    assert Cache.of(Options(cache=tmp_path / "given")).folder == tmp_path / "given"
    monkeypatch.delenv("ISOTROPY_DATA")
    assert Cache.of(Options()).folder == platform_folder()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/isotropy"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/me/.cache/isotropy"),
        ("darwin", {}, "/home/me/Library/Caches/isotropy"),
        ("win32", {"LOCALAPPDATA": "/appdata"}, "/appdata/isotropy"),
    ],
)
def test_where_platforms_keep_caches(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert platform_folder() == Path(expected)


def test_a_name_is_downloaded_when_it_is_needed(server: Answers, tmp_path: Path) -> None:
    """From the mirror, under the path it has in the cache; the wrong file is refused."""
    first = find("mnist").files[0]
    server.files[first.path] = CONTENT
    with pytest.raises(iso.FileFormatError, match=f"another checksum than {first.checksum}"):
        iso.data.load("mnist", cache=tmp_path, mirror=server.address)
    assert server.asked == [(f"/{first.path}", None)]
