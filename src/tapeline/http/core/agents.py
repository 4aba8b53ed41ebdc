"""A readable name for a User-Agent, to help people recognise a sign-in. Never proof of anything."""

import re

from tapeline.accounts.sign_ins import Kind

# The first match counts: most browsers also claim to be several others.
BROWSERS = {
    r"\bEdg(e|A|iOS)?/": "Edge",
    r"\b(OPR|Opera)\b": "Opera",
    r"\b(Firefox|FxiOS)/": "Firefox",
    r"\b(Chrome|CriOS|HeadlessChrome)/": "Chrome",
    r"\bVersion/.*\bSafari/": "Safari",
}
SYSTEMS = {
    r"\biPhone\b": "iPhone",
    r"\biPad\b": "iPad",
    r"\bAndroid\b": "Android",
    r"\bCrOS\b": "ChromeOS",
    r"\bWindows\b": "Windows",
    r"\bMac OS X\b": "macOS",
    r"\bLinux\b": "Linux",
}
LONGEST_NAME = 40


def describe(kind: Kind, agent: str) -> str:
    """A sign-in in a few words: `Firefox on Linux`, `curl`."""
    browser = _browser(agent)
    if kind == "browser":
        return browser or _program(agent) or "Unknown browser"
    if browser:  # browsers get tokens only at /deploy, for a command line
        return f"Command line, allowed in {browser}"
    return _program(agent) or "Unknown program"


def _browser(agent: str) -> str:
    name, system = _first(BROWSERS, agent), _first(SYSTEMS, agent)
    return f"{name} on {system}" if name and system else name


def _program(agent: str) -> str:
    return agent.partition("/")[0].strip()[:LONGEST_NAME]


def _first(names: dict[str, str], agent: str) -> str:
    return next((name for pattern, name in names.items() if re.search(pattern, agent)), "")
