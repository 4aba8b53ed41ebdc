"""The source of an archive, for people: files with honest hashes, and text that is limited."""

import hashlib
from pathlib import Path

import pytest

from tapeline.errors import InvalidArchive, NoSuchFile
from tapeline.models.archives import sources
from tests.archives import MAIN, plain, raw_zip, zipped

# Not as regular as a bomb.
BINARY = b"".join(number.to_bytes(4, "big") for number in range(300_000))
HUGE = "".join(f"{number:06},2\n" for number in range(120_000))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """An archive with all kinds of files."""
    file = tmp_path / "archive.zip"
    content: dict[str, str | bytes] = {
        "data/empty/": "",
        "data/prices.bin": BINARY,
        "empty.txt": "",
        "huge.csv": HUGE,
        "latin.py": "# Gr\u00fc\u00dfe\n".encode("latin-1"),
        "reversed.py": "is_admin = '\u202e'\n",
    }
    file.write_bytes(zipped(content))
    return file


def test_files_are_listed_by_path_with_the_hashes_of_their_content(packed: Path) -> None:
    found = {one.path: one for one in sources.listed(packed)}
    assert list(found) == ["data/prices.bin", "empty.txt", "huge.csv", "latin.py", "main.py",
                           "platform.json", "reversed.py"]  # fmt: skip
    assert found["main.py"].sha256 == hashlib.sha256(MAIN.encode()).hexdigest()
    assert found["huge.csv"].size == len(HUGE)


def test_a_program_is_told_from_a_plain_file(tmp_path: Path) -> None:
    file = tmp_path / "archive.zip"
    file.write_bytes(raw_zip([(plain("model/a.sh", 0o100755), "x"), ("model/b", "x")]))
    assert [one.is_executable for one in sources.listed(file)] == [True, False]


def test_text_is_what_is_written_with_every_mark_that_hides_in_it(packed: Path) -> None:
    found = sources.text(packed, "reversed.py")
    assert (found.text, found.is_text, found.is_exact) == ("is_admin = '\u202e'\n", True, True)
    assert sources.text(packed, "empty.txt").text == ""


def test_bytes_that_are_not_utf_8_are_replaced_and_said_so(packed: Path) -> None:
    found = sources.text(packed, "latin.py")
    assert (found.text, found.is_exact) == ("# Gr\ufffd\ufffde\n", False)


def test_what_is_not_text_or_too_large_is_named_with_its_size(packed: Path) -> None:
    binary, huge = (sources.text(packed, path) for path in ("data/prices.bin", "huge.csv"))
    assert (binary.text, binary.is_text, binary.size) == (None, False, 1_200_000)
    assert (huge.text, huge.is_text, huge.size) == (None, True, len(HUGE))


def test_any_file_comes_in_pieces(packed: Path) -> None:
    pieces = list(sources.chunks(packed, sources.find(packed, "data/prices.bin")))
    assert b"".join(pieces) == BINARY
    assert len(pieces) > 1


@pytest.mark.parametrize("path", ["nothing.py", "data/empty", "data", "../main.py", "/main.py"])
def test_what_is_no_file_of_the_archive_is_not_found(packed: Path, path: str) -> None:
    for read in (sources.text, sources.find):
        with pytest.raises(NoSuchFile):
            read(packed, path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "archive.zip"
    file.write_bytes(raw_zip([("model/bomb", b"\0" * 5_000_000)]))
    for read in (sources.listed, lambda one: sources.text(one, "bomb")):
        with pytest.raises(InvalidArchive):
            read(file)
