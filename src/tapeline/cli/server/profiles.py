"""The servers this person is signed in to, in a file that nobody else can read."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tapeline import host_faults, private_files
from tapeline.cli.terminal.failures import Failure, Misused

FILE = "credentials.json"
USUAL = "http://127.0.0.1:8700"


@dataclass
class Profile:
    url: str
    refresh_token: str = ""
    id_token: str = ""
    id_token_until: float = 0.0
    user_id: str = ""
    email: str = ""
    project_id: str = ""
    """Empty: the personal one."""


@dataclass
class Profiles:
    file: Path
    current: str = ""
    servers: dict[str, Profile] = field(default_factory=dict)
    devices: dict[str, str] = field(default_factory=dict)
    """By server: cookies by which it recognizes this computer, even after signing out."""

    def save(self) -> None:
        said = {
            "current": self.current,
            "servers": {name: asdict(one) for name, one in self.servers.items()},
            "devices": self.devices,
        }
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            private_files.write(self.file, json.dumps(said, indent=2).encode() + b"\n")
        except OSError as error:
            raise Failure(host_faults.cannot_write(self.file, error)) from error

    def find(self, wanted: str) -> tuple[str, Profile] | None:
        """By the name of a profile, or by the address of its server."""
        if wanted in self.servers:
            return wanted, self.servers[wanted]
        address = normal_url(wanted) if is_url(wanted) else None
        return next((pair for pair in self.servers.items() if pair[1].url == address), None)

    def add(self, profile: Profile, name: str | None) -> str:
        """Make it the current one; the same server again keeps its name."""
        known = self.find(profile.url)
        chosen = name or (known[0] if known else urlsplit(profile.url).netloc)
        if known and known[0] != chosen:
            del self.servers[known[0]]
        self.servers[chosen] = profile
        self.current = chosen
        return chosen

    def remove(self, name: str) -> None:
        del self.servers[name]
        if self.current == name:
            self.current = next(iter(self.servers), "")


def load(folder: Path) -> Profiles:
    file = folder / FILE
    try:
        said = json.loads(file.read_bytes())
        servers = {name: _profile(one) for name, one in said["servers"].items()}
        return Profiles(file, str(said["current"]), servers, dict(said.get("devices", {})))
    except FileNotFoundError:
        return Profiles(file)
    except PermissionError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Failure(
            f"{file} is damaged ({error}). Delete it, and sign in again with: tapeline login"
        ) from error


def _profile(said: dict[str, Any]) -> Profile:
    known = {one.name for one in fields(Profile)}
    return Profile(**{name: value for name, value in said.items() if name in known})


def is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def normal_url(text: str) -> str:
    """An address without a slash at its end; `localhost:8700` is one too."""
    full = text if is_url(text) else f"http://{text}"
    parts = urlsplit(full)
    try:
        good = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment or parts.username:
        raise Misused(f"{text} is not a server address. Use one such as {USUAL}")
    return full.rstrip("/")
