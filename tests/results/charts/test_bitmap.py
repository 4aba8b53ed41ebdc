"""Pictures of curves, and what is written on them."""

import pytest

from tapeline.results.charts.bitmap import INK, Bitmap, Frame, Place


def written(text: str) -> bytes:
    made = Bitmap(200, 40)
    made.finish_lines()
    made.text((5, 5), text, INK, 20)
    return made.png()


@pytest.mark.parametrize(
    ("text", "plain"),
    [("\N{MINUS SIGN}5.20 %", "-5.20 %"), ("\N{EN DASH}", "-"), ("Caf\u00e9", "Cafe")],
)
def test_a_loss_has_its_minus_and_a_letter_its_shape(text: str, plain: str) -> None:
    assert written(text) == written(plain)
    assert written(text) != written("")


def test_there_is_no_curve_without_two_moments_or_with_values_that_no_axis_holds() -> None:
    frame = Frame(0, 10, 0, 10)
    assert Place.of(frame, []) is None
    assert Place.of(frame, [(1.0, 5.0)]) is None
    assert Place.of(frame, [(1.0, 5.0), (1.0, 6.0)]) is None
    assert Place.of(frame, [(1.0, -1e308), (2.0, 1e308)]) is None
    place = Place.of(frame, [(1.0, 5.0), (2.0, 5.0)])
    assert place is not None
    assert place.y(5.0) == 10
