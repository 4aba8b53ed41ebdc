"""The kinds of settings: each reads text or a TOML value, and describes what it allows."""

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Nothing starts with less than 16 MB of memory and a hundredth of a core.
PLAN = re.compile(r"[a-z][a-z0-9-]{0,31}\s*=\s*(?:1[6-9]|[2-9]\d|[1-9]\d{2,6})/[1-9]\d{1,6}")


PUBLIC_KEY = re.compile(r"age1[ac-hj-np-z02-9]{58}")
KEEP = re.compile(r"[1-9]\d{0,3} (last|hourly|daily|weekly|monthly|yearly)")


@dataclass(frozen=True)
class Allowed:
    """What a setting allows: `read` converts text or a TOML value, or raises ValueError."""

    sentence: str
    read: Callable[[Any], Any]


def without_password(text: str) -> str:
    """A terminal and a log outlive the moment; a password in a URL must not."""
    return re.sub(r"(://[^:/@\s]*:)[^\s]*@", r"\1***@", text)


def whole(low: int, high: int) -> Allowed:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            raise ValueError(value)
        return number

    return Allowed(f"a whole number from {low} to {high}", read)


def one_of(words: Iterable[str]) -> Allowed:
    choice = tuple(words)

    def read(value: Any) -> str:
        if value not in choice:
            raise ValueError(value)
        return str(value)

    return Allowed("one of " + ", ".join(choice), read)


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value.strip()


def _read_any_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value.strip()


def _read_path(value: Any) -> Path:
    return Path(_read_text(value)).expanduser().absolute()


def _read_folder(value: Any) -> str:
    """Empty, or an absolute path."""
    return str(_read_path(value)) if _read_any_text(value) else ""


def _read_keep(value: Any) -> str:
    rules = [" ".join(one.split()) for one in _read_text(value).split(",")]
    if not all(map(KEEP.fullmatch, rules)):
        raise ValueError(value)
    return ", ".join(rules)


def _read_public_keys(value: Any) -> str:
    keys = [one.strip() for one in _read_any_text(value).split(",") if one.strip()]
    if not all(map(PUBLIC_KEY.fullmatch, keys)):
        raise ValueError(value)
    return ", ".join(keys)


def _read_switch(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    return value if isinstance(value, bool) else words[str(value).lower()]


def _read_database(value: Any) -> str:
    text = _read_any_text(value)
    if text and not text.startswith(("postgresql://", "postgres://")):
        raise ValueError(value)
    _ = urlsplit(text).port  # raises ValueError if it is not a number
    return text


def _read_blobs(value: Any) -> str:
    text = _read_any_text(value).rstrip("/")
    if text and not re.fullmatch(r"[a-z][a-z0-9+]*://\S+", text):
        raise ValueError(value)
    return text


def _read_plans(value: Any) -> str:
    """Also reads a table: `nano = "256/250"` or `nano = {ram = 256, cpu = 250}`."""
    if isinstance(value, dict):
        sizes = {
            name: f"{one['ram']}/{one['cpu']}" if isinstance(one, dict) else one
            for name, one in value.items()
        }
        value = ", ".join(f"{name}={size}" for name, size in sizes.items())
    plans = [part.strip() for part in _read_any_text(value).split(",") if part.strip()]
    names = [plan.partition("=")[0].strip() for plan in plans]
    if len(set(names)) != len(names) or not all(map(PLAN.fullmatch, plans)):
        raise ValueError(value)
    return ", ".join(re.sub(r"\s+", "", plan) for plan in plans)


def _read_some_plans(value: Any) -> str:
    return _read_text(_read_plans(value))


def _read_origin(value: Any) -> str:
    text = _read_any_text(value).rstrip("/")
    if text and not text.startswith(("http://", "https://")):
        raise ValueError(value)
    return text


def _read_addresses(value: Any) -> str:
    """Also reads a list."""
    listed = value if isinstance(value, list) else _read_any_text(value).split(",")
    found = [_read_origin(one) for one in listed if _read_any_text(one)]
    if len(set(found)) != len(found) or not all(urlsplit(one).hostname for one in found):
        raise ValueError(value)
    return ", ".join(found)


def _read_exchange(value: Any) -> str:
    text = _read_any_text(value).lower()
    if text and not re.fullmatch(r"[a-z0-9]{2,40}", text):
        raise ValueError(value)
    return text


def _read_host_and_port(value: Any) -> str:
    text = _read_any_text(value)
    if text and not re.fullmatch(r"([\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}", text):
        raise ValueError(value)
    return text


def _read_reach(value: Any) -> str:
    """Also reads a list."""
    listed = value if isinstance(value, list) else _read_any_text(value).split(",")
    found = [_read_any_text(one) for one in listed if _read_any_text(one)]
    for one in found:
        if re.fullmatch(r"[0-9a-fA-F:.]+(/\d{1,3})?", one):
            ipaddress.ip_network(one, strict=False)  # raises ValueError
        elif not re.fullmatch(r"[\w-]+(\.[\w-]+)*\.?", one):
            raise ValueError(value)
    return ", ".join(found)


TEXT = Allowed("text that is not empty", _read_text)
ANY_TEXT = Allowed("text", _read_any_text)
PATH = Allowed("a path", _read_path)
FOLDER = Allowed("a path, or empty", _read_folder)
BACKUPS = Allowed(
    "how many of which backups to keep, such as 7 daily, 4 weekly (also: last, hourly, monthly,"
    " yearly)",
    _read_keep,
)
PUBLIC_KEYS = Allowed(
    "public keys of age (age1…), separated by commas, or empty", _read_public_keys
)
SWITCH = Allowed("true or false", _read_switch)
DATABASE = Allowed("a postgresql:// URL, or empty for SQLite in the data directory", _read_database)
BLOBS = Allowed("a URL such as s3://bucket/prefix, or empty for a folder", _read_blobs)
PLANS = Allowed("plans as name=MB/millicores, separated by commas, or a table", _read_some_plans)
MORE_PLANS = Allowed("the same, or empty", _read_plans)
EXCHANGE = Allowed("the name of an exchange in ccxt, or empty", _read_exchange)
ADDRESSES = Allowed("http:// or https:// addresses, separated by commas, or empty", _read_addresses)
REACH = Allowed(
    "networks, addresses and names, such as 10.0.0.0/8, mail.internal, or empty", _read_reach
)
HOST_AND_PORT = Allowed("a host and a port, such as 10.0.0.1:6379, or empty", _read_host_and_port)
ORIGIN = Allowed("an http:// or https:// address, or empty", _read_origin)
