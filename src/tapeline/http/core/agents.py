"""What a User-Agent is called by the people who use it. A guess for recognising, never a proof."""

import re

from tapeline.accounts.sign_ins import Kind

# The first that is found counts: most browsers claim to be several others as well.
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
    if browser:  # only /deploy gives tokens to browsers, for a command line
        return f"Command line, allowed in {browser}"
    return _program(agent) or "Unknown program"


def _browser(agent: str) -> str:
    name, system = _first(BROWSERS, agent), _first(SYSTEMS, agent)
    return f"{name} on {system}" if name and system else name


def _program(agent: str) -> str:
    return agent.partition("/")[0].strip()[:LONGEST_NAME]


def _first(names: dict[str, str], agent: str) -> str:
    return next((name for pattern, name in names.items() if re.search(pattern, agent)), "")
