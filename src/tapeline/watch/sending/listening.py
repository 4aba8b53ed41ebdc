"""What services answer, of which Apprise says only whether it was a success."""

import http.client
import smtplib
import socket
from collections.abc import Callable
from typing import Any

LONGEST = 1_000_000
"""Bytes of all answers to one message. Libraries keep an answer whole, however long it is."""
TOO_LONG = "The service answered with more than a message needs."


class TooLong(OSError):
    pass


class Answers:
    """Of the message that this process sends."""

    def __init__(self, note: Callable[[str], None]) -> None:
        """`note` gets the reason, if an answer was not read to its end."""
        self.last: int | None = None
        """The status that counts, of HTTP or of SMTP; None if there was no answer."""
        self._note = note
        self._listen()
        self._limit_what_is_received()
        self._limit_what_is_unpacked()

    def _listen(self) -> None:
        answer, reply = http.client.HTTPResponse.begin, smtplib.SMTP.getreply

        def begin(response: Any) -> None:
            answer(response)
            self.last = response.status

        def getreply(connection: Any) -> tuple[int, bytes]:
            found = reply(connection)
            # What follows an error, and 221, is a good-bye.
            if (self.last is None or self.last < 400) and found[0] != 221:
                self.last = found[0]
            return found

        setattr(http.client.HTTPResponse, "begin", begin)  # noqa: B010
        setattr(smtplib.SMTP, "getreply", getreply)  # noqa: B010

    def _limit_what_is_received(self) -> None:
        """HTTP and SMTP both read through this, encrypted or not."""
        read, count = socket.SocketIO.readinto, _Count(self._note)

        def readinto(file: Any, buffer: Any) -> int | None:
            found = read(file, buffer)
            count.add(found or 0)
            return found

        setattr(socket.SocketIO, "readinto", readinto)  # noqa: B010

    def _limit_what_is_unpacked(self) -> None:
        """A few bytes may be compressed from any number."""
        from requests.models import Response  # noqa: PLC0415

        parts, count = Response.iter_content, _Count(self._note)

        def iter_content(response: Any, *how: Any, **named: Any) -> Any:
            for part in parts(response, *how, **named):
                count.add(len(part))
                yield part

        setattr(Response, "iter_content", iter_content)  # noqa: B010


class _Count:
    def __init__(self, note: Callable[[str], None]) -> None:
        self._note, self._bytes = note, 0

    def add(self, found: int) -> None:
        self._bytes += found
        if self._bytes > LONGEST:
            self._note(TOO_LONG)
            raise TooLong(TOO_LONG)
