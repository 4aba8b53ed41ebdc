"""One line of a requirements file: parsed, and rewritten in one canonical form.

The installer reads what is written here and nothing else, so there is no second reader to disagree
with. A line that cannot be parsed is refused.
"""

import posixpath
import re

import msgspec
from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

# The characters of a line that only names a package: nothing that starts a comment, continues on
# the next line, stands for a variable or leads to a file.
_PLAIN = re.compile(r"[A-Za-z0-9._<>=!~'\"()+*,\[\]; -]+")
_HASH = re.compile(r"[a-z0-9]+:[0-9a-f]+")
_ADDRESS = re.compile(r"(git\+)?(https?|(?<=\+)ssh)://[A-Za-z0-9._~:/?#\[\]@!&()*+,;=%$-]+")
_ARCHIVE = re.compile(r".*\.(whl|zip|egg|tar|tgz|tbz2?|tlz|txz|tzst|tar\.[a-z0-9]+)", re.IGNORECASE)
_PATH = re.compile(r"(?:file:)?(?P<path>[A-Za-z0-9._+/-]+)(?P<extras>\[[A-Za-z0-9._,-]+\])?")
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[^\]]*\])?\s*@\s*")
_OPTION = re.compile(r"(?P<flag>-[a-z](?=[\s=])|--[a-z-]+)(\s*=\s*|\s+|$)(?P<value>.*)")
_WORD = re.compile(r"[A-Za-z0-9._:,-]+")

MOST_SPACES = 200  # in a row: patterns with optional spaces take the square of their number
SHOWN = 200  # characters of a line in an error
_LONG = {"-i": "--index-url", "-f": "--find-links", "-e": "--editable"}


class Refused(ValueError):
    """Says what is wrong with a line, in a sentence."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    option: bool = False
    """It is about the whole file."""
    name: str = ""
    """Of the package, where the line names one."""
    archive: str = ""
    """The wheel or source archive of the model that it installs."""
    hashes: tuple[str, ...] = ()
    own: bool = False
    """It names another source than the server's index."""
    local: bool = False
    """It refers to files of the model, which then decide about the environment too."""


def read(line: str, *, here: str, top: str) -> Line | None:
    """None: it has no effect. `here` is the folder of the file below the model's folder, from
    which options count paths; requirements count them from `top`, the first file's folder."""
    if not line.isascii():
        raise Refused("only comments may hold characters other than ASCII.")
    if " " * MOST_SPACES in line:
        raise Refused("it has too many spaces in a row.")
    body, hashes = _apart(line)
    if body.startswith("-"):
        understood = _option(body, here=here, top=top)
    else:
        understood = _requirement(body, top)
    return _with_hashes(understood, hashes) if hashes else understood


def _apart(line: str) -> tuple[str, tuple[str, ...]]:
    """The line without the hashes at its end, and the hashes. Word by word: a pattern that looks
    for the end of a long line takes hours, and the whole server waits."""
    body, mark, rest = line.partition(" --hash")
    if not mark:
        return line, ()
    words = f"--hash{rest}".replace("--hash=", "--hash ").split()
    hashes = words[1::2]
    if set(words[::2]) != {"--hash"} or not all(map(_HASH.fullmatch, hashes)) or len(words) % 2:
        raise Refused("a hash is written as --hash=sha256:… at the end of its line.")
    return body.rstrip(), tuple(sorted(hashes))


def _with_hashes(line: Line | None, hashes: tuple[str, ...]) -> Line:
    if line is None or not (line.archive if line.local else line.name):
        raise Refused("a hash belongs to a named package or to an archive such as ./file.whl.")
    text = " ".join([line.text, *(f"--hash={one}" for one in hashes)])
    return msgspec.structs.replace(line, text=text, hashes=hashes)


def _option(line: str, *, here: str, top: str) -> Line | None:
    found = _OPTION.fullmatch(line)
    flag = _LONG.get(found["flag"], found["flag"]) if found else ""
    value = _unquoted(found["value"]) if found else ""
    match flag:
        case "--editable":
            return _source(value, top, editable=True)
        case "--index-url" | "--extra-index-url":
            return Line(text=f"{flag} {_address(value)}", option=True, own=True)
        case "--find-links":
            local = "://" not in value
            where = _inside(here, value.removeprefix("file:")) if local else _address(value)
            return Line(text=f"{flag} {where}", option=True, own=True, local=local)
        case "--no-binary" | "--only-binary" if _WORD.fullmatch(value):
            return Line(text=f"{flag} {value}", option=True, own=True)
        case "--no-index" | "--pre" | "--require-hashes" if not value:
            return Line(text=flag, option=True, own=flag == "--no-index")
    # Wheels are preferred anyway, and an index is believed when its certificate is.
    if line == "--prefer-binary" or (flag == "--trusted-host" and _WORD.fullmatch(value)):
        return None
    raise Refused(f"`{line}` is not an option that can be used here.")


def _requirement(line: str, top: str) -> Line:
    named = _NAMED.match(line)
    where = line[named.end() if named else 0 :].partition(" ")[0]
    if "/" in where or where.startswith((".", "file:")) or _ARCHIVE.fullmatch(where):
        return _source(line, top)
    try:
        asked = Requirement(line)
    except (InvalidRequirement, RecursionError) as error:
        raise Refused(_not_understood(line, error)) from error
    if asked.url is not None or _ARCHIVE.fullmatch(asked.name):
        raise Refused(f"`{line}` is neither a package nor a path (which begins with ./).")
    asked.name = canonicalize_name(asked.name)
    text = str(asked)
    if not _PLAIN.fullmatch(text):
        raise Refused(f"`{line}` has characters that no package needs.")
    return Line(text=text, name=asked.name)


def _source(line: str, top: str, *, editable: bool = False) -> Line:
    """`name[extra] @ where ; marker`, of which only where is needed."""
    named = _NAMED.match(line)
    where, _, condition = line[named.end() if named else 0 :].partition(" ;")
    where, local = where.strip(), "://" not in where
    if editable and (named or not local):
        raise Refused("only a folder of the model can be installed with -e.")
    path, extras = _path(top, where) if local else ("", "")
    text = path + extras if local else _address(where)
    if editable:
        text = f"-e {text}"
    name = ""
    if named:
        name = canonicalize_name(named["name"])
        text = f"{name}{_extras(named['extras'])} @ {text}"
    if condition.strip():
        text += f" ; {_marker(condition.strip())}"
    archive = path if _ARCHIVE.fullmatch(path) and not editable else ""
    return Line(text=text, name=name, archive=archive, own=True, local=local)


def _extras(extras: str | None) -> str:
    names = sorted({one.strip() for one in (extras or "[]")[1:-1].split(",")} - {""})
    if not all(re.fullmatch(r"[A-Za-z0-9._-]+", one) for one in names):
        raise Refused(f"`{extras}` are not extras.")
    return f"[{','.join(names)}]" if names else ""


def _marker(condition: str) -> str:
    try:
        text = str(Marker(condition))
    except (InvalidMarker, RecursionError) as error:
        raise Refused(_not_understood(condition, error)) from error
    if not _PLAIN.fullmatch(text):
        raise Refused(f"`{condition}` has characters that no condition needs.")
    return text


def _address(value: str) -> str:
    if "${" in value:
        raise Refused("variables have no value while packages are installed.")
    if not _ADDRESS.fullmatch(value):
        raise Refused(
            f"`{value}` is not an address that can be used here (https, http, git+https, git+ssh)."
        )
    return value


def _path(folder: str, value: str) -> tuple[str, str]:
    """The path, and the extras behind it."""
    found = _PATH.fullmatch(value)
    if not found:
        raise Refused(f"`{value}` is not a path that can be used here.")
    return _inside(folder, found["path"]), found["extras"] or ""


def _inside(folder: str, path: str) -> str:
    if not _PATH.fullmatch(path):
        raise Refused(f"`{path}` is not a path that can be used here.")
    joined = posixpath.normpath(posixpath.join(folder, path))
    if joined.startswith("/") or joined.split("/")[0] == "..":
        raise Refused(f"`{path}` is outside the model's folder.")
    return "." if joined == "." else f"./{joined}"


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _not_understood(line: str, error: Exception) -> str:
    shown = line if len(line) <= SHOWN else line[:SHOWN] + "…"
    return f"`{shown}` is not understood: {str(error).splitlines()[0][:SHOWN]}."
