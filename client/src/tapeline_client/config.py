"""Where a client reports to: arguments first, then the environment, then a file."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Mapping, NamedTuple
from urllib.parse import urlsplit

from tapeline_client.errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8700"
FILE = "tapeline.json"
# The bare names belong to the older platform. An API_KEY alone may be an exchange's, which must not
# be sent to us, so they count only together with that platform's address.
_NAMES = {
    "url": ("TAPELINE_URL", "URL_MODEL_EVENTS_API"),
    "model_id": ("TAPELINE_MODEL_ID", "SLATE_MODEL_ID", "MODEL_ID"),
    "api_key": ("TAPELINE_API_KEY", "SLATE_API_KEY", "API_KEY"),
    "api_pass": ("TAPELINE_API_PASS", "SLATE_API_PASS", "API_PASS"),
}
_BARE = {"MODEL_ID", "API_KEY", "API_PASS"}
_OLDER_ADDRESS = "URL_MODEL_EVENTS_API"


class Address(NamedTuple):
    """The server, the model and the key."""

    url: str
    model_id: str
    api_key: str
    api_pass: str


def resolve(
    given: Mapping[str, str | None], environment: Mapping[str, str] | None = None
) -> Address:
    variables = os.environ if environment is None else environment
    said = _from_file(variables)
    values = {}
    for name in _NAMES:
        values[name] = given.get(name) or _from_environment(name, variables) or said.get(name)
    values["url"] = values["url"] or DEFAULT_URL
    missing = [name for name in _NAMES if not values[name]]
    if missing:
        names = " and ".join(missing)
        variable = _NAMES[missing[0]][0]
        raise ConfigurationError(
            f"Tapeline needs {names}: pass it, set {variable}, or write it into {FILE}."
        )
    return Address(**{name: _checked(name, str(value)) for name, value in values.items()})


def backtest_id(environment: Mapping[str, str] | None = None) -> str | None:
    """The id of the backtest that this process runs, if it is one."""
    variables = os.environ if environment is None else environment
    return variables.get("TAPELINE_BACKTEST_ID") or variables.get("BACKTESTING_ID") or None


def state_folder(environment: Mapping[str, str] | None = None) -> str:
    """Where events are queued: the model's folder on the platform, the user's cache elsewhere."""
    variables = os.environ if environment is None else environment
    state = variables.get("TAPELINE_STATE_DIR")
    if state:
        return os.path.join(state, "tapeline-client")
    if sys.platform == "win32":
        cache = variables.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        cache = os.path.expanduser("~/Library/Caches")
    else:
        cache = variables.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "tapeline-client")


def _from_environment(name: str, variables: Mapping[str, str]) -> str | None:
    for variable in _NAMES[name]:
        if variable in _BARE and not variables.get(_OLDER_ADDRESS):
            continue
        if variables.get(variable):
            return variables[variable]
    return None


def _from_file(variables: Mapping[str, str]) -> dict[str, Any]:
    named = variables.get("TAPELINE_CONFIG")
    config = variables.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    places = [named] if named else [FILE, os.path.join(config, "tapeline", FILE)]
    for place in places:
        try:
            with open(place, encoding="utf-8") as file:
                said = json.load(file)
        except FileNotFoundError:
            if named:
                raise ConfigurationError(f"TAPELINE_CONFIG names {named}, which does not exist.")  # noqa: B904
            continue
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{place} could not be read: {error}.") from None
        if not isinstance(said, dict):
            raise ConfigurationError(f"{place} must hold one JSON object.")
        return said
    return {}


def _checked(name: str, value: str) -> str:
    value = value.strip()
    if not value.isascii() or not value.isprintable():
        raise ConfigurationError(f"{name} holds characters that cannot be sent in a header.")
    if name == "url":
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"url must look like http://host:port, not {value!r}.")
        return value.rstrip("/")
    return value
