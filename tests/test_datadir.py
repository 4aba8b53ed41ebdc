"""The data directory: private, one server's at a time, and never somebody else's by mistake."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline import datadir
from tapeline.errors import CannotStart


@pytest.fixture(autouse=True)
def _own_mask() -> Iterator[None]:
    mask = os.umask(0o022)
    yield
    os.umask(mask)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_private_with_all_above_it(tmp_path: Path) -> None:
    data = tmp_path / "a" / "b"
    datadir.prepare(data)
    assert mode(data) == 0o700
    (data / "made later").write_text("")
    assert mode(data / "made later") == 0o600


def test_an_empty_one_or_one_of_ours_is_made_private(tmp_path: Path) -> None:
    for name in ("", *datadir.OURS):
        data = tmp_path / f"data-{name}"
        data.mkdir()
        data.chmod(0o755)
        if name:
            (data / name).touch()
        datadir.prepare(data)
        assert mode(data) == 0o700


def test_a_public_one_with_other_things_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "somebody's").touch()
    with pytest.raises(CannotStart, match="contains other files"):
        datadir.prepare(tmp_path)
    assert mode(tmp_path) == 0o1777


def test_a_private_one_with_other_things_in_it_is_fine(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "tapeline.toml").touch()
    datadir.prepare(tmp_path)


def test_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match="it is a file"):
        datadir.prepare(tmp_path / "file")
    with pytest.raises(CannotStart, match="Not a directory"):
        datadir.prepare(tmp_path / "file" / "below")


def test_a_second_server_is_told_who_is_first(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with datadir.only_server(data, "http://127.0.0.1:8700, process 1"):
        for ask in (_be_second, datadir.refuse_second):
            with pytest.raises(CannotStart, match=r"already running .*: http://127\.0\.0\.1:8700"):
                ask(data)
    datadir.refuse_second(data)
    with datadir.only_server(data, "next"):
        assert (data / datadir.LOCK).read_text() == "next"


def _be_second(data: Path) -> None:
    with datadir.only_server(data, "second"):
        pass


def test_asking_for_a_second_server_makes_nothing(tmp_path: Path) -> None:
    datadir.refuse_second(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    hold = (
        "import sys, os, signal; from pathlib import Path; from tapeline import datadir\n"
        "with datadir.only_server(Path(sys.argv[1]), 'first'): os.kill(os.getpid(), signal.SIGKILL)"
    )
    data = tmp_path / "data"
    subprocess.run([sys.executable, "-c", hold, str(data)], check=False)
    with datadir.only_server(data, "second"):
        pass


def test_what_is_not_there_is_required_in_vain(tmp_path: Path) -> None:
    for data in (tmp_path, tmp_path / "none"):
        with pytest.raises(CannotStart, match="There is no Tapeline in"):
            datadir.require(data)
    (tmp_path / "tapeline.db").touch()
    datadir.require(tmp_path)


@pytest.mark.parametrize("name", ["keys", datadir.LOCK])
def test_one_without_a_database_is_refused_where_opening_it_would_make_one(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(CannotStart, match=r"There is no database in .* name it with --database"):
        datadir.require_database(tmp_path, "")
    datadir.require_database(tmp_path, "postgresql://elsewhere/tapeline")
    (tmp_path / "tapeline.db").touch()
    datadir.require_database(tmp_path, "")
