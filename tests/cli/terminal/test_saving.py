"""Files that a command saves are complete, or not there."""

from pathlib import Path

import pytest

from tapeline.cli.terminal import saving


def test_a_file_that_was_sent_to_the_disk_in_parts_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "SOON", 1_000)
    content = bytes(range(256)) * 1_000
    with saving.saved(tmp_path / "record") as opened:
        for start in range(0, len(content), 3_333):
            opened.write(content[start : start + 3_333])
    assert (tmp_path / "record").read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["record"]


def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    def break_off() -> None:
        with saving.saved(tmp_path / "record") as opened:
            opened.write(bytes(2 * saving.SOON))
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        break_off()
    assert list(tmp_path.iterdir()) == []
