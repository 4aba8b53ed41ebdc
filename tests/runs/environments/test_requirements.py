"""Requirements are read by us alone: understood and written anew, or refused with their line."""

from pathlib import Path

import pytest

from tapeline.errors import InvalidRequirements
from tapeline.runs.environments import requirements


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("six", "six"),
        ("Six==1.17.0", "six==1.17.0"),
        ("numpy>=1.2,<3  # fast", "numpy<3,>=1.2"),
        ("pandas[performance, excel] ~= 2.0", "pandas[excel,performance]~=2.0"),
        ("requests (>=2)", "requests>=2"),
        ("six>=1,", "six>=1"),
        (
            "tomli>=2; python_version < '3.11' and sys_platform == \"linux\"",
            'tomli>=2; python_version < "3.11" and sys_platform == "linux"',
        ),
        ("torch==2.1.0+cpu", "torch==2.1.0+cpu"),
        (
            "six==1.17.0 --hash=sha256:11ee --hash sha256:00ff",
            "six==1.17.0 --hash=sha256:00ff --hash=sha256:11ee",
        ),
        ("six==1.17.0 \\\n    --hash=sha256:00ff", "six==1.17.0 --hash=sha256:00ff"),
        ("six \\\r\n  ==1.17.0", "six==1.17.0"),
        ("\tsix\t# tabs", "six"),
    ],
)
def test_names_and_versions_are_written_in_one_way(line: str, written: str) -> None:
    read = requirements.parse(line)
    assert read.lines == (written,)
    assert not read.own
    assert not read.local
    assert requirements.parse(read.text) == read


@pytest.mark.parametrize(
    ("line", "options", "lines"),
    [
        ("-i https://a.example/simple", "--index-url https://a.example/simple", ""),
        ("--extra-index-url='https://a.example'", "--extra-index-url https://a.example", ""),
        ("--find-links https://a.example/wheels", "--find-links https://a.example/wheels", ""),
        ("--no-index", "--no-index", ""),
        ("--no-binary=:all:", "--no-binary :all:", ""),
        ("Mine@https://a.example/m.whl", "", "mine @ https://a.example/m.whl"),
        (
            "mine[b,a] @ https://a.example/m.whl ; python_version<'4' --hash=sha256:00",
            "",
            'mine[a,b] @ https://a.example/m.whl ; python_version < "4" --hash=sha256:00',
        ),
        (
            "git+https://a.example/m.git@main#subdirectory=x",
            "",
            "git+https://a.example/m.git@main#subdirectory=x",
        ),
        ("git+ssh://git@a.example/m.git", "", "git+ssh://git@a.example/m.git"),
    ],
)
def test_sources_of_their_own_are_told_apart(line: str, options: str, lines: str) -> None:
    read = requirements.parse(line)
    assert (read.options, read.lines) == (
        tuple(filter(None, [options])),
        tuple(filter(None, [lines])),
    )
    assert read.own
    assert not read.local


@pytest.mark.parametrize(
    ("line", "options", "lines"),
    [
        ("./mine", "", "./mine"),
        ("a/../mine/", "", "./mine"),
        ("mine-1.0-py3-none-any.whl", "", "./mine-1.0-py3-none-any.whl"),
        ("file:mine[b]", "", "./mine[b]"),
        (
            "mine @ ./m.whl[b] --hash=sha256:00",
            "",
            "mine @ ./m.whl[b] --hash=sha256:00",
        ),
        ("./m.tar.gz --hash=sha256:00", "", "./m.tar.gz --hash=sha256:00"),
        ("mine @ ./mine", "", "mine @ ./mine"),
        ("-e .", "", "-e ."),
        ("--editable=./mine", "", "-e ./mine"),
        ("-f wheels", "--find-links ./wheels", ""),
    ],
)
def test_files_of_the_model_are_told_apart(line: str, options: str, lines: str) -> None:
    read = requirements.parse(line)
    assert (read.options, read.lines) == (
        tuple(filter(None, [options])),
        tuple(filter(None, [lines])),
    )
    assert read.own
    assert read.local


@pytest.mark.parametrize(
    "line",
    [
        "mine @ file:///model/mine.whl",
        "--index-url file:///environments/cache",
        "--index-url=/environments",
        "--index-url ./simple",
        "--index-url https://a.example six",
        "-i https://a.example/\\\n-e .",
        "-i https://${UV_DEFAULT_INDEX}",
        "-f ../wheels",
        "-f",
        "/environments/cache/archive-v0/x",
        "../six",
        "a/../../six",
        "six @ ../six",
        "six ; extra == '${HOME}'",
        "six ; platform_version == '#1'",
        "six ; platform_version == 'a\\b'",
        "${SIX}",
        "-r ${HOME}/x",
        "-r https://example.com/r.txt",
        "-r more.txt",
        "-e git+https://a.example/m.git",
        "-e https://a.example/m.zip",
        "hg+https://a.example/m",
        "git+file:///model",
        "--config-settings x",
        "--use-feature x",
        "--prefer-binary \\\nsix",
        "--trusted-host a b",
        "--no-index \\\nsix",
        "--hash=sha256:00",
        "./mine --hash=sha256:00",
        "-e ./mine.zip --hash=sha256:00",
        "six --hash=sha256:00 numpy",
        "six==1.0 --global-option=x",
        "numpy six",
        "numpy; six",
        "numpy six.whl",
        "mine.whl==1.0",
        "--requirement",
        "nump\\\ny",
        "s\u0456x",
        "six @",
        "@",
        "-",
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(InvalidRequirements, match="line 2: "):
        requirements.parse(f"six\n{line}\nsix")


@pytest.mark.parametrize("hidden", "\0\x0b\x0c\x1a\x1c\x1d\x1e\x7f\x85\u2028\u2029")
@pytest.mark.parametrize("text", ["six{}numpy", "six # why {}numpy", "# {}numpy"])
def test_characters_that_end_a_line_for_some_readers_are_refused(text: str, hidden: str) -> None:
    with pytest.raises(InvalidRequirements, match=rf"line 2: .*U\+{ord(hidden):04X}"):
        requirements.parse("six\r" + text.format(hidden))


def test_a_comment_ends_with_its_line_even_after_a_backslash() -> None:
    read = requirements.parse("six # x \\\nnumpy\n# y \\\rrequests # z\\\r\ntomli")
    assert read.lines == ("six", "numpy", "requests", "tomli")


def test_options_without_effect_change_nothing() -> None:
    plain = requirements.parse("six")
    assert requirements.parse("--prefer-binary\n--trusted-host pypi.org\nsix") == plain
    assert requirements.parse("--pre\nsix").prereleases
    assert requirements.parse("--require-hashes\nsix").require_hashes


def test_two_indexes_of_ones_own_are_refused() -> None:
    same = "-i https://a.example/\n"
    assert requirements.parse(same * 2).options == ("--index-url https://a.example/",)
    with pytest.raises(InvalidRequirements, match="--index-url"):
        requirements.parse(same + "-i https://b.example/")


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


def test_paths_count_from_the_first_file_and_those_of_options_from_their_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "app/sub").mkdir(parents=True)
    (tmp_path / "app/requirements.txt").write_text("-r sub/more.txt\n../shared\n")
    (tmp_path / "app/sub/more.txt").write_text("./mine\n-f wheels\n")
    read = requirements.read(tmp_path / "app/requirements.txt", tmp_path)
    assert read.lines == ("./app/mine", "./shared")
    assert read.options == ("--find-links ./app/sub/wheels",)
    (tmp_path / "app/sub/more.txt").write_text("\n-e ../../x\n")
    with pytest.raises(InvalidRequirements, match=r"^app/sub/more.txt, line 2: .*outside"):
        requirements.read(tmp_path / "app/requirements.txt", tmp_path)


def test_a_constraint_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six\n-c limits.txt\n")
    (tmp_path / "limits.txt").write_text("-e .\n")
    with pytest.raises(InvalidRequirements, match=r"limits.txt, line 1: a constraint"):
        requirements.read(tmp_path / "requirements.txt", tmp_path)


@pytest.mark.parametrize(
    "name", ["/etc/shadow", "../../etc/shadow", "sub/../../x", "'/etc/shadow'"]
)
def test_a_file_outside_of_the_model_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"-r {name}\n")
    with pytest.raises(InvalidRequirements, match="outside the model's folder"):
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


LONG = 900_000


@pytest.mark.parametrize(
    "line",
    [
        "six" + " --hash=a:0" * (LONG // 11) + " x",
        "six" + " " * LONG + "x",
        "six --hash" + " " * LONG + "x",
        "--index-url" + " " * LONG + "x y",
        "six" + " " * (LONG // 2) + "@" + " " * (LONG // 2) + "x",
        "six; " + "(" * LONG,
        "six\n" * 10_000,
    ],
    ids=["hashes", "spaces", "hash", "option", "named", "parentheses", "lines"],
)
def test_a_line_that_is_long_on_purpose_is_refused_in_no_time(line: str) -> None:
    """The processor is busy for hours where a pattern takes the square of the length."""
    with pytest.raises(InvalidRequirements, match=r"line [0-9]+: ") as raised:
        requirements.parse(f"six\n{line}\nsix")
    assert len(raised.value.message) < 1_000


def test_included_files_are_bounded_together(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r a.txt\n-r b.txt\n")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("#" * 600_000)
    with pytest.raises(InvalidRequirements, match="together"):
        requirements.read(tmp_path / "requirements.txt", tmp_path)
