"""The content of a requirements file and its includes, rewritten for the installer.

uv never sees a file of a model: it reads `text` and `limits` and is started with `options`, made
here from parsed lines (requirement_lines.py), and an environment is found by exactly these. A file
that only names packages is installed for everyone; one that names other sources is `own`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tapeline.errors import InvalidRequirements
from tapeline.runs.environments import requirement_lines
from tapeline.runs.environments.requirement_lines import Line, Refused

LARGEST_FILE = 1_000_000
MOST_FILES = 50
MOST_LINES = 10_000  # of all files: parsing takes the processor from all requests

_INCLUDE = re.compile(
    r"(-r|-c|--requirements?|--constraints?)(\s*=\s*|\s+|(?<=^-[rc]))(?P<file>.+)"
)
_COMMENT = re.compile(r"(^|[ \t])#.*")
# Some parsers end a line at these, some a file, and some ignore them.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    options: tuple[str, ...] = ()
    """Options for the whole file, each as an argument of uv."""
    lines: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    hashes: dict[str, tuple[str, ...]] = {}
    """By package, or path of a local archive: the files that are allowed."""
    prereleases: bool = False
    require_hashes: bool = False
    own: bool = False
    """It names other sources than the server's index."""
    local: bool = False
    """It refers to files of the model, which then decide about the environment too."""

    @property
    def text(self) -> str:
        """What the installer reads."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def limits(self) -> str:
        """What the installer reads as constraints."""
        return "".join(f"{line}\n" for line in self.constraints)


def read(file: Path, model_folder: Path) -> Requirements:
    """The file and its includes; files outside the model's folder are refused."""
    root = model_folder.resolve()
    reader = _Reader(root, _below(root, file.resolve().parent))
    reader.take(file, constraints=False)
    return reader.result()


def parse(text: str) -> Requirements:
    """A lock, which includes nothing and counts its paths from the model's folder."""
    reader = _Reader(None, "")
    reader.lines_of(text, None, "The lock", constraints=False)
    return reader.result()


class _Reader:
    def __init__(self, root: Path | None, top: str) -> None:
        self.root = root
        self.top = top
        self.lines: list[Line] = []
        self.constraints: list[Line] = []
        self.seen: set[tuple[Path, bool]] = set()
        self.bytes_read = 0

    def result(self) -> Requirements:
        every = [*self.lines, *self.constraints]
        flags = {one.text for one in every if one.option}
        hashes: dict[str, set[str]] = {}
        for one in every:
            if one.hashes:
                hashes.setdefault(one.archive or one.name, set()).update(one.hashes)
        known = dict.fromkeys(one.text for one in every if one.option)
        options = [one for one in known if one not in ("--pre", "--require-hashes")]
        if sum(one.startswith("--index-url ") for one in options) > 1:
            raise InvalidRequirements("The requirements name two different values of --index-url.")
        return Requirements(
            options=tuple(options),
            lines=tuple(one.text for one in self.lines if not one.option),
            constraints=tuple(one.text for one in self.constraints if not one.option),
            hashes={name: tuple(sorted(found)) for name, found in sorted(hashes.items())},
            prereleases="--pre" in flags,
            require_hashes="--require-hashes" in flags,
            own=any(one.own for one in every),
            local=any(one.local for one in every),
        )

    def take(self, file: Path, *, constraints: bool) -> None:
        real = file.resolve()
        if (real, constraints) in self.seen:
            return
        self.seen.add((real, constraints))
        if len(self.seen) > MOST_FILES:
            raise InvalidRequirements(f"More than {MOST_FILES} files of requirements are included.")
        shown = self._shown(real)
        text = _text(real, shown)
        self.bytes_read += len(text)
        if self.bytes_read > LARGEST_FILE:
            raise InvalidRequirements(
                f"The files of requirements are larger than {LARGEST_FILE:,} bytes together."
            )
        self.lines_of(text, real, shown, constraints=constraints)

    def lines_of(self, text: str, file: Path | None, shown: str, *, constraints: bool) -> None:
        for number, line in _logical_lines(text, shown):
            try:
                self._line(line, file, constraints=constraints)
            except Refused as refused:
                raise InvalidRequirements(f"{shown}, line {number}: {refused}") from refused

    def _line(self, line: str, file: Path | None, *, constraints: bool) -> None:
        included = _INCLUDE.fullmatch(line)
        if included:
            self._follow(included, file, constraints=constraints)
            return
        here = "" if file is None or self.root is None else _below(self.root, file.parent)
        found = requirement_lines.read(line, here=here, top=self.top)
        if found is None or (constraints and found.option):
            return  # constraints only limit versions, as in uv
        if constraints and not found.name:
            raise Refused("a constraint begins with the name of a package.")
        if len(self.lines) + len(self.constraints) >= MOST_LINES:
            raise Refused(f"more than {MOST_LINES:,} requirements.")
        (self.constraints if constraints else self.lines).append(found)

    def _follow(self, included: re.Match[str], file: Path | None, *, constraints: bool) -> None:
        name = included["file"].strip().strip("\"'")
        if self.root is None or file is None or "://" in name or "${" in name:
            raise Refused(f"`{included[0]}` cannot be included: only files of the model can.")
        target = (file.parent / name).resolve()
        if not target.is_relative_to(self.root):
            raise Refused(f"it includes {name}, which is outside the model's folder.")
        self.take(target, constraints=constraints or included[1].lstrip("-").startswith("c"))

    def _shown(self, file: Path) -> str:
        assert self.root is not None
        return str(file.relative_to(self.root)) if file.is_relative_to(self.root) else file.name


def _below(root: Path, folder: Path) -> str:
    """As options and requirements count from it; empty for the model's folder itself."""
    return (
        "" if folder == root or not folder.is_relative_to(root) else str(folder.relative_to(root))
    )


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


def _logical_lines(text: str, shown: str) -> Iterator[tuple[int, str]]:
    """With the number of the first line each comes from. A comment ends with its line, even after
    a backslash, as uv has always read it."""
    begun: list[str] = []
    first = 1
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if hidden := _INVISIBLE.search(raw):
            raise InvalidRequirements(
                f"{shown}, line {number}: it holds the invisible character"
                f" U+{ord(hidden[0]):04X}, which programs read in different ways. Remove it."
            )
        if not begun:
            first = number
        line = _COMMENT.sub("", raw).replace("\t", " ")
        begun.append(line.removesuffix("\\"))
        if line.endswith("\\"):
            continue
        if whole := " ".join(begun).strip():
            yield first, whole
        begun = []
    if whole := " ".join(begun).strip():
        yield first, whole
