"""A breach is noticed at once: the books of models whose books are watched are not left to the
bookkeeper's next turn. Books that cannot be kept are the trouble of their own rules alone."""

from collections.abc import Set
from typing import NamedTuple

from tapeline.background import Loop, cause_of
from tapeline.errors import NoSuchModel, StoreBusy, Unavailable
from tapeline.leading import LeadsNoMore
from tapeline.results.pnl import unbooked
from tapeline.results.pnl.bookkeeper import Bookkeeper
from tapeline.store.backends import common_time
from tapeline.store.portions import batches
from tapeline.store.store import Store
from tapeline.store.tables.tape import tapes
from tapeline.watch.facts.fact import EVERYTHING, Subject
from tapeline.watch.incidents import looking
from tapeline.watch.incidents.looking import Head, Look

FAILED_EVERY = 5.0  # seconds after which books that could not be kept are tried again


class _Behind(NamedTuple):
    head: Head
    why: str
    again_at: float


class WatchedBooks:
    def __init__(self, store: Store, bookkeeper: Bookkeeper, work: Loop) -> None:
        self._store, self._bookkeeper, self._work = store, bookkeeper, work
        self._subjects: Set[str] = set()
        self._untried: Set[str] = set()
        """Those that are watched since the last time."""
        self._behind: dict[int, _Behind] = {}
        """By tape."""

    def watch(self, subjects: Set[str]) -> None:
        """Whose books are watched: models, projects, or everything."""
        self._untried |= subjects - self._subjects
        self._subjects = subjects

    def behind(self, subject: Subject) -> str | None:
        """A sentence about the first books of a subject that could not be kept."""
        for one in self._behind.values():
            if subject.id in _subjects_of(one.head):
                return f"The books of {one.head.name} could not be kept: {one.why}"
        return None

    async def catch_up(self, look: Look, words: dict[str, set[str]]) -> None:
        """What this changes is added to the words, by subject, and to the look."""
        by_tape = {
            head.tape: head
            for head in look.heads.values()
            if head.tape is not None
            and (head.model_id in words or self._is_due(head, look.now))
            and not self._subjects.isdisjoint(_subjects_of(head))
        }
        self._untried = set()
        known = {one.tape for one in look.heads.values()}
        self._behind = {tape: one for tape, one in self._behind.items() if tape in known}
        for some in batches(list(by_tape), unbooked.TOGETHER):
            behind = await self._store.read(unbooked.behind, tapes.c.no.in_(some))
            for tape in some:
                if tape not in behind:
                    self._behind.pop(tape, None)
            for tape, seq in behind.items():
                await self._catch_up_one(by_tape[tape], tape, seq, look.now)
                self._work.beat()
            if behind:
                # So that the next look does not find them changed once more.
                kept = await self._store.read(looking.books_of, list(behind))
                for tape in behind:
                    head = by_tape[tape]
                    look.heads[head.model_id] = head._replace(books=kept.get(tape, head.books))
                    for subject in _subjects_of(head):
                        words.setdefault(subject, set()).add("books")

    def _is_due(self, head: Head, now: float) -> bool:
        behind = None if head.tape is None else self._behind.get(head.tape)
        if behind is not None and behind.again_at <= now:
            return True
        return not self._untried.isdisjoint(_subjects_of(head))

    async def _catch_up_one(self, head: Head, tape: int, seq: int, now: float) -> None:
        try:
            await self._bookkeeper.catch_up(tape, seq)
        except NoSuchModel:  # deleted in the meantime
            pass
        except (LeadsNoMore, StoreBusy):
            raise
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            if isinstance(error, Unavailable):
                await self._store.read(common_time.now)  # raises where it is everybody's
            self._work.note(error, f"tape {tape}")
            self._behind[tape] = _Behind(head, cause_of(error), now + FAILED_EVERY)
            return
        self._behind.pop(tape, None)


def _subjects_of(head: Head) -> tuple[str, str, str]:
    return head.model_id, head.project_id, EVERYTHING
