"""The backtest queue: as many run as there are slots, fair between tenants and projects.

A slot is a core. A plan of several cores takes as many slots: a few large backtests must not keep
all the room of a cluster, which live models need too.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from tapeline.runs.run import Run


def chosen(
    runs: Sequence[Run],
    projects: Mapping[str, str],
    tenants: Mapping[str, str],
    hosts: Collection[str],
    slots: int,
    passed_over: Collection[str] = (),
) -> set[str]:
    """The backtests that hold a slot of these hosts, and those that get one now.

    The tenant with the fewest running is next, and of its projects the one with the fewest, however
    many others queued before; within a project the oldest comes first. `runs` are the unfinished
    ones, the oldest first; `projects` are by run, `tenants` by project. Those that were
    `passed_over`, because no host could take them just now, keep no slot from the others.
    """
    backtests = [run for run in runs if run.kind == "backtest"]
    holding = [run for run in backtests if run.host in hosts]
    under_way = Counter(projects.get(run.id, "") for run in holding)
    of_tenants = Counter(tenants.get(projects.get(run.id, "")) for run in holding)
    waiting: dict[str, list[Run]] = {}
    for run in backtests:
        is_waiting = run.host is None and run.desired == "running"
        if is_waiting and run.id not in passed_over:
            waiting.setdefault(projects.get(run.id, ""), []).append(run)
    found = {run.id for run in holding}
    taken = sum(_slots_of(run, slots) for run in holding)
    while waiting:
        # Dictionaries keep their order: among equals, the project that has waited longest.
        project = min(waiting, key=lambda one: (of_tenants[tenants.get(one)], under_way[one]))
        run = waiting[project].pop(0)
        taken += _slots_of(run, slots)
        if taken > slots:  # also if a smaller one would fit: a large one would wait for ever
            break
        found.add(run.id)
        under_way[project] += 1
        of_tenants[tenants.get(project)] += 1
        if not waiting[project]:
            del waiting[project]
    return found


def _slots_of(run: Run, slots: int) -> int:
    """One that is larger than everything runs alone."""
    return min(slots, max(1, -(-run.cpu_milli // 1000)))
