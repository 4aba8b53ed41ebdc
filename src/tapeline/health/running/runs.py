"""How the runs of all models are doing, and which have just given up."""

from sqlalchemy import Connection, func, select

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green, sentence, yellow
from tapeline.runs.run import DEPLOYED
from tapeline.runs.supervision.install_places import Queue
from tapeline.store.tables.runs import runs

RECENT = 3600.0  # seconds
LONG_WAIT = 180.0  # seconds that an installation waits for its turn, and should not
FIX_WAIT = (
    "Find the models that install for long with: tapeline ps; stop those that hang with:"
    " tapeline stop MODEL; the setting install_minutes ends them earlier"
)
FIX = "Read the last lines of each: tapeline logs MODEL; start it again with: tapeline start MODEL"


def look(parts: Parts) -> Verdict:
    states, ended = parts.store.read_now(_found, parts.store.clock.ago(RECENT))
    going = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
    says = sentence(going) if going else "No run is under way."
    queue = parts.runner.install_queue()
    figures = {"installs_running": queue.running, "installs_waiting": queue.waiting}
    if queue.waiting:
        says += f" {about(queue)}"
    if ended:
        some = ", ".join(ended[:5]) + (" and others" if len(ended) > 5 else "")
        verb = "has" if len(ended) == 1 else "have"
        return yellow(f"{says} In the last hour {some} {verb} crashed for good.", FIX, **figures)
    if queue.longest > LONG_WAIT:
        return yellow(says, FIX_WAIT, **figures)
    return green(says, **figures)


def about(queue: Queue) -> str:
    many = f"{queue.waiting:,} installation{' is' if queue.waiting == 1 else 's are'}"
    return f"{many} waiting, for up to {duration(queue.longest)}, while {queue.running} run."


def _found(connection: Connection, since: float) -> tuple[dict[str, int], list[str]]:
    """Open runs by state; models whose live run ended badly and that were not started again."""
    count = select(runs.c.state, func.count().label("number")).where(runs.c.ended_at.is_(None))
    states = {row.state: row.number for row in connection.execute(count.group_by(runs.c.state))}
    later = runs.alias()
    replaced = select(later.c.id).where(
        later.c.model_id == runs.c.model_id,
        later.c.kind.in_(DEPLOYED),
        later.c.created_at > runs.c.created_at,
    )
    bad = select(runs.c.model_id).where(
        runs.c.ended_at > since,
        runs.c.kind == "live",
        runs.c.state.in_(("crashed", "failed")),
        ~replaced.exists(),
    )
    return states, list(connection.scalars(bad.order_by(runs.c.ended_at.desc()).limit(6)))
