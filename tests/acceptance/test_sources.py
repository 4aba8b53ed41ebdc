"""Where settings come from, as a person meets it: which source wins, and what a mistake says."""

import pytest

from tests.acceptance.conftest import Home, free_port

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    ("arguments", "variables", "file", "says"),
    [
        (["--port", "http"], {}, "", "--port is 'http'; it must be a whole number from 0 to 65535"),
        ([], {"TAPELINE_PORT": "70000"}, "", "TAPELINE_PORT is '70000'; it must be a whole number"),
        ([], {}, 'port = "eighty"\n', "port in {file} is 'eighty'; it must be a whole number"),
        ([], {}, "prot = 1\n", "{file} sets prot, which is not a setting. Did you mean port?"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_what_is_allowed(
    home: Home, arguments: list[str], variables: dict[str, str], file: str, says: str
) -> None:
    config = home.path / "tapeline.toml"
    if file:
        config.write_text(file)
    said = home.refused("up", *arguments, exit_code=2, **variables)
    assert says.format(file=config) in said
    assert not home.data.exists()


def test_a_wrong_database_url_does_not_show_its_password(home: Home) -> None:
    for url in ("mysql://ada:hunter2@db/tape", "postgresql://ada:hunter2@db:port/tape"):
        said = home.refused("up", "--database", url, exit_code=2)
        assert "hunter2" not in said
        assert "postgresql:// URL" in said


def test_options_win_over_variables_and_variables_over_the_file(home: Home) -> None:
    in_file, in_variable, in_option = free_port(), free_port(), free_port()
    (home.path / "tapeline.toml").write_text(f"port = {in_file}\nlog_format = 'json'\n")
    server = home.up("--port", str(in_option), TAPELINE_PORT=str(in_variable))
    assert server.port == in_option
    server.end()
    assert server.log.startswith("{"), "what only the file says still counts"
    said = home.run("up", "--host", "192.0.2.1", TAPELINE_PORT=str(in_variable)).stderr
    assert f"192.0.2.1:{in_variable}" in said
    assert f"192.0.2.1:{in_file}" in home.run("up", "--host", "192.0.2.1").stderr
