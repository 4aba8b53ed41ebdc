"""The price source: whether its exchange answers, and which markets it has trouble with."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green, yellow
from tapeline.prices.source import standing
from tapeline.prices.source.standing import Standing

SHOWN = 3
FIX = (
    "The server asks again by itself, after longer and longer pauses; charts show a gap meanwhile."
    " If the exchange does not come back, name another one in `price_source`."
)


def look(parts: Parts) -> Verdict:
    exchange = parts.settings.price_source
    if not exchange:
        return green("No exchange is asked for prices: the setting price_source is empty.")
    known = parts.store.read_now(standing.of, exchange)
    return judged(exchange, known, parts.store.clock.now())


def judged(exchange: str, known: Standing, now: float) -> Verdict:
    if known.problem:
        again = duration(max(0.0, known.due_at - now))
        return yellow(f"{exchange} has no prices. {known.problem} Next attempt in {again}.", FIX)
    listed = {name: one for name, one in known.markets.items() if one.name}
    wrong = [f"{name} ({one.problem})" for name, one in listed.items() if one.problem]
    if wrong:
        some = ", ".join(wrong[:SHOWN])
        return yellow(f"{exchange} has trouble with {len(wrong)} of {len(listed)}: {some}.", FIX)
    missing = len(known.markets) - len(listed)
    more = f" It does not list {missing} others that models use." if missing else ""
    return green(f"{exchange} has prices of {len(listed)} markets.{more}")
