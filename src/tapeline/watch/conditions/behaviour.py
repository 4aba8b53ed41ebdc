"""Conditions about what a model does: its orders, what they cost, its log, its reports."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from tapeline import figures
from tapeline.watch.conditions import behaviour_previews as previews
from tapeline.watch.conditions.behaviour_previews import LEAST, fee_share, share, slippage
from tapeline.watch.conditions.condition import HAPPENED, Condition, Finding, Option, Question
from tapeline.watch.conditions.durations import in_words as length
from tapeline.watch.conditions.judging import (
    WITHIN_HELP,
    exceeded,
    happened,
    in_words,
    unknown,
    within,
)
from tapeline.watch.facts.of_arrivals import Arrivals
from tapeline.watch.facts.of_orders import Fate, Fills, Orders
from tapeline.watch.heavy.line_searches import Matched


def _orders_per_minute(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found: Orders | None = question.facts.get("orders")
    if found is None:
        return unknown(None)
    window = within(asked)
    times = sorted(one.time for one in found.items if one.time > now - window)
    rate = len(times) * 60 / window
    least = "at least " if found.is_cut and len(times) == len(found.items) else ""
    return exceeded(
        asked,
        rate,
        f"It placed {least}{rate:,.4g} orders a minute within {in_words(asked)}; the limit is"
        f" {asked.limit:,.4g}.",
        look_again=times[0] + window if times else None,
    )


ORDERS_PER_MINUTE = Condition(
    name="orders-per-minute",
    about="behaviour",
    title="Orders per minute",
    help="It places more than so many orders a minute, on average within the window. An order"
    " counts at its own time, so orders of the past that are reported now do not.",
    find=_orders_per_minute,
    needs=("orders",),
    units=("count",),
    options=(Option(name="within", kind="duration", help=WITHIN_HELP, default="1m"),),
    tighter="lower",
    preview=previews.orders_per_minute,
)


WITHIN = Option(name="within", kind="duration", help=WITHIN_HELP, default="1h")


def _share_of(fates: frozenset[Fate], word: str) -> Callable[[Question], Finding]:
    def find(question: Question) -> Finding:
        asked, now = question.asked, question.now
        found: Orders | None = question.facts.get("orders")
        if found is None:
            return unknown(None)
        window = within(asked)
        placed = [one for one in found.items if one.time > now - window]
        again = min((one.time for one in placed), default=None)
        look_again = None if again is None else again + window
        value = share(placed, fates)
        if value is None:
            said = f"It placed {len(placed)} orders within {in_words(asked)}; {LEAST} are needed."
            return Finding(holds=False, said=said, limit=asked.limit, look_again=look_again)
        return exceeded(
            asked,
            value,
            f"{figures.percent(value / 100)} of {len(placed):,} orders within {in_words(asked)}"
            f" were {word}; the limit is {figures.percent((asked.limit or 0.0) / 100)}.",
            look_again=look_again,
        )

    return find


REJECTED: frozenset[Fate] = frozenset({"rejected"})

REJECTED_SHARE = Condition(
    name="rejected-share",
    about="behaviour",
    title="Rejected orders",
    help="More than this share of the orders within the window were rejected. At least"
    f" {LEAST} orders are needed.",
    find=_share_of(REJECTED, "rejected"),
    needs=("orders",),
    units=("percent",),
    options=(WITHIN,),
    tighter="lower",
    preview=previews.share_of(REJECTED),
)


CANCELLED: frozenset[Fate] = frozenset({"cancelled", "expired"})

CANCELLED_SHARE = Condition(
    name="cancelled-share",
    about="behaviour",
    title="Cancelled orders",
    help="More than this share of the orders within the window were cancelled or expired. At least"
    f" {LEAST} orders are needed.",
    find=_share_of(CANCELLED, "cancelled"),
    needs=("orders",),
    units=("percent",),
    options=(WITHIN,),
    tighter="lower",
    preview=previews.share_of(CANCELLED),
)


def _slippage(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found: Fills | None = question.facts.get("fills")
    if found is None:
        return unknown(None)
    window = within(asked)
    some = [one for one in found.items if one.placed.time > now - window]
    if not some:
        return Finding(holds=False, said=f"No order was filled within {in_words(asked)}.")
    look_again = min(one.placed.time for one in some) + window
    value = slippage(some)
    if value is None:
        why = "No filled order says which `price` it expected."
        return Finding(holds=None, said=why, look_again=look_again)
    return exceeded(
        asked,
        value,
        f"Orders within {in_words(asked)} were filled {figures.percent(value / 100)} worse than"
        f" expected; the limit is {figures.percent((asked.limit or 0.0) / 100)}.",
        look_again=look_again,
    )


SLIPPAGE = Condition(
    name="slippage",
    about="behaviour",
    title="Slippage",
    help="Orders within the window were filled so many percent worse than the `price` that they"
    " were placed with, on average by value.",
    find=_slippage,
    needs=("fills",),
    units=("percent",),
    options=(Option(name="within", kind="duration", help=WITHIN_HELP, default="1d"),),
    tighter="lower",
    preview=previews.of_fills(slippage),
)


def _fee_share(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found: Fills | None = question.facts.get("fills")
    if found is None:
        return unknown(None)
    window = within(asked)
    some = [one for one in found.items if one.placed.time > now - window]
    value = fee_share(some)
    if value is None:
        return Finding(holds=False, said=f"Nothing was traded within {in_words(asked)}.")
    return exceeded(
        asked,
        value,
        f"Fees were {figures.percent(value / 100)} of what was traded within {in_words(asked)};"
        f" the limit is {figures.percent((asked.limit or 0.0) / 100)}.",
        look_again=min(one.placed.time for one in some) + window,
    )


FEE_SHARE = Condition(
    name="fee-share",
    about="behaviour",
    title="Share of fees",
    help="Fees were more than this share of what was traded within the window.",
    find=_fee_share,
    needs=("fills",),
    units=("percent",),
    options=(Option(name="within", kind="duration", help=WITHIN_HELP, default="1d"),),
    tighter="lower",
    preview=previews.of_fills(fee_share),
)


LONGEST = 200  # characters of a line that are shown
FAR = 1_000  # events on the tape, of which lines are some
AGAIN = 2.0  # seconds
LATE = 10.0  # seconds for which lines may wait to be searched


def _log_line(question: Question) -> Finding:
    asked, now = question.asked, question.now
    by_rule: Mapping[str, Matched] = question.facts.get("log_lines", {})
    found = by_rule.get(asked.rule_id)
    memory: dict[str, Any] = dict(asked.memory)
    if found is None:
        return unknown(None)
    if found.at is not None:
        memory |= {HAPPENED: found.at, "line": found.line[:LONGEST], "read_to": found.read_to}
    elif found.read_to is not None and found.read_to - memory.get("read_to", -FAR) >= FAR:
        # Not at every line: this is written to the database, and lines without a match can be
        # read again after a restart.
        memory["read_to"] = found.read_to
    quiet = f"No line within {in_words(asked)} matches."
    said = f"A line matches: {memory.get('line', '')}"
    finding = happened(asked, memory.get(HAPPENED), said, quiet, now, memory=memory)
    if found.waits_since is None:
        return finding
    # What matched counts, whatever the rest may say. That nothing matches is not known for long.
    if not finding.holds and (why := _unsearched(found, now)) is not None:
        again = now if found.trouble is None else now + AGAIN
        return Finding(holds=None, said=why, look_again=again, memory=memory)
    return msgspec.structs.replace(finding, look_again=now)


def _unsearched(found: Matched, now: float) -> str | None:
    """Why it cannot be said that no line matches."""
    if found.trouble is not None or found.waits_since is None:
        return found.trouble
    if found.read_to is None:
        return "Its lines are being searched for the first time."
    if now - found.waits_since < LATE:
        return None
    since = datetime.fromtimestamp(found.waits_since, UTC)
    return (
        f"Lines since {since:%H:%M:%S} UTC are not searched yet: the patterns of this account take"
        " longer than the time that it has for them."
    )


LOG_LINE = Condition(
    name="log-line",
    about="behaviour",
    title="A line in the log",
    help="A line of the log, as readers see it, matches a pattern (RE2). It holds until no line has"
    " matched for as long as the window.",
    find=_log_line,
    needs=("log_lines",),
    options=(
        Option(
            name="matches",
            kind="pattern",
            help="The pattern, such as (?i)insufficient funds.",
            required=True,
        ),
        Option(
            name="within",
            kind="duration",
            help="How long it holds after the last line that matched.",
            default="5m",
        ),
    ),
    preview=previews.log_line,
)


def _late_reports(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found: Arrivals | None = question.facts.get("arrivals")
    if found is None:
        return unknown(None)
    window = within(asked)
    late = [one for one in found.late if one.received_at > now - window]
    if not late:
        return exceeded(asked, 0.0, f"Nothing arrived late within {in_words(asked)}.")
    worst = max(one.late_by for one in late)
    least = "At least " if found.is_cut else ""
    return exceeded(
        asked,
        float(len(late)),
        f"{least}{len(late):,} reports within {in_words(asked)} arrived more than"
        f" {length(found.after)} after their own time, one of them {length(worst)};"
        f" the limit is {figures.integer(asked.limit)}.",
        look_again=late[-1].received_at + window,
    )


LATE_REPORTS = Condition(
    name="late-reports",
    about="behaviour",
    title="Late reports",
    help="More than so many orders, prices, positions or cash arrived later after their own time"
    " than the setting `late_seconds` allows, within the window.",
    find=_late_reports,
    needs=("arrivals",),
    units=("count",),
    default=0.0,
    options=(Option(name="within", kind="duration", help=WITHIN_HELP, default="1h"),),
    tighter="lower",
    preview=previews.late_reports,
)


BEHAVIOUR: tuple[Condition, ...] = (
    ORDERS_PER_MINUTE, REJECTED_SHARE, CANCELLED_SHARE, SLIPPAGE, FEE_SHARE, LOG_LINE,
    LATE_REPORTS,
)  # fmt: skip
