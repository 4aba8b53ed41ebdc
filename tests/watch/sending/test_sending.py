"""What the process that sends does for an address of a tenant, with real receivers."""

import asyncio
import base64
import hashlib
import hmac
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import uvloop

from tapeline.background import Background
from tapeline.fair_line import Owner
from tapeline.watch.sending import post_office
from tapeline.watch.sending.jobs import Chart, Job, Outcome
from tapeline.watch.sending.post_office import PostOffice
from tests.receivers import Mailbox, Receiver, http_receiver, mailbox
from tests.waiting import wait_for

CHART = Chart("Drawdown of x", [(float(i), float(i % 9)) for i in range(60)], 50.0, 6.0)
PRIVATE = "a private network"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as made:
        yield made


def send(allowed: str, *jobs: Job) -> list[Outcome]:
    """One after the other, by one process."""

    async def act() -> list[Outcome]:
        background = Background()
        async with background.running():
            office = PostOffice(allowed, background)
            return [await office.send(one, Owner("tenant", "project")) for one in jobs]

    return asyncio.run(act())


def job(address: str, kind: str = "webhook", **more: Any) -> Job:
    given: dict[str, Any] = {
        "id": os.urandom(6).hex(),
        "kind": kind,
        "address": address,
        "seconds": 120.0,
        "title": "Drawdown is firing",
        "body": "12 % of 10 %",
        "secret": "s3cret",
        "payload": {"message_id": "m1", "incident_id": "i1"},
        "chart": CHART,
    }
    return Job(**given | more)


def test_a_webhook_is_signed_and_carries_the_picture(receiver: Receiver) -> None:
    (outcome,) = send("127.0.0.1", job(f"{receiver.url}/hook?a=1"))
    assert (outcome.arrived, outcome.status) == (True, 204)
    (found,) = receiver.received
    assert found.path == "/hook?a=1"
    stamped = found.headers["tapeline-timestamp"].encode() + b"." + found.body
    expected = hmac.new(b"s3cret", stamped, hashlib.sha256).hexdigest()
    assert found.headers["tapeline-signature"] == f"sha256={expected}"
    assert found.headers["tapeline-message"] == "m1"
    assert found.headers["tapeline-incident"] == "i1"
    said = msgspec.json.decode(found.body)
    assert base64.b64decode(said["chart_png"]).startswith(b"\x89PNG")


def test_a_mail_arrives_with_its_picture(box: Mailbox) -> None:
    address = f"mailto://127.0.0.1:{box.port}?from=a@example.org&to=b@example.org&mode=insecure"
    (outcome,) = send("127.0.0.0/8", job(address, "apprise"))
    assert (outcome.arrived, outcome.status) == (True, 250)
    (mail,) = box.mails
    assert "Drawdown is firing" in str(mail["Subject"])
    assert mail["X-Tapeline-Incident"] == "i1"
    pictures = [one for one in mail.walk() if one.get_content_type() == "image/png"]
    assert [one.get_filename() for one in pictures] == ["chart.png"]


def test_a_refused_mail_says_its_status_and_nothing_else(box: Mailbox) -> None:
    box.refusal = "554 go away, secret-of-the-mail-server"
    address = f"mailto://127.0.0.1:{box.port}?from=a@example.org&to=b@example.org&mode=insecure"
    (outcome,) = send("127.0.0.0/8", job(address, "apprise"))
    assert (outcome.arrived, outcome.status) == (False, 554)
    assert "secret" not in outcome.message


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_service_that_refuses_is_told_by_its_status(receiver: Receiver, status: int) -> None:
    (outcome,) = send("127.0.0.1", job(f"{receiver.url}/status/{status}"))
    assert (outcome.arrived, outcome.status) == (False, status)


def test_no_address_of_this_machine_is_reached_without_the_operators_word(
    receiver: Receiver, box: Mailbox
) -> None:
    """By number, by name, and by other ways to write the number."""
    port = receiver.port
    hosts = ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::1]"]
    hosts += ["[::ffff:127.0.0.1]", "0.0.0.0", socket.gethostname()]
    jobs = [job(f"http://{host}:{port}/") for host in hosts]
    jobs += [job(f"json://{host}:{port}/", "apprise") for host in ("localhost", "127.0.0.1")]
    mail = f"mailto://127.0.0.1:{box.port}?from=a@b.org&to=b@b.org&mode=insecure"
    for outcome in send("", *jobs, job(mail, "apprise")):
        assert not outcome.arrived
        assert outcome.status is None
        assert PRIVATE in outcome.message or "cannot be found" in outcome.message, outcome
    assert not receiver.received
    assert not box.mails


def test_an_allowed_name_does_not_allow_the_number_that_it_leads_to(receiver: Receiver) -> None:
    named, numbered = send(
        "localhost",
        job(f"http://localhost:{receiver.port}/a"),
        job(f"http://127.0.0.1:{receiver.port}/b"),
    )
    assert named.arrived
    assert not numbered.arrived
    assert PRIVATE in numbered.message
    assert [one.path for one in receiver.received] == ["/a"]


def test_a_redirect_leads_nowhere_that_is_not_allowed(receiver: Receiver) -> None:
    """Of a webhook none is followed. Apprise follows one if the address says so."""
    receiver.location = f"http://127.0.0.1:{receiver.port}/inside"
    hook, plain, followed = send(
        "localhost",
        job(f"http://localhost:{receiver.port}/status/302"),
        job(f"json://localhost:{receiver.port}/status/302", "apprise"),
        job(f"json://localhost:{receiver.port}/status/307?redirect=yes", "apprise"),
    )
    assert [hook.arrived, plain.arrived, followed.arrived] == [False] * 3
    assert hook.status == plain.status == 302
    assert PRIVATE in followed.message
    assert "/inside" not in [one.path for one in receiver.received]


def test_no_file_of_the_server_is_read(receiver: Receiver, tmp_path: Path) -> None:
    """Addresses that name files are refused before; here is what holds if one is overlooked."""
    secret = tmp_path / "store.key"
    secret.write_text("{{app_body}} the key")
    addresses = [
        f"discord://123456789012345678/{'t' * 68}?template={secret}",
        f"workflows://localhost:{receiver.port}/a/b/c?template={secret}",
        f"mailto://localhost:{receiver.port}?from=a@b.org&to=b@b.org&pgpkey={secret}&pgp=yes",
    ]
    for outcome in send("127.0.0.0/8", *(job(one, "apprise") for one in addresses)):
        assert not outcome.arrived
    assert not any(b"the key" in one.body for one in receiver.received)


def test_an_address_that_apprise_cannot_read_says_so() -> None:
    good, bad = send("", job("ntfys://topic", "check"), job("tgram://x", "check"))
    assert (good.arrived, good.message) == (True, "ntfy")
    assert not bad.arrived
    assert "cannot read" in bad.message


@pytest.mark.parametrize("form", ["", "&format=html"])
def test_what_models_write_is_text_and_keeps_its_lines(box: Mailbox, form: str) -> None:
    address = f"mailto://127.0.0.1:{box.port}?from=a@example.org&to=b@example.org&mode=insecure"
    body = "<h1>Paid</h1> & <img src=x>\nLimit: 10 %\nModel: <b>x</b>"
    (outcome,) = send("127.0.0.1", job(address + form, "apprise", body=body))
    assert outcome.arrived
    (mail,) = box.mails
    parts = {
        one.get_content_type(): one for one in mail.walk() if one.get_content_type()[:4] == "text"
    }
    found: dict[str, Any] = {kind: one.get_payload(decode=True) for kind, one in parts.items()}
    assert ("text/html" in found) == bool(form)
    if form:
        assert b"&lt;h1&gt;Paid" in found["text/html"]
        assert not any(tag in found["text/html"] for tag in (b"<h1>", b"<img", b"<b>"))
        assert b"<br/>Limit:" in found["text/html"]
    else:
        assert found["text/plain"].decode().splitlines()[:2] == body.splitlines()[:2]


def test_a_service_has_as_long_to_answer_as_its_message(receiver: Receiver) -> None:
    receiver.answers.clear()
    answering = threading.Timer(5.0, receiver.answers.set)  # later than Apprise waits by itself
    answering.start()
    (outcome,) = send("127.0.0.1", job(f"json://127.0.0.1:{receiver.port}/slow", "apprise"))
    answering.join()
    assert (outcome.arrived, len(receiver.received)) == (True, 1), outcome.message


@pytest.mark.parametrize("path", ["endless", "packed"])
def test_an_answer_without_end_is_not_read_to_it(receiver: Receiver, path: str) -> None:
    (outcome,) = send("127.0.0.1", job(f"json://127.0.0.1:{receiver.port}/{path}", "apprise"))
    assert not outcome.arrived
    assert "more than a message needs" in outcome.message


def test_nor_one_of_a_mail_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def talk() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                while True:
                    connection.sendall(b"220-welcome\r\n" * 1_000)

        threading.Thread(target=talk, daemon=True).start()
        port = listener.getsockname()[1]
        address = f"mailto://127.0.0.1:{port}?from=a@b.org&to=b@b.org&mode=insecure"
        (outcome,) = send("127.0.0.1", job(address, "apprise"))
    assert not outcome.arrived
    assert "more than a message needs" in outcome.message


def test_a_plain_request_is_a_post_whatever_an_older_address_says(receiver: Receiver) -> None:
    where = f"127.0.0.1:{receiver.port}/a?method=DELETE"
    for outcome in send(
        "127.0.0.1", *(job(f"{one}://{where}", "apprise") for one in ("json", "xml", "form"))
    ):
        assert outcome.arrived
    assert [one.method for one in receiver.received] == ["POST"] * 3


def test_how_a_machine_refuses_is_not_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for outcome in send(
        "127.0.0.1", job(f"http://127.0.0.1:{port}/"), job(f"json://127.0.0.1:{port}/", "apprise")
    ):
        assert outcome.message == "The service could not be reached."


APART = """
import socket, sys, threading
from tests.watch.sending.test_sending import job, send
own, key = sys.argv[1], "a" * 8 + "-bbbb-cccc-dddd-" + "e" * 12
listener = socket.create_server(("0.0.0.0", 0))
listener.setblocking(False)
port = listener.getsockname()[1]
address = f"http://{own}:{port}/"
sent = send("", job(address), job(f"json://{own}:{port}/", "apprise"))
try:
    listener.accept()
    print("reached")
except BlockingIOError:
    print("not reached")
print([one.message for one in sent])
hooks = socket.create_server(("::1", 80), family=socket.AF_INET6)
listener.setblocking(True)
taken = []
def take(one):
    connection, _ = one.accept()
    taken.append(one)
    connection.close()
for one in (listener, hooks):
    threading.Thread(target=take, args=(one,), daemon=True).start()
allowed = send(f"{own}, ::1", job(address), job("http://[::1]/hook"))
print([one.arrived for one in allowed])
print(listener in taken, hooks in taken)
print(send("", job(f"opsgenie://{key}", "apprise", severity="info"))[0].arrived)
"""


def test_own_public_addresses_are_not_reached_and_nothing_sent_is_not_accepted() -> None:
    """In a network of its own, which has such an address and no way out. A webhook whose address is
    of version 6 needs no port."""
    own = "93.184.216.34"
    inside = f'ip link set lo up && ip addr add {own}/32 dev lo && exec "$@"'
    found = subprocess.run(
        ["unshare", "-Urn", "sh", "-c", inside, "sh", sys.executable, "-c", APART, own],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    reached, refused, allowed, connected, arrived = found.stdout.splitlines()
    assert reached == "not reached"
    assert refused.count(PRIVATE) == 2
    assert allowed == "[False, False]", "nobody answered there"
    assert (connected, arrived) == ("True True", "False")


def test_a_process_that_ends_at_once_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the loop that the server has, which raises for it what others do not."""
    monkeypatch.setattr(sys, "executable", "/bin/false")

    async def act() -> tuple[list[Outcome], int]:
        background = Background()
        async with background.running():
            office = PostOffice("", background)
            sent = [await office.send(job("http://localhost:1/"), Owner("a")) for _ in range(20)]
            return sent, sum(one.failures for one in background.states())

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sent, failures = runner.run(act())
    assert {one.message for one in sent} == {post_office.FAILED}
    assert failures == 0


def test_one_that_hangs_is_ended_at_its_time_and_holds_up_nobody(receiver: Receiver) -> None:
    receiver.answers.clear()

    async def act() -> tuple[Outcome, Outcome]:
        background = Background()
        async with background.running():
            office = PostOffice("127.0.0.1", background)
            late = job(receiver.url, seconds=8.0)
            hanging = background.begin("test", office.send(late, Owner("one")))
            await asyncio.to_thread(wait_for, lambda: receiver.received)
            other = await office.send(job("http://localhost:1/"), Owner("two"))
            assert not hanging.done()
            return await hanging, other

    hung, other = asyncio.run(act())
    assert not hung.arrived
    assert "in time" in hung.message
    assert not other.arrived
    wait_for(lambda: not _senders())


def test_the_process_ends_when_nothing_is_sent_and_comes_back(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_office, "IDLE", 0.2)

    async def act() -> None:
        background = Background()
        async with background.running():
            office = PostOffice("127.0.0.1", background)
            for _ in range(2):
                assert (await office.send(job(receiver.url), Owner("one"))).arrived
                await asyncio.to_thread(wait_for, lambda: not _senders())

    asyncio.run(act())
    assert len(receiver.received) == 2


def _senders() -> list[psutil.Process]:
    found = []
    for one in psutil.Process().children(recursive=True):
        try:
            if "tapeline.watch.sending.sender" in one.cmdline():
                found.append(one)
        except psutil.NoSuchProcess:
            continue
    return found


def test_nothing_of_an_address_is_on_a_command_line_or_in_an_environment(
    receiver: Receiver,
) -> None:
    receiver.answers.clear()

    async def act() -> tuple[list[str], dict[str, str]]:
        background = Background()
        async with background.running():
            office = PostOffice("127.0.0.1", background)
            sent = background.begin("test", office.send(job(receiver.url), Owner("one")))
            await asyncio.to_thread(wait_for, lambda: receiver.received)
            words = [word for one in _senders() for word in one.cmdline()]
            told = {name: value for one in _senders() for name, value in one.environ().items()}
            receiver.answers.set()
            await sent
            return words, told

    words, told = asyncio.run(act())
    assert words
    assert not any("127.0.0.1" in one or "s3cret" in one for one in words)
    assert set(told) <= {"LC_CTYPE"}
