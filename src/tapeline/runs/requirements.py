"""What a requirements file asks for, read just far enough to say whom it makes us trust.

A file that only names packages is rewritten from what was understood here, so that the installer
never reads a line that was not checked. Any other file (its own index, an address, a path, an
option) is `own`: it is installed where it can neither see nor change what others share. A line that
is not understood counts as the dangerous kind; the installer will say what is wrong with it.
"""

import re
from pathlib import Path

import msgspec

from tapeline.errors import InvalidRequirements

LARGEST_FILE = 1_000_000
MOST_FILES = 50

# `name[extra] >=1, <2 ; python_version < "3.9"`: no address, no path, no option, no variable.
_NAMED = re.compile(
    r"""[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9._,\s-]*\])?
        \s*(\(?\s*[<>=!~][A-Za-z0-9.*+!<>=~,\s_-]*\)?)?
        \s*(;[A-Za-z0-9._<>=!~'"()\s+-]*)?""",
    re.VERBOSE,
)
_HASHES = re.compile(r"(\s+--hash[=\s][a-z0-9]+:[0-9a-f]+)+$")
_INCLUDE = re.compile(
    r"(-r|-c|--requirements?|--constraints?)(\s*=\s*|\s+|(?<=^-[rc]))(?P<file>.+)"
)
_REMOTE = re.compile(
    r"(-i|-f|--index-url|--extra-index-url|--find-links)(\s+|=)https?://\S+"
    r"|([A-Za-z0-9._\[\],-]+\s*@\s*|(-e|--editable)\s+)?((git|hg|svn)\+)?(https?|ssh)://\S+"
    r"|--(pre|prefer-binary|require-hashes|no-index)"
    r"|--(trusted-host|no-binary|only-binary)[=\s]+[A-Za-z0-9.:,_-]+"
)


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    lines: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    own: bool = False
    """It brings sources of its own: something else than names to look up in the server's index."""
    local: bool = False
    """It may refer to files of the model, which then decide about the environment too."""


def read(file: Path, model_folder: Path) -> Requirements:
    """The file and all it includes; what lies outside of the model's folder is refused."""
    reader = _Reader(model_folder.resolve())
    reader.take(file, constraints=False)
    return reader.result()


def parse(text: str) -> Requirements:
    """A lock. What it includes is not followed: a lock that does so is `own` and `local`."""
    reader = _Reader(None)
    reader.lines_of(text, None, constraints=False)
    return reader.result()


class _Reader:
    def __init__(self, root: Path | None) -> None:
        self.root = root
        self.lines: list[str] = []
        self.constraints: list[str] = []
        self.own = self.local = False
        self.seen: set[tuple[Path, bool]] = set()

    def result(self) -> Requirements:
        return Requirements(
            lines=tuple(self.lines),
            constraints=tuple(self.constraints),
            own=self.own,
            local=self.local,
        )

    def take(self, file: Path, *, constraints: bool) -> None:
        assert self.root is not None
        real = file.resolve()
        if (real, constraints) in self.seen:
            return
        self.seen.add((real, constraints))
        if len(self.seen) > MOST_FILES:
            raise InvalidRequirements(f"More than {MOST_FILES} files of requirements are included.")
        self.lines_of(_text(real, self._shown(real)), real, constraints=constraints)

    def lines_of(self, text: str, file: Path | None, *, constraints: bool) -> None:
        for line in _logical_lines(text):
            included = _INCLUDE.fullmatch(line)
            if included and self._follow(included, file, constraints=constraints):
                continue
            (self.constraints if constraints else self.lines).append(line)
            if not _NAMED.fullmatch(_HASHES.sub("", line)):
                self.own = True
                self.local = self.local or not _REMOTE.fullmatch(_HASHES.sub("", line))

    def _follow(self, included: re.Match[str], file: Path | None, *, constraints: bool) -> bool:
        name = included["file"].strip().strip("\"'")
        if self.root is None or file is None or "://" in name or "$" in name:
            return False
        target = (file.parent / name).resolve()
        if not target.is_relative_to(self.root):
            raise InvalidRequirements(
                f"{self._shown(file)} includes {name}, which is outside of the model's folder."
            )
        self.take(target, constraints=constraints or included[1].lstrip("-").startswith("c"))
        return True

    def _shown(self, file: Path) -> str:
        assert self.root is not None
        return str(file.relative_to(self.root)) if file.is_relative_to(self.root) else file.name


def _text(file: Path, shown: str) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidRequirements(f"{shown} cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST_FILE:
        raise InvalidRequirements(f"{shown} is larger than {LARGEST_FILE:,} bytes.")
    # Windows shells write `pip freeze > file` in UTF-16, with a mark at the start.
    coding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(coding)
    except UnicodeDecodeError as error:
        raise InvalidRequirements(f"{shown} is not text in UTF-8.") from error


def _logical_lines(text: str) -> list[str]:
    joined = re.sub(r"\\\r?\n[ \t]*", " ", text)
    lines = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined.splitlines())
    return [re.sub(r"\s+", " ", line) for line in lines if line]
