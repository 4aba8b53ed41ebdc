"""Where a browser may be sent, and where never."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.errors import Invalid
from tapeline.http.core.redirects import LONGEST_STATE, Client, local_path, sign_in_first


def asked(**fields: str) -> Client:
    return Client.asked(lambda name: fields.get(name, ""))


@pytest.mark.parametrize("path", ["/", "/deploy", "/deploy?port=9100&state=a%20b", "/a/b#c", "/é"])
def test_a_path_of_ours_stays(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "text",
    ["", "deploy", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
     "https:/evil.example", "javascript:alert(1)", "/\t/evil.example", "\n//evil.example",
     "/\r\nSet-Cookie: a=b", "/\x00", "/a\\..\\b", "/\u2028", " //evil.example"],
)  # fmt: skip
def test_what_could_lead_elsewhere_leads_home(text: str) -> None:
    assert local_path(text) == "/"


@given(st.text(alphabet=st.sampled_from("/\\:.@?#%ab\t\n\r \x00é[]")))
def test_no_text_leads_to_another_host(text: str) -> None:
    path = local_path(text)
    # As browsers read it: control characters skipped, backslashes as slashes.
    read = "".join(one for one in path if one not in "\t\n\r").replace("\\", "/")
    assert read.startswith("/")
    assert not read.startswith("//")
    assert urlsplit(read).netloc == ""


def test_signing_in_first_leads_back() -> None:
    assert sign_in_first("/") == "/auth/signin"
    address = sign_in_first("/deploy?port=9100&state=a b")
    assert parse_qs(urlsplit(address).query) == {"redirectUrl": ["/deploy?port=9100&state=a b"]}


def test_a_client_that_asks_for_nothing_waits_where_old_clients_do() -> None:
    assert asked().with_token("t") == "http://localhost:9082/?token=t"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_each_loopback_name_may_wait_on_any_port(host: str) -> None:
    client = asked(host=host, port="65535", state="a b&token=x")
    assert client.with_token("t") == f"http://{host}:65535/?token=t&state=a+b%26token%3Dx"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.2", "127.1", "2130706433", "0.0.0.0",
     "[::]", "::1", "localhost:80@evil.example", "localhost/", "LOCALHOST ", "[::ffff:127.0.0.1]"],
)  # fmt: skip
def test_nobody_else_is_sent_a_token(host: str) -> None:
    with pytest.raises(Invalid) as refusal:
        asked(host=host)
    assert refusal.value.field == "host"


@pytest.mark.parametrize(
    "port",
    ["0", "00000", "65536", "-1", "+80", " 80", "80 ", "8e1", "0x50", "\u0661", "\u00b2", "080808",
     "0000809999999", "1" * 5000, "80@evil.example", "80/"],
)  # fmt: skip
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(Invalid) as refusal:
        asked(port=port)
    assert refusal.value.field == "port"


@given(st.text())
def test_a_port_is_refused_or_a_port(port: str) -> None:
    try:
        client = asked(port=port)
    except Invalid:
        return
    assert 0 < client.port < 65536


def test_a_state_has_a_limit() -> None:
    assert asked(state="s" * LONGEST_STATE).state
    with pytest.raises(Invalid):
        asked(state="s" * (LONGEST_STATE + 1))


def test_the_confirmation_page_of_a_client_asks_for_the_same_client() -> None:
    client = asked(host="[::1]", port="9100", state="a&b=c é")
    query = parse_qs(urlsplit(client.page).query)
    assert asked(**{name: values[0] for name, values in query.items()}) == client


def test_a_form_may_lead_to_the_client_and_as_little_else_as_can_be_said() -> None:
    assert asked().form_target == "http://localhost:9082"
    assert asked(host="127.0.0.1", port="80").form_target == "http://127.0.0.1:80"
    assert asked(host="[::1]", port="9100").form_target == "http://*:9100"
