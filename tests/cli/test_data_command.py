"""isotropy data: list, get and make, as their users run them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotropy as iso
from isotropy.cli import progress as telling
from isotropy.cli.progress import Lines, progress
from isotropy.data import catalogue
from isotropy.data.named.catalogue import find
from isotropy.data.named.entry import Entry
from tests.cli.conftest import Command
from tests.data.drawing import draw_classes
from tests.data.official import idx, made_of, pixels
from tests.data.server import Answers, serving

FOUR = [
    *(idx(pixels(30, 28, 28)), idx(np.arange(30, dtype=np.uint8) % 10)),
    *(idx(pixels(20, 28, 28)), idx(np.arange(20, dtype=np.uint8) % 10)),
]


@pytest.fixture
def mnist(monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A small MNIST in the place of the real one."""
    entry = made_of(catalogue()["mnist"], FOUR)
    known = {**catalogue(), "mnist": entry}
    monkeypatch.setattr("isotropy.data.named.catalogue.catalogue", lambda: known)
    return entry


@pytest.fixture
def server(mnist: Entry) -> Any:
    """Serves it."""
    files = {file.path: content for file, content in zip(mnist.files, FOUR, strict=True)}
    with serving(files) as answers:
        yield answers


# -- list ---------------------------------------------------------------------------------------


def test_list_says_what_is_here(tmp_path: Path, isotropy: Command) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "efigi_64.npz").touch()
    found = isotropy("data", "list", "--cache", tmp_path / "cache")
    assert (found.status, found.err) == (0, "")
    first, *lines = found.out.splitlines()
    assert first == f"in {tmp_path / 'cache'}:"
    states = {line.split()[0]: line for line in lines}
    assert list(states) == list(catalogue())
    for name, state in [
        *(("digits", "here"), ("efigi", "here")),
        *(("isic_uda1", "not here"), ("cifar10", "to download")),
    ]:
        assert f"{name}  " in states[name]
        assert f"  {state}  " in states[name]


def test_list_in_json(tmp_path: Path, isotropy: Command) -> None:
    found = isotropy("data", "list", "--cache", tmp_path, "--json").json
    assert found["cache"] == str(tmp_path)
    assert [row["name"] for row in found["sets"]] == list(catalogue())
    states = {row["name"]: row["state"] for row in found["sets"]}
    assert (states["digits"], states["mnist"], states["efigi"]) == (
        *("here", "to download"),
        "not here",
    )


# -- get ----------------------------------------------------------------------------------------


def test_get_downloads_and_says_what_was_checked(
    server: Answers, tmp_path: Path, isotropy: Command
) -> None:
    asked = ("data", "get", "mnist", "--cache", tmp_path / "cache", "--mirror", server.address)
    found = isotropy(*asked)
    assert (found.status, found.err) == (0, "")
    lines = found.out.splitlines()
    assert len(lines) == 4
    assert all(line.endswith("bytes; its md5 is the published one") for line in lines)
    assert lines[0].startswith(f"{tmp_path / 'cache' / 'mnist' / 'train-images-idx3-ubyte.gz'}: ")
    assert isotropy(*asked, "--json").json["files"][0]["bytes"] == len(FOUR[0])
    assert len(server.asked) == 4


def test_get_says_where_nothing_is_published(
    monkeypatch: pytest.MonkeyPatch,
    server: Answers,
    mnist: Entry,
    tmp_path: Path,
    isotropy: Command,
) -> None:
    files = tuple(replace(file, checksum=None) for file in mnist.files)
    known = {**catalogue(), "mnist": replace(mnist, files=files)}
    monkeypatch.setattr("isotropy.data.named.catalogue.catalogue", lambda: known)
    found = isotropy("data", "get", "mnist", "--cache", tmp_path, "--mirror", server.address)
    assert found.out.count("no checksum is published for it; the sha256 of the first") == 4


def test_a_wrong_file_is_removed_and_said(
    server: Answers, mnist: Entry, tmp_path: Path, isotropy: Command
) -> None:
    server.files[mnist.files[1].path] = b"something else"
    found = isotropy("data", "get", "mnist", "--cache", tmp_path, "--mirror", server.address)
    assert (found.status, found.out) == (2, "")
    assert "train-labels-idx1-ubyte.gz: the file that came has another checksum" in found.error
    assert "it was removed" in found.error
    assert not (tmp_path / mnist.files[1].path).exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mnits", "'mnits' is no data set's name, nor a file or folder that is there; did you"),
        ("efigi", "efigi: cannot be downloaded, and"),
    ],
)
def test_sets_that_cannot_be_had(name: str, words: str, tmp_path: Path, isotropy: Command) -> None:
    found = isotropy("data", "get", name, "--cache", tmp_path)
    assert found.status == 2
    assert words in found.error


def test_an_address_that_cannot_be_reached(tmp_path: Path, isotropy: Command) -> None:
    with serving({}) as gone:
        nowhere = gone.address
    found = isotropy("data", "get", "mnist", "--cache", tmp_path, "--mirror", nowhere, "--json")
    assert found.status == 2
    assert found.json["status"] == 2
    assert "cannot be reached" in found.json["error"]


def test_what_comes_with_the_program(tmp_path: Path, isotropy: Command) -> None:
    found = isotropy("data", "get", "digits", "--cache", tmp_path)
    assert found.out == "digits: comes with the program, nothing to download\n"


def test_notes_are_said(tmp_path: Path, isotropy: Command) -> None:
    (tmp_path / "efigi_64.npz").write_bytes(b"x")
    found = isotropy("data", "get", "efigi", "--cache", tmp_path)
    assert "efigi: EFIGI (Baillard et al. 2011)" in found.out


# -- make ---------------------------------------------------------------------------------------


def test_make_writes_what_python_makes(tmp_path: Path, isotropy: Command) -> None:
    recipe = "digits by C4, shift(1)@0.5"
    found = isotropy("data", "make", recipe, "turned.npz", "--seed", 3)
    assert (found.status, found.err) == (0, "")
    assert found.out == "turned.npz: digits by C4, shift(1)@0.5: 1,797 to train\n"
    made = iso.data.load(tmp_path / "turned.npz")
    expected = iso.data.symmetrised(iso.data.load("digits"), "C4, shift(1)@0.5", seed=3)
    assert made.train.fingerprint() == expected.train.fingerprint()
    assert made.note == expected.note
    assert made.train.classes == tuple("0123456789")


def test_make_twice_writes_the_same_bytes(tmp_path: Path, isotropy: Command) -> None:
    sums = set()
    for name in ("a.npz", "b.npz"):
        found = isotropy("data", "make", "digits by rotation", name, "--json").json
        assert found["samples"] == {"train": 1797}
        assert found["shape"] == [1, 8, 8]
        sums.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(sums) == 1
    isotropy("data", "make", "digits by rotation", "c.npz", "--seed", 1)
    assert hashlib.sha256((tmp_path / "c.npz").read_bytes()).hexdigest() not in sums


def test_make_exchanges_labels(tmp_path: Path, isotropy: Command) -> None:
    exchange = [1, 0, *range(2, 10)]
    isotropy("data", "make", "digits by D1", "x.npz", "--labels", f'{{"s": {exchange}}}')
    upright = iso.data.load("digits").train
    made = iso.data.load(tmp_path / "x.npz").train
    changed = np.flatnonzero(made.targets != upright.targets)
    assert set(upright.targets[changed]) == {0, 1}
    x, y = upright.batch(changed)[0], made.batch(changed)[0]
    assert bool((x.flip(-1) == y).all())


def test_make_moves_entries_of_vectors(tmp_path: Path, isotropy: Command) -> None:
    np.savez(tmp_path / "v.npz", X=np.arange(40.0).reshape(10, 4), y=[0, 1] * 5)
    action = '{"r": [1, 2, 3, 0]}'
    found = isotropy("data", "make", "./v.npz by C4", "w.npz", "--action", action)
    assert found.status == 0
    moved = iso.data.load(tmp_path / "w.npz").train.batch(np.arange(10))[0].numpy()
    assert np.array_equal(np.sort(moved, 1), np.arange(40).reshape(10, 4))


def test_make_moves_all_parts_of_a_folder(tmp_path: Path, isotropy: Command) -> None:
    for part in ("train", "test", "val"):
        draw_classes(tmp_path / "set" / part)
    found = isotropy("data", "make", "set/ by D4", "moved.npz", "--resize", 4, "--json").json
    assert found["samples"] == {"train": 6, "test": 6, "validation": 6}
    made = iso.data.load(tmp_path / "moved.npz")
    assert [part.shape for part in made.parts()] == [(3, 4, 4)] * 3
    assert made.train.classes == ("cats", "dogs")


def test_make_from_a_file_of_options(tmp_path: Path, isotropy: Command) -> None:
    (tmp_path / "recipe.toml").write_text('[options]\nseed = 3\nlabels = "{}"\n')
    found = isotropy("data", "make", "digits by C4", "a.npz", "--config", "recipe.toml", "--json")
    assert found.json["note"].endswith("seed 3")


REFUSED = [
    (["digits", "a.npz"], 'recipe must be "SOURCE by MOVES", as "digits by C4"'),
    ([" by C4", "a.npz"], 'recipe must be "SOURCE by MOVES"'),
    (["digits by C5x", "a.npz"], "unknown group 'C5x'"),
    (["digits by rotation(many)", "a.npz"], "moves: 'rotation(many)' is none"),
    (["nope by C4", "a.npz"], "'nope' is no data set's name"),
    (["digits by C4", "a.txt"], "a.txt: must end in .npz"),
    (["digits by C4", "there.npz"], "there.npz is there already"),
    (["digits by C4", "there.npz/a.npz"], "cannot write there.npz/a.npz: "),
    (["digits by C4", "a.npz", "--labels", "[1, 0]"], "labels must be as {"),
    (["digits by C4", "a.npz", "--labels", "{"], "labels is no JSON"),
    (["digits by C4", "a.npz", "--action", "x"], "action is no JSON"),
    (["digits by C4", "a.npz", "--labels", '{"r": [1, 0]}'], "must all have one size"),
    (["digits by shift", "a.npz", "--labels", '{"r": [1, 0]}'], "give one group among the moves"),
    (["digits by C4", "a.npz", "--layout", "nchw"], "layout: means nothing for digits"),
    (["digits by C4"], "Missing argument 'OUT.npz'"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_recipes_that_are_refused(
    arguments: list[str], words: str, tmp_path: Path, isotropy: Command
) -> None:
    (tmp_path / "there.npz").touch()
    found = isotropy("data", "make", *arguments)
    assert (found.status, found.out) == (2, "")
    assert words in found.error
    assert [p.name for p in tmp_path.iterdir()] == ["there.npz"]


def test_the_group_of_commands(isotropy: Command) -> None:
    """Asked for nothing or something else it is one line; its help names all three."""
    assert isotropy("data").error == "Missing command."
    assert "No such command 'lsit'" in isotropy("data", "lsit").error
    found = isotropy("data", "--help")
    assert all(name in found.out for name in ("list", "get", "make"))
    for name in ("list", "get", "make"):
        assert isotropy("data", name, "--help").status == 0


# -- how it goes on -----------------------------------------------------------------------------


def test_lines_say_how_far_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    """Every few seconds, and never for what is done at once."""
    now = [0.0]
    told = Lines(every=5.0, clock=lambda: now[0])
    for seconds, done in [(0, 0), (1, 10), (4, 30), (5, 40), (6, 50), (10, 80), (12, 100)]:
        now[0] = float(seconds)
        told("file.bin", done, 100)
    now[0] = 100.0
    told("pictures", 5, None)
    now[0] = 105.0
    told("pictures", 12345, None)
    assert capsys.readouterr().err.splitlines() == [
        "file.bin: 40%, 8 s left",
        "file.bin: 80%, 2 s left",
        "pictures: 12,345",
    ]


def test_quiet_is_told_nothing() -> None:
    with progress(quiet=True) as told:
        assert told is None


def test_a_terminal_gets_bars_that_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(telling.sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress(quiet=False) as told:
        assert told is not None
        told("file.bin", 50, 100)
        told("other.bin", 1, None)
        told("file.bin", 100, 100)
    shown = capsys.readouterr().err
    assert "file.bin" in shown
    assert "other.bin" in shown
    assert shown.rstrip().endswith("\x1b[2K")


def test_find_takes_the_sets_of_the_catalogue(mnist: Entry) -> None:
    """What these tests put in its place is what is found."""
    assert find("mnist") is mnist
