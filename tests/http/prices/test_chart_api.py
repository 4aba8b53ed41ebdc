"""A price chart is one request: bars or a line, indicators, fills."""

import re
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.conftest import Person, on_both
from tests.http.view.test_results_api import is_part
from tests.pushing import NDJSON, Model

HOUR, DAY = 3_600, 86_400
EXAMPLES = 1_767_225_600  # when those of the page begin
MONDAY = 1_767_571_200  # 2026-01-05
PAGE = (Path(__file__).parents[3] / "docs" / "prices.md").read_text("utf-8")


def push(model: Model, start: int, count: int, interval: int = HOUR, symbol: str = "A") -> None:
    """Bars whose close is their number."""
    closes = [float(number) for number in range(1, count + 1)]
    body = {"symbol": symbol, "interval": interval, "open": closes, "close": closes}
    body |= {"high": [one + 0.5 for one in closes], "low": [one - 0.5 for one in closes]}
    body["time"] = [start + number * interval for number in range(count)]
    model.push("/v1/live/bars", body | {"volume": [1] * count})


def order(model: Model, name: str, at: float, price: float = 5, side: str = "buy") -> None:
    body = {"id": name, "symbol": "A", "exchange": "x", "side": side, "size": 1}
    body["executionPrice"] = price
    model.push("/v1/live/spot-market", body, headers={"time": str(at)})


def current(text: str) -> str:
    """An example with its times a day ago: prices of long ago are not kept."""
    days = (int(time.time()) - EXAMPLES) // DAY - 1
    return re.sub(r"17672\d{5}", lambda found: str(int(found[0]) + days * DAY), text)


def test_the_page_has_examples_that_come_out_as_documented(model: Model) -> None:
    blocks = re.findall(r"```(http|ndjson|json)\n(.*?)```", PAGE, re.DOTALL)
    answer: Any = None
    checked = 0
    for kind, said in blocks:
        text = current(said)
        if kind == "ndjson":
            model.push("/v1/batch", content=text, headers={"content-type": NDJSON})
        elif kind == "http":
            path = text.strip().removeprefix("GET ").replace("{model}", model.id)
            answer = model.owner.get(path).json()
        elif answer is None:
            model.push("/v1/live/bars", msgspec.json.decode(text))
        else:
            checked += 1
            assert is_part(msgspec.json.decode(text), answer), answer
    assert checked == 3


@on_both
def test_coarser_bars_are_made_of_all_that_start_within_them(model: Model) -> None:
    push(model, MONDAY, 24 * 14)
    found = model.get("/prices", interval="1d")
    assert (found["source"], found["made_from"], found["interval"]) == ("coarser bars", HOUR, DAY)
    bars = found["bars"]
    assert bars["time"] == [MONDAY + DAY * number for number in range(14)]
    assert bars["open"][:2] == [1, 25]
    assert bars["close"][:2] == [24, 48]
    assert (bars["high"][0], bars["low"][1], bars["volume"][3]) == (24.5, 24.5, 24)


def test_too_many_bars_become_coarser_and_the_answer_says_so(model: Model) -> None:
    push(model, MONDAY, 24 * 14)
    found = model.get("/prices", points=14, **{"from": MONDAY, "to": MONDAY + 14 * DAY})
    assert (found["interval"], len(found["bars"]["time"])) == (DAY, 14)
    found = model.get("/prices", points=2, **{"from": MONDAY, "to": MONDAY + 14 * DAY})
    assert found["interval"] == 7 * DAY
    assert found["bars"]["time"] == [MONDAY, MONDAY + 7 * DAY], "weeks begin on Mondays"
    assert found["bars"]["volume"] == [168, 168]


def test_a_window_reads_bars_as_they_were_reported_with_their_gaps(model: Model) -> None:
    push(model, MONDAY + 1_800, 3)
    push(model, MONDAY + 9_000 + DAY, 2)
    found = model.get("/prices", **{"from": MONDAY + 2_000, "to": MONDAY + 2 * DAY})
    starts = [MONDAY + 1_800 + HOUR * number for number in range(3)]
    assert found["bars"]["time"] == [*starts, MONDAY + 9_000 + DAY, MONDAY + 12_600 + DAY]
    assert (found["source"], found["made_from"]) == ("bars", None)


def test_the_coarsest_interval_that_has_bars_is_made_coarser(model: Model) -> None:
    push(model, MONDAY, 4, 4 * HOUR)
    push(model, MONDAY, 48, 1_800 * 2)
    assert model.get("/prices", interval="1d")["made_from"] == 4 * HOUR
    assert model.get("/prices", interval="1h")["source"] == "bars"
    assert model.get("/prices", interval="1m")["interval"] == HOUR, "the finest there is"


def test_finer_bars_of_the_last_hours_leave_the_history_in_the_window(model: Model) -> None:
    end = MONDAY + 500 * HOUR
    push(model, MONDAY, 500)
    push(model, end - 2 * HOUR, 120, 60)
    for days in (1, 3, 10):
        found = model.get("/prices", **{"from": end - days * DAY, "to": end})
        assert (found["interval"], len(found["bars"]["time"])) == (HOUR, days * 24)
        assert found["bars"]["intervals"] is None
    first = model.get("/prices", points=300)
    assert len(first["bars"]["time"]) == 300, "as many as fit, of the interval that reaches so far"


def test_a_day_that_has_just_begun_takes_no_minute_from_the_window(model: Model) -> None:
    midnight = MONDAY + 10 * DAY
    push(model, MONDAY, 11, DAY)
    push(model, midnight - 12 * HOUR, 13 * 60, 60)
    first = model.get("/prices", points=600)
    assert (first["interval"], first["to"]) == (60, midnight + HOUR)
    assert len(first["bars"]["time"]) == 600, "the end of today's bar is not yet"


def test_where_finer_bars_are_missing_coarser_ones_stand(model: Model) -> None:
    push(model, MONDAY, 10)
    push(model, MONDAY + 2 * HOUR, 60, 60)
    push(model, MONDAY + 4 * HOUR, 360, 60)
    found = model.get("/prices", **{"from": MONDAY, "to": MONDAY + 10 * HOUR})
    wide = [MONDAY, MONDAY + HOUR, MONDAY + 3 * HOUR]
    widths = dict(zip(found["bars"]["time"], found["bars"]["intervals"], strict=True))
    assert [start for start, width in widths.items() if width == HOUR] == wide
    assert (found["interval"], len(widths)) == (60, 3 + 420)
    assert sum(widths.values()) == 10 * HOUR, "no stretch is missing, and none is there twice"
    assert found["bars"]["time"] == sorted(found["bars"]["time"])


def test_bars_of_a_chosen_interval_go_on_with_finer_ones(model: Model) -> None:
    push(model, MONDAY, 6)
    push(model, MONDAY + 5 * HOUR, 150, 60)
    hours = model.get("/prices", interval="1h")
    assert hours["bars"]["time"] == [MONDAY + HOUR * number for number in range(8)]
    assert hours["bars"]["close"] == [1, 2, 3, 4, 5, 6, 120, 150]
    assert (hours["source"], hours["made_from"]) == ("bars", None), "as most of them are"
    longer = model.get("/prices", interval="4h")["bars"]
    assert (longer["close"], longer["volume"]) == ([4, 150], [4, 2 + 90])


def test_the_bar_that_is_under_way_is_shown_from_its_first_minute(model: Model) -> None:
    push(model, MONDAY, 6)
    push(model, MONDAY + 6 * HOUR, 1, 60)
    found = model.get("/prices", interval="1h")["bars"]
    assert (len(found["time"]), found["time"][-1]) == (7, MONDAY + 6 * HOUR)


def test_bars_that_begin_a_little_late_have_no_doubles(model: Model) -> None:
    push(model, MONDAY + 20, 3)
    push(model, MONDAY, 60 * 4, 60)
    found = model.get("/prices", interval="1h")["bars"]
    late = [MONDAY + 20 + HOUR * number for number in range(3)]
    assert found["time"] == [*late, MONDAY + 3 * HOUR]


def test_every_interval_has_a_name_as_the_menus_have_it(model: Model) -> None:
    push(model, MONDAY, 24 * 14)
    for interval, name in (("7200", "2h"), ("4h", "4h"), ("86400", "1d"), ("604800", "1w")):
        assert model.get("/prices", interval=interval)["interval_name"] == name
    push(model, MONDAY, 3, 90, symbol="B")
    assert model.get("/prices", symbol="B")["interval_name"] == "90s"


def test_a_late_bar_changes_the_coarser_ones(model: Model) -> None:
    push(model, MONDAY, 48)
    bar = {"symbol": "A", "interval": "1h", "open": 900, "high": 901, "low": 899, "close": 900}
    model.push("/v1/live/bar", bar, headers={"time": str(MONDAY + 5 * HOUR)})
    for interval, volume in (("4h", 3), ("1d", 23)):
        found = model.get("/prices", interval=interval)["bars"]
        place = found["high"].index(901)
        assert found["volume"][place] == volume, "this bar has no volume, the others have"


def test_fills_and_indicators_of_the_window_come_along(model: Model) -> None:
    now = int(time.time()) // HOUR * HOUR
    push(model, now - 10 * HOUR, 10)
    order(model, "in", now - 5 * HOUR)
    order(model, "out", now - 2_000 * HOUR)
    for number in range(5):
        for name, pane in (("sma", None), ("rsi", "momentum")):
            body = {"name": name, "value": None if number == 2 else number, "pane": pane}
            model.push("/v1/live/indicator", body, headers={"time": str(now - HOUR + number)})
    model.push("/v1/live/indicator", {"name": "of B", "value": 1, "symbol": "B"})
    found = model.get("/prices")
    assert [one["order_id"] for one in found["fills"]["items"]] == ["in"]
    sma, rsi = found["indicators"]
    assert (sma["pane"], rsi["pane"], sma["symbol"]) == ("price", "momentum", None)
    assert sma["value"] == [0, 1, None, 3, 4]
    assert (sma["interval"], sma["low"]) == (None, None)


def test_the_last_fill_is_known_in_every_window(model: Model) -> None:
    push(model, MONDAY, 48)
    order(model, "1", MONDAY + HOUR)
    order(model, "2", MONDAY + 30 * HOUR)
    waiting = {"id": "3", "symbol": "A", "exchange": "x", "side": "sell", "size": 1, "price": 900}
    model.push("/v1/live/spot-limit", waiting)
    model.push("/v1/live/update-trade", {"id": "3", "status": "open", "filled_size": 0})
    early = model.get("/prices", **{"from": MONDAY, "to": MONDAY + 10 * HOUR})["fills"]
    assert [one["order_id"] for one in early["items"]] == ["1"]
    assert early["last"] == MONDAY + 30 * HOUR
    assert model.get("/prices", symbol="B")["fills"]["last"] is None


def test_many_values_of_an_indicator_are_reduced_with_their_extremes(model: Model) -> None:
    first = int(time.time()) // 900 * 900 - 9_000
    items = [
        {"path": "/v1/live/indicator", "time": first + n, "body": {"name": "i", "value": n}}
        for n in range(3_000)
    ]
    model.push("/v1/batch", items)
    found = model.get("/prices", symbol="A", points=50, **{"from": first, "to": first + 3_000})
    (line,) = found["indicators"]
    assert line["interval"] == 60
    assert line["value"][:2] == [59, 119]
    assert (line["low"][1], line["high"][1]) == (60, 119)


def test_many_fills_are_grouped(model: Model) -> None:
    body = {"symbol": "A", "exchange": "x", "side": "buy", "size": 1, "executionPrice": 5}
    items = [
        {"path": "/v1/live/spot-market", "time": 1_000 + n, "body": {**body, "id": str(n)}}
        for n in range(1_500)
    ]
    model.push("/v1/batch", items)
    found = model.get("/prices", symbol="A")
    assert found["fills"]["grouped"]
    assert sum(one["count"] for one in found["fills"]["items"]) == 1_500
    assert {one["price"] for one in found["fills"]["items"]} == {5}
    assert len(found["line"]) <= 1_000
    assert found["line"][-1] == {"time": 2_499, "price": 5}


def test_every_symbol_that_was_traded_or_marked_is_listed(model: Model) -> None:
    push(model, MONDAY, 3, symbol="Z")
    order(model, "1", MONDAY)
    waiting = {"id": "2", "symbol": "W", "exchange": "x", "side": "buy", "size": 1, "price": 5}
    model.push("/v1/live/spot-limit", waiting | {"status": "open"})
    model.push("/v1/live/mark-price", {"symbol": "M", "price": 5})
    listed = {one["symbol"]: one["intervals"] for one in model.get("/prices")["symbols"]}
    assert listed == {"Z": [HOUR], "A": [], "M": [], "W": []}
    assert next(iter(listed)) == "Z", "those with bars are first"


def test_a_model_without_any_price_has_an_empty_chart(model: Model) -> None:
    found = model.get("/prices")
    assert (found["symbol"], found["source"], found["symbols"]) == (None, "nothing", [])
    found = model.get("/prices", symbol="A")
    assert (found["symbol"], found["source"], found["bars"]) == ("A", "nothing", None)


def test_what_nobody_can_mean_is_refused(model: Model) -> None:
    for query, field in (
        ({"interval": "2x"}, "interval"),
        ({"points": 1}, "points"),
        ({"from": 10, "to": 5}, "from"),
        ({"from": "noon"}, "from"),
    ):
        answer = model.owner.get(f"/api/models/{model.id}/prices", params=query)
        assert (answer.status_code, answer.json()["field"]) == (400, field), answer.text


def test_any_window_has_an_answer(model: Model) -> None:
    push(model, MONDAY, 100)
    for since, until in ((-1e15, 1e15), (0, 0), (1e15, 1e15), (MONDAY, MONDAY)):
        model.get("/prices", **{"from": since, "to": until})
    assert len(model.get("/prices", **{"from": -1e15, "to": 1e15})["bars"]["time"]) == 1


def test_a_stranger_sees_no_prices(model: Model, enter: Any) -> None:
    push(model, MONDAY, 3)
    stranger: Person = enter("eve")
    assert stranger.get(f"/api/models/{model.id}/prices").status_code == 404
