"""A request of a link reads each thing once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from tests.conftest import Service
from tests.http.sharing.scene import push_on, shared
from tests.http.sharing.test_figures import two_currencies
from tests.pushing import Model


@contextmanager
def counting(service: Service) -> Iterator[Counter[str]]:
    """Statements that read, by the table after `FROM`."""
    found: Counter[str] = Counter()

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        for line in statement.splitlines():
            if line.startswith("FROM "):
                found[line.split()[1].rstrip(",")] += 1

    engine = service.store.database.reading
    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


def test_a_link_reads_books_and_currency_once(service: Service, model: Model) -> None:
    two_currencies(model)
    push_on(model, 5, "cash", type="deposit", amount=1000)
    with service.client() as stranger:
        link = shared(model, stranger)
        link.json()  # the books are up to date now
        with counting(service) as found:
            link.json()
    assert {name: found[name] for name in ("books", "backtests")} == {"books": 1, "backtests": 1}
