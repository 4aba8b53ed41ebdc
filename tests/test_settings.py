"""Settings: three sources in one order, and mistakes that say what is allowed."""

from pathlib import Path
from typing import Any

import pytest

from tapeline import settings
from tapeline.errors import InvalidSetting
from tapeline.settings import ROWS, Settings, load

ROOT = Path(__file__).parent.parent


def load_from(tmp_path: Path, file: str = "", **given: Any) -> Settings:
    """`given` are options; those in capitals are variables."""
    if file:
        (tmp_path / "tapeline.toml").write_text(file)
    environ = {f"TAPELINE_{name}": value for name, value in given.items() if name.isupper()}
    options = {name: value for name, value in given.items() if name.islower()}
    return load(options, environ={"HOME": str(tmp_path), **environ}, directory=tmp_path)


def test_without_any_source_the_defaults_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    chosen = load_from(tmp_path)
    assert (chosen.host, chosen.port, chosen.demo) == ("127.0.0.1", 8700, False)
    assert chosen.data == tmp_path / ".tapeline"
    assert chosen.database == ""


def test_later_sources_win(tmp_path: Path) -> None:
    file = "port = 1\nreaders = 2\nsignup = 'open'\n"
    chosen = load_from(tmp_path, file, PORT="3", READERS="4", port="5")
    assert (chosen.port, chosen.readers, chosen.signup) == (5, 4, "open")


def test_an_option_that_is_off_wins_over_a_variable_that_is_on(tmp_path: Path) -> None:
    assert load_from(tmp_path, DEMO="true", demo=False).demo is False


def test_the_file_can_be_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "other.toml"
    elsewhere.write_text("port = 7\n")
    assert load_from(tmp_path, "port = 8\n", CONFIG=str(elsewhere)).port == 7
    assert load_from(tmp_path, config=elsewhere).port == 7


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("port", ["x", "", "-1", "65536", "1.5", 1.5, True, [], None]),
        ("host", ["", "  ", 1]),
        ("data", ["", 1, "~nobody-of-that-name/x"]),
        ("demo", ["maybe", 2, []]),
        ("database", ["sqlite:///x", "mysql://db", 1, "postgresql://db:port/x"]),
        ("public_url", ["tapeline.example.com", 1]),
        ("engine", ["steam", 1, ["local"]]),
        ("signup", ["all", "", {}]),
        ("log_level", ["loud"]),
        ("write_queue", ["0"]),
        ("backup_recipients", ["AGE-SECRET-KEY-1", "age1short", 1]),
    ],
)
def test_a_wrong_value_is_named_with_its_source_and_what_is_allowed(
    tmp_path: Path, name: str, values: list[Any]
) -> None:
    sentence = ROWS[name].metadata["allowed"].sentence
    for value in values:
        if value is not None:
            with pytest.raises(InvalidSetting) as caught:
                load_from(tmp_path, **{name: value})
            assert caught.value.field == name
            option = "--" + name.replace("_", "-")
            assert caught.value.message == f"{option} is {value!r}; it must be {sentence}."
        if isinstance(value, str):
            with pytest.raises(InvalidSetting, match=f"^TAPELINE_{name.upper()} is "):
                load_from(tmp_path, **{name.upper(): value})


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("prot = 1", "sets prot, which is not a setting. Did you mean port?"),
        ("xyzzy = 1", "sets xyzzy, which is not a setting."),
        ("[server]\nport = 1", "sets server, which is not a setting."),
        ("port = ", "cannot be read: "),
        ("port = 'eighty'", "is 'eighty'; it must be a whole number from 0 to 65535."),
    ],
)
def test_a_mistake_in_the_file_names_the_file(tmp_path: Path, file: str, says: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        load_from(tmp_path, file)
    assert says in caught.value.message
    assert str(tmp_path / "tapeline.toml") in caught.value.message


def test_which_backups_are_kept_is_read_in_words(tmp_path: Path) -> None:
    chosen = load_from(tmp_path, BACKUP_KEEP=" 3  last,12 monthly ", BACKUP_FOLDER="~/copies")
    assert chosen.backup_keep == "3 last, 12 monthly"
    assert Path(chosen.backup_folder).is_absolute()
    assert load_from(tmp_path, BACKUP_FOLDER=" ").backup_folder == ""
    for wrong in ("", "7", "daily", "0 daily", "-1 daily", "7 days", "7 daily,"):
        with pytest.raises(InvalidSetting, match="such as 7 daily, 4 weekly"):
            load_from(tmp_path, BACKUP_KEEP=wrong)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="cannot be read"):
        load_from(tmp_path, CONFIG=str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    "url",
    ["mysql://ada:hunter2@db/x", "postgresql://ada:hunter2@db:x/y", "mysql://ada:hun@ter2@db/x"],
)
def test_a_refused_url_is_shown_without_its_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        load_from(tmp_path, database=url)
    assert "ter2" not in caught.value.message
    assert "ada:***@db" in caught.value.message


def test_a_home_that_cannot_be_found_matters_only_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home(_path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    assert load_from(tmp_path, data=str(tmp_path)).data == tmp_path
    monkeypatch.setattr(Path, "expanduser", no_home)
    with pytest.raises(InvalidSetting, match=r"the default of --data is '~/\.tapeline'"):
        load_from(tmp_path)


def test_a_misspelt_variable_is_noticed_and_a_models_own_are_not() -> None:
    environ = {"TAPELINE_PROT": "1", "TAPELINE_PORT": "1", "TAPELINE_API_KEY": "x", "PORT": "2"}
    assert settings.strange_variables(environ) == ["TAPELINE_PROT"]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:9"),
        ({"host": "0.0.0.0"}, "http://127.0.0.1:9"),
        ({"host": "::"}, "http://[::1]:9"),
        ({"public_url": "https://tape.example/"}, "https://tape.example"),
    ],
)
def test_the_address_is_one_that_can_be_reached(
    tmp_path: Path, given: dict[str, str], address: str
) -> None:
    assert load_from(tmp_path, **given).address(9) == address


def test_a_node_of_a_cluster_keeps_its_data_where_its_variable_says() -> None:
    assert settings.node_folder({"TAPELINE_DATA": "/srv/node"}) == Path("/srv/node")
    usual = settings.node_folder({})
    assert usual.is_absolute()
    assert usual.name == "tapeline-node"
    assert settings.node_folder({"TAPELINE_DATA": "beside"}) == usual  # of whose folder?
