"""Servers of others may be slow, endless or lead elsewhere: an exchange ends, with one sentence."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tapeline.tape.proof import outgoing
from tapeline.tape.proof.outgoing import NoAnswer

FIRST_OF_A_LONG_RECORD = b"\x16\x03\x03\x40\x00"


@contextmanager
def answering(first: bytes, *, drips: bool = False) -> Iterator[str]:
    """Host and port of one that answers anything with these bytes, and perhaps never ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            caller, _ = listener.accept()
            with caller, suppress(OSError):
                caller.recv(65_536)
                caller.sendall(first)
                while drips:
                    caller.sendall(b"\x02")
                    time.sleep(0.05)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_an_answer_has_its_status_and_content() -> None:
    with answering(b"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n7\n") as there:
        assert outgoing.post(f"http://{there}/a?b=1", b"x", "text/plain") == (409, b"7\n")


def test_a_redirect_is_an_answer_and_leads_nowhere() -> None:
    with answering(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n") as there:
        assert outgoing.get(f"http://{there}/").status == 302


def test_an_answer_that_is_too_large_is_refused() -> None:
    with (
        answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101) as there,
        pytest.raises(NoAnswer, match="answered with more than 100 bytes"),
    ):
        outgoing.get(f"http://{there}/", largest=100)


@pytest.mark.parametrize(
    ("scheme", "first"),
    [
        ("http", b"HTTP/1.1 200 OK\r\n\r\n"),
        ("http", b"HTTP/1.1 200 OK\r\nX: "),
        ("https", FIRST_OF_A_LONG_RECORD),
    ],
)
def test_one_deadline_is_over_the_whole_exchange(
    monkeypatch: pytest.MonkeyPatch, scheme: str, first: bytes
) -> None:
    monkeypatch.setattr(outgoing, "PATIENCE", 1.0)
    with (
        answering(first, drips=True) as there,
        pytest.raises(NoAnswer, match=f"{scheme}://{there}/ did not answer within 1 s"),
    ):
        outgoing.get(f"{scheme}://{there}/")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:9/", "cannot be reached"),
        ("file:///etc/passwd", "is not an address of the web"),
        ("http://", "is not an address of the web"),
        ("http://127.0.0.1:99999/", "is not an address of the web"),
        ("http://a..b/", "cannot be reached"),
        ("http://127.0.0.1:9/a b\r\nX: y", "cannot be reached"),
    ],
)
def test_a_wrong_address_is_one_sentence(address: str, said: str) -> None:
    with pytest.raises(NoAnswer, match=said):
        outgoing.get(address)


def test_a_machine_without_room_for_a_thread_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_room(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with answering(b"") as there, monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", no_room)
        with pytest.raises(NoAnswer, match="cannot be reached"):
            outgoing.get(f"http://{there}/")
