"""What is known, on disk as it becomes known."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotropy.discovery.ledger import Ledger
from isotropy.discovery.trial import Outcome

FIRST = Outcome("0/untied/", 0.9, 100, 1.5, {"": [0, 1], "r": [1, 0]})
SECOND = Outcome("0/tied/größer [s: 0↔1]", 0.25, 7, 0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "trials.jsonl"
    ledger = Ledger(path)
    ledger.add(FIRST)
    ledger.add(SECOND)
    return path


def test_what_was_added_is_read(path: Path) -> None:
    assert Ledger(path).filed == {FIRST.key: FIRST, SECOND.key: SECOND}


def test_wherever_it_was_cut_whole_lines_are_kept(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in (0, 1, first - 1, first, first + 1, first + 30, len(whole) - 1):
        path.write_bytes(whole[:end])
        filed = Ledger(path).filed
        assert list(filed) == [FIRST.key][: int(end >= first)]
        Ledger(path).add(SECOND)  # what is added next stands on a line of its own
        assert Ledger(path).filed[SECOND.key] == SECOND


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "gone.jsonl")
    assert (ledger.filed, ledger.known) == ({}, {})


def test_what_is_filed_is_known_when_it_is_asked_for(path: Path) -> None:
    ledger = Ledger(path)
    assert ledger.known == {}
    assert ledger.recalls(SECOND.key)
    assert not ledger.recalls("2/untied/")
    assert ledger.known == {SECOND.key: SECOND}
