"""Names beside points: none covers another name, a point, or the chart's edge."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from isotropy.report.charts.labels import MOST, place_labels
from isotropy.report.charts.svg import text_width

WIDTH = 300.0
PLACES = st.lists(
    st.tuples(
        st.floats(10, 290), st.floats(20, 200), st.sampled_from(["", "C4", "a longer name"]),
        st.booleans(),
    ),
    max_size=25,
)  # fmt: skip

Box = tuple[float, float, float, float]


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] - 0.02 and b[0] < a[2] - 0.02 and a[1] < b[3] - 0.02 and b[1] < a[3] - 0.02


def placed(places: list[tuple[float, float, str, bool]]) -> list[tuple[str, Box]]:
    root = ElementTree.fromstring(f"<g>{place_labels(places, WIDTH)}</g>")
    found = []
    for node in root.iter("text"):
        x, y, name = float(node.get("x", 0)), float(node.get("y", 0)), node.text or ""
        found.append((name, (x, y - 11, x + text_width(name), y + 2)))
    return found


@given(PLACES)
def test_no_name_covers_anything(places: list[tuple[float, float, str, bool]]) -> None:
    boxes = [box for _, box in placed(places)]
    points = [(x - 6, y - 6, x + 6, y + 6) for x, y, _, _ in places]
    for number, box in enumerate(boxes):
        assert box[0] >= 0
        assert box[2] <= WIDTH
        assert not any(overlap(box, other) for other in [*boxes[:number], *points])


@given(PLACES)
def test_only_names_that_were_given_are_placed(
    places: list[tuple[float, float, str, bool]],
) -> None:
    names = [name for _, _, name, _ in places if name]
    shown = [name for name, _ in placed(places)]
    assert len(shown) <= min(len(names), MOST)
    assert all(shown.count(name) <= names.count(name) for name in shown)


def test_a_name_that_has_room_is_placed_and_what_matters_goes_first() -> None:
    assert [name for name, _ in placed([(100, 100, "C4", False)])] == ["C4"]
    crowd = [(100.0 + i % 3, 100.0, f"n{i}", i == 19) for i in range(20)]
    assert placed(crowd)[0][0] == "n19"
