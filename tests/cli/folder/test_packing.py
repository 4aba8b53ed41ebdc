"""A folder becomes an archive: the same one every time, without what does not belong there."""

import io
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from tapeline.cli.folder import checking, manifest_file, packing
from tapeline.cli.terminal.failures import Failure
from tapeline.models.archives import archive


def model(folder: Path, manifest: str = '{"main_script": "main.py"}') -> Path:
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    (folder / "platform.json").write_text(manifest)
    return folder


def listed(folder: Path) -> packing.Listing:
    return packing.listed(folder, manifest_file.require(folder))


def packed(folder: Path) -> bytes:
    with packing.pack(listed(folder)) as made:
        return made.content.read()


def left_out(folder: Path) -> list[str]:
    return listed(folder).left_out


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


def test_ignore_files_are_read_as_git_reads_them(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.csv\n/models/a/secret.txt\n")
    (tmp_path / "models").mkdir()
    folder = model(tmp_path / "models" / "a")
    (folder / "data/raw").mkdir(parents=True)
    (folder / ".gitignore").write_text("data/raw/\n*.bin\n!kept.csv\n")
    (folder / ".tapelineignore").write_text("!weights.bin\nnotes.md\n")
    (folder / "data/.gitignore").write_text("*.tmp\n")
    for name in (
        "prices.csv", "kept.csv", "secret.txt", "cache.bin", "weights.bin", "notes.md",
        "data/x.tmp", "data/y.txt", "data/raw/z.txt",
    ):  # fmt: skip
        (folder / name).write_text(name)
    assert names(folder) - {".gitignore", ".tapelineignore", "data/.gitignore"} == {
        "main.py", "platform.json", "kept.csv", "weights.bin", "data/y.txt",
    }  # fmt: skip
    assert {"prices.csv", "data/raw/", "notes.md"} <= set(left_out(folder))


def test_ignore_files_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    folder = model(tmp_path / "a")
    rules = [
        "*.log",
        "!important.log",
        "/top",
        "deep/**/x",
        "sp ace",
        "\\#hash",
        "dir/",
        "a?c",
        "[xy]z",
    ]
    (folder / ".gitignore").write_text("\n".join(["# a comment", "", *rules, "trailing   "]))
    for name in (
        "a.log", "important.log", "top", "deep/top", "deep/1/2/x", "deep/x", "sp ace", "#hash",
        "dir/in", "deep/dir/in", "dirx", "abc", "ac", "xz", "zz", "trailing", "é.log", "deep/a.log",
    ):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    listing = ["git", "-c", "core.quotePath=off", "ls-files", "-co", "--exclude-standard"]
    seen = subprocess.run(listing, cwd=folder, check=True, capture_output=True, text=True)
    assert names(folder) == set(seen.stdout.splitlines())


def test_a_file_that_the_manifest_names_must_not_be_ignored(tmp_path: Path) -> None:
    folder = model(tmp_path / "a")
    (folder / ".gitignore").write_text("main.py\n")
    with pytest.raises(Failure, match=r"!main\.py to \.tapelineignore"):
        listed(folder)
    (folder / ".tapelineignore").write_text("!main.py\n")
    assert "main.py" in names(folder)


def test_folder_and_archive_have_the_same_digest_whichever_model_they_became(
    tmp_path: Path,
) -> None:
    folder = model(tmp_path / "a")
    (folder / "sub").mkdir()
    (folder / "sub/run.sh").write_text("true")
    (folder / "sub/run.sh").chmod(0o755)
    (tmp_path / "a.zip").write_bytes(packed(folder))
    before = listed(folder).content()
    assert archive.check(tmp_path / "a.zip").digest == before
    manifest_file.require(folder).remember(model_id="m1", project_id="p1")
    assert listed(folder).content() == before
    (tmp_path / "b.zip").write_bytes(packed(folder))
    assert archive.check(tmp_path / "b.zip").digest == before
    (folder / "sub/run.sh").chmod(0o644)
    changed = listed(folder).content()
    assert changed != before
    (folder / "main.py").write_text("print(1)\n")
    assert listed(folder).content() not in {before, changed}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"def f(:\n    pass\n", "main.py, line 1"),
        (b"x = 1\n  y = 2\n", "main.py, line 2"),
        (b"\x00", "main.py"),
        (b"x = '\xff'\n", "main.py"),
    ],
)
def test_a_syntax_error_is_found_before_the_upload(
    tmp_path: Path, source: bytes, said: str
) -> None:
    folder = model(tmp_path / "a")
    (folder / "main.py").write_bytes(source)
    files = listed(folder).files
    with pytest.raises(Failure, match=f"{said}.*--no-check"):
        checking.check(files, "3.8")
    checking.check(files, "3.99")  # whose syntax is not known here
