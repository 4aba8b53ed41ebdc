"""What people are told about a host: what is wrong with it, and what becomes of its runs."""

from tapeline.backups.manifest import counted, moment
from tapeline.runs import hosts
from tapeline.runs.described_hosts import NOT_IN_RAY
from tapeline.runs.hosts import Standing
from tapeline.runs.run import Run

GONE = ("unreachable", "forgotten")


def trouble(one: Standing, every: list[Standing]) -> str:
    """Whole sentences, or nothing if there is none. A forgotten host troubles nobody."""
    said = []
    if one.state == "unreachable":
        since = "" if one.seen_at is None else f", silent since {moment(one.seen_at)}"
        said.append(f"It does not answer{since}.")
    if one.state != "forgotten" and one.host.trouble:
        said.append(f"{one.host.trouble[:1].upper()}{one.host.trouble[1:].rstrip('.')}.")
    if one.state == "unwell" and one.running and one.host.trouble == NOT_IN_RAY:
        said.append("Its models live on.")
    is_drained = one.host.drained_at is not None and one.state not in GONE
    if is_drained and one.running and not hosts.taking(every):
        said.append(
            f"It is drained, and waits for another host to take its {counted(one.running, 'run')}."
        )
    return " ".join(said)


def drained(name: str, every: list[Standing]) -> str:
    one = next(one for one in every if one.host.name == name)
    takes_none = f"{name} takes no more runs"
    if one.state in GONE:
        return f"{takes_none}. It does not answer{_of_silent(one, every)}"
    if not one.running:
        return f"{takes_none}. It has none now."
    if not hosts.taking(every):
        return f"{takes_none}. No other host does: its live models stay there until one does."
    return f"{takes_none}, and its live models move to other hosts one by one."


def _of_silent(one: Standing, every: list[Standing]) -> str:
    if not one.running:
        return ", and has no runs."
    if not one.host.node:
        return (
            f": its {counted(one.running, 'run')} cannot move until its server is back."
            " If its machine is gone: tapeline hosts forget"
        )
    until = "" if hosts.taking(every) else " and another host takes runs"
    return f": its models start elsewhere when their leases have run out{until}."


def before_forgetting(name: str, left: list[Run]) -> str:
    if not left:
        return f"{name} has no runs."
    its, ends = f"{counted(len(left), 'run')} of {name}", "ends" if len(left) == 1 else "end"
    says = f"{its} {ends} here, and its live models start on other hosts."
    if all(one.lease_until is not None for one in left):
        return f"{says} They have leases, and start elsewhere when these have run out."
    return f"{says} If its machine still runs, they trade twice."


def forgotten(name: str, left: list[Run], every: list[Standing], *, is_done: bool) -> str:
    says = f"{name} is forgotten."
    if not left:
        return says
    if not is_done:
        return f"{says} The server that leads ends its {counted(len(left), 'run')} when it can."
    ended = f"{says} Its {counted(len(left), 'run')} {'has' if len(left) == 1 else 'have'} ended"
    if not any(one.kind == "live" and one.desired == "running" for one in left):
        return f"{ended}."
    where = "elsewhere" if hosts.taking(every) else "when another host takes runs"
    return f"{ended}, live models start {where}."
