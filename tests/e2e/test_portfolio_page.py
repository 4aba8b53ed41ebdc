"""The pages of a portfolio and of trades: currencies, long names, names from right to left."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from tests.conftest import Person, Service
from tests.e2e.conftest import Site
from tests.e2e.looks import is_fine
from tests.http.view.test_portfolio_api import DAY, START, Desk, mark, month

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds
LONG = "EXTRAORDINARILY-LONG-" * 5
ARABIC = "\u0627\u0644\u0632\u062e\u0645"


@pytest.fixture
def desk(service: Service, enter: Callable[[str], Person]) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(service, enter("ada"), stack)


def trade(desk: Desk) -> None:
    """Two accounts in two currencies, one model without a capital, one that crashed."""
    chance = random.Random(3)
    desk.add(LONG, (10_000, "USD"))
    desk.add(ARABIC, (4_000, "EUR"))
    desk.add("Poor")
    desk.say(LONG, *month(chance, "BTC-USD", 0, size=3), mark(0, "EUR-USD", 1.1))
    desk.say(ARABIC, *month(chance, "DAX-EUR", 0, size=2))
    desk.say("Poor", *month(chance, "ETH-USD", 0, size=1))
    for name, model in desk.models.items():
        assert model.owner.patch(f"/api/models/{model.id}", json={"name": name}).is_success
    desk.models[ARABIC].push("/v1/live/lifecycle", {"message": "Crashed", "running": False})


def test_a_portfolio_leads_to_troubles_and_a_model_to_its_trades(site: Site, desk: Desk) -> None:
    page, project = site.page, desk.owner.id
    page.set_default_timeout(SLOW)
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}%2Fportfolio")
    page.get_by_role("link", name="Deploy a model").wait_for()
    trade(desk)
    first, last = int(START + 5 * DAY), int(START + 9 * DAY)
    site.open(f"/portfolio?currency=EUR&range={first}_{last}&benchmark=BTC-USD")
    chart = page.get_by_role("figure", name="Account value and drawdown of all models")
    expect(chart).to_contain_text("From 2023-12-14 to 2023-12-18")
    expect(chart).to_contain_text("EUR")
    beside = page.get_by_role("figure", name="Returns beside BTC-USD")
    expect(beside).to_contain_text("The account returned")
    chart.get_by_role("button", name="All").click()
    page.wait_for_url(lambda url: "range=" not in url and "benchmark=BTC-USD" in url)
    shares = page.get_by_role("table", name="Contribution of each model")
    expect(shares.get_by_role("row")).to_have_count(3)  # stacked, so without heads
    expect(shares.get_by_role("link", name=ARABIC)).to_be_visible()
    matrix = page.get_by_role("region", name="Correlation matrix")
    expect(matrix.get_by_role("row")).to_have_count(3)
    is_fine(page, "the portfolio")
    page.get_by_role("link", name="Portfolio", exact=True).click()
    page.wait_for_url(f"**/{project}/portfolio")
    trouble = page.get_by_role("listitem").filter(
        has=page.get_by_role("heading", name="No capital", exact=True)
    )
    trouble.get_by_role("link", name="Poor").click()
    expect(page.get_by_role("heading", name="Capital and positions")).to_be_visible()
    page.get_by_role("link", name="Trades", exact=True).click()
    page.get_by_role("button", name="ETH-USD").click()
    page.get_by_role("button", name="Earlier").click()
    page.wait_for_url(lambda url: "symbol=ETH-USD" in url and "month=2023-12" in url)
    expect(page.get_by_role("table", name="Results of Dec 2023 by day")).to_be_visible()
    trips = page.get_by_role("table", name="Round trips", exact=True)
    expect(trips.get_by_role("row").nth(1)).to_contain_text("ETH-USD")
    is_fine(page, "the trades")
    lay_over_a_backtest_of_another_model(site, desk)
    download_the_models(site, desk)


def test_round_trips_are_shown_in_their_own_currency(site: Site, desk: Desk) -> None:
    page, project = site.page, desk.owner.id
    page.set_default_timeout(SLOW)
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}%2Fportfolio")
    page.get_by_role("link", name="Deploy a model").wait_for()
    model = in_three_currencies(desk)
    site.open(f"/{project}/{model}/trades")
    expect(page.get_by_text("The figures count 2 of 4 round trips, those in USD")).to_be_visible()
    rows = page.get_by_role("table", name="Round trips", exact=True).get_by_role("row")
    bitcoin = rows.filter(has_text="ETH-BTC")
    expect(bitcoin).to_contain_text("0.000024")
    expect(bitcoin).to_contain_text("\N{MINUS SIGN}0.010024\N{NO-BREAK SPACE}BTC")
    expect(rows.filter(has_text="BTC-USD").first).to_contain_text("+9.00\N{NO-BREAK SPACE}USD")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV: Round trips", exact=True).click()
    head, *lines = download.value.path().read_text().splitlines()
    assert head.endswith(",currency")
    assert [line.rsplit(",", 1)[1] for line in lines] == ["BTC", "JPY", "USD", "USD"]
    is_fine(page, "the trades in three currencies")
    rows.filter(has_text="BTC/JPY").get_by_role("button", name="BTC/JPY").click()
    page.wait_for_url(lambda url: "symbol=BTC" in url)
    best = page.locator("div", has=page.get_by_text("Best trade", exact=True)).last
    expect(best).to_contain_text("142,208")
    expect(best).to_contain_text("JPY")
    expect(rows.filter(has_text="BTC/JPY")).to_have_count(1)
    expect(page.get_by_text("The figures count")).to_have_count(0)
    is_fine(page, "the trades of one symbol")


def in_three_currencies(desk: Desk) -> str:
    """The id of a model with four round trips, two of them in dollars."""
    model = desk.add("Many")
    traded = {
        "BTC-USD": (100, 110, 0.5), "BTC/JPY": (9_000_000, 9_142_808, 300),
        "ETH-BTC": (0.05, 0.04, 0.000012),
    }  # fmt: skip
    for place, symbol in enumerate(["BTC-USD", "BTC-USD", "BTC/JPY", "ETH-BTC"]):
        bought, sold, fee = traded[symbol]
        for hours, side, price in ((0, "buy", bought), (1, "sell", sold)):
            said = {
                "id": f"{place} {side}", "symbol": symbol, "exchange": "x", "side": side, "size": 1,
                "executionPrice": price, "fee": fee,
            }  # fmt: skip
            at = START + place * DAY + hours * 3_600
            model.push("/v1/live/spot-market", said, headers={"time": str(at)})
    return model.id


def lay_over_a_backtest_of_another_model(site: Site, desk: Desk) -> None:
    page, poor, tested = site.page, desk.models["Poor"], desk.models[ARABIC]
    account = [{"time": START + day * DAY, "value": 1000 + day} for day in range(20)]
    result = {
        "backtest_id": "b", "symbols": ["ETH-USD"], "quote_asset": "USD", "trades": [],
        "account_values": account, "start_time": START, "stop_time": START + 20 * DAY,
    }  # fmt: skip
    tested.push("/v1/backtest/result", result)
    site.open(f"/{desk.owner.id}/{poor.id}/overview")
    page.get_by_label("Backtests of").select_option(tested.id)
    page.get_by_label("Backtest", exact=True).select_option("b")
    page.wait_for_url(lambda url: f"of={tested.id}" in url and "beside=b" in url)
    chart = page.get_by_role("figure", name="Live beside")
    expect(chart).to_contain_text("live made")
    page.reload()
    expect(chart).to_contain_text("live made")


def download_the_models(site: Site, desk: Desk) -> None:
    """The address decides between cards and table; the file has the rows that it shows."""
    page = site.page
    site.open(f"/{desk.owner.id}?view=cards")
    page.get_by_role("button", name="View as a table").click()
    page.wait_for_url("**view=table")
    page.get_by_label("Search models").fill("Poor")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV: Models").click()
    head, *rows = download.value.path().read_text().splitlines()
    assert head.startswith("model,id,status,")
    assert [row.split(",")[0] for row in rows] == ["Poor"]
