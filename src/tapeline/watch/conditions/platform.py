"""Conditions about the platform: backtests, certificate, disk, quotas, hosts, sign-ins, keys."""

from collections.abc import Callable
from typing import Any

from tapeline import figures
from tapeline.watch.conditions.condition import HAPPENED, Condition, Finding, Option, Question
from tapeline.watch.conditions.judging import DAY, below, happened, percent_of, reached, unknown
from tapeline.watch.facts.certificates import Certificate
from tapeline.watch.facts.of_backtests import Backtest
from tapeline.watch.facts.of_installation import HostState, Room
from tapeline.watch.facts.of_sign_ins import Arrival

TEN_MINUTES = Option(
    name="within", kind="duration", help="How long it holds after the last one.", default="10m"
)


def _ended(*, successful: bool) -> Callable[[Question], Finding]:
    word = "is done" if successful else "failed"

    def find(question: Question) -> Finding:
        asked, now = question.asked, question.now
        newest: list[Backtest] = question.facts.get("backtests", [])
        ended = [one for one in newest if one.successful is not None]
        memory: dict[str, Any] = dict(asked.memory)
        known = memory.get("ended")
        memory["ended"] = [one.no for one in ended]
        # The first look only learns what there is: a rule is about what comes after it.
        new = [] if known is None else [one for one in ended if one.no not in known]
        matching = [one for one in new if one.successful is successful]
        if matching:
            memory |= {HAPPENED: now, "said": _told(matching[0], word)}
        quiet = f"No backtest has {'ended well' if successful else 'failed'} lately."
        return happened(
            asked, memory.get(HAPPENED), memory.get("said", ""), quiet, now, memory=memory
        )

    return find


def _told(one: Backtest, word: str) -> str:
    why = f": {one.summary.rstrip('.')}" if one.summary else ""
    return f"The backtest {one.name} {word}{why}."


BACKTEST_DONE = Condition(
    name="backtest-done",
    about="platform",
    title="Backtest done",
    help="A backtest ended well.",
    find=_ended(successful=True),
    needs=("backtests",),
    options=(TEN_MINUTES,),
)
BACKTEST_FAILED = Condition(
    name="backtest-failed",
    about="platform",
    title="Backtest failed",
    help="A backtest failed.",
    find=_ended(successful=False),
    needs=("backtests",),
    options=(TEN_MINUTES,),
)


GIGABYTE = 1e9


def _disk(question: Question) -> Finding:
    asked = question.asked
    found: Room | None = question.facts.get("disk")
    if found is None or found.trouble is not None or not found.size:
        return unknown(None if found is None else found.trouble)
    limit, is_share = asked.limit or 0.0, asked.unit != "gigabytes"
    free = percent_of(found.free, found.size) if is_share else found.free / GIGABYTE
    shown = figures.percent(limit / 100) if is_share else f"{limit:,.4g} GB"
    return below(
        asked,
        free,
        f"{found.free / GIGABYTE:,.4g} GB ({figures.percent(found.free / found.size)}) of the"
        f" disk of the data directory are free; the limit is {shown}.",
    )


def _quota(question: Question) -> Finding:
    found: Room | None = question.facts.get("quota")
    if found is None or not found.size:
        return unknown(None)
    value = percent_of(found.used, found.size)
    return reached(
        question.asked,
        value,
        f"Its tape holds {figures.percent(value / 100)} of the {found.size / GIGABYTE:,.4g} GB that"
        f" it may; the limit is {figures.percent((question.asked.limit or 0.0) / 100)}.",
    )


DISK = Condition(
    name="disk",
    about="platform",
    title="Disk nearly full",
    help="Less than this is free on the disk of the data directory, on the server that evaluates"
    " rules.",
    find=_disk,
    needs=("disk",),
    scopes=frozenset({"all"}),
    of_each=None,
    units=("percent", "gigabytes"),
    default=10.0,
    tighter="higher",
)
QUOTA = Condition(
    name="quota",
    about="platform",
    title="Quota nearly used up",
    help="The tape of the model holds this share of what it may hold (the setting `quota_total`).",
    find=_quota,
    needs=("quota",),
    units=("percent",),
    smallest="more than zero",
    default=80.0,
    tighter="lower",
)


def _host_unwell(question: Question) -> Finding:
    found: HostState | None = question.facts.get("hosts")
    if found is None:
        return unknown("This host is not known any more.")
    if not found.is_up:
        return Finding(holds=True, said="Its server has not been heard of lately.")
    if found.trouble:
        return Finding(holds=True, said=f"It cannot run models: {found.trouble}")
    said = "It takes no runs, as an operator wanted." if found.is_drained else "It is well."
    return Finding(holds=False, said=said)


HOST_UNWELL = Condition(
    name="host-unwell",
    about="platform",
    title="A host or server unwell",
    help="The server of a host is silent, or the host cannot run models.",
    find=_host_unwell,
    needs=("hosts",),
    scopes=frozenset({"all"}),
    of_each="host",
)


def _certificate(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found: Certificate | None = question.facts.get("certificate")
    if found is None:
        return unknown("It has not been looked at yet.")
    if found.ends_at is None:
        return unknown(found.trouble)
    left, limit = (found.ends_at - now) / DAY, asked.limit or 0.0
    shown = figures.integer(abs(left))
    ends = f"in {shown} days" if left > 0 else f"{shown} days ago"
    return below(
        asked,
        left,
        f"The certificate of {found.host} ends {ends}; the limit is {figures.integer(limit)} days.",
        look_again=found.ends_at - limit * DAY if left >= limit else None,
    )


CERTIFICATE = Condition(
    name="certificate",
    about="platform",
    title="Certificate ends soon",
    help="The certificate that `public_url` shows is valid for fewer days than this.",
    find=_certificate,
    needs=("certificate",),
    scopes=frozenset({"all"}),
    of_each=None,
    units=("days",),
    default=14.0,
    tighter="higher",
)


AN_HOUR = Option(
    name="within", kind="duration", help="How long it holds after the last one.", default="1h"
)


def _stranger(fact: str, words: str, quiet: str) -> Callable[[Question], Finding]:
    def find(question: Question) -> Finding:
        asked = question.asked
        found: list[Arrival] = [
            one for one in question.facts.get(fact, []) if one.at >= asked.counts_from
        ]
        newest = max(found, default=None)
        at = None if newest is None else newest.at
        said = "" if newest is None else f"{newest.who} {words} {newest.address}."
        return happened(asked, at, said, quiet, question.now)

    return find


NEW_SIGN_IN = Condition(
    name="new-sign-in",
    about="platform",
    title="Sign-in from a new place",
    help="Somebody who has signed in before signed in from an address that this account has not"
    " used in the last 90 days. For a project: one of its members.",
    find=_stranger("sign_ins", "signed in from", "Nobody signed in from a new place."),
    needs=("sign_ins",),
    scopes=frozenset({"project", "all"}),
    of_each=None,
    options=(AN_HOUR,),
)
KEY_NEW_ADDRESS = Condition(
    name="key-new-address",
    about="platform",
    title="Key used from a new address",
    help="A key of the project that was used before was used from an address that is new for it.",
    find=_stranger("key_addresses", "was used from", "No key was used from a new address."),
    needs=("key_addresses",),
    scopes=frozenset({"project", "all"}),
    of_each=None,
    options=(AN_HOUR,),
)


PLATFORM: tuple[Condition, ...] = (
    BACKTEST_DONE, BACKTEST_FAILED, CERTIFICATE, DISK, QUOTA, HOST_UNWELL, NEW_SIGN_IN,
    KEY_NEW_ADDRESS,
)  # fmt: skip
