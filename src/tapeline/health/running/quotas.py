"""Which tapes are close to what a model may store in all."""

from sqlalchemy import Connection, select

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, size, yellow
from tapeline.store.tables.tape import tapes
from tapeline.tape.append.quotas import GIGABYTE

NEAR = 0.8
FIX = (
    "Ask its owner to delete backtests or to go on with another model, or raise `quota_total` and"
    " reload the server. Orders and cash still get in."
)


def look(parts: Parts) -> Verdict:
    total = parts.settings.quota_total * GIGABYTE
    return judged(parts.store.read_now(_largest, total), total)


def judged(found: dict[str, int], total: int) -> Verdict:
    if not found:
        return green(f"Every tape is below {NEAR:.0%} of its {size(total)}.")
    some = ", ".join(f"{model} ({held / total:.0%})" for model, held in found.items())
    full = any(held >= total for held in found.values())
    says = f"Close to the {size(total)} that a tape may hold: {some}."
    return red(says, FIX) if full else yellow(says, FIX)


def _largest(connection: Connection, total: int) -> dict[str, int]:
    query = (
        select(tapes.c.model_id, tapes.c.bytes)
        .where(tapes.c.bytes >= int(total * NEAR))
        .order_by(tapes.c.bytes.desc())
        .limit(5)
    )
    return {row.model_id: row.bytes for row in connection.execute(query)}
