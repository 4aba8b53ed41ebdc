"""What somebody should look at in a portfolio, in sentences. Pure."""

from collections.abc import Iterable, Iterator

from tapeline.results.metrics.account import DAY
from tapeline.results.performance.evidence import NO_CAPITAL, OFF
from tapeline.results.pnl.together import no_rate
from tapeline.results.portfolio.answers import Attention, Code
from tapeline.results.portfolio.holding import Holding
from tapeline.results.portfolio.member import Head

STALE = 4 * DAY  # a weekend and a holiday without a price are nothing to worry about
SILENT = 4 * DAY  # so are they for a model that trades on weekdays
ENDINGS = {  # the platform's words for a run that ended badly
    "Crashed": "It crashed. Its log has the exception.",
    "Out of Memory": "It needed more memory than its plan has, and was ended.",
    "Failed to Install": "Its requirements could not be installed. Its log says why.",
}
NAMED = 3  # symbols in one sentence


def attention(
    head: Head, found: Holding, lacking: Iterable[str], *, is_ruined: bool, quote: str, now: float
) -> Iterator[Attention]:
    """`lacking`: its currencies that no rate converts."""

    def one(code: Code, message: str) -> Attention:
        return Attention(model_id=head.model_id, code=code, message=message)

    yield from (one(*said) for said in _of_run(head, now))
    if found.reason == NO_CAPITAL and (found.fills or found.totals):
        yield one("no_capital", NO_CAPITAL)
    if found.reason == OFF:
        yield one("off", OFF)
    if found.not_computed:
        symbols = [wrong.symbol for wrong in found.not_computed]
        reason = found.not_computed[0].reason
        yield one("not_computed", f"{_some(symbols)} not computed: {reason}")
    for currency in lacking:
        yield one("no_rate", no_rate(currency, quote))
    if is_ruined:
        yield one("ruined", "Its account value fell to zero or below.")
    if found.unpriced:
        many = f"{found.unpriced:,} orders have no price and count nowhere."
        single = "An order has no price and counts nowhere."
        yield one("unpriced", many if found.unpriced > 1 else single)
    if found.positions and head.lifecycle.running is False:
        symbols = [held.symbol for held in found.positions]
        state = head.lifecycle.message or "It does not run"
        yield one("stopped_holding", f"{state}, and it still holds {_list(symbols)}.")
    stale = [one.symbol for one in found.positions if now - (one.priced_at or 0.0) > STALE]
    if stale:
        known = f"known from the last {int(STALE // DAY)} days"
        yield one("stale_price", f"No price of {_list(stale)} is {known}.")


def _of_run(head: Head, now: float) -> Iterator[tuple[Code, str]]:
    if ended := ENDINGS.get(head.lifecycle.message or ""):
        yield "crashed", ended
    if head.lifecycle.running and head.heard_at and now - head.heard_at > SILENT:
        days = int((now - head.heard_at) // DAY)
        yield "silent", f"It says that it runs, and nothing came from it for {days} days."


def _some(symbols: list[str]) -> str:
    return f"{_list(symbols)} {'is' if len(set(symbols)) == 1 else 'are'}"


def _list(symbols: list[str]) -> str:
    names = sorted(set(symbols))
    if len(names) == 1:
        return names[0]
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
