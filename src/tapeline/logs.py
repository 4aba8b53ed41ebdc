"""Structured logs: one event per line with its facts, as text for people or JSON for machines."""

import json
import logging
import sys
import textwrap
import threading
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Literal

WINDOW, SHOWN = 10.0, 20  # seconds, and lines of one complaint in them
SUBJECTS = ("work", "about", "model", "status")
"""Facts that make a complaint another one."""
REMEMBERED = 1_000

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["text", "json"]


def start(level: Level, form: Form) -> None:
    """Send every log of the process to standard error. Called once, by the command."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    handler.addFilter(Throttle())
    root.handlers[:] = [handler]
    logging.captureWarnings(True)  # Python would print them on lines of their own
    # Of libraries, only warnings and errors.
    root.setLevel(logging.WARNING)
    logging.getLogger("tapeline").setLevel(level.upper())


class Log:
    """A named logger whose calls carry facts: `log.info("user_added", email=…)`."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **facts: Any) -> None:
        self._logger.debug(event, extra={"facts": facts})

    def info(self, event: str, **facts: Any) -> None:
        self._logger.info(event, extra={"facts": facts})

    def warning(self, event: str, **facts: Any) -> None:
        self._logger.warning(event, extra={"facts": facts})

    def error(self, event: str, *, exc_info: BaseException | None = None, **facts: Any) -> None:
        self._logger.error(event, extra={"facts": facts}, exc_info=exc_info)


class Throttle(logging.Filter):
    """Shows a repeated complaint a few times, then counts it: an outage hits every request."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._seen: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        facts = _facts(record)
        about = (record.name, record.getMessage(), *(facts.get(one) for one in SUBJECTS))
        with self._lock:
            since, times = self._seen.get(about, (-WINDOW, 0))
            if monotonic() - since >= WINDOW:
                if times > SHOWN:
                    record.facts = {**facts, "not_shown": times - SHOWN}
                if len(self._seen) >= REMEMBERED:
                    self._seen.clear()
                since, times = monotonic(), 0
            self._seen[about] = since, times + 1
            return times < SHOWN


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        facts = [f"{key}={_word(value)}" for key, value in _facts(record).items()]
        message = _sentence(record.getMessage())
        line = " ".join([_when(record), f"{record.levelname.lower():7}", message, *facts])
        if record.exc_info:
            # Indented, so that a line that starts with a time is an event and no other line is.
            line += "\n" + textwrap.indent(self.formatException(record.exc_info), "    ")
        return line


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts: dict[str, Any] = getattr(record, "facts", {})
    return facts


def _when(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sentence(message: str) -> str:
    # A library's message may quote what a client sent.
    return message if message.isprintable() else json.dumps(message)


def _word(value: Any) -> str:
    # Quoting keeps one event on one line whatever a client sent us.
    text = str(value)
    return text if text and text.isprintable() and not set(text) & set(' "=') else json.dumps(text)
