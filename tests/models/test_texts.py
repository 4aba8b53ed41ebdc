"""Names and descriptions: one rule for all that people name."""

import pytest

from tapeline.errors import Invalid
from tapeline.models.texts import checked_description, checked_name


def test_a_name_has_1_to_120_characters_around_which_blanks_do_not_count() -> None:
    assert checked_name("  Momentum\n") == "Momentum"
    assert checked_name("é" * 120) == "é" * 120
    for wrong in ("", "  \t", "x" * 121, "a\nb", "a\x1b[2Kb", "a\u202eb"):
        with pytest.raises(Invalid) as refusal:
            checked_name(wrong)
        assert refusal.value.field == "name"


def test_a_description_may_be_empty_and_has_an_end() -> None:
    assert checked_description("") == ""
    assert checked_description("x" * 10_000) == "x" * 10_000
    with pytest.raises(Invalid) as refusal:
        checked_description("x" * 10_001)
    assert refusal.value.field == "description"
