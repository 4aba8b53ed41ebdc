"""Opens the database of the settings, for writing and for reading."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine

from tapeline import turns
from tapeline.background import Background
from tapeline.clock import Clock
from tapeline.errors import CannotStart
from tapeline.settings import Settings
from tapeline.store.backends import failures, sqlite, steady
from tapeline.store.backends.slowest import Slowest

if TYPE_CHECKING:
    from tapeline.store.backends.lost_commits import Witness
    from tapeline.store.backends.postgres import Claims, Listener

COMPUTERS = 2  # threads for long computations; more would only compete for one interpreter


@dataclass(frozen=True)
class Database:
    writing: Engine
    reading: Engine
    name: str
    """Its name in logs, never with a password."""
    file: Path | None = None
    """The SQLite file; None on PostgreSQL."""
    witness: "Witness | None" = None
    """Only on PostgreSQL, where the answer to a commit can be lost."""
    url: str = ""
    """Of PostgreSQL, with its password."""
    claims: "Claims | None" = None
    """Names that this server holds among those that share the database."""
    slowest: Slowest = field(default_factory=Slowest)

    clock: Clock = field(default_factory=Clock)
    """Goes on where it was saved as soon as there are tables: `timekeeping.resume`."""

    def __post_init__(self) -> None:
        steady.attach(self.clock, self.writing, self.reading)

    def listen(
        self,
        background: Background,
        channel: str,
        on_words: Callable[[str], None],
        on_change: Callable[[bool], None],
    ) -> "Listener | None":
        """Listen to other servers' notices; None where there can be no other server."""
        if self.file is not None:
            return None
        from tapeline.store.backends.postgres import Listener  # noqa: PLC0415 - SQLite stays light

        return Listener(background, self.url, channel, on_words, on_change)

    def serve(self, known: str) -> None:
        """Be one of several servers: one that is frozen in the middle of a write holds up no other,
        and none uses tables newer than it knows."""
        if self.file is None:
            from tapeline.store.backends import postgres  # noqa: PLC0415 - SQLite stays light

            postgres.serve(self.writing, self.reading, known)

    def others(self) -> int:
        """How many connections other servers have; ours must all be closed but this one. On SQLite,
        the lock on the data directory answers this."""
        if self.file is not None:
            return 0
        from tapeline.store.backends import postgres  # noqa: PLC0415 - SQLite stays light

        with self.reading.connect() as connection:
            return postgres.others(connection)

    def claim(self, name: str) -> bool:
        """Hold a name so that no other server can have it; on SQLite there is no other server."""
        return self.claims is None or self.claims.take(name)

    def has_lost(self, name: str) -> bool:
        """Whether another server took it while this one was cut off from the database."""
        return self.claims is not None and self.claims.has_lost(name)

    def claimed(self, connection: Connection, names: list[str]) -> set[str]:
        """Those of these names that another server holds now; on SQLite, there is no other."""
        if self.file is not None or not names:
            return set()
        from tapeline.store.backends import postgres  # noqa: PLC0415 - SQLite stays light

        return postgres.claimed(connection, names)

    def give_back(self, name: str) -> None:
        """Let another server have it."""
        if self.claims is not None:
            self.claims.give_back(name)

    def trouble(self) -> str | None:
        """Why nothing can be stored, judging by the disk; None for PostgreSQL, whose disk we cannot
        see."""
        return None if self.file is None else sqlite.trouble(self.file)

    def cause(self, error: BaseException) -> str:
        """The sentence for people: what the disk shows is more exact than what SQLite says."""
        return self.trouble() or failures.cause(error)

    def dispose(self) -> None:
        if self.claims is not None:
            self.claims.close()
        self.reading.dispose()
        self.writing.dispose()


def open_database(settings: Settings) -> Database:
    opened = _postgres(settings) if settings.database else _sqlite(settings)
    for engine in (opened.reading, opened.writing):
        opened.slowest.watch(engine)
    return opened


def _readers(settings: Settings) -> int:
    """One connection for each thread that reads or computes."""
    return settings.readers + COMPUTERS + 2 * len(turns.APART)


def _sqlite(settings: Settings) -> Database:
    file = settings.data / "tapeline.db"
    return Database(
        sqlite.writing_engine(file, settings.busy_seconds),
        sqlite.reading_engine(file, settings.busy_seconds, _readers(settings)),
        str(file),
        file,
    )


def _postgres(settings: Settings) -> Database:
    # Imported here, so that a start on SQLite stays light.
    try:
        from tapeline.store.backends import postgres  # noqa: PLC0415
        from tapeline.store.backends.lost_commits import Witness  # noqa: PLC0415
    except ImportError as error:
        raise CannotStart(
            f"PostgreSQL's driver cannot be loaded ({error})."
            " Install it with: pip install 'psycopg[binary]'"
        ) from error
    url, seconds = settings.database, settings.busy_seconds
    writing = postgres.writing_engine(url, seconds)
    reading = postgres.reading_engine(url, seconds, _readers(settings))
    name = postgres.name_of(url)
    claims = postgres.Claims(url)
    return Database(writing, reading, name, witness=Witness(writing), url=url, claims=claims)
