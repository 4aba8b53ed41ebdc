"""Conditions about an account: of a model, or of all models of a project as one."""

from typing import Literal

from tapeline import moments
from tapeline.watch.conditions import money_previews as previews
from tapeline.watch.conditions.condition import Condition, Finding, Question, Scope
from tapeline.watch.conditions.judging import (
    DAY,
    MONDAY,
    amount,
    below,
    percent_of,
    reached,
    unknown,
)
from tapeline.watch.facts.of_money import Money

SCOPES: frozenset[Scope] = frozenset({"model", "project", "all"})
UNITS = ("percent", "money")
NO_SHARE = "Percent of what, is not known."


def _money_of(question: Question, name: str = "money") -> Money | Finding:
    """The fact, or a finding that says why there is none."""
    found: Money | None = question.facts.get(name)
    if found is None or found.standing is None:
        trouble, again_in = (None, None) if found is None else (found.trouble, found.again_in)
        return unknown(trouble, again_in=again_in, now=question.now)
    return found


def _in_unit(
    money: float, share: float | None, unit: str | None, why: str | None
) -> float | Finding:
    """A figure in the unit of a rule."""
    if unit == "money":
        return money
    return unknown(why or NO_SHARE) if share is None else 100 * share


def _besides(found: Money) -> str:
    """Whom a portfolio leaves out."""
    if not found.left_out:
        return ""
    name, why = next(iter(found.left_out.items()))
    more = f" and {len(found.left_out) - 1} others" if len(found.left_out) > 1 else ""
    return f" Without {name}{more}: {why}"


def _look_again(found: Money, now: float, *moments: float) -> float | None:
    due = [*moments, *([] if found.again_in is None else [now + found.again_in])]
    return min(due, default=None)


def _drawdown(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found = _money_of(question)
    if isinstance(found, Finding):
        return found
    standing = found.standing
    value = _in_unit(standing.fall.money, standing.fall.share, asked.unit, standing.reason)
    if isinstance(value, Finding):
        return value
    peak = moments.written(max(0.0, standing.fall.peak_at), "%Y-%m-%d %H:%M UTC")
    said = (
        f"It is {amount(value, asked.unit, standing.currency)} below its peak of"
        f" {peak}; the limit is"
        f" {amount(asked.limit, asked.unit, standing.currency)}.{_besides(found)}"
    )
    return reached(asked, value, said, look_again=_look_again(found, now))


DRAWDOWN = Condition(
    name="drawdown",
    about="money",
    title="Drawdown from the peak",
    help="The account fell so far from its highest value. Deposits and withdrawals do not count."
    " In percent it needs a capital. A project counts by the closes of its days, and now.",
    find=_drawdown,
    needs=("money",),
    scopes=SCOPES,
    of_each=None,
    units=UNITS,
    smallest="more than zero",
    tighter="lower",
    preview=previews.drawdown,
)


def _lost(question: Question, period: Literal["day", "week"]) -> Finding:
    asked, now = question.asked, question.now
    found = _money_of(question)
    if isinstance(found, Finding):
        return found
    standing = found.standing
    gained = standing.day if period == "day" else standing.week
    money, share = gained.money, gained.share
    if _next_begin(standing.as_of, period) <= now:
        # Nothing was reported since, so this one has neither gained nor lost anything.
        money, share = 0.0, None if share is None else 0.0
    value = _in_unit(money, share, asked.unit, standing.reason)
    if isinstance(value, Finding):
        return value
    verb = "lost" if value < 0 else "gained"
    said = (
        f"It {verb} {amount(abs(value), asked.unit, standing.currency)} this {period}; the limit is"
        f" a loss of {amount(asked.limit, asked.unit, standing.currency)}.{_besides(found)}"
    )
    ends = _next_begin(now, period)
    return reached(asked, -value, said, look_again=_look_again(found, now, ends))


def _next_begin(now: float, period: Literal["day", "week"]) -> float:
    """When the next one begins."""
    if period == "day":
        return (now // DAY + 1) * DAY
    return ((now - MONDAY) // (7 * DAY) + 1) * 7 * DAY + MONDAY


def _loss_of_day(question: Question) -> Finding:
    return _lost(question, "day")


LOSS_OF_DAY = Condition(
    name="loss-of-day",
    about="money",
    title="Loss of the day",
    help="The account lost so much since midnight UTC. Deposits and withdrawals do not count."
    " In percent it needs a capital.",
    find=_loss_of_day,
    needs=("money",),
    scopes=SCOPES,
    of_each=None,
    units=UNITS,
    smallest="more than zero",
    tighter="lower",
    preview=previews.loss_of_day,
)


def _loss_of_week(question: Question) -> Finding:
    return _lost(question, "week")


LOSS_OF_WEEK = Condition(
    name="loss-of-week",
    about="money",
    title="Loss of the week",
    help="The account lost so much since Monday, midnight UTC. Deposits and withdrawals do not"
    " count. In percent it needs a capital.",
    find=_loss_of_week,
    needs=("money",),
    scopes=SCOPES,
    of_each=None,
    units=UNITS,
    smallest="more than zero",
    tighter="lower",
    preview=previews.loss_of_week,
)


def _profit_target(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found = _money_of(question)
    if isinstance(found, Finding):
        return found
    standing = found.standing
    value = _in_unit(standing.gained.money, standing.gained.share, asked.unit, standing.reason)
    if isinstance(value, Finding):
        return value
    said = (
        f"It gained {amount(value, asked.unit, standing.currency)} since it began; the target is"
        f" {amount(asked.limit, asked.unit, standing.currency)}.{_besides(found)}"
    )
    return reached(asked, value, said, look_again=_look_again(found, now))


PROFIT_TARGET = Condition(
    name="profit-target",
    about="money",
    title="Profit target",
    help="The account gained so much since it began, open positions included. Deposits are no"
    " profit. In percent it needs a capital.",
    find=_profit_target,
    needs=("money",),
    scopes=SCOPES,
    of_each=None,
    units=UNITS,
    smallest="more than zero",
    tighter="lower",
    preview=previews.profit_target,
)


def _account_below(question: Question) -> Finding:
    asked, now = question.asked, question.now
    found = _money_of(question)
    if isinstance(found, Finding):
        return found
    standing = found.standing
    if standing.value is None or asked.limit is None:
        return unknown(standing.reason)
    return below(
        asked,
        standing.value,
        f"The account is worth {amount(standing.value, 'money', standing.currency)}; the limit"
        f" is {amount(asked.limit, 'money', standing.currency)}.{_besides(found)}",
        look_again=_look_again(found, now),
    )


ACCOUNT_BELOW = Condition(
    name="account-below",
    about="money",
    title="Account value below",
    help="The account is worth less than this: capital, deposits and withdrawals, profit and loss."
    " It needs a capital.",
    find=_account_below,
    needs=("money",),
    scopes=SCOPES,
    of_each=None,
    units=("money",),
    smallest="any",
    tighter="higher",
    preview=previews.account_below,
)


NOT_REPORTED = "The model has reported no account-value that could be compared."


def _account_unexplained(question: Question) -> Finding:
    asked = question.asked
    found = _money_of(question, "reported_money")
    if isinstance(found, Finding):
        return found
    standing, said = found.standing, found.reported
    if said is None:
        return unknown(standing.reason or NOT_REPORTED)
    value = abs(said.difference)
    if asked.unit == "percent":
        if not said.value:
            return unknown("The exchange says that the account is worth nothing.")
        value = percent_of(value, abs(said.value))
    shown = amount(said.value, "money", standing.currency)
    return reached(
        asked,
        value,
        f"The exchange says that the account is worth {shown}, and"
        f" {amount(value, asked.unit, standing.currency)} of it is not explained by reported"
        f" orders; the limit is {amount(asked.limit, asked.unit, standing.currency)}.",
    )


ACCOUNT_UNEXPLAINED = Condition(
    name="account-unexplained",
    about="money",
    title="Unexplained account value",
    help="The newest `account-value` that the model reported differs by so much from what its"
    " orders and cash explain. It needs a capital.",
    find=_account_unexplained,
    needs=("reported_money",),
    units=UNITS,
    tighter="lower",
    preview=previews.account_unexplained,
)


MONEY: tuple[Condition, ...] = (
    DRAWDOWN, LOSS_OF_DAY, LOSS_OF_WEEK, PROFIT_TARGET, ACCOUNT_BELOW, ACCOUNT_UNEXPLAINED,
)  # fmt: skip
