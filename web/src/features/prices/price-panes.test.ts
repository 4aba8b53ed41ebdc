import { expect, it } from "vitest";
import type { Order, Prices } from "~/api/types";
import { levelsInWords, levelsOf, panesOf, sourceOf } from "./price-panes";
import { priceSearch } from "./price-search";

const prices = {
  symbol: "BTC-USD",
  source: "bars",
  price_source: null,
  interval: 3600,
  interval_name: "1h",
  made_from: null,
  from: 0,
  to: 7200,
  bars: { time: [0, 3600], open: [1, 2], high: [3, 4], low: [1, 1], close: [2, 3], volume: [1, 1], intervals: null },
  line: null,
  indicators: [
    { name: "EMA", symbol: null, pane: "price", interval: null, time: [0], value: [2], low: null, high: null },
    { name: "RSI", symbol: null, pane: "rsi", interval: null, time: [0], value: [50], low: null, high: null },
  ],
  fills: { items: [], grouped: false, last: null },
  symbols: [],
} as Prices; // biome-ignore format: one line each

it("draws indicators over the prices and below them", () => {
  const [price, rsi] = panesOf(prices, "candles", [], 7200);
  expect(price?.curves.map(({ label }) => label)).toEqual(["BTC-USD 1h", "EMA"]);
  expect(price?.bars?.interval).toBe(3600);
  expect(rsi?.curves.map(({ label }) => label)).toEqual(["RSI"]);
  expect(panesOf(prices, "line", [], 7200)[0]?.bars).toBeUndefined();
});

it("says where prices come from", () => {
  expect(sourceOf(prices)).toBe("Bars from the model.");
  expect(sourceOf({ ...prices, source: "coarser bars", made_from: 60 })).toContain("1 min");
  const there = { exchange: "kraken", market: "BTC/USD", answered_at: null, problem: null };
  expect(sourceOf({ ...prices, source: "exchange bars", price_source: there })).toContain("kraken");
  expect(sourceOf({ ...prices, source: "marks and fills" })).toContain("marks and fills");
});

it("marks the average, waiting orders and stops, and no order that is done", () => {
  const order = (more: object) =>
    ({ side: "sell", price: 90, active: null, time: 7, ...more }) as Order;
  const found = levelsOf(100, 3, [
    order({ status: "open", active: 95 }),
    order({ status: "filled" }),
    order({ status: null }),
  ]);
  expect(found.map(({ label }) => label)).toEqual(["Average 100.00", "Stop 95.00", "Sell 90.00"]);
  expect(found.map(({ since }) => since)).toEqual([3, 7, 7]);
  expect(levelsInWords(found)).toBe("Now: Average 100.00, Stop 95.00, Sell 90.00.");
  expect(levelsInWords([])).toBe("");
});

it("reads an address, whatever it says", () => {
  expect(priceSearch({ symbol: 600519, interval: "1h", at: 5, shape: "line" })).toEqual({
    symbol: "600519",
    interval: "1h",
    at: 5,
    shape: "line",
  });
  expect(priceSearch({ symbol: {}, interval: "7m", at: "x", shape: 1 })).toEqual({});
});
