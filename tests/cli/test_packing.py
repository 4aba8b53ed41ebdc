"""A folder becomes an archive: the same one every time, without what does not belong into it."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from tapeline.cli import manifest_file, packing
from tapeline.cli.failures import Failure
from tapeline.models import archive


def model(folder: Path, manifest: str = '{"main_script": "main.py"}') -> Path:
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    (folder / "platform.json").write_text(manifest)
    return folder


def packed(folder: Path) -> bytes:
    with packing.pack(folder, manifest_file.require(folder)) as made:
        return made.content.read()


def left_out(folder: Path) -> list[str]:
    with packing.pack(folder, manifest_file.require(folder)) as made:
        return made.left_out


def names(folder: Path) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(packed(folder))) as opened:
        return {name.removeprefix("model/") for name in opened.namelist()}


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = model(tmp_path / "a"), model(tmp_path / "b")
    for name in ("z.py", "b.py", "c.py"):
        (first / name).write_text(name)
    for name in ("c.py", "z.py", "b.py"):
        (second / name).write_text(name)
    os.utime(second / "b.py", (1, 1))
    (second / "c.py").chmod(0o600)
    assert packed(first) == packed(second)
    (second / "c.py").chmod(0o755)
    assert packed(first) != packed(second)


def test_what_is_packed_is_what_the_server_accepts(tmp_path: Path) -> None:
    folder = model(tmp_path / "a")
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/file.csv").write_text("1,2")
    (tmp_path / "a.zip").write_bytes(packed(folder))
    contents = archive.check(tmp_path / "a.zip")
    assert {one.path for one in contents.entries if not one.is_folder} == {
        "main.py", "platform.json", "deep/er/file.csv",
    }  # fmt: skip


def test_what_belongs_to_the_work_and_not_to_the_model_stays_out(tmp_path: Path) -> None:
    folder = model(tmp_path / "a")
    for name in (".git", "__pycache__", ".venv", "sub/__pycache__", "my-env", "kept"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("")
    (folder / "my-env/pyvenv.cfg").write_text("")
    (folder / ".env").write_text("SECRET=1")
    (folder / "x.pyc").write_text("")
    assert names(folder) == {"main.py", "platform.json", "kept/file"}
    assert {".git/", ".env", "my-env/", "sub/__pycache__/"} <= set(left_out(folder))


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("*.csv", {"data/b.txt", "data/deep/d.txt"}),
        ("data", set()),
        ("data/", set()),
        ("./data/a.csv", {"data/b.txt", "data/deep/c.csv", "data/deep/d.txt"}),
        ("data/*.csv", {"data/b.txt", "data/deep/d.txt"}),
        ("c.csv", {"data/a.csv", "data/b.txt", "data/deep/d.txt"}),
        ("", {"data/a.csv", "data/b.txt", "data/deep/c.csv", "data/deep/d.txt"}),
    ],
)
def test_ignore_files_are_honoured(tmp_path: Path, pattern: str, left: set[str]) -> None:
    folder = model(tmp_path / "a", f'{{"main_script": "main.py", "ignore_files": ["{pattern}"]}}')
    (folder / "data/deep").mkdir(parents=True)
    for name in ("data/a.csv", "data/b.txt", "data/deep/c.csv", "data/deep/d.txt"):
        (folder / name).write_text("")
    assert names(folder) == {"main.py", "platform.json"} | left
    assert left_out(folder) == [], "what was asked for needs no word"


def test_links_to_files_are_packed_as_files_and_to_folders_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "a")
    (tmp_path / "shared.py").write_text("shared = 1")
    (folder / "shared.py").symlink_to(tmp_path / "shared.py")
    with zipfile.ZipFile(io.BytesIO(packed(folder))) as opened:
        assert opened.read("model/shared.py") == b"shared = 1"
    (folder / "linked").symlink_to(tmp_path)
    with pytest.raises(Failure, match="linked is a link to a folder"):
        packed(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "main_script": "main.py",\n  "screener": {"schedule": "* * * * *"}\n}\n',
        '{"main_script": "main.py"}',
        "{}",
        '{\n\t"main_script": "main.py",\n\t"model_id": "old",\n\t"project_id": null\n}',
        '{"nested": {"model_id": "mine"}, "main_script": "main.py"}',
    ],
)
def test_the_manifest_remembers_and_stays_as_it_was_written(tmp_path: Path, text: str) -> None:
    file = tmp_path / "platform.json"
    file.write_text(text)
    found = manifest_file.require(tmp_path)
    before = dict(found.values)
    found.remember(model_id="new", project_id="p")
    again = manifest_file.require(tmp_path)
    assert again.values == before | {"model_id": "new", "project_id": "p"}
    if text.count("\n") > 1:
        assert file.read_text().startswith(text.partition('"model_id"')[0].rstrip("\n}"))
    found.remember(model_id="new", project_id="p")
    assert manifest_file.require(tmp_path).values == again.values
