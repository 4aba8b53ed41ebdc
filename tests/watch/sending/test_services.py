"""Which services a channel may name, and what of its address people see."""

import subprocess
import sys

import pytest

from tapeline.errors import Invalid
from tapeline.watch.sending import services

REFUSED = [
    "file:///etc/passwd", "exec:///bin/sh", "syslog://", "dbus://", "gnome://", "kde://", "macosx://",
    "windows://", "glib://", "qt://", "blink1://", "rsyslog://host", "mqtt://host/topic", "irc://h",
    "vapid://a/b", "fcm://project/key?keyfile=/etc/passwd", "nonsense", "", "://", "javascript:1",
    "discord://1/2?template=/etc/passwd", "tgram://1/2?Template=file:///etc/passwd",
    "mailto://a:b@c.org?pgpkey=/etc/key", "https:///path", "http://u:p@host/", "https://h\n/x",
    "https://h/" + "x" * 2_000, "smtp://host",
    "json://host/?method=DELETE", "xmls://host/?Method=put", "form://host?method=get",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_local_or_names_files_is_refused(address: str) -> None:
    with pytest.raises(Invalid) as caught:
        services.kind_of(address)
    assert caught.value.field == "address"


def test_a_near_miss_is_named() -> None:
    with pytest.raises(Invalid, match="Did you mean mailtos://"):
        services.kind_of("mailtoss://a:b@example.org")


@pytest.mark.parametrize(
    ("address", "kind", "shown"),
    [
        ("https://hooks.example.org/T0/secret?x=1", "webhook", "https://hooks.example.org/…"),
        ("http://hooks.example.org:8080", "webhook", "http://hooks.example.org/"),
        ("mailtos://me:word@example.org?to=x@y.z", "apprise", "mailtos://…@example.org"),
        ("tgram://123:secret/456", "apprise", "Telegram (tgram://…)"),
        ("ntfys://my-topic", "apprise", "Telegram (ntfys://…)"),
    ],
)
def test_of_an_address_people_see_nearly_nothing(address: str, kind: str, shown: str) -> None:
    assert services.kind_of(address) == kind
    assert services.masked(address, "Telegram") == shown


def test_every_service_of_the_list_is_one_of_apprise_and_sends_by_requests_or_mail() -> None:
    """In a process of its own: Apprise is not for the process of the server, nor of its tests."""
    look = (
        "import inspect, sys; from apprise.manager_plugins import NotificationManager as M;"
        "known = M(); allowed = sys.argv[1].split();"
        "print(*(one for one in allowed if one not in known));"
        "parts = {one: inspect.getmodule(known[one]) for one in allowed if one in known};"
        "print(*(one for one, part in parts.items() if part is not None"
        " and any(word in inspect.getsource(part) for word in"
        " ('subprocess', 'os.system', 'import ctypes', 'import socket\\n'))))"
    )
    names = " ".join(sorted(services.ALLOWED))
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", look, names],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    unknown, local = found.stdout.splitlines()
    assert not unknown.split()
    assert not local.split()
