"""The server's side of the processes with the heavy libraries: started when first needed, ended
with the server, started again if they died. One question at a time each; who asks waits in a
thread."""

import os
import subprocess
import sys
import time
from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from threading import Lock

import msgspec

from tapeline import descriptors
from tapeline.errors import Unavailable
from tapeline.fair_threads import FairThreads
from tapeline.watch.heavy.messages import Answer, Match, Places, Question, Sessions

DEADLINE = 20.0  # seconds for an answer; the first one has a library to load
CHECKS_AT_ONCE = 2  # rules of people: their threads wait here, and tenants take turns
PATIENCE = 3.0  # seconds that a pattern may take for somebody who waits
LONGEST_ANSWER = 8_000_000  # bytes
PORTION = 1 << 16
AHEAD = timedelta(days=370)  # of sessions that are asked for at once
BEHIND = timedelta(days=40)
KEPT = 86_400.0  # seconds: calendars change with a new version of their library alone
MOST_KEPT = 200

Span = tuple[float, float]


class NoHeavyAnswer(Unavailable):
    """The process that matches patterns and knows calendars did not answer. It is started again."""


class NoCalendar(Exception):
    """Why the hours of an exchange are not known."""


class Heavy:
    """Who asks has processes apart: hours of exchanges never wait for a pattern, nor rules for
    somebody who tries one."""

    def __init__(self) -> None:
        self._of_rules, self._of_people, self._of_exchanges = _Helper(), _Helper(), _Helper()
        self.checks = FairThreads(CHECKS_AT_ONCE, "checks of rules")
        self._calendars: OrderedDict[str, tuple[float, list[Span]]] = OrderedDict()

    def searching(self, asked: list[Match], seconds: float) -> list[Places | str]:
        """For rules: what each pattern matches among the lines that there was time for."""
        return self._of_rules.ask(Question(matches=asked, seconds=seconds)).matches if asked else []

    def matching(self, asked: list[Match]) -> list[Places | str]:
        """The same for somebody who waits for the answer."""
        question = Question(matches=asked, seconds=PATIENCE)
        return self._of_people.ask(question).matches if asked else []

    def trouble_with(self, pattern: str) -> str | None:
        """What is wrong with a pattern."""
        found = self.matching([Match(pattern, [])])[0]
        return found if isinstance(found, str) else None

    def sessions(self, calendar: str, now: float) -> list[Span]:
        """When an exchange is open, from a month ago to a year ahead."""
        known = self._calendars.get(calendar)
        if known is not None and abs(now - known[0]) < KEPT:
            return known[1]
        today = datetime.fromtimestamp(now, UTC).date()
        asked = Sessions(calendar, str(today - BEHIND), str(today + AHEAD))
        answer = self._of_exchanges.ask(Question(sessions=asked))
        if answer.trouble is not None:
            raise NoCalendar(answer.trouble)
        self._calendars[calendar] = now, answer.sessions
        while len(self._calendars) > MOST_KEPT:
            self._calendars.popitem(last=False)
        return answer.sessions

    def close(self) -> None:
        self.checks.close()
        for one in (self._of_rules, self._of_people, self._of_exchanges):
            one.close()


class _Helper:
    """One such process, and whose turn it is."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        with self._turn:
            self._end()

    def ask(self, question: Question) -> Answer:
        with self._turn:
            try:
                process = self._running()
                assert process.stdin is not None
                assert process.stdout is not None
                ends = time.monotonic() + DEADLINE
                _put(process.stdin.fileno(), msgspec.json.encode(question) + b"\n", ends)
                return msgspec.json.decode(_line(process.stdout.fileno(), ends), type=Answer)
            except Exception as error:
                # Whatever it was: nobody waits for this answer any more, and the next question must
                # not get it.
                self._end()
                raise NoHeavyAnswer from error

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-m", "tapeline.watch.heavy.serving", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert self._process.stdin is not None
            # A question may be longer than a pipe is, and one that hangs never reads it.
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # it may still hold a question that nobody will read
                    continue
        process.wait()


def _put(descriptor: int, content: bytes, ends: float) -> None:
    left = memoryview(content)
    while left:
        if not descriptors.writable(descriptor, within=ends - time.monotonic()):
            raise TimeoutError
        left = left[os.write(descriptor, left[:PORTION]) :]


def _line(descriptor: int, ends: float) -> bytes:
    """Up to the end of a line. Answers come one by one, so nothing follows it."""
    found = bytearray()
    while not found.endswith(b"\n"):
        if not descriptors.readable(descriptor, within=ends - time.monotonic()):
            raise TimeoutError
        some = os.read(descriptor, PORTION)
        if not some or len(found) > LONGEST_ANSWER:
            raise EOFError
        found += some
    return bytes(found)
