"""Orders without a price are valued by what others said of it: nobody says that later unseen."""

from typing import Any

from tests.results.changes.test_reports_of_the_future import HOUR, look, order, push, sorts
from tests.results.pnl.bookkeeping import Books


def test_a_tiny_order_that_is_confirmed_hours_later_gives_no_order_another_price(
    books: Books,
) -> None:
    tiny: dict[str, Any] = {
        "size": 1e-9,
        "price": 10,
        "symbol": "A-USD",
        "exchange": "x",
        "side": "buy",
    }
    push(books, 5.0, "spot-limit", id="tiny", **tiny)
    push(books, 10.0, "mark-price", symbol="A-USD", price=100)
    order(books, HOUR, "in", "buy")
    push(books, 2 * HOUR, "mark-price", symbol="A-USD", price=60)
    update: dict[str, Any] = {"id": "tiny", "executionPrice": 10, "executionTime": HOUR - 1}
    push(books, 5 * HOUR, "update-trade", **update)
    changes, first, now = look(books)
    assert sorts(changes) == [("price", "late")]
    assert (changes[0].id, changes[0].late_by) == ("tiny", 4 * HOUR + 1)
    assert (round(first), round(now)) == (-40, 50)
