"""Links of models that have a capital of their own: it counts, and the link's `base` does not."""

import pytest

from tests.conftest import Service, on_both
from tests.http.sharing.scene import push_on, shared
from tests.pushing import Model


def trade(model: Model) -> None:
    push_on(
        model, 1, "spot-market", id="1", symbol="BTC-USD", exchange="x", side="buy", size=1,
        executionPrice=100,
    )  # fmt: skip
    push_on(model, 2, "mark-price", symbol="BTC-USD", price=200)


def test_a_link_uses_the_capital_of_the_model_and_not_its_own(
    service: Service, model: Model
) -> None:
    push_on(model, 0, "cash", type="deposit", amount=1000)
    trade(model)
    push_on(model, 3, "cash", type="deposit", amount=1100)
    push_on(model, 4, "mark-price", symbol="BTC-USD", price=420)
    with service.client() as stranger:
        link = shared(model, stranger, base=77)
        assert link.json()["base"] == 1000
        total = link.json("/metrics")["computed"]["total_return"]["value"]
        assert total == pytest.approx(0.21)
        assert total == model.get("/performance")["metrics"]["total_return"]["value"]
        hidden = shared(model, stranger, base=77, percent_only=True)
        assert hidden.json()["base"] is None
        curve = hidden.json("/curve")
        assert curve["unit"] == "percent"
        assert [one["value"] for one in curve["items"]] == pytest.approx(
            [100, 100, 110, 110, 121]
        )  # fmt: skip


def test_the_base_of_a_link_counts_where_the_model_has_no_capital(
    service: Service, model: Model
) -> None:
    trade(model)
    with service.client() as stranger:
        link = shared(model, stranger, base=1000)
        assert link.json()["base"] == 1000
        assert link.json("/metrics")["computed"]["total_return"]["value"] == pytest.approx(0.1)


@on_both
def test_a_symbol_that_is_not_computed_leaves_a_link_without_percentages(
    service: Service, model: Model
) -> None:
    push_on(model, 0, "cash", type="deposit", amount=1000)
    trade(model)
    push_on(
        model, 3, "spot-market", id="2", symbol="XBT-USD", exchange="x", side="buy", size=1,
        executionPrice=1, inverse=True,
    )  # fmt: skip
    with service.client() as stranger:
        link = shared(model, stranger, base=500)
        assert link.json()["base"] is None
        assert link.json("/metrics")["computed"]["total_return"]["value"] is None
