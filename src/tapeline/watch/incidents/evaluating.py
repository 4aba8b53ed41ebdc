"""Evaluates all rules, on the server that leads: what changed, what time has come for, and nothing
else."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection

from tapeline.background import Background, cause_of
from tapeline.errors import Unavailable
from tapeline.results.pnl.bookkeeper import Bookkeeper
from tapeline.runs.runner import Runner
from tapeline.store.backends import announcing
from tapeline.store.jumps import Jumps
from tapeline.store.portions import batches
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import Watchers
from tapeline.watch.conditions.condition import Finding, Question
from tapeline.watch.facts.fact import EVERYTHING, Asked, Sources, Subject
from tapeline.watch.facts.of_lines import LINES
from tapeline.watch.halts.carrying_out import Halts
from tapeline.watch.incidents import acting, deciding, looking, watched
from tapeline.watch.incidents.acting import Change
from tapeline.watch.incidents.deciding import Terms
from tapeline.watch.incidents.exchange_hours import UNKNOWN_FOR, ExchangeHours
from tapeline.watch.incidents.known_facts import KnownFacts
from tapeline.watch.incidents.looking import Look, Reach
from tapeline.watch.incidents.searching import Searching
from tapeline.watch.incidents.watched import Key, Watched
from tapeline.watch.incidents.watched_books import WatchedBooks
from tapeline.watch.rules import stored as stored_rules
from tapeline.watch.rules.hours import ALWAYS, Hours, Window

EVERY, WITHIN = 1.0, 60.0  # seconds
TOGETHER = 200  # rules about subjects in one portion: one read, one transaction
FAILED_EVERY = 5.0  # seconds after which a fact that could not be read is read again
SHOWN_EVERY = 60.0
"""Seconds after which figures are written that changed nothing: pages show them."""


class Evaluator:
    def __init__(
        self, sources: Sources, bookkeeper: Bookkeeper, appender: Appender, watchers: Watchers,
        runner: Runner, halts: Halts, background: Background,
    ) -> None:  # fmt: skip
        self.sources, self._store = sources, sources.store
        self._appender, self._watchers = appender, watchers
        self._runner, self._halts = runner, halts
        self._look: Look | None = None
        self._reach = Reach()
        self._watched: dict[Key, Watched] = {}
        self._by_subject: dict[str, list[Watched]] = {}
        self.told: Callable[[], None] = _nobody
        """Called after something was put into the outbox."""
        self._work = background.loop(
            "rules", self.turn, every=EVERY, within=WITHIN, once=True, essential=True
        )
        self._facts = KnownFacts(sources, self._work.note)
        self._hours = ExchangeHours(sources.heavy, self._work.note)
        self._books = WatchedBooks(sources.store, bookkeeper, self._work)
        self._searching = Searching(sources, self.wake, background)
        self._jumps = Jumps(sources.store)
        self._ahead = 0.0
        """Of the clock by which all this counts, until it jumps."""

    def wake(self) -> None:
        """A rule was made or changed."""
        self._work.wake()

    def close(self) -> None:
        self._hours.close()
        self._searching.close()
        self.sources.heavy.close()

    async def turn(self) -> None:
        self._facts.next_turn()
        try:
            await self._take_turn()
        except Exception:
            self._look = None  # what was written is not known: the next turn reads everything
            raise

    async def _take_turn(self) -> None:
        look = await self._seen()
        if await self._jumps.has_jumped():
            self._look = None  # all that was to happen at a moment is worked out anew
            look = await self._seen()
        words = self._words(look)
        before, self._look = self._look, look
        if before is None or _is_other(before, look):
            await self._reload(look, is_new=before is None or before.term != look.term)
        # After that: only now it is known whose books are watched, and no rule is to judge books
        # that are behind. They may be made again from the first event on.
        await self._books.catch_up(look, words)
        self._mark(words)
        due = self._due(words, look.now)
        for some in batches(due, TOGETHER):
            if not await self._evaluate(some, look.now):
                self._look = None
                return
            self._work.beat()

    async def _seen(self) -> Look:
        look = await self._store.read(looking.look, self._reach)
        if self._look is not None and (look.rules, look.term) == (
            self._look.rules,
            self._look.term,
        ):
            return look
        self._reach, look = await self._store.read(_seen_anew)
        return look

    async def _reload(self, look: Look, *, is_new: bool) -> None:
        """Which rules there are, and about what."""
        rules = await self._store.read(stored_rules.everything)
        states, self._ahead = await self._store.read(watched.states)
        names = await self._store.read(watched.project_names)
        before = {} if is_new else self._watched
        self._watched = watched.watch(rules, states, look, names, before)
        self._by_subject = watched.by_subject(self._watched.values())
        self.sources.searches.keep(self._watched.keys())
        self._books.watch(
            {one.subject.id for one in self._watched.values() if "books" in one.words}
        )
        fresh = {one.subject.id for key, one in self._watched.items() if before.get(key) is not one}
        self._facts.keep(set() if is_new else self._by_subject.keys() - fresh)
        if gone := [key for key in states if key not in self._watched]:
            await self._store.write(acting.forget, gone, look.now)

    def _words(self, look: Look) -> dict[str, set[str]]:
        """By subject: what changed since the last look. A project changes with its models."""
        before = self._look
        found: dict[str, set[str]] = {}
        for head in look.heads.values():
            earlier = None if before is None else before.heads.get(head.model_id)
            words = set() if earlier == head else looking.changed(earlier, head)
            of_runs = None if before is None else before.runs.get(head.model_id)
            if of_runs != look.runs.get(head.model_id):
                words.add("runs")
            if words:
                for subject in (head.model_id, head.project_id, EVERYTHING):
                    found.setdefault(subject, set()).update(words)
        return found

    def _mark(self, words: Mapping[str, Iterable[str]]) -> None:
        for subject, changed in words.items():
            if subject in self._by_subject:
                self._facts.mark(subject, changed)

    def _due(self, words: Mapping[str, set[str]], now: float) -> list[Watched]:
        timely = [
            one
            for one in self._watched.values()
            if one.look_again is not None and one.look_again <= now
        ]
        late = {one.key for one in timely}
        changed = [
            one
            for subject, some in words.items()
            for one in self._by_subject.get(subject, ())
            if one.key not in late and one.is_woken_by(some)
        ]
        return timely + changed

    async def _evaluate(self, some: Sequence[Watched], now: float) -> bool:
        """Not if the clock has jumped since the turn began, because facts are by the new one."""
        await self._hours.learn({one.calendar for one in some if one.calendar}, now)
        windows = {one.key: self._window(one, now) for one in some}
        await self._gather(some, now)
        if await self._jumps.has_jumped():
            return False
        changes = []
        for one in some:
            finding = self._find(one, windows[one.key], now)
            decision = deciding.decide(one.state, finding, _terms(one, windows[one.key]), now)
            one.is_settled = finding.is_settled
            one.look_again = _soonest(
                decision.look_again, None if one.every is None else now + one.every
            )
            if self._is_worth_writing(one, decision.after, now):
                changes.append(Change(one.stored, one.rule, one.subject, decision))
        if changes:
            await self._write({one.key: one for one in some}, changes, now)
        return True

    def _is_worth_writing(self, one: Watched, after: deciding.RuleState, now: float) -> bool:
        before = one.state
        if after == before:
            return False
        plain = msgspec.structs.replace(
            after, said=before.said, value=before.value, limit=before.limit
        )
        # New figures alone change nothing that follows from them; that there are none now is news.
        is_news = (after.value is None) != (before.value is None) or before.revision == 0
        return is_news or plain != before or now - one.written_at >= SHOWN_EVERY

    async def _write(self, some: Mapping[Key, Watched], changes: list[Change], now: float) -> None:
        try:
            done = await self._carry_out(changes, now)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the others are carried out all the same
            if len(changes) == 1:
                await self._give_up(some[changes[0].key], changes[0], error, now)
            else:
                for change in changes:
                    await self._write(some, [change], now)
        else:
            self._note_written(some, changes, done, now)

    async def _carry_out(self, changes: Sequence[Change], now: float) -> acting.Done:
        return await self._store.write(acting.carry_out, self._appender, changes, now, self._ahead)

    def _note_written(
        self, some: Mapping[Key, Watched], changes: Iterable[Change], done: acting.Done, now: float
    ) -> None:
        for key, state in done.states.items():
            some[key].state, some[key].written_at = state, now
        for change in changes:
            if change.key not in done.states:  # changed or deleted meanwhile: the next turn sees it
                some[change.key].look_again = 0.0
        self._watchers.wake_readers([announcing.WATCH])
        for one in done.appended:
            self._watchers.publish(one.model_id, one.records)
        if done.stops or done.halts:
            self._runner.wake()
            self._halts.wake()
        if done.tells:
            self.told()

    async def _give_up(self, one: Watched, change: Change, error: Exception, now: float) -> None:
        """What follows could not be carried out: it is tried again, and until then unknown."""
        self._work.note(error, f"rule {change.stored.id}")
        one.look_again = now + FAILED_EVERY
        said = f"What follows from it could not be carried out: {cause_of(error)}"
        after = msgspec.structs.replace(
            one.state, state="unknown", said=said, revision=change.stored.revision
        )
        if after == one.state:
            return
        decision = deciding.Decision(after, None, None)
        unknown = msgspec.structs.replace(change, decision=decision)
        done = await self._carry_out([unknown], now)
        one.state = done.states.get(one.key, one.state)

    def _window(self, one: Watched, now: float) -> Window | str:
        """Whether it counts now, or why nobody knows."""
        if one.rule is None or one.rule.hours is None:
            return ALWAYS
        try:
            if isinstance(one.rule.hours, Hours):
                return one.rule.hours.at(now)
            return self._hours.window(one.rule.hours.calendar, now)
        except Exception as error:  # noqa: BLE001 - the others are evaluated all the same
            self._work.note(error, f"rule {one.stored.id}")
            return cause_of(error)

    def _find(self, one: Watched, window: Window | str, now: float) -> Finding:
        if one.rule is None or one.condition is None:
            said = "This version of the server does not know this rule; change or delete it."
            return Finding(holds=None, said=said)
        if isinstance(window, str):
            again = now + UNKNOWN_FOR
            return Finding(holds=None, said=f"Its hours are not known: {window}", look_again=again)
        subject, needs = one.subject, one.condition.needs
        behind = self._books.behind(subject) if "books" in one.words else None
        why = self._facts.failure(subject.id, needs)
        if why is None and subject.kind == "model":
            why = behind
        if why is not None:
            said, again = f"What it needs to know could not be read: {why}", now + FAILED_EVERY
            return Finding(holds=None, said=said, look_again=again)
        try:
            asked = one.asked(self._counts_from(one, window))
            found = one.condition.find(Question(asked, self._facts.values(subject.id, needs), now))
        except Exception as error:  # noqa: BLE001 - the others are evaluated all the same
            self._work.note(error, f"rule {one.stored.id}")
            return Finding(holds=None, said=f"It could not be evaluated: {cause_of(error)}")
        # Of many models, those whose books are kept are watched on, and it is said of the others.
        return found if behind is None else _with(found, behind)

    def _counts_from(self, one: Watched, window: Window | str) -> float:
        opened = None if isinstance(window, str) else window.since
        return max(self._store.clock.put_right(one.stored.created_at), opened or 0.0)

    async def _gather(self, some: Sequence[Watched], now: float) -> None:
        """Read every fact that is out of date, for all subjects that need it at once."""
        wanted: dict[str, dict[Subject, list[Asked]]] = {}
        for one in some:
            if one.condition is None:
                continue
            for name in one.condition.needs:
                asked = wanted.setdefault(name, {})
                if one.subject not in asked and not self._facts.is_fresh(one.subject.id, name, now):
                    asked[one.subject] = self._asked(one.subject, name, now)
        for name, about in wanted.items():
            if about:
                await self._facts.gather(name, about, now)
                if name == LINES.name:
                    self._searching.wake()

    def _asked(self, subject: Subject, name: str, now: float) -> list[Asked]:
        """What all rules about a subject ask that need this fact."""
        return [
            one.asked(self._counts_from(one, self._window(one, now)))
            for one in self._by_subject.get(subject.id, ())
            if one.condition is not None and name in one.condition.needs
        ]


def _seen_anew(connection: Connection) -> tuple[Reach, Look]:
    """All from one moment: the look that knows of a rule knows of its model. The reach is that of
    the rules, not of what they watch: a project may get its first model later."""
    reach = watched.reach_of(stored_rules.everything(connection))
    return reach, looking.look(connection, reach)


def _is_other(before: Look, after: Look) -> bool:
    """Whether there are other rules, other subjects, or another leader was at work in between."""
    if (before.rules, before.term, before.hosts) != (after.rules, after.term, after.hosts):
        return True
    if before.heads.keys() != after.heads.keys():
        return True
    return any(
        (one.name, one.tape) != (after.heads[name].name, after.heads[name].tape)
        for name, one in before.heads.items()
    )


def _terms(one: Watched, window: Window | str) -> Terms:
    is_silence = one.condition is not None and one.condition.is_silence
    return Terms(
        lasting=0.0 if one.rule is None or is_silence else one.rule.lasting,
        window=ALWAYS if isinstance(window, str) else window,
        muted_until=one.stored.muted_until,
        revision=one.stored.revision,
    )


def _with(found: Finding, behind: str) -> Finding:
    return msgspec.structs.replace(found, said=f"{found.said} {behind}")


def _soonest(*moments: float | None) -> float | None:
    return min((one for one in moments if one is not None), default=None)


def _nobody() -> None:
    pass
