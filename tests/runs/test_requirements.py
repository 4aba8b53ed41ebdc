"""Which requirements only name packages, and which bring something of their own."""

from pathlib import Path

import pytest

from tapeline.errors import InvalidRequirements
from tapeline.runs import requirements


@pytest.mark.parametrize(
    "line",
    [
        "six",
        "Six==1.17.0",
        "numpy>=1.2,<3  # fast",
        "pandas[excel,performance] ~= 2.0",
        "requests (>=2)",
        "tomli>=2; python_version < '3.11' and sys_platform == \"linux\"",
        "torch==2.1.0+cpu",
        "six==1.17.0 --hash=sha256:00ff --hash=sha256:11ee",
        "six==1.17.0 \\\n    --hash=sha256:00ff",
    ],
)
def test_names_and_versions_are_plain(line: str) -> None:
    read = requirements.parse(line)
    assert len(read.lines) == 1
    assert not read.own
    assert not read.local


@pytest.mark.parametrize(
    "line",
    [
        "--extra-index-url https://packages.example.com/simple",
        "-i https://packages.example.com/simple",
        "mine @ https://example.com/mine-1.0-py3-none-any.whl",
        "git+https://example.com/mine.git@main",
        "-e git+ssh://git@example.com/mine.git",
        "--find-links https://example.com/wheels",
        "--pre",
    ],
)
def test_own_sources_are_told_apart(line: str) -> None:
    read = requirements.parse(line)
    assert read.own
    assert not read.local


@pytest.mark.parametrize(
    "line",
    [
        "./mine",
        "mine.whl @ file:///model/mine.whl",
        "-e .",
        "--editable=./mine",
        "--index-url file:///environments/cache",
        "--index-url=/environments",
        "-f ../wheels",
        "/environments/cache/archive-v0/x",
        "six ; extra == '${HOME}'",
        "-r ${HOME}/x",
        "-r https://example.com/r.txt",
        "six @ ../six",
        "--config-settings x",
        "numpy six",
        "--requirement",
        "\x00",
    ],
)
def test_what_may_refer_to_files_or_is_not_understood_is_treated_as_the_dangerous_kind(
    line: str,
) -> None:
    read = requirements.parse(line)
    assert read.own
    assert read.local


def test_included_files_are_read_into_one(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "requirements.txt").write_text("-r sub/more.txt\n--constraint=limits.txt\nsix\n")
    (tmp_path / "sub/more.txt").write_text("-r ../requirements.txt\n-rbase.txt\nnumpy\n")
    (tmp_path / "sub/base.txt").write_text("# nothing but\nrequests\n\n")
    (tmp_path / "limits.txt").write_text("numpy<3\n")
    read = requirements.read(tmp_path / "requirements.txt", tmp_path)
    assert read.lines == ("requests", "numpy", "six")
    assert read.constraints == ("numpy<3",)
    assert not read.own


@pytest.mark.parametrize(
    "name", ["/etc/shadow", "../../etc/shadow", "sub/../../x", "'/etc/shadow'"]
)
def test_a_file_outside_of_the_model_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"-r {name}\n")
    with pytest.raises(InvalidRequirements, match="outside of the model's folder"):
        requirements.read(tmp_path / "requirements.txt", tmp_path)


def test_a_missing_a_huge_and_an_unreadable_file_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    with pytest.raises(InvalidRequirements, match=r"requirements.txt cannot be read: No such file"):
        requirements.read(file, tmp_path)
    file.write_bytes(b"#" * 2_000_000)
    with pytest.raises(InvalidRequirements, match="larger than"):
        requirements.read(file, tmp_path)
    file.write_bytes(b"\xfa\xfb\xfc")
    with pytest.raises(InvalidRequirements, match="not text"):
        requirements.read(file, tmp_path)


def test_files_written_on_windows_are_read(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_bytes("six==1.17.0\r\nnumpy\r\n".encode("utf-16"))
    assert requirements.read(file, tmp_path).lines == ("six==1.17.0", "numpy")
    file.write_bytes("six==1.17.0\r\nnumpy\r\n".encode("utf-8-sig"))
    assert requirements.read(file, tmp_path).lines == ("six==1.17.0", "numpy")
