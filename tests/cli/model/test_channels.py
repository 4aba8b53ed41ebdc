"""Channels from the terminal."""

from tests.cli.conftest import Person

SECRET = "very-secret-token"


def test_a_channel_is_made_listed_tested_and_removed(ada: Person) -> None:
    made = ada.does("channels", "add", "hook", stdin=f"https://127.0.0.1:9/{SECRET}\n")
    assert "The channel hook is made: https://127.0.0.1/…" in made
    assert "secret  " in made
    quiet = ("--quiet", "22:00-07:00 Europe/Berlin", "--digest", "day")
    topic = ada.gets("channels", "add", "phone", *quiet, "--json", stdin="ntfys://topic-of-ada\n")
    assert (topic["kind"], topic["secret"]) == ("apprise", None)
    assert topic["shown"] == "ntfy (ntfys://…)"
    assert topic["quiet"]["zone"] == "Europe/Berlin"
    assert topic["digest"] == {"every": "day", "at": "08:00", "zone": "UTC"}
    listed = ada.does("channels", "list")
    assert "quiet 22:00-07:00, every day" in listed
    assert "not tested" in listed
    for shown in (listed, made, ada.does("channels", "list", "--json")):
        assert SECRET not in shown
        assert "topic-of-ada" not in shown
    refused = ada.fails(1, "channels", "test", "hook")
    assert "did not arrive at hook" in refused
    assert "alerts_may_reach" in refused
    for name in ("hook", "phone"):
        assert f"The channel {name} is deleted." in ada.does("channels", "remove", name)
    assert ada.gets("channels", "list", "--json") == []


def test_what_cannot_be_a_channel_is_refused_in_one_sentence(ada: Person) -> None:
    assert "Did you mean mailtos://?" in ada.fails(
        1, "channels", "add", "x", stdin="mailtoss://a:b@example.org"
    )
    assert "Standard input is empty" in ada.fails(2, "channels", "add", "x")
    assert "--digest is hour or day" in ada.fails(
        2, "channels", "add", "x", "--digest", "week", stdin="ntfys://t"
    )
    assert "There is no channel nothing here" in ada.fails(4, "channels", "remove", "nothing")
