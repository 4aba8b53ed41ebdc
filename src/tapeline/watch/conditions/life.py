"""Conditions about a model's life: it does not run, it crashed, it keeps crashing."""

from collections.abc import Sequence

from tapeline import figures
from tapeline.runs.run import Run
from tapeline.watch.conditions import life_previews
from tapeline.watch.conditions.condition import Condition, Find, Finding, Option, Question
from tapeline.watch.conditions.durations import in_words
from tapeline.watch.conditions.judging import percent_of, reached
from tapeline.watch.facts.lifecycle_events import Said
from tapeline.watch.facts.resource_use import MB, Use

CRASHES = frozenset({"Crashed", "Out of Memory"})
OUT_OF_MEMORY = frozenset({"Out of Memory"})
NEVER_DEPLOYED = "It was never deployed, and has not reported that it runs."


def _not_running(question: Question) -> Finding:
    run: Run | None = question.facts.get("deployed_run")
    if run is None:
        said: Sequence[Said] = question.facts.get("lifecycle", ())
        if not said:
            return Finding(holds=None, said=NEVER_DEPLOYED)
        return Finding(holds=False, said="It runs elsewhere: nobody here wants it to run.")
    if run.desired == "stopped":
        return Finding(holds=False, said="It is stopped, as somebody wanted.")
    if run.state == "running":
        return Finding(holds=False, said="It is running.")
    if run.schedule is not None and run.ended_at is None:
        return Finding(holds=False, said="It runs by its schedule.")
    why = f": {run.reason.rstrip('.')}" if run.reason else ""
    since = run.ended_at or _stopped_at(question.facts.get("lifecycle", ())) or run.created_at
    return Finding(holds=True, said=f"It should be running and is {run.state}{why}.", since=since)


def _stopped_at(said: Sequence[Said]) -> float | None:
    """Since when it has not been running, by its lifecycle."""
    ended = None
    for one in said:
        if one.is_running:
            return ended
        if one.is_running is False:
            ended = one.at
    return ended


def _given_up(question: Question) -> Finding:
    run: Run | None = question.facts.get("deployed_run")
    if run is None:
        return Finding(holds=None, said=NEVER_DEPLOYED)
    if run.state not in {"crashed", "failed"}:
        return Finding(holds=False, said=f"Its run is {run.state}.")
    why = f": {run.reason}" if run.reason else "."
    return Finding(
        holds=True, said=f"Its run {run.state} and was given up{why}", since=run.ended_at
    )


def _ended_so(messages: frozenset[str], words: str) -> Find:
    """It ended like this, and has not run well again for as long as `within` says."""

    def find(question: Question) -> Finding:
        said: Sequence[Said] | None = question.facts.get("lifecycle")
        if not said:
            return Finding(holds=None, said=NEVER_DEPLOYED)
        healthy: float = question.asked.options["within"]
        last = next((one for one in said if one.message in messages), None)
        if last is None or last.at < question.asked.counts_from:
            return Finding(holds=False, said=f"It has not {words}.")
        ago = in_words(question.now - last.at)
        if said[0].is_running is None or said[0].is_running:
            well_since = _running_since(said)
            if well_since is not None and question.now >= well_since + healthy:
                return Finding(holds=False, said=f"It {words} {ago} ago and runs again.")
            again = None if well_since is None else well_since + healthy
            return Finding(holds=True, said=f"It {words}.", since=last.at, look_again=again)
        if said[0].message == "Stopped":
            return Finding(holds=False, said=f"It {words}, and was stopped since.")
        return Finding(holds=True, said=f"It {words}.", since=last.at)

    return find


def _running_since(said: Sequence[Said]) -> float | None:
    """Since when it has been running without an end in between."""
    since = None
    for one in said:
        if one.is_running:
            since = one.at
        elif one.is_running is False:
            break
    return since


def _restarting(question: Question) -> Finding:
    said: Sequence[Said] | None = question.facts.get("lifecycle")
    if not said:
        return Finding(holds=None, said=NEVER_DEPLOYED)
    within = question.asked.options["within"]
    since = max(question.now - within, question.asked.counts_from)
    times = [one.at for one in said if one.message == "Restarting" and one.at > since]
    again = min(times) + within if times else None
    told = f"It was restarted {len(times)} times within {in_words(within)}."
    return reached(question.asked, float(len(times)), told, look_again=again)


def _memory_near(question: Question) -> Finding:
    use: Use | None = question.facts.get("resource_use")
    if use is None:
        return _unused(question, "memory")
    return _near(question, use.memory, use.allowed_memory, "of its plan")


def _disk_near(question: Question) -> Finding:
    use: Use | None = question.facts.get("resource_use")
    if use is None or use.disk is None or use.allowed_disk is None:
        return _unused(question, "disk space")
    return _near(question, use.disk, use.allowed_disk, "that its folders may take")


def _unused(question: Question, what: str) -> Finding:
    run: Run | None = question.facts.get("deployed_run")
    if run is not None and run.ended_at is not None:
        return Finding(holds=False, said="It is not running.")
    where = "It does not run here" if run is None else "It was not measured yet"
    return Finding(holds=None, said=f"{where}, so its {what} is not known.")


def _near(question: Question, used: int, allowed: int, of: str) -> Finding:
    share = percent_of(used, allowed)
    shown = figures.integer(share)
    said = f"It uses {used // MB:,} MB of the {allowed // MB:,} MB {of} ({shown} %)."
    return reached(question.asked, share, said)


WITHIN = Option(
    name="within", kind="duration", default=60.0,
    help="How long it must run again before it counts as well.",
)  # fmt: skip

LIFE = (
    Condition(
        name="not-running",
        about="life",
        title="Not running",
        help="It should be running and is not: it waits, installs, restarts, crashed or ended.",
        needs=("deployed_run", "lifecycle"),
        find=_not_running,
        preview=life_previews.not_running,
    ),
    Condition(
        name="crashed",
        about="life",
        title="Crashed",
        help="It crashed, and has not run again for a while.",
        needs=("lifecycle",),
        options=(WITHIN,),
        find=_ended_so(CRASHES, "crashed"),
        preview=life_previews.ended_so(CRASHES),
    ),
    Condition(
        name="restarting",
        about="life",
        title="Restarting too often",
        help="It was restarted so many times within a while.",
        needs=("lifecycle",),
        units=("count",),
        default=3.0,
        tighter="lower",
        options=(
            Option(name="within", kind="duration", default=600.0, help="In how long."),
        ),
        find=_restarting,
        preview=life_previews.restarting,
    ),
    Condition(
        name="given-up",
        about="life",
        title="Given up",
        help="It crashed too often, or could not be installed, and is not tried again.",
        needs=("deployed_run",),
        find=_given_up,
        preview=life_previews.given_up,
    ),
    Condition(
        name="out-of-memory",
        about="life",
        title="Out of memory",
        help="It was ended because it used more memory than its plan has.",
        needs=("lifecycle",),
        options=(WITHIN,),
        find=_ended_so(OUT_OF_MEMORY, "ran out of memory"),
        preview=life_previews.ended_so(OUT_OF_MEMORY),
    ),
    Condition(
        name="memory-near",
        about="life",
        title="Near its memory",
        help="Its run uses so much of the memory of its plan.",
        needs=("resource_use", "deployed_run"),
        units=("percent",),
        smallest="more than zero",
        default=90.0,
        tighter="lower",
        find=_memory_near,
        preview=life_previews.memory_near,
    ),
    Condition(
        name="disk-near",
        about="life",
        title="Near its disk space",
        help="The folders of its run use so much of what they may take (setting `run_disk`).",
        needs=("resource_use", "deployed_run"),
        units=("percent",),
        smallest="more than zero",
        default=90.0,
        tighter="lower",
        find=_disk_near,
        preview=life_previews.disk_near,
    ),
)  # fmt: skip
