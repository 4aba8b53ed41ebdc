"""platform.json: what an archive says about itself. Every error names the key."""

import posixpath
import re
from collections.abc import Collection
from typing import Any, Literal

import msgspec

from tapeline import nesting
from tapeline.errors import InvalidManifest

NAMES = ("platform.json", "blankly.json")  # the older name under the same rules
LARGEST = 1_000_000
DEEPEST = 32
MOST_EXPECTATIONS = 50
BOM = b"\xef\xbb\xbf"

PYTHON = re.compile(r"\d{1,2}\.\d{1,3}")
LONGEST_TEXT = 1_000


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    main_script: str
    """Like every path here relative to `working_directory`."""
    requirements: str | None = None
    working_directory: str = "."
    python_version: str | None = None
    backtest_args: dict[str, Any] | None = None
    backtest: str | None = None
    """"file.py:function", when it is not the main script's function `backtest`."""
    type: Literal["strategy", "screener"] | None = None
    schedule: str | None = None
    plan: str | None = None
    network: bool = True
    model_id: str | None = None
    project_id: str | None = None
    model_name: str | None = None
    ignore_files: list[str] = []
    expectations: list[dict[str, Any]] = []
    """Rules that travel with the code; `watch` reads them."""


# What each key of the file means, for docs/: key, default, sentence.
KEYS = (
    ("main_script", "(required)", "The script that is run."),
    ("working_directory", "`.`", "Where it is run; the other paths are relative to it."),
    ("requirements", "(none)", "A file of requirements to install first."),
    (
        "python_version",
        "the model's last, else the newest there is",
        'Such as `"3.11"`; a text, because the number 3.10 is 3.1.',
    ),
    ("plan", "the model's last, else `nano`", "Memory and processor."),
    ("type", "`strategy`", "`strategy` or `screener`."),
    ("screener.schedule", "(none)", "When a screener runs: a cron expression in UTC, or `@daily`."),
    (
        "backtest",
        "function `backtest` of the main script",
        '`"file.py:function"`, what a backtest calls.',
    ),
    ("backtest_args", "`{}`", "Arguments of a backtest that is started without any."),
    ("network", "`true`", "`false` leaves a run only the events address."),
    ("model_id", "(none)", "Which model the folder is; `tapeline deploy --new` writes it."),
    ("project_id", "(none)", "Which project the model is in, for command lines."),
    ("model_name", "(none)", "What a command line calls a new model."),
    ("expectations", "`[]`", "Rules that watch the model while this version is deployed."),
    ("ignore_files", "`[]`", "Names and patterns that a command line leaves out of the archive."),
)


def read(content: bytes, name: str, files: Collection[str], folders: Collection[str]) -> Manifest:
    """Check a manifest against what is in the model's folder: paths relative to that folder."""
    return _Reader(_decoded(content, name), name, files, folders).manifest()


def _decoded(content: bytes, name: str) -> dict[str, Any]:
    try:
        values = msgspec.json.decode(content.removeprefix(BOM))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise InvalidManifest(f"{name} is not valid JSON: {reason}.") from None
    if not isinstance(values, dict):
        raise InvalidManifest(f"{name} must be a JSON object, such as {{}}.")
    return values


class _Reader:
    def __init__(
        self,
        values: dict[str, Any],
        name: str,
        files: Collection[str],
        folders: Collection[str],
    ) -> None:
        self._values = values
        self._name = name
        self._files = files
        self._folders = folders

    def manifest(self) -> Manifest:
        working = self._working_directory()
        screener = self._of_kind("screener", dict, "an object") or {}
        return Manifest(
            main_script=self._main_script(working),
            requirements=self._file("requirements", working),
            working_directory=working,
            python_version=self._python_version(),
            backtest_args=self._backtest_args(),
            backtest=self._backtest(working),
            type=self._type(),
            schedule=self._text("schedule", screener, "screener.schedule"),
            plan=self._text("plan"),
            network=self._network(),
            model_id=self._text("model_id"),
            project_id=self._text("project_id"),
            model_name=self._text("model_name"),
            ignore_files=self._ignore_files(),
            expectations=self._expectations(),
        )

    def _wrong(self, key: str, rest: str) -> InvalidManifest:
        return InvalidManifest(f"`{key}` in {self._name} {rest}.")

    def _of_kind(self, key: str, kind: type, words: str) -> Any:
        value = self._values.get(key)
        if value is not None and not isinstance(value, kind):
            raise self._wrong(key, f"must be {words}")
        return value

    def _text(
        self, key: str, values: dict[str, Any] | None = None, shown: str | None = None
    ) -> str | None:
        """An empty text counts as missing."""
        value = (self._values if values is None else values).get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise self._wrong(shown or key, "must be a text")
        if len(value) > LONGEST_TEXT or "\0" in value:
            raise self._wrong(
                shown or key, f"must have at most {LONGEST_TEXT:,} characters, none of them NUL"
            )
        return value

    def _path(self, key: str, text: str, working: str) -> str:
        """A path in normal form; refused when it leaves the model's folder."""
        path = posixpath.normpath(text)
        inside = posixpath.normpath(posixpath.join(working, path))
        if "\\" in text or path.startswith(("/", "-")) or inside.split("/")[0] == "..":
            raise self._wrong(
                key, f"is {text!r}; it must be a relative path, written with /, inside model/"
            )
        return path

    def _working_directory(self) -> str:
        path = self._path("working_directory", self._text("working_directory") or ".", ".")
        if path != "." and path not in self._folders:
            raise self._wrong("working_directory", f"is {path!r}, which is not in the archive")
        return path

    def _main_script(self, working: str) -> str:
        path = self._file("main_script", working)
        if path is None:
            raise self._wrong("main_script", "is required: the script that runs the model")
        return path

    def _file(self, key: str, working: str) -> str | None:
        text = self._text(key)
        return None if text is None else self._present(key, text, working)

    def _present(self, key: str, text: str, working: str) -> str:
        path = self._path(key, text, working)
        full = posixpath.normpath(posixpath.join(working, path))
        if full not in self._files:
            raise self._wrong(key, f"is {text!r}, but there is no file model/{full} in the archive")
        return path

    def _python_version(self) -> str | None:
        value = self._text("python_version")
        if value is not None and not PYTHON.fullmatch(value):
            raise self._wrong("python_version", f'is {value!r}; it must be a text such as "3.10"')
        return value

    def _backtest(self, working: str) -> str | None:
        value = self._text("backtest")
        if value is None:
            return None
        file, colon, function = value.rpartition(":")
        if not colon or not file or not function.isidentifier():
            raise self._wrong("backtest", f'is {value!r}; it must be "file.py:function"')
        return f"{self._present('backtest', file, working)}:{function}"

    def _backtest_args(self) -> dict[str, Any] | None:
        value: dict[str, Any] | None = self._of_kind("backtest_args", dict, "an object")
        if value is not None and not is_plain(value):
            raise self._wrong(
                "backtest_args", f"is nested deeper than {DEEPEST} levels, or holds the text NUL"
            )
        return value

    def _type(self) -> Any:
        value = self._text("type")
        if value not in {None, "strategy", "screener"}:
            raise self._wrong("type", f"is {value!r}; it must be strategy or screener")
        return value

    def _network(self) -> bool:
        value = self._of_kind("network", bool, "true or false")
        return True if value is None else bool(value)

    def _expectations(self) -> list[dict[str, Any]]:
        rules: list[Any] = self._of_kind("expectations", list, "a list of rules") or []
        if not all(isinstance(one, dict) for one in rules) or len(rules) > MOST_EXPECTATIONS:
            raise self._wrong(
                "expectations", f"must be a list of at most {MOST_EXPECTATIONS} rules"
            )
        if not is_plain({"": rules}):
            raise self._wrong(
                "expectations", f"is nested deeper than {DEEPEST} levels, or holds the text NUL"
            )
        return rules

    def _ignore_files(self) -> list[str]:
        names: list[Any] = self._of_kind("ignore_files", list, "a list of texts") or []
        if not all(isinstance(one, str) and "\0" not in one for one in names):
            raise self._wrong("ignore_files", "must be a list of texts")
        return names


def is_plain(value: dict[str, Any]) -> bool:
    """Whether every database can store it: bounded depth and no NUL."""
    try:
        content = msgspec.json.encode(value)
    except RecursionError:
        return False
    return not nesting.is_deeper(content, DEEPEST) and not nesting.has_nul(content)
