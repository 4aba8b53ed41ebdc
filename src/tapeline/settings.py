"""The only reader of environment variables and tapeline.toml.

Later sources win: defaults, tapeline.toml, TAPELINE_* variables, command-line options.
`setting_rows.py` lists the settings.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapeline.errors import InvalidSetting
from tapeline.setting_kinds import Allowed, without_password
from tapeline.setting_rows import ROWS, Settings, SignUp

__all__ = ["ROWS", "ClientVariables", "Settings", "SignUp", "client_variables", "load"]
__all__ += ["node_folder", "search_path", "strange_variables", "variables_with"]

PREFIX = "TAPELINE_"
FILE_NAME = "tapeline.toml"
# Variables with our prefix that clients and models read; they are not settings of the server.
NOT_SETTINGS = {
    "CONFIG", "URL", "MODEL_ID", "API_KEY", "API_PASS", "RUN_ID", "PROJECT_ID", "VERSION_ID",
    "BACKTEST_ID", "BACKTEST_ARGS", "STATE_DIR", "TOKEN",
}  # fmt: skip


def load(
    options: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """Read all sources; an error for a wrong value or name says what is allowed."""
    environ = os.environ if environ is None else environ
    found = {"data": ("the default of --data", str(ROWS["data"].default))}
    found |= _sources(options or {}, environ, directory or Path.cwd())
    return Settings(
        **{name: _checked(name, source, value) for name, (source, value) in found.items()}
    )


def search_path(environ: Mapping[str, str] | None = None) -> list[Path]:
    """The absolute folders of PATH; relative ones depend on the working directory."""
    environ = os.environ if environ is None else environ
    folders = [Path(one) for one in environ.get("PATH", os.defpath).split(os.pathsep) if one]
    return [one for one in folders if one.is_absolute()]


@dataclass(frozen=True)
class ClientVariables:
    """Variables for commands that talk to a server; each may be empty."""

    folder: Path
    """Where the command line keeps its sign-ins."""
    url: str
    token: str
    project: str


def client_variables(environ: Mapping[str, str] | None = None) -> ClientVariables:
    environ = os.environ if environ is None else environ
    configured = environ.get("XDG_CONFIG_HOME", "")
    # The standard asks for an absolute path there, and for everything else to be ignored.
    base = Path(configured) if configured.startswith("/") else Path("~/.config").expanduser()
    said = [environ.get(PREFIX + name, "").strip() for name in ("URL", "TOKEN", "PROJECT_ID")]
    return ClientVariables(base / "tapeline", *said)


def node_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The data directory of a machine that runs models for a cluster: what TAPELINE_DATA said where
    its `ray start` was typed, or the usual place."""
    environ = os.environ if environ is None else environ
    named = Path(environ.get(PREFIX + "DATA", "").strip()).expanduser()
    if named.is_absolute():
        return named
    as_root = Path("/var/lib/tapeline-node")
    return as_root if os.geteuid() == 0 else Path("~/.local/share/tapeline-node").expanduser()


def variables_with(more: Mapping[str, str]) -> dict[str, str]:
    """Our environment plus these, for a command that a person starts through us."""
    return {**os.environ, **more}


def strange_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """TAPELINE_* variables that are not settings, most likely misspelt."""
    environ = os.environ if environ is None else environ
    known = {PREFIX + name.upper() for name in ROWS} | {PREFIX + name for name in NOT_SETTINGS}
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)


def _sources(
    options: Mapping[str, Any], environ: Mapping[str, str], directory: Path
) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    file = Path(options.get("config") or environ.get(PREFIX + "CONFIG") or directory / FILE_NAME)
    if file.exists() or options.get("config") or environ.get(PREFIX + "CONFIG"):
        found.update({name: (f"{name} in {file}", value) for name, value in _read(file).items()})
    for name in ROWS:
        variable = PREFIX + name.upper()
        if variable in environ:
            found[name] = (variable, environ[variable])
        if options.get(name) is not None:
            found[name] = (f"--{name.replace('_', '-')}", options[name])
    return found


def _read(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidSetting(f"{file} cannot be read: {error}") from error
    for name in values:
        if name not in ROWS:
            near = difflib.get_close_matches(name, ROWS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InvalidSetting(f"{file} sets {name}, which is not a setting.{hint}")
    return values


def _checked(name: str, source: str, value: Any) -> Any:
    allowed: Allowed = ROWS[name].metadata["allowed"]
    try:
        return allowed.read(str(value) if isinstance(value, Path) else value)
    except (ValueError, TypeError, KeyError, RuntimeError):
        shown = without_password(repr(value))
        raise InvalidSetting(
            f"{source} is {shown}; it must be {allowed.sentence}.", field=name
        ) from None
