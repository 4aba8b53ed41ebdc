"""Archives: what is taken, what is refused with its entry named, and what unpacking makes."""

import io
import os
import stat
import struct
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tapeline.errors import InvalidArchive, Problem
from tapeline.models.archives import archive
from tests.archives import MAIN, plain, raw_zip, zipped
from tests.examples import some

BASE: list[tuple[str | zipfile.ZipInfo, str | bytes]] = [
    ("model/platform.json", '{"main_script": "main.py"}'),
    ("model/main.py", MAIN),
]


def saved(tmp_path: Path, content: bytes) -> Path:
    file = tmp_path / "archive.zip"
    file.write_bytes(content)
    return file


def check(tmp_path: Path, content: bytes) -> archive.Contents:
    return archive.check(saved(tmp_path, content))


def refusal(tmp_path: Path, content: bytes) -> str:
    with pytest.raises(InvalidArchive) as refused:
        check(tmp_path, content)
    folder = tmp_path / "unpacked"
    folder.mkdir(exist_ok=True)
    return refused.value.message


def with_entry(name: str | zipfile.ZipInfo, content: str | bytes = "x") -> bytes:
    return raw_zip([*BASE, (name, content)])


def test_a_plain_archive_is_described(tmp_path: Path) -> None:
    found = check(tmp_path, zipped({"data/prices.csv": "1,2\n", "data/empty/": ""}))
    assert found.manifest.main_script == "main.py"
    assert [(one.path, one.is_folder) for one in found.entries] == [
        ("platform.json", False), ("main.py", False), ("data/prices.csv", False),
        ("data/empty/".rstrip("/"), True),
    ]  # fmt: skip
    assert found.unpacked == sum(one.size for one in found.entries)


@pytest.mark.parametrize("root", ["model/", "/model/", "./model/", ".//model/./", "//model/"])
@pytest.mark.parametrize("manifest", ["platform.json", "blankly.json"])
def test_the_root_may_be_spelt_as_older_packers_do(
    tmp_path: Path, root: str, manifest: str
) -> None:
    found = check(tmp_path, zipped(root=root, manifest=manifest))
    assert {one.path for one in found.entries} == {manifest, "main.py"}


def test_platform_json_wins_over_the_older_name(tmp_path: Path) -> None:
    both = zipped({"blankly.json": '{"main_script": "none.py"}'})
    assert check(tmp_path, both).manifest.main_script == "main.py"


def test_what_a_finder_adds_is_ignored(tmp_path: Path) -> None:
    found = check(tmp_path, with_entry("__MACOSX/model/._main.py"))
    assert {one.path for one in found.entries} == {"platform.json", "main.py"}


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "not a zip"),
        (b"PK\x05\x06", "after its end"),
        (b"x" * 70_000, "not a zip"),
        (zipped()[:-1], "after its end"),
        (zipped()[:200], "not a zip"),
        (zipped() + b"\n", "data after its end"),
        (b"stub" + zipped(), "not where its end says"),
        (raw_zip([]), "no folder `model/`"),
        (raw_zip([("model/", "")]), "no folder `model/`"),
        (raw_zip([("model/main.py", "")]), "no `model/platform.json`"),
        (raw_zip([*BASE[1:], ("model/platform.json/", "")]), "no `model/platform.json`"),
        (raw_zip([("model", "file")]), "'model' is not in the folder"),
        (zipped(root="other/"), "'other/platform.json' is not in the folder `model/`"),
        (zipped(root=""), "'platform.json' is not in the folder `model/`"),
    ],
)
def test_what_is_no_archive_of_a_model_is_refused(
    tmp_path: Path, content: bytes, part: str
) -> None:
    assert part in refusal(tmp_path, content)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/etc/passwd", "absolute"),
        ("//etc/passwd", "absolute"),
        ("/modelx/a", "absolute"),
        ("model/../../etc/passwd", ".."),
        ("../model/x", ".."),
        ("model/..", ".."),
        ("model\\evil.py", "backslash"),
        ("C:\\windows\\x", "backslash"),
        ("C:/windows/x", "not in the folder"),
        ("model/a\nb", "control"),
        ("model/a\x7fb", "control"),
        ("README.md", "not in the folder"),
        ("model/" + "x" * 256, "longer than 255"),
        ("model/" + "é" * 200, "longer than 255"),
        ("model/" + "x/" * 600 + "x", "1 to 1,000 bytes"),
        ("model/main.py", "same name"),
        ("./model/main.py", "same name"),
        ("model/./main.py", "same name"),
        ("model/MAIN.py", "same name"),
        ("model/e\u202eyp.txt", "a text direction mark"),
        ("model/\u200b/x.py", "without any visible character"),
        ("model/main.py/x", "a file in the same archive"),
        ("model/main.py/", "same name"),
        ("model/platform.json/x/y", "a file in the same archive"),
    ],
)
def test_a_bad_name_is_refused_and_quoted(tmp_path: Path, name: str, reason: str) -> None:
    message = refusal(tmp_path, with_entry(name, "" if name.endswith("/") else "x"))
    assert reason in message
    assert repr(name)[1:150] in message


def test_a_name_with_nul_is_refused(tmp_path: Path) -> None:
    content = with_entry("model/aXb").replace(b"model/aXb", b"model/a\0b")
    assert "control character" in refusal(tmp_path, content)


def test_names_that_only_look_different_are_refused(tmp_path: Path) -> None:
    content = raw_zip([*BASE, ("model/caf\u00e9.csv", "1"), ("model/cafe\u0301.csv", "2")])
    assert "same name" in refusal(tmp_path, content)
    assert check(tmp_path, with_entry("model/caf\u00e9.csv"))


def test_a_name_in_an_older_encoding_is_read(tmp_path: Path) -> None:
    content = with_entry("model/aXb").replace(b"model/aXb", b"model/a\x82b")
    assert {one.path for one in check(tmp_path, content).entries} >= {"aéb"}


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (stat.S_IFLNK | 0o777, "link"),
        (stat.S_IFCHR | 0o600, "neither"),
        (stat.S_IFBLK | 0o600, "neither"),
        (stat.S_IFIFO | 0o600, "neither"),
        (stat.S_IFSOCK | 0o600, "neither"),
        (stat.S_IFDIR | 0o755, "named like a file"),
    ],
)
def test_only_files_and_folders_are_taken(tmp_path: Path, mode: int, reason: str) -> None:
    message = refusal(tmp_path, with_entry(plain("model/odd", mode), "/etc/passwd"))
    assert reason in message
    assert "'model/odd'" in message


def test_a_folder_with_content_is_refused(tmp_path: Path) -> None:
    content = with_entry("model/dirX", "hello").replace(b"model/dirX", b"model/dir/")
    assert "has content like a file" in refusal(tmp_path, content)


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    content = bytearray(with_entry("model/hidden"))
    place = content.rfind(b"PK\x01\x02")
    content[place + 8] |= 1
    assert "'model/hidden' is encrypted" in refusal(tmp_path, bytes(content))


def test_other_compressions_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO(zipped())
    with zipfile.ZipFile(out, "a", zipfile.ZIP_LZMA) as opened:
        opened.writestr("model/x", "x")
    assert "'model/x' is compressed in a way" in refusal(tmp_path, out.getvalue())


def test_ten_thousand_entries_are_the_most(tmp_path: Path) -> None:
    many: Any = [(f"model/{number}", "") for number in range(archive.MOST_ENTRIES - 2)]
    assert len(check(tmp_path, raw_zip([*BASE, *many])).entries) == archive.MOST_ENTRIES
    assert "10,000 entries" in refusal(tmp_path, raw_zip([*BASE, *many, ("model/one", "")]))


@pytest.mark.heavy
def test_ten_thousand_deep_folders_are_refused_in_little_time_and_memory(tmp_path: Path) -> None:
    deep: Any = [(f"model/{number:04}/" + "x/" * 490, "") for number in range(9_990)]
    file = saved(tmp_path, raw_zip([*BASE, *deep]))
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(InvalidArchive, match="more than 10,000 folders"):
        archive.check(file)
    spent = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spent < 10  # tracing included
    assert peak < 100_000_000


def test_an_entry_for_the_root_itself_is_nothing(tmp_path: Path) -> None:
    assert len(check(tmp_path, raw_zip([("./", ""), ("model/", ""), *BASE])).entries) == 2


def directory_of(content: bytes) -> tuple[int, bytes, bytes]:
    """Where the directory starts, the directory, and what follows."""
    end = content.rfind(b"PK\x05\x06")
    size, offset = struct.unpack_from("<2L", content, end + 12)
    assert offset + size == end
    return offset, content[offset:end], content[end:]


def test_a_directory_of_a_million_entries_costs_nothing(tmp_path: Path) -> None:
    """Whatever it counts: it is not read further than allowed."""
    head = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 16)
    for counted in (1_000, 0xFFFF):
        directory = head * 1_000_000
        end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, counted, counted, len(directory), 0, 0)
        file = saved(tmp_path, directory + end)
        tracemalloc.start()
        with pytest.raises(InvalidArchive):
            archive.check(file)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000


@pytest.mark.parametrize("claimed", [1, 3, 70])
def test_a_directory_that_counts_wrong_is_refused(tmp_path: Path, claimed: int) -> None:
    offset, directory, end = directory_of(zipped())
    lying = end[:8] + struct.pack("<2H", claimed, claimed) + end[12:]
    content = zipped()[:offset] + directory + lying
    assert "directory" in refusal(tmp_path, content)


def patched(content: bytes, name: bytes, at: int, new: bytes) -> bytes:
    """The directory's header of an entry, with other bytes at a place."""
    place = content.rfind(name) - 46
    assert content[place : place + 4] == b"PK\x01\x02"
    return content[: place + at] + new + content[place + at + len(new) :]


def test_sizes_that_lie_are_found_while_inflating(tmp_path: Path) -> None:
    content = with_entry("model/data", "hello " * 1000)
    packed = struct.unpack_from("<L", content, content.rfind(b"model/data") - 46 + 20)[0]
    for at, number in ((24, 5), (24, 6001), (20, packed - 1), (16, 1)):
        # In the directory alone the two headers disagree; in both, inflating shows it.
        assert "'model/data'" in refusal(
            tmp_path, patched(content, b"model/data", at, struct.pack("<L", number))
        )
        both = patched(content, b"model/data", at, struct.pack("<L", number))
        local = both.find(b"model/data") - 30
        place = local + {24: 22, 20: 18, 16: 14}[at]
        both = both[:place] + struct.pack("<L", number) + both[place + 4 :]
        assert "'model/data'" in refusal(tmp_path, both)


def test_a_bomb_is_refused_without_being_inflated(tmp_path: Path) -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(30_000_000)) + bomb.flush()
    assert len(packed) < 31_000
    assert "200:1" in refusal(tmp_path, with_entry("model/zeros", bytes(30_000_000)))
    # Hidden behind an honest file, so that the archive as a whole looks well.
    hidden = raw_zip([*BASE, ("model/honest", os.urandom(500_000)),
                      ("model/zeros", bytes(30_000_000))])  # fmt: skip
    assert "'model/zeros' is compressed more than 200:1" in refusal(tmp_path, hidden)
    # Lying about it only moves the refusal.
    lying = patched(hidden, b"model/zeros", 24, struct.pack("<L", 100))
    tracemalloc.start()
    assert "'model/zeros'" in refusal(tmp_path, lying)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_more_than_the_most_unpacked_is_refused_by_the_headers_alone(tmp_path: Path) -> None:
    content = with_entry("model/big", os.urandom(3_000_000))
    much = struct.pack("<L", archive.MOST_UNPACKED)
    content = patched(content, b"model/big", 24, much)
    local = content.find(b"model/big") - 30 + 22
    content = content[:local] + much + content[local + 4 :]
    assert "500,000,000 bytes unpacked" in refusal(tmp_path, content)


def test_entries_that_share_their_data_are_refused(tmp_path: Path) -> None:
    content = raw_zip([*BASE, ("model/aa", os.urandom(1000)), ("model/bb", os.urandom(1000))])
    place = content.rfind(b"model/aa") - 46
    offset = content[place + 42 : place + 46]
    assert "model/" in refusal(tmp_path, patched(content, b"model/bb", 42, offset))


def test_large_records_are_read_where_they_are_not_needed(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for name, text in BASE:
            assert isinstance(name, str)
            with opened.open(name, "w", force_zip64=True) as entry:
                entry.write(text.encode() if isinstance(text, str) else text)
    assert len(check(tmp_path, out.getvalue()).entries) == 2


class _Unseekable(io.RawIOBase):
    def __init__(self) -> None:
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        self.content += content
        return len(content)


def test_an_archive_written_to_a_pipe_is_read(tmp_path: Path) -> None:
    """Its sizes follow the data, as `zip -` and streaming packers write it."""
    out = _Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in BASE:
            opened.writestr(name, text)
    assert len(check(tmp_path, bytes(out.content)).entries) == 2


def test_unpacking_makes_plain_files_with_exact_modes(tmp_path: Path) -> None:
    content = raw_zip([
        *BASE, (plain("model/run.sh", 0o100755), "#!/bin/sh\n"), ("model/a/b/c.txt", "deep"),
        (plain("model/odd", 0o106777), "x"), ("model/empty/", ""), ("__MACOSX/model/x", "no"),
    ])  # fmt: skip
    folder = tmp_path / "folder"
    folder.mkdir()
    before = os.umask(0o077)
    try:
        archive.unpack(saved(tmp_path, content), folder)
    finally:
        os.umask(before)
    modes = {
        str(one.relative_to(folder)): stat.S_IMODE(one.lstat().st_mode) for one in folder.rglob("*")
    }
    assert modes == {
        "platform.json": 0o644, "main.py": 0o644, "run.sh": 0o755, "odd": 0o755, "a": 0o755,
        "a/b": 0o755, "a/b/c.txt": 0o644, "empty": 0o755,
    }  # fmt: skip
    assert (folder / "a/b/c.txt").read_text() == "deep"


NAMES = st.one_of(
    st.sampled_from(
        ["model/", "model/main.py", "/model/x", "./model/y/z", "model/a/../b", "model\\x", "..",
         "/", "", "model", "C:/x", "model/é", "model/x\0y", "__MACOSX/x", "model/platform.json/x"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: "model/" + text),
    st.text(st.characters(codec="utf-8"), max_size=20),
)  # fmt: skip


@pytest.mark.heavy
@given(
    entries=st.lists(st.tuples(NAMES, st.integers(0, 0xFFFF), st.binary(max_size=100)), max_size=6),
    damage=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=3)), max_size=3
    ),
)
@pytest.mark.heavy
@hypothesis_settings(max_examples=some(400), deadline=None)
def test_whatever_the_zip_it_is_unpacked_inside_its_folder_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[str, int, bytes]],
    damage: list[tuple[float, bytes]],
) -> None:
    chosen: Any = []
    for name, mode, content in entries:
        info = plain("x", mode)
        info.filename = name
        chosen.append((info, content))
    packed = bytearray(raw_zip([*BASE, *chosen]))
    for place, new in damage:
        at = int(place * len(packed))
        packed[at : at + len(new)] = new
    home = tmp_path_factory.mktemp("zips")
    file = saved(home, bytes(packed))
    folder = home / "folder"
    folder.mkdir()
    try:
        found = archive.check(file)
    except Problem:
        return
    archive.unpack(file, folder)
    made = {one for one in folder.rglob("*") if one.is_file()}
    assert {str(one.relative_to(folder)) for one in made} == {
        one.path for one in found.entries if not one.is_folder
    }
    assert not any(one.is_symlink() for one in folder.rglob("*"))
    assert {one.name for one in home.iterdir()} == {"archive.zip", "folder"}
